"""The mathematics: features, loss and decoding, compiled by numba.

The output is one of K ordered levels, y = 0, ..., K - 1. Its features are ``y * x``, and for each
step that it is above the lowest level a 1: phi(x, y) = (y x, [y >= 1], ..., [y >= K - 1]). One
direction in the space of inputs orders all examples, and the other weights say how hard each step
is. The loss is the number of levels between y and the truth, or 1 for any error.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

import maxmargin as mm
from maxmargin.engine.linalg import Rows, pack_rows, read_only, row_dot, row_write
from maxmargin.problem import MARGIN, PREDICT


class LevelData(NamedTuple):
    """Packed examples: rows of X, true levels, and the cost of an error of 0, 1, 2... levels."""

    rows: Rows
    y: np.ndarray
    cost: np.ndarray
    n_features: int


@njit(nogil=True)
def loss(data, i, y):
    """What it costs to be wrong by this number of levels."""
    return data.cost[abs(y[0] - data.y[i])]


@njit(nogil=True)
def decode(data, w, i, mode, y, work):
    """The best level: ``work`` takes the scores of all levels."""
    step, d, n_levels = row_dot(data.rows, i, w), data.n_features, len(data.cost)
    work[0] = 0.0
    for k in range(1, n_levels):
        work[k] = work[k - 1] + step + w[d + k - 1]
    truth, best, best_value = data.y[i], 0, -np.inf
    for k in range(n_levels):
        wrong, value = data.cost[abs(k - truth)], work[k]
        if mode != PREDICT:
            margin = work[truth] - work[k]
            value = wrong - margin if mode == MARGIN else wrong * (1.0 - margin)
        if value > best_value:
            best, best_value = k, value
    y[0] = best


@njit(nogil=True)
def delta(data, i, y, z, idx, val):
    """The non-zeros of phi(x, y) - phi(x, z)."""
    low, high = min(y[0], z[0]), max(y[0], z[0])
    nnz = row_write(data.rows, i, float(y[0] - z[0]), 1, 0, idx, val, 0)
    for k in range(low, high):
        idx[nnz] = data.n_features + k
        val[nnz] = 1.0 if y[0] > z[0] else -1.0
        nnz += 1
    return nnz


class Levels(mm.CompiledProblem):
    """One of several ordered levels.

    Parameters
    ----------
    levels : array (K,)
        The levels as users write them, from the lowest to the highest.
    zero_one : bool
        Whether all errors cost 1; otherwise the number of levels between.
    """

    functions = mm.Functions(decode, loss, delta)

    def __init__(self, levels: Any, zero_one: bool = False):
        self.levels = np.asarray(levels)
        self.n_outputs = len(self.levels)
        distance = np.arange(self.n_outputs, dtype=float)
        self.cost = read_only(distance.clip(max=1) if zero_one else distance, np.float64)

    def pack(self, X: Any, Y: Any = None, sample_weight: Any = None) -> mm.Pack:
        """Pack the rows of X (n, d) with levels Y (n,)."""
        (n, d), K = X.shape, self.n_outputs
        rows = pack_rows(X)
        truth = read_only(np.zeros(n) if Y is None else self._codes(Y), np.int32)
        return mm.Pack(
            data=LevelData(rows, truth, self.cost, d),
            offsets=read_only(np.arange(n + 1), np.int64),
            truth=truth,
            dim=d + K - 1,
            width=int(np.diff(rows.indptr).max(initial=0)) + K - 1,
            weight=read_only(np.ones(n) if sample_weight is None else sample_weight, np.float64),
            work=K,
        )

    def _codes(self, Y: Any) -> np.ndarray:
        """Levels as the numbers 0, ..., K - 1."""
        codes = np.searchsorted(self.levels, Y).clip(max=self.n_outputs - 1)
        strange = np.flatnonzero(self.levels[codes] != np.asarray(Y))
        if len(strange):
            raise mm.DataError(f"example {strange[0]}: {Y[strange[0]]} is not a level of the scale")
        return codes

    def label_bounds(self, pack: mm.Pack) -> tuple[int, int]:
        """Labels are the numbers of levels."""
        return 0, self.n_outputs - 1

    def unpack(self, pack: mm.Pack, labels: np.ndarray) -> np.ndarray:
        """Levels (n,)."""
        return self.levels[labels]
