"""Label sets whose outputs are points of the local polytope: the relaxed problem.

Each label is absent (0), half present (1) or present (2), and each pair of labels has the count of
both together, which says how two halves are paired (``inference/points.py``). Roof duality finds
the best point, so that the certificate closes for the relaxed problem.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.extending import register_jitable

from ...engine.linalg import read_only, row_write
from ...inference.points import HALVES, write_halves
from ...inference.two_labels import relax, roof_dual_size
from ...problem import Functions, Pack
from ...result import RELAXED
from .functions import score, set_scores, set_unary
from .problem import LabelSets


@register_jitable
def pair_count(data, y, e, number):
    """The count of neither, the second, the first or both labels of pair e (0 to 3)."""
    L = data.cost.shape[0]
    a, b = np.int64(y[data.pairs[e, 0]]), np.int64(y[data.pairs[e, 1]])
    both = np.int64(y[L + e])
    if number == 0:
        return HALVES - a - b + both
    if number == 1:
        return b - both
    return a - both if number == 2 else both


@njit(nogil=True)
def loss(data, i, y):
    """The sum of the costs of wrong labels; halves cost one half."""
    L, total = data.cost.shape[0], 0.0
    for k in range(L):
        truth = np.int64(data.y[i * L + k])
        total += data.cost[k, truth] * abs(np.int64(y[k]) - HALVES * truth)
    return total / HALVES


@njit(nogil=True)
def delta(data, i, y, z, idx, val):
    """phi(x, y) - phi(x, z): labels and pairs in which the two points differ."""
    L, nnz = np.int64(data.cost.shape[0]), 0
    base = data.n_features * L
    for k in range(L):
        step = (np.int64(y[k]) - np.int64(z[k])) / HALVES
        if step != 0.0:
            nnz = row_write(data.rows, i, step, L, k, idx, val, nnz)
            if data.bias != 0:
                idx[nnz], val[nnz] = base + k, step * data.bias
                nnz += 1
    if data.bias != 0:
        base += L
    for e in range(data.pairs.shape[0]):
        for number in range(4):
            step = (pair_count(data, y, e, number) - pair_count(data, z, e, number)) / HALVES
            if step != 0.0:
                idx[nnz], val[nnz] = base + 4 * e + number, step
                nnz += 1
    return nnz


@njit(nogil=True)
def margin(data, i, y, z, work):
    """<w, phi(x, y) - phi(x, z)> from the scores that ``score`` or ``decode`` wrote to work."""
    L, total = data.cost.shape[0], 0.0
    pairs = work[L:]
    for k in range(L):
        total += work[k] * (np.int64(y[k]) - np.int64(z[k]))
    for e in range(data.pairs.shape[0]):
        for number in range(4):
            step = pair_count(data, y, e, number) - pair_count(data, z, e, number)
            total += pairs[4 * e + number] * step
    return total / HALVES


@njit(nogil=True)
def decode(data, w, i, mode, y, work):
    """y = the best point, by roof duality."""
    L, m = data.cost.shape[0], data.pairs.shape[0]
    set_scores(data, w, i, work)
    pair, unary = work[L : L + 4 * m], work[L + 4 * m : 3 * L + 4 * m]
    set_unary(data, i, mode, work[:L], unary)
    state, rest = work[3 * L + 4 * m : 4 * L + 4 * m], work[4 * L + 4 * m :]
    relax(data.plan, unary, pair, state, rest)
    write_halves(data.plan, L, pair, state, y)


FUNCTIONS = Functions(decode, loss, delta, score, margin)


class RelaxedLabelSets(LabelSets):
    """Points of the local polytope of label sets; the parameters are those of ``LabelSets``."""

    bounds = RELAXED

    def __init__(self, n_labels: int, pairs: Any = None, cost: Any = None, bias: float = 0.0):
        super().__init__(n_labels, pairs, cost, bias, "roof-dual")
        self.functions = FUNCTIONS

    def pack(self, X: Any, Y: Any = None, sample_weight: np.ndarray | None = None) -> Pack:
        """Pack the rows of X (n, d) with an indicator matrix Y (n, n_labels)."""
        pack = super().pack(X, Y, sample_weight)
        n, L, m = pack.n, self.n_labels, len(self.pairs)
        sets = pack.truth.reshape(n, L)
        both = sets[:, self.pairs[:, 0]] * sets[:, self.pairs[:, 1]]
        return pack._replace(
            data=pack.data._replace(messages=np.zeros(0)),
            offsets=read_only(np.arange(n + 1) * (L + m), np.int64),
            truth=read_only(HALVES * np.hstack([sets, both]).ravel(), np.int8),
            width=pack.width + 2 * m,
            work=4 * L + 4 * m + roof_dual_size(L, m),
        )

    def truth_features(self, pack: Pack) -> np.ndarray:
        """sum_i weight_i phi_i(y_i)."""
        return super().truth_features(pack._replace(truth=pack.data.y))

    def first_scores(self, pack: Pack, w: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """``<w, phi_i(y)>`` of these points (n,)."""
        found = super().first_scores(pack, w, pack.data.y)
        idx, val = np.zeros(pack.width, np.uint64), np.zeros(pack.width)
        for i, (lo, hi) in enumerate(zip(pack.offsets[:-1], pack.offsets[1:], strict=True)):
            nnz = delta(pack.data, i, labels[lo:hi], pack.truth[lo:hi], idx, val)
            found[i] += val[:nnz] @ w[idx[:nnz].astype(np.int64)]
        return found

    def label_bounds(self, pack: Pack) -> tuple[int, int]:
        """Absent to present."""
        return 0, HALVES

    def valid_labels(self, pack: Pack, labels: np.ndarray) -> np.ndarray:
        """Counts of points that are consistent; all counts of an example are valid or none."""
        y = labels.reshape(pack.n, -1).astype(np.int64)
        a, b = y[:, self.pairs[:, 0]], y[:, self.pairs[:, 1]]
        both = y[:, self.n_labels :]
        fits = (both <= np.minimum(a, b)) & (both >= a + b - HALVES)
        valid = super().valid_labels(pack, labels).reshape(y.shape)
        return (valid & fits.all(axis=1, keepdims=True)).ravel()

    def unpack(self, pack: Pack, labels: np.ndarray) -> np.ndarray:
        """The counts of labels and pairs of each example."""
        return labels.reshape(pack.n, -1)
