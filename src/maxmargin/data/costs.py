"""Cost matrices: the loss of each pair of true and predicted label."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DataError
from .checked import plain_array


def check_cost(cost: Any, n_classes: int) -> np.ndarray:
    """The checked cost matrix (n_classes, n_classes); the 0/1 loss if ``cost`` is None."""
    if cost is None:
        return _frozen(1.0 - np.eye(n_classes))
    matrix = plain_array(cost, "cost", np.float64)
    if matrix.shape != (n_classes, n_classes):
        raise DataError(
            f"the cost matrix has shape {matrix.shape}, but {n_classes} classes need "
            f"({n_classes}, {n_classes}), in the order of classes_"
        )
    bad = ~np.isfinite(matrix) | (matrix < 0) | ((matrix != 0) & np.eye(n_classes, dtype=bool))
    if bad.any():
        t, k = np.argwhere(bad)[0]
        raise DataError(
            f"cost[{t}, {k}] is {matrix[t, k]}: costs must be finite and >= 0, and 0 on the "
            "diagonal"
        )
    return _frozen(matrix)


def _frozen(matrix: np.ndarray) -> np.ndarray:
    """A contiguous read-only copy."""
    matrix = np.array(matrix, np.float64, order="C")
    matrix.flags.writeable = False
    return matrix
