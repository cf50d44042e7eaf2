"""Multi-class classification of Crammer and Singer, with one weight vector per class.

phi(x, k) is x in the block of class k; the loss is 0/1 or any cost matrix with a zero diagonal.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from ...data.checked import check_codes
from ...data.costs import check_cost
from ...engine.linalg import (
    Rows,
    add_rows,
    mean_square,
    pack_rows,
    read_only,
    row_scores,
    row_write_both,
)
from ...problem import MARGIN, PREDICT, CompiledProblem, Functions, Pack


class MulticlassData(NamedTuple):
    """Packed examples: rows of X, true classes, costs, and the value of the bias feature (or 0)."""

    rows: Rows
    y: np.ndarray
    cost: np.ndarray
    n_features: int
    bias: float


@njit(nogil=True)
def score(data, w, i, work):
    """The scores of all classes."""
    set_scores(data, w, i, work)


@register_jitable
def set_scores(data, w, i, work):
    """The same as ``score``, for calls from other compiled functions."""
    K = data.cost.shape[0]
    s = work
    row_scores(data.rows, i, w, K, s)
    if data.bias != 0:
        for k in range(K):
            s[k] += data.bias * w[data.n_features * K + k]


@njit(nogil=True)
def decode(data, w, i, mode, y, work):
    """argmax over classes; ties give the truth in training and the lowest class in prediction."""
    set_scores(data, w, i, work)
    K = data.cost.shape[0]
    s = work
    if mode == PREDICT:
        y[0] = np.argmax(s[:K])
        return
    t = data.y[i]
    cost, truth_score = data.cost[t], s[t]
    best, best_value = t, 0.0
    for k in range(K):
        margin = truth_score - s[k]
        value = cost[k] - margin if mode == MARGIN else cost[k] * (1.0 - margin)
        if value > best_value:
            best, best_value = k, value
    y[0] = best


@njit(nogil=True)
def loss(data, i, y):
    """cost[truth, y]."""
    return data.cost[data.y[i], y[0]]


@njit(nogil=True)
def delta(data, i, y, z, idx, val):
    """phi(x, y) - phi(x, z): x in block y, -x in block z."""
    if y[0] == z[0]:
        return 0
    K = data.cost.shape[0]
    nnz = row_write_both(data.rows, i, K, y[0], z[0], idx, val, 0)
    if data.bias != 0:
        idx[nnz], val[nnz] = data.n_features * K + y[0], data.bias
        idx[nnz + 1], val[nnz + 1] = data.n_features * K + z[0], -data.bias
        nnz += 2
    return nnz


@njit(nogil=True)
def margin(data, i, y, z, work):
    """<w, phi(x, y) - phi(x, z)> from the scores of the classes."""
    return work[y[0]] - work[z[0]]


@njit(nogil=True)
def m_best(data, w, i, mode, diversity, m, Y, value, work):
    """The best classes; ``diversity`` has no effect, because all classes differ equally."""
    decode(data, w, i, mode, Y[:1], work)
    K, t = data.cost.shape[0], data.y[i]
    s, v = work[:K], work[K : 2 * K]
    for k in range(K):
        if mode == PREDICT:
            v[k] = s[k]
        else:
            margin, cost = s[t] - s[k], data.cost[t, k]
            v[k] = cost - margin if mode == MARGIN else cost * (1.0 - margin)
    value[0] = s[Y[0]]
    v[Y[0]] = -np.inf
    count = min(m, K)
    for r in range(1, count):
        k = np.argmax(v)
        Y[r], value[r] = k, s[k]
        v[k] = -np.inf
    return count


class Multiclass(CompiledProblem):
    """Classes 0..n_classes-1 over the rows of a dense or CSR matrix.

    Parameters
    ----------
    n_classes : int
    cost : array (n_classes, n_classes), optional
        ``cost[t, k]`` is the loss of predicting k if t is true; the diagonal is zero, and no entry
        is negative. By default the 0/1 loss.
    bias : float
        Value of an extra constant feature; 0 for none.
    """

    functions = Functions(decode, loss, delta, score, margin, m_best)

    def __init__(self, n_classes: int, cost: Any = None, bias: float = 0.0):
        self.n_classes = self.n_outputs = n_classes
        self.cost = check_cost(cost, n_classes)
        self.bias = float(bias)

    def pack(self, X: Any, Y: Any = None, sample_weight: np.ndarray | None = None) -> Pack:
        """Pack the rows of X (n, d) with classes Y (n,)."""
        n, d = X.shape
        y = np.zeros(n, np.int32) if Y is None else check_codes(Y, n, 0, self.n_classes - 1)
        rows = pack_rows(X)
        widest = int(np.diff(rows.indptr).max(initial=0)) + (self.bias != 0)
        truth = read_only(y, np.int32)
        return Pack(
            data=MulticlassData(rows, truth, self.cost, d, self.bias),
            offsets=read_only(np.arange(n + 1), np.int64),
            truth=truth,
            dim=(d + (self.bias != 0)) * self.n_classes,
            width=2 * widest,
            weight=read_only(np.ones(n) if sample_weight is None else sample_weight, np.float64),
            work=self.n_classes,
        )

    def m_best_work(self, pack: Pack, mode: int, m: int) -> int:
        """Scores and values of all classes."""
        return 2 * self.n_classes

    def truth_features(self, pack: Pack) -> np.ndarray:
        """sum_i weight_i phi_i(y_i)."""
        K, y, total = self.n_classes, pack.truth.astype(np.int64), np.zeros(pack.dim)
        add_rows(pack.data.rows, pack.weight, y, K, total)
        if self.bias:
            np.add.at(total, pack.data.n_features * K + y, self.bias * pack.weight)
        return total

    def operations(self, pack: Pack) -> float:
        """One operation per entry of X and class."""
        return float(pack.data.rows.nnz * self.n_classes)

    def plane_square(self, pack: Pack) -> float:
        """Twice the average |x|^2: a plane has x for the true class and -x for another one."""
        return 2 * (mean_square(pack.data.rows) + self.bias**2)

    def label_bounds(self, pack: Pack) -> tuple[int, int]:
        """The class numbers."""
        return 0, self.n_classes - 1

    def unpack(self, pack: Pack, labels: np.ndarray) -> np.ndarray:
        """Class numbers (n,)."""
        return labels
