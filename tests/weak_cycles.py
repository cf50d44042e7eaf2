"""Cycles of nodes, with an oracle that is weak on purpose and upper bounds from a relaxation.

The oracle improves one node at a time, once. Its bound lets every node and every edge choose its
labels alone. Enumeration knows the truth.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numba import njit

import maxmargin as mm
from enumerated import Enumerated
from maxmargin.problem import MARGIN, PREDICT
from reference import enumerate_planes

K, D = 2, 2
DIM = D * K + K * K


def cycles(n=8, size=4, seed=0, noise=1.5):
    """Inputs (size, D) and outputs of n cycles; neighbours prefer different labels."""
    random = np.random.RandomState(seed)
    Y = [tuple(int(k) for k in (np.arange(size) + random.randint(2)) % K) for _ in range(n)]
    X = [np.eye(D)[list(y)] + noise * random.randn(size, D) for y in Y]
    return X, Y


class WeakCycles(Enumerated):
    """The oracle in plain Python; ``slack`` is added to its bounds."""

    n_features = DIM

    def __init__(self, slack=0.0):
        self.slack = slack

    def all_outputs(self, x):
        return list(itertools.product(range(K), repeat=len(x)))

    def outputs(self, x):
        return self.all_outputs(x)

    def features(self, x, y):
        nodes, edges = np.zeros((D, K)), np.zeros((K, K))
        for j, k in enumerate(y):
            nodes[:, k] += x[j]
            edges[k, y[(j + 1) % len(y)]] += 1
        return np.concatenate([nodes.ravel(), edges.ravel()])

    def loss(self, y_true, y):
        return float(sum(a != b for a, b in zip(y_true, y, strict=True)))

    def decode(self, x, w, y_true=None, rescaling="margin"):
        y = [0] * len(x)
        for j in range(len(x)):
            options = [(*y[:j], k, *y[j + 1 :]) for k in range(K)]
            y = list(max(options, key=lambda z: self.value(x, w, z, y_true, rescaling)))
        return mm.Bounded(tuple(y), self.bound(x, w, y_true, rescaling) + self.slack)

    def bound(self, x, w, y_true, rescaling):
        """Every node and every edge takes its best labels."""
        scores, edges = x @ w[: D * K].reshape(D, K), w[D * K :]
        best = len(x) * edges.max() + scores.max(axis=1).sum()
        if y_true is None:
            return best
        if rescaling == "slack":
            return len(x) * max(0.0, 1 + best - w @ self.features(x, y_true))
        wrong = np.arange(K) != np.array(y_true)[:, None]
        return len(x) * edges.max() + (scores + wrong).max(axis=1).sum()


class TightCycles(WeakCycles):
    """The best output, with its value as the bound."""

    def decode(self, x, w, y_true=None, rescaling="margin"):
        best = max(self.all_outputs(x), key=lambda y: self.value(x, w, y, y_true, rescaling))
        return mm.Bounded(best, self.value(x, w, best, y_true, rescaling) + self.slack)


def planes_of(X, Y, rescaling="margin"):
    """Planes and losses of all outputs."""
    problem = WeakCycles()
    return enumerate_planes(problem.features, problem.loss, X, Y, problem.all_outputs, rescaling)


class CycleData(NamedTuple):
    x: np.ndarray
    offsets: np.ndarray
    truth: np.ndarray
    messages: np.ndarray


@njit
def score(data, w, i, y):
    lo, total = data.offsets[i], 0.0
    for j in range(len(y)):
        for f in range(D):
            total += data.x[lo + j, f] * w[f * K + y[j]]
        total += w[D * K + y[j] * K + y[(j + 1) % len(y)]]
    return total


@njit
def compiled_loss(data, i, y):
    total = 0.0
    for j in range(len(y)):
        total += y[j] != data.truth[data.offsets[i] + j]
    return total


@njit
def compiled_decode(data, w, i, mode, y, work):
    """One sweep over the nodes, from the labels that the last call has left.

    A message is the label plus K times the number of calls so far.
    """
    lo = data.offsets[i]
    calls = int(data.messages[lo]) // K
    for j in range(len(y)):
        y[j] = int(data.messages[lo + j]) % K
    for j in range(len(y)):
        best, label = -np.inf, 0
        for k in range(K):
            y[j] = k
            value = score(data, w, i, y) + (compiled_loss(data, i, y) if mode == MARGIN else 0.0)
            if value > best:
                best, label = value, k
        y[j] = label
    bound, edge = 0.0, -np.inf
    for j in range(len(y)):
        data.messages[lo + j] = y[j] + K * (calls + 1)
        best = -np.inf
        for k in range(K):
            value = 1.0 if mode == MARGIN and k != data.truth[lo + j] else 0.0
            for f in range(D):
                value += data.x[lo + j, f] * w[f * K + k]
            best = max(best, value)
        bound += best
    for e in range(K * K):
        edge = max(edge, w[D * K + e])
    bound += len(y) * edge
    return bound if mode == PREDICT else bound - score(data, w, i, data.truth[lo : lo + len(y)])


@njit
def compiled_delta(data, i, y, z, idx, val):
    nnz = write_features(data, i, y, 1.0, 0, idx, val)
    return write_features(data, i, z, -1.0, nnz, idx, val)


@njit
def write_features(data, i, y, sign, nnz, idx, val):
    for j in range(len(y)):
        for f in range(D):
            idx[nnz], val[nnz] = f * K + y[j], sign * data.x[data.offsets[i] + j, f]
            nnz += 1
        idx[nnz], val[nnz] = D * K + y[j] * K + y[(j + 1) % len(y)], sign
        nnz += 1
    return nnz


class CompiledCycles(mm.CompiledProblem):
    """The same with numba functions and margin rescaling; it starts from its last labels."""

    functions = mm.Functions(compiled_decode, compiled_loss, compiled_delta, bounded=True)
    cache = 3

    def pack(self, X, Y=None, sample_weight=None):
        sizes = [len(x) for x in X]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        truth = np.zeros(offsets[-1], np.int64)
        if Y is not None:
            truth[:] = np.concatenate(Y)
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        self.messages = np.zeros(len(truth))
        data = CycleData(np.concatenate(X), offsets, truth, self.messages)
        return mm.Pack(data, offsets, truth, DIM, 2 * (D + 1) * max(sizes), weight)

    def label_bounds(self, pack):
        return 0, K - 1

    def unpack(self, pack, labels):
        parts = np.split(labels, pack.offsets[1:-1])
        return [tuple(part.tolist()) for part in parts]
