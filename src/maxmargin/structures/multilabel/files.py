"""Files of examples with sets of labels: svmlight text with several labels, or npz.

A line of text is ``label,label index:value index:value ...``; a line that begins with a feature has
no labels. An npz file has the arrays ``X`` (n, d) and ``Y`` (n, labels) of 0 and 1, and optionally
``label_names``; a sparse X is stored as ``X_data``, ``X_indices``, ``X_indptr`` and ``X_shape``.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...data.checked import as_csr
from ...errors import DataError
from ...io.npz import read_arrays
from ...io.sources import display_name, open_source
from ...io.svmlight import read_examples
from ...saving.atomic import write_lines_atomic
from ..files import DataFiles, Examples, Wish
from .indicators import read_indicators

#: The beginning of npz files.
_ZIP = b"PK"

#: Stands for an empty set of labels.
_EMPTY = "-"


class MultilabelFiles(DataFiles):
    """Text or npz files; predictions are one set per line, labels with commas between them."""

    def read(self, path: str, options: Any) -> Examples:
        """Examples to train on."""
        X, Y, names = _read(path)
        if Y is None:
            raise DataError("has no labels to train on", display_name(path))
        return Examples(X, Y, path, _size(X), form={"labels": names})

    def estimator(self, examples: Examples, options: Any) -> Any:
        """An estimator with the names of the labels."""
        names = examples.form["labels"]
        return self.structure.estimator(**options.parameters(), label_names=names)

    def read_new(self, path: str, estimator: Any, wish: Wish | None = None) -> Examples:
        """Examples for a fitted estimator, with the features of its training, without labels."""
        X, _, _ = _read(path, estimator.n_features_in_)
        return Examples(X, None, path, _size(X))

    def read_labelled(self, path: str, estimator: Any) -> Examples:
        """Examples with the features and labels of the training of an estimator."""
        X, Y, names = _read(path, estimator.n_features_in_)
        if Y is None:
            raise DataError("has no labels to compare with", display_name(path))
        Y = _in_order(Y, names, estimator.classes_.tolist(), display_name(path))
        return Examples(X, Y, path, _size(X))

    def predict(self, estimator: Any, path: str, out: str, wish: Any) -> None:
        """Write the names of the labels of each example."""
        found = estimator.predict(self.read_new(path, estimator).X)
        write_lines_atomic(out, named_lines(found, estimator.classes_.tolist()))

    def predict_m_best(
        self, estimator: Any, path: str, out: str, wish: Any, m: int, diversity: float | None
    ) -> None:
        """Write up to m sets per example with their scores, followed by a blank line."""
        examples, names = self.read_new(path, estimator), estimator.classes_.tolist()
        found = estimator.predict_m_best(examples.X, m, diversity or 0.0)

        def lines() -> Iterator[str]:
            for outputs in found:
                shown = named_lines([output for output, _ in outputs], names)
                for (_, score), line in zip(outputs, shown, strict=True):
                    yield f"{score}\t{line}"
                yield ""

        write_lines_atomic(out, lines())


def named_lines(rows: Any, names: list[Any]) -> Iterator[str]:
    """Sets of labels as text, from the rows of an indicator matrix; an empty set is "-"."""
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    for row in rows:
        yield ",".join(str(names[k]) for k in np.flatnonzero(row).tolist()) or _EMPTY


def _size(X: Any) -> str:
    return f"{X.shape[0]:,} examples"


def _read(path: str, n_features: int | None = None) -> tuple[Any, Any, list[Any]]:
    """``(X, Y, names of labels)`` of a file; Y is None if it has none."""
    name = display_name(path)
    with open_source(path, binary=True) as stream:
        content = stream.read()
    if not content.startswith(_ZIP):
        return _read_text(content, name, n_features)
    try:
        return _read_npz(read_arrays(io.BytesIO(content), name))
    except DataError as error:
        raise DataError(error.message, path=name) from error


def _read_npz(arrays: dict[str, np.ndarray]) -> tuple[Any, Any, list[Any]]:
    if "X_data" in arrays:
        missing = [p for p in ("indices", "indptr", "shape") if f"X_{p}" not in arrays]
        if missing:
            raise DataError(f"has no array 'X_{missing[0]}', which the sparse X needs")
        X: Any = as_csr(*(arrays[f"X_{p}"] for p in ("data", "indices", "indptr", "shape")))
    elif "X" in arrays and arrays["X"].ndim == 2:
        X = arrays["X"]
    else:
        raise DataError("needs an array X of two dimensions, or a sparse one: X_data, ...")
    if "Y" not in arrays:
        return X, None, []
    Y = read_indicators(arrays["Y"], X.shape[0])
    names = arrays["label_names"] if "label_names" in arrays else np.arange(Y.shape[1])
    if names.shape != (Y.shape[1],):
        raise DataError(f"has {names.size} label_names for {Y.shape[1]} labels")
    return X, Y, names.tolist()


def _read_text(content: bytes, name: str, n_features: int | None) -> tuple[Any, Any, list[Any]]:
    found = read_examples(_Marked(content, name), n_features, drop_unseen=n_features is not None)
    pairs = zip(found.y.tolist(), found.line.tolist(), strict=True)
    sets = [_labels(str(target), name, line) for target, line in pairs]
    names: list[Any] = sorted({label for labels in sets for label in labels})
    if all(map(_is_integer, names)):
        names = sorted(int(label) for label in names)
    number = {str(label): k for k, label in enumerate(names)}
    Y = np.zeros((len(sets), len(names)), np.int8)
    for i, labels in enumerate(sets):
        Y[i, [number[label] for label in labels]] = 1
    return found.X, Y, names


class _Marked(io.BytesIO):
    """The content of a file, with a mark where a line begins with a feature."""

    def __init__(self, content: bytes, name: str):
        lines = content.split(b"\n")
        for i, line in enumerate(lines):
            if b":" in (line.split(None, 1) or [b""])[0]:
                lines[i] = _EMPTY.encode() + b" " + line
        super().__init__(b"\n".join(lines))
        self.name = name


def _labels(target: str, name: str, line: int) -> list[str]:
    """The labels of a line, in a normal form if they are integers."""
    if target == _EMPTY:
        return []
    labels = target.split(",")
    if "" in labels:
        raise DataError(f"the labels {target!r} have a comma too many", name, line)
    return [str(int(label)) if _is_integer(label) else label for label in labels]


def _is_integer(label: str) -> bool:
    return re.fullmatch("-?[0-9]+", label) is not None


def _in_order(Y: np.ndarray, names: list[Any], known: list[Any], path: str) -> np.ndarray:
    """The columns of Y in the order of the labels that a model knows."""
    number = {str(label): k for k, label in enumerate(names)}
    strange = set(number) - {str(label) for label in known}
    if strange:
        raise DataError(
            f"has the label {sorted(strange)[0]!r}, which the model does not know", path
        )
    ordered = np.zeros((len(Y), len(known)), np.int8)
    for k, label in enumerate(known):
        if str(label) in number:
            ordered[:, k] = Y[:, number[str(label)]]
    return ordered
