"""Model files of SVM-HMM V3.10 and SVM-multiclass V2.20, read and written.

Such a file is text: the name of the program, header lines of which only the leading number matters,
and the support vectors. A linear model has a single one, the weight vector (several vectors are
equivalent to their sum). Weights, the K classes and the F features are numbered from 1 on::

    SVM-HMM, transitions of order 1     a -> b            K a + b
    SVM-HMM, emissions                  tag y, feature f  base + F y + f
                                        with base = K + K^2 + 1, or K + 1 without transitions
    SVM-multiclass                      class y, feature f  F (y - 1) + f

In SVM-HMM the indices 1..K and the emissions of a tag 0 exist, but they never have weights.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from ..errors import DataError, ModelFileError
from ..saving.atomic import atomic_file
from .sources import display_name, open_source
from .svm_struct_vectors import Layout, Refused, WeightReader, weight_text

HMM, MULTICLASS = "SVM-HMM Version V3.10", "SVM-multiclass Version V2.20"

#: The names of the header lines, in their order.
_KERNEL = tuple(f"kernel parameter -{letter}" for letter in "dgsru")
_HEADERS = {
    HMM: (
        "kernel type", *_KERNEL, "highest feature index", "number of emission features",
        "number of classes", "HMM order of transitions", "HMM order of emissions",
        "loss function", "number of support vectors plus 1", "threshold b",
    ),
    MULTICLASS: (
        "number of classes", "number of base features", "loss function", "kernel type", *_KERNEL,
        "highest feature index", "number of training documents",
        "number of support vectors plus 1", "threshold b",
    ),
}  # fmt: skip

_FEATURES = {HMM: "number of emission features", MULTICLASS: "number of base features"}

#: The header lines that are not used. "-u" is not even a number.
_UNUSED = (*_KERNEL, "highest feature index", "number of training documents")

#: SVM-struct numbers weights by 32-bit integers.
MAX_WEIGHTS = 2**31 - 2

#: The longest header line, in bytes.
_LONGEST_LINE = 1000


@dataclass(frozen=True)
class StructModel:
    """A linear model of SVM-struct, as plain arrays.

    Attributes
    ----------
    emission : float64 array (K, d)
        Weights of class k + 1 (row k) and feature j + 1 (column j).
    transition : float64 array (K, K), or None
        Weights of class a + 1 followed by class b + 1; None in a model of SVM-multiclass.
    loss : int
        The option ``-l`` of the program. SVM-HMM: 1 wrong tags, 0 wrong sequences.
        SVM-multiclass: 0 the percentage of errors, 1 squared differences.
    order : int
        1 with transitions, 0 without, in which case ``transition`` is zero.
    """

    emission: np.ndarray
    transition: np.ndarray | None = None
    loss: int = 1
    order: int = 1

    @property
    def program(self) -> str:
        """The first line of the file."""
        return MULTICLASS if self.transition is None else HMM

    @property
    def classes(self) -> np.ndarray:
        """The class numbers 1..K."""
        return np.arange(1, self.emission.shape[0] + 1)


def read_svm_struct(path: Any) -> StructModel:
    """Read a linear model written by SVM-HMM V3.10 or SVM-multiclass V2.20.

    Parameters
    ----------
    path : str, path or binary file object
        Plain or gzip.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is damaged, or holds something that maxmargin cannot use:
        kernels, transitions of an order above 1, emissions of an order above 0, another version.
        The message names the file and the line. Memory use is proportional to the file's size.
    """
    name = display_name(path)
    try:
        with open_source(path) as stream:
            return _read(stream)
    except Refused as error:
        raise ModelFileError(f"{name}, line {error.line}: {error}") from None
    except DataError as error:
        raise ModelFileError(str(error)) from error


def _read(stream: BinaryIO) -> StructModel:
    program = _header_line(stream, 1)
    if program not in _HEADERS:
        raise Refused(f"this is not a model of {' or '.join(_HEADERS)}", 1)
    header = _read_header(stream, program)
    _check_header(program, header)
    layout = _layout(program, header)
    reader = WeightReader(stream, len(header) + 2, layout.size)
    w = reader.read(header["number of support vectors plus 1"] - 1)
    emission, transition = layout.split(w, reader.line)
    return StructModel(emission, transition, header["loss function"], layout.order or 0)


def _layout(program: str, header: dict[str, int]) -> Layout:
    order = header.get("HMM order of transitions")
    return Layout(header["number of classes"], header[_FEATURES[program]], order)


def _header_line(stream: BinaryIO, number: int) -> str:
    raw = stream.readline(_LONGEST_LINE + 1)
    if not raw:
        raise Refused("the file ends within its header", number)
    if len(raw) > _LONGEST_LINE:
        raise Refused(
            "the line is too long for a header: this is not a model of SVM-struct", number
        )
    return raw.decode("latin-1").rstrip("\r\n ")


def _read_header(stream: BinaryIO, program: str) -> dict[str, int]:
    """The integers of the header, by name."""
    header = {}
    for number, name in enumerate(_HEADERS[program], 2):
        line = _header_line(stream, number)
        if name in _UNUSED:
            header[name] = 0
            continue
        match = re.match(r"\s*([-+]?\d{1,18})(?![\d.eE])", line)
        if match is None:
            raise Refused(f"expected the {name}, an integer, found {line[:40]!r}", number)
        header[name] = int(match[1])
    return header


def _check_header(program: str, header: dict[str, int]) -> None:
    """Refuse models that maxmargin cannot use, and impossible numbers."""
    names = _HEADERS[program]
    rules = {
        "kernel type": ((0,), "only linear models (kernel type 0) can be used"),
        "HMM order of transitions": ((0, 1), "only the orders 0 and 1 can be used"),
        "HMM order of emissions": ((0,), "only the order 0 can be used"),
        "loss function": ((0, 1), "only the losses 0 and 1 are known"),
        "threshold b": ((0,), "SVM-struct has no threshold: the file is damaged"),
    }
    for name, value in header.items():
        line = names.index(name) + 2
        allowed, reason = rules.get(name, (None, ""))
        if allowed is not None and value not in allowed:
            raise Refused(f"the {name} is {value}: {reason}", line)
        if value < 1 and name.startswith("number of") and name not in _UNUSED:
            raise Refused(f"the {name} is {value}: the file is damaged", line)
    layout = _layout(program, header)
    if layout.size > MAX_WEIGHTS:
        line = names.index("number of classes") + 2
        raise Refused(f"{layout.K} classes with {layout.d} features are too many", line)


def write_svm_struct(model: StructModel, path: Any) -> None:
    """Write a model in the format of its program; an error leaves no partial file.

    Numbers have 8 significant digits, as in SVM-struct's files.

    Raises
    ------
    ModelFileError
        If the model is too large for SVM-struct, a weight is not finite, or the file cannot be
        written.
    """
    K, d = model.emission.shape
    layout = Layout(K, d, None if model.transition is None else model.order)
    if layout.size > MAX_WEIGHTS:
        raise ModelFileError(f"{K} classes with {d} features are too many for SVM-struct")
    w = layout.join(model.emission, model.transition)
    if not np.isfinite(w).all():
        raise ModelFileError("a weight is not finite: SVM-struct could not read the file")
    with atomic_file(path, ModelFileError) as file:
        file.writelines(f"{line}\n".encode() for line in _header_lines(model, layout))
        file.write(b"1 " if model.program == HMM else b"1 qid:0 ")
        file.writelines(weight_text(w))
        file.write(b"#\n")


def _header_lines(model: StructModel, layout: Layout) -> Iterator[str]:
    """The header, byte for byte: SVM-struct ends most of its lines, but not all, with a space."""
    values = {
        "kernel type": "0 # kernel type",
        "kernel parameter -d": "3 # kernel parameter -d ",
        "kernel parameter -u": "empty# kernel parameter -u ",
        # One more than the number of weights: SVM-struct allocates and writes one too many.
        "highest feature index": f"{layout.size + 1} # highest feature index ",
        "HMM order of transitions": f"{model.order} # HMM order of transitions ",
        "HMM order of emissions": "0 # HMM order of emissions ",
        "number of emission features": f"{layout.d} # number of emission features ",
        "number of base features": f"{layout.d} # number of base features",
        "number of support vectors plus 1": "2 # number of support vectors plus 1 ",
        "threshold b": "0 # threshold b, each following line is a SV (starting with alpha*y)",
    }
    blank = " " if model.program == HMM else ""
    values["number of classes"] = f"{layout.K} # number of classes{blank}"
    values["loss function"] = f"{model.loss} # loss function{blank}"
    yield model.program
    for name in _HEADERS[model.program]:
        # All others: the kernel parameters g, s and r, and the size of the last working set.
        yield values.get(name, f"1 # {name} ")
