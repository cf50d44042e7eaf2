"""Data files of a user's problem on the command line.

They are read by the problem's method ``read_examples(path)`` and written by ``write_output(y,
file)``, if it has them. By default examples are read from an ``.npz`` file with the arrays X and
Y, and outputs are written as JSON.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...backends.formats import read_arrays
from ...data.source import n_examples
from ...errors import DataError, MaxMarginError, ProblemError
from ...io.sources import display_name
from ...saving.atomic import write_lines_atomic
from ..files import DataFiles, Examples, Wish
from .estimator import StructuredSVC
from .options import OwnOptions


@dataclass(frozen=True)
class OwnExamples(Examples):
    """Examples with the problem that reads and writes them."""

    problem: Any = None


class OwnFiles(DataFiles):
    """Files of problems that users define."""

    def read(self, path: str, options: OwnOptions) -> OwnExamples:
        """Examples to train on."""
        return self._labelled(_read(options.problem, path))

    def estimator(self, examples: Any, options: OwnOptions) -> StructuredSVC:
        """An estimator for the user's problem."""
        return StructuredSVC(options.problem, **options.parameters())

    def read_new(self, path: str, estimator: Any, wish: Wish | None = None) -> OwnExamples:
        """Examples for a fitted estimator."""
        return _read(estimator.problem, path)

    def read_labelled(self, path: str, estimator: Any) -> OwnExamples:
        """Examples with true outputs."""
        return self._labelled(_read(estimator.problem, path))

    def _labelled(self, examples: OwnExamples) -> OwnExamples:
        if examples.Y is None:
            name = display_name(examples.path)
            raise DataError("has no true outputs: it needs an array Y as well as X", name)
        return examples

    def predict(self, estimator: Any, path: str, out: str, wish: Wish) -> None:
        """Write one output per example."""
        examples = self.read_new(path, estimator)
        write_lines_atomic(out, output_lines(examples.problem, estimator.predict(examples.X)))

    def ranked_lines(
        self, examples: Examples, found: list[list[tuple[Any, float]]]
    ) -> Iterator[str]:
        """A score and an output per line, and a blank line after each example."""
        assert isinstance(examples, OwnExamples)
        for outputs in found:
            lines = output_lines(examples.problem, [output for output, _ in outputs])
            for (_, score), line in zip(outputs, lines, strict=True):
                yield f"{score}\t{line}"
            yield ""


def _read(problem: Any, path: str) -> OwnExamples:
    """The examples of a file; Y is None if it has no true outputs."""
    X, Y = _by_problem(problem, path) if hasattr(problem, "read_examples") else _read_npz(path)
    name = display_name(path)
    if n_examples(X) == 0:
        raise DataError("contains no examples", name)
    if Y is not None and n_examples(Y) != n_examples(X):
        message = f"has {n_examples(X)} inputs and {n_examples(Y)} outputs: each needs the other"
        raise DataError(message, name)
    return OwnExamples(X, Y, path, f"{n_examples(X):,} examples", problem=problem)


def _by_problem(problem: Any, path: str) -> tuple[Any, Any]:
    call = f"{type(problem).__name__}.read_examples({path!r})"
    try:
        found = problem.read_examples(path)
    except (MaxMarginError, OSError):
        raise
    except Exception as error:
        raise ProblemError(f"{call} raised {type(error).__name__}: {error}") from error
    if not (isinstance(found, tuple) and len(found) == 2):
        raise ProblemError(f"{call} must return (X, Y), or (X, None) without true outputs")
    return found


def _read_npz(path: str) -> tuple[list[Any], list[Any] | None]:
    """X and Y of an npz file, along the first axis; outputs are plain values or tuples."""
    name = display_name(path)
    with io.BytesIO(sys.stdin.buffer.read()) if path == "-" else open(path, "rb") as stream:
        arrays = read_arrays(stream, name)
    for key, array in arrays.items():
        if array.ndim == 0 or (array.dtype.kind in "fc" and not np.isfinite(array).all()):
            raise DataError(f"array {key} is a single value, or contains NaN or infinity", name)
    if "X" not in arrays:
        raise DataError("has no array X; the outputs, if any, are in Y", name)
    Y = arrays.get("Y")
    return list(arrays["X"]), None if Y is None else [_plain(y) for y in Y.tolist()]


def _plain(value: Any) -> Any:
    """Nested lists as tuples, which can be compared and hashed."""
    return tuple(map(_plain, value)) if isinstance(value, list) else value


def output_lines(problem: Any, outputs: Iterable[Any]) -> Iterator[str]:
    """The text of each output, by the problem's ``write_output`` or as JSON."""
    if not hasattr(problem, "write_output"):
        yield from (json.dumps(output, default=_as_json) for output in outputs)
        return
    for output in outputs:
        file = io.StringIO()
        try:
            problem.write_output(output, file)
        except Exception as error:
            call = f"{type(problem).__name__}.write_output"
            raise ProblemError(f"{call} raised {type(error).__name__}: {error}") from error
        yield file.getvalue().removesuffix("\n")


def _as_json(value: Any) -> Any:
    """Arrays and numbers of numpy as lists and numbers, other objects as text."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return sorted(value) if isinstance(value, set | frozenset) else str(value)
