"""The same matching, compiled by numba.

The functions are compiled together with the solver's passes. They work on arrays that are packed
once. ``decode`` writes the best matching into ``y`` and uses ``work`` as its memory; ``loss``
counts wrong pairs; ``delta`` writes the features of one matching minus those of another.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from matching import accuracy, make_pairs
from numba import njit

import maxmargin as mm
from maxmargin.problem import PREDICT, Functions, Pack


class Data(NamedTuple):
    """Features of all pairs of all examples below one another, and where each example begins."""

    pairs: np.ndarray  # (sum of m * m, d)
    start: np.ndarray  # (n + 1,) rows of pairs
    offsets: np.ndarray  # (n + 1,) labels
    truth: np.ndarray  # (sum of m,)


@njit(nogil=True)
def assign(cost, m, y, work):
    """The matching with the lowest cost, by shortest augmenting paths, row by row.

    ``cost`` has m * m entries. ``work`` needs 6 * (m + 1): potentials of rows and columns, the
    distances of columns, the row of each column, the column before each, and which are done.
    """
    u, v, away = work[: m + 1], work[m + 1 : 2 * m + 2], work[2 * m + 2 : 3 * m + 3]
    row, way, done = (
        work[3 * m + 3 : 4 * m + 4], work[4 * m + 4 : 5 * m + 5], work[5 * m + 5 : 6 * m + 6]
    )  # fmt: skip
    for j in range(m + 1):
        u[j] = v[j] = row[j] = way[j] = 0.0
    for i in range(1, m + 1):
        row[0] = i
        column = 0
        for j in range(m + 1):
            away[j] = np.inf
            done[j] = 0.0
        while True:
            done[column] = 1.0
            here = int(row[column])
            least, after = np.inf, 0
            for j in range(1, m + 1):
                if done[j] == 0.0:
                    slack = cost[(here - 1) * m + j - 1] - u[here] - v[j]
                    if slack < away[j]:
                        away[j] = slack
                        way[j] = column
                    if away[j] < least:
                        least = away[j]
                        after = j
            for j in range(m + 1):
                if done[j] != 0.0:
                    u[int(row[j])] += least
                    v[j] -= least
                else:
                    away[j] -= least
            column = after
            if row[column] == 0.0:
                break
        while column != 0:
            before = int(way[column])
            row[column] = row[before]
            column = before
    for j in range(1, m + 1):
        y[int(row[j]) - 1] = j - 1


@njit(nogil=True)
def decode(data, w, i, mode, y, work):
    """The best matching of example i."""
    m, first = data.offsets[i + 1] - data.offsets[i], data.start[i]
    cost = work[: m * m]
    for p in range(m * m):
        score = 0.0
        for f in range(data.pairs.shape[1]):
            score += data.pairs[first + p, f] * w[f]
        cost[p] = -score
    if mode != PREDICT:
        for r in range(m):
            for c in range(m):
                if c != data.truth[data.offsets[i] + r]:
                    cost[r * m + c] -= 1.0
    assign(cost, m, y, work[m * m :])


@njit(nogil=True)
def loss(data, i, y):
    """The number of wrong pairs."""
    wrong = 0.0
    for r in range(len(y)):
        if y[r] != data.truth[data.offsets[i] + r]:
            wrong += 1.0
    return wrong


@njit(nogil=True)
def delta(data, i, y, z, idx, val):
    """phi(y) - phi(z); rows that agree cancel."""
    m, first = len(y), data.start[i]
    d = data.pairs.shape[1]
    for f in range(d):
        idx[f] = f
        val[f] = 0.0
    for r in range(m):
        if y[r] != z[r]:
            for f in range(d):
                val[f] += data.pairs[first + r * m + y[r], f] - data.pairs[first + r * m + z[r], f]
    return d


class FastMatching(mm.CompiledProblem):
    """x: (m, m, d) features of all pairs; y: a permutation, as a tuple."""

    functions = Functions(decode, loss, delta)
    cache = 10  # outputs that one-slack keeps per example: looking them up is cheaper than decoding

    def pack(self, X, Y=None, sample_weight=None):
        """Arrays that never change while training runs."""
        sizes = np.array([len(x) for x in X])
        d = X[0].shape[2]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        labels = np.zeros(offsets[-1], int) if Y is None else np.concatenate([list(y) for y in Y])
        truth = frozen(labels, np.int32)
        data = Data(
            frozen(np.concatenate([x.reshape(-1, d) for x in X]), float),
            frozen(np.concatenate([[0], np.cumsum(sizes**2)]), np.int64),
            frozen(offsets, np.int64),
            truth,
        )
        largest = int(sizes.max())
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        return Pack(
            data, data.offsets, truth, dim=d, width=d, weight=frozen(weight, float),
            work=largest * largest + 6 * (largest + 1),
        )  # fmt: skip

    def work(self, pack, mode):
        """Raise an error for slack rescaling, which has no exact oracle."""
        if mode == 2:
            raise NotImplementedError("no exact oracle for slack rescaling")
        return pack.work

    def unpack(self, pack, labels):
        """The matchings, as tuples."""
        ends = pack.offsets.tolist()
        return [tuple(labels[a:b].tolist()) for a, b in pairwise(ends)]


def frozen(values, dtype):
    """A read-only array, so that numba sees the same type for all of them."""
    array = np.ascontiguousarray(values, dtype)
    array.flags.writeable = False
    return array


def main():
    """Check the problem, train, and predict."""
    _, _, X, Y = make_pairs(120)
    print(mm.check_problem(FastMatching(), X[:20], Y[:20]))
    clf = mm.StructuredSVC(FastMatching(), C=0.1).fit(X[:80], Y[:80])
    print(f"pairs right: {100 * accuracy(Y[80:], clf.predict(X[80:])):.1f} %")


if __name__ == "__main__":
    main()
