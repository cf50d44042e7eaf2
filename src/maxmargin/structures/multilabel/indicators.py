"""Indicator matrices: which labels each example has."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.checked import csr_rows, plain_array
from ...errors import DataError


def read_indicators(Y: Any, n: int, n_labels: int | None = None) -> np.ndarray:
    """The indicator matrix as a dense int8 array (n, n_labels), checked."""
    if hasattr(Y, "tocsr"):
        matrix = csr_rows(Y, "Y").toarray()
    else:
        try:
            matrix = plain_array(Y, "Y")
        except ValueError as error:
            raise DataError(f"{_HINT}: {error}") from error
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise DataError(f"{_HINT}, got an array of {matrix.dtype} of shape {matrix.shape}")
    if matrix.shape[0] != n:
        raise DataError(f"X has {n} examples and Y has {matrix.shape[0]}: lengths must agree")
    if matrix.shape[1] == 0 or n_labels not in (None, matrix.shape[1]):
        raise DataError(f"Y has {matrix.shape[1]} labels, expected {n_labels or 'at least one'}")
    wrong = (matrix != 0) & (matrix != 1)
    if wrong.any():
        i, k = np.argwhere(wrong)[0].tolist()
        raise DataError(f"Y[{i}, {k}] is {matrix[i, k]}: entries must be 0 or 1")
    return matrix.astype(np.int8)


_HINT = (
    "Y must be a matrix with one column per label, of 0 and 1; scikit-learn's MultiLabelBinarizer "
    "makes one from lists of labels"
)
