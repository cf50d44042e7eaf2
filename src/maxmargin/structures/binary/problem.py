"""Binary classification: phi(x, y) = y x / 2, so that P is the objective of the hinge-loss SVM."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from ...data.checked import check_codes
from ...engine.linalg import Rows, add_rows, mean_square, pack_rows, read_only, row_dot, row_write
from ...errors import DataError
from ...problem import PREDICT, CompiledProblem, Functions, Pack


class BinaryData(NamedTuple):
    """Packed examples: rows of X, true labels in {-1, 1}, and the value of the bias feature."""

    rows: Rows
    y: np.ndarray
    n_features: int
    bias: float


@njit(nogil=True)
def score(data, w, i, work):
    """<w, x>."""
    set_score(data, w, i, work)


@register_jitable
def set_score(data, w, i, work):
    """The same as ``score``, for calls from other compiled functions."""
    work[0] = row_dot(data.rows, i, w)
    if data.bias != 0:
        work[0] += data.bias * w[data.n_features]


@njit(nogil=True)
def decode(data, w, i, mode, y, work):
    """The sign of <w, x>; in training the wrong label if it violates the margin.

    Both rescalings are equal, because the only positive loss is 1.
    """
    set_score(data, w, i, work)
    if mode == PREDICT:
        y[0] = 1 if work[0] > 0 else -1
    elif data.y[i] * work[0] < 1:
        y[0] = -data.y[i]
    else:
        y[0] = data.y[i]


@njit(nogil=True)
def loss(data, i, y):
    """1 if the label is wrong."""
    return 0.0 if y[0] == data.y[i] else 1.0


@njit(nogil=True)
def delta(data, i, y, z, idx, val):
    """phi(x, y) - phi(x, z) = (y - z)/2 * x."""
    if y[0] == z[0]:
        return 0
    scale = 0.5 * (y[0] - z[0])
    nnz = row_write(data.rows, i, scale, 1, 0, idx, val, 0)
    if data.bias != 0:
        idx[nnz], val[nnz] = data.n_features, scale * data.bias
        nnz += 1
    return nnz


@njit(nogil=True)
def margin(data, i, y, z, work):
    """<w, phi(x, y) - phi(x, z)> from <w, x>."""
    return 0.5 * (y[0] - z[0]) * work[0]


@njit(nogil=True)
def m_best(data, w, i, mode, diversity, m, Y, value, work):
    """Both labels, the best one first."""
    decode(data, w, i, mode, Y[:1], work)
    value[0] = 0.5 * Y[0] * work[0]
    if m == 1:
        return 1
    Y[1], value[1] = -Y[0], -value[0]
    return 2


class Binary(CompiledProblem):
    """Labels -1 and 1 over the rows of a dense or CSR matrix.

    Parameters
    ----------
    bias : float
        Value of an extra constant feature; 0 for none.
    """

    functions = Functions(decode, loss, delta, score, margin, m_best)
    n_outputs = 2

    def __init__(self, bias: float = 0.0):
        self.bias = float(bias)

    def encode_classes(self, n_classes: int) -> np.ndarray:
        """-1 and 1."""
        if n_classes != 2:
            raise DataError(f"there are {n_classes} different labels, not two")
        return np.array([-1, 1])

    def pack(self, X: Any, Y: Any = None, sample_weight: np.ndarray | None = None) -> Pack:
        """Pack the rows of X (n, d) with labels Y (n,) in {-1, 1}."""
        n, d = X.shape
        y = np.ones(n, np.int32) if Y is None else check_codes(Y, n, -1, 1)
        rows = pack_rows(X)
        truth = read_only(y, np.int32)
        return Pack(
            data=BinaryData(rows, truth, d, self.bias),
            offsets=read_only(np.arange(n + 1), np.int64),
            truth=truth,
            dim=d + (self.bias != 0),
            width=int(np.diff(rows.indptr).max(initial=0)) + 1,
            weight=read_only(np.ones(n) if sample_weight is None else sample_weight, np.float64),
            work=1,
        )

    def truth_features(self, pack: Pack) -> np.ndarray:
        """sum_i weight_i y_i x_i / 2."""
        total, share = np.zeros(pack.dim), 0.5 * pack.weight * pack.truth
        add_rows(pack.data.rows, share, np.zeros(pack.n, np.int64), 1, total)
        if self.bias:
            total[-1] += self.bias * share.sum()
        return total

    def operations(self, pack: Pack) -> float:
        """One operation per entry of X."""
        return float(pack.data.rows.nnz)

    def plane_square(self, pack: Pack) -> float:
        """The average |x|^2."""
        return mean_square(pack.data.rows) + self.bias**2

    def label_bounds(self, pack: Pack) -> tuple[int, int]:
        """The two labels."""
        return -1, 1

    def unpack(self, pack: Pack, labels: np.ndarray) -> np.ndarray:
        """Labels (n,) in {-1, 1}."""
        return labels
