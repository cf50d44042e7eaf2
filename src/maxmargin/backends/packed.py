"""Examples on disk as arrays that are mapped into memory, so that files are parsed only once.

A packed shard is a directory of ``.npy`` files and a ``meta.json``; ``packing.py`` writes it. The
values of the features are stored only if some of them are not 1.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..data.checked import (
    check_codes,
    check_compressed,
    check_finite_rows,
    check_offsets,
    check_weights,
)
from ..data.sequences import LabelSequences, Sequences
from ..engine.linalg import all_ones
from ..errors import DataError


class Part(NamedTuple):
    """The examples of one file: rows of a matrix, class numbers, and weights if there are any.

    ``offsets`` holds the first row of each sequence; it is None if each row is an example.
    """

    matrix: Any
    codes: np.ndarray
    offsets: np.ndarray | None
    weight: np.ndarray | None


def digest_of(value: Any) -> str:
    """A digest of a value of JSON types."""
    return hashlib.blake2b(json.dumps(value).encode(), digest_size=16).hexdigest()


def read_packed(place: Path, n_features: int, n_classes: int) -> Part:
    """Map a packed shard into memory, with the same checks as for the original files."""
    try:
        return _read(place, n_features, n_classes)
    except Exception as error:  # of json, ast, tokenize and NumPy, which document no list
        raise DataError(
            f"is not a packed shard, or is damaged: {error}; delete this directory to have it "
            "packed again from its files",
            path=str(place),
        ) from error


def _read(place: Path, n_features: int, n_classes: int) -> Part:
    meta = json.loads((place / "meta.json").read_text())
    if meta.pop("checksum") != digest_of(meta):
        raise DataError("meta.json was altered")
    rows = int(meta["rows"])
    shape = (rows, n_features)
    if meta["n_features"] != n_features:
        raise DataError(f"it has {meta['n_features']} features, expected {n_features}")

    def mapped(name: str) -> np.ndarray:
        path = place / f"{name}.npy"
        # An empty array, whose file is only a header, cannot be mapped.
        mode = "r" if path.stat().st_size > 128 else None
        return np.asarray(np.load(path, mmap_mode=mode, allow_pickle=False))

    if meta["dense"]:
        matrix: Any = mapped("values").reshape(shape)
    else:
        indices = mapped("indices")
        ones = all_ones(len(indices), np.dtype(meta["dtype"])) if meta["ones"] else None
        matrix = _csr(mapped("values") if ones is None else ones, indices, mapped("indptr"), shape)
    check_finite_rows(matrix)
    codes = check_codes(mapped("codes"), rows, 0, n_classes - 1).astype(np.int32, copy=False)
    offsets = check_offsets(mapped("offsets"), rows) if meta["sequences"] else None
    n = rows if offsets is None else len(offsets) - 1
    return Part(matrix, codes, offsets, check_weights(mapped("weight"), n, "weight"))


def _csr(values: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: Any) -> Any:
    """A checked CSR matrix of mapped arrays; SciPy's constructor would copy some into memory."""
    import scipy.sparse as sp

    matrix = sp.csr_matrix(shape, dtype=values.dtype)
    matrix.data, matrix.indices, matrix.indptr = values, indices, indptr
    check_compressed(matrix)
    matrix.has_sorted_indices = True
    return matrix


def examples_of(part: Part) -> tuple[Any, Any]:
    """X and class numbers in the form that problems take."""
    if part.offsets is None:
        return part.matrix, part.codes
    X = Sequences(part.matrix, part.offsets)
    return X, LabelSequences(part.codes, X.offsets)
