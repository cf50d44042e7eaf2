"""The functions of label sets over packed rows; for the order of w see ``problem.py``.

Scores are in ``work``: one per label, then four per pair of labels.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from ...engine.linalg import Rows, row_scores, row_write
from ...inference import decoder, is_exact
from ...inference.plan import sections
from ...problem import PREDICT, Functions
from ..bounds import PREDICT_SWEEPS, TRAIN_SWEEPS, checked_bound

#: The number of the weight of a pair of labels that are both present.
BOTH = 3


class LabelSetData(NamedTuple):
    """Packed examples.

    Attributes
    ----------
    rows : Rows
        The features of the examples.
    y : int8 array (n * L,)
        1 for the labels that an example has, else 0.
    cost : array (L, 2)
        What it costs to predict a label wrongly, and to miss it.
    pairs : int64 array (m, 2)
        The pairs of labels with weights.
    associative : bool
        Whether a pair has one weight >= 0, for both labels, in place of four.
    plan : int32 array
        What the decoders need to know about the pairs (``inference.plan``).
    messages : float64 array (n * messages of an example,)
        What the decoders keep from call to call.
    n_features : int
    bias : float
        Value of a constant feature, 0 for none.
    """

    rows: Rows
    y: np.ndarray
    cost: np.ndarray
    pairs: np.ndarray
    associative: bool
    plan: np.ndarray
    messages: np.ndarray
    n_features: int
    bias: float


@njit(nogil=True)
def score(data, w, i, work):
    """Scores of the labels and of the pairs of labels."""
    set_scores(data, w, i, work)


@register_jitable
def set_scores(data, w, i, work):
    """The same as ``score``, for calls from other compiled functions."""
    L, m = data.cost.shape[0], data.pairs.shape[0]
    s, base = work[:L], data.n_features * L
    row_scores(data.rows, i, w, L, s)
    if data.bias != 0:
        for k in range(L):
            s[k] += data.bias * w[base + k]
        base += L
    pairs, weights = work[L : L + 4 * m], w[base:]
    if data.associative:
        for e in range(4 * m):
            pairs[e] = 0.0
        for e in range(m):
            pairs[4 * e + BOTH] = weights[e]
    else:
        for e in range(4 * m):
            pairs[e] = weights[e]


@register_jitable
def set_unary(data, i, mode, s, unary):
    """Scores of the absence and of the presence of each label, plus costs in training."""
    L = data.cost.shape[0]
    for k in range(L):
        unary[2 * k], unary[2 * k + 1] = -0.5 * s[k], 0.5 * s[k]
        if mode != PREDICT:
            truth = np.int64(data.y[i * L + k])
            unary[2 * k + 1 - truth] += data.cost[k, truth]


@register_jitable
def both(y, ends, e):
    """The number of the weight of pair e: 0 neither, 1 the second, 2 the first, 3 both labels."""
    return 2 * np.int64(y[ends[2 * e]]) + np.int64(y[ends[2 * e + 1]])


@register_jitable
def score_of(data, i, y, work):
    """<w, phi(x, y)> from the scores."""
    L, total = data.cost.shape[0], 0.0
    pairs = work[L:]
    for k in range(L):
        total += work[k] * (y[k] - 0.5)
    for e in range(data.pairs.shape[0]):
        total += pairs[4 * e + both(y, data.plan, e)]
    return total


@njit(nogil=True)
def loss(data, i, y):
    """The sum of the costs of wrong labels."""
    L, total = data.cost.shape[0], 0.0
    for k in range(L):
        truth = np.int64(data.y[i * L + k])
        if y[k] != truth:
            total += data.cost[k, truth]
    return total


@njit(nogil=True)
def delta(data, i, y, z, idx, val):
    """phi(x, y) - phi(x, z): x for each label that only y has, -x for each that only z has."""
    L, nnz = np.int64(data.cost.shape[0]), 0
    base = data.n_features * L
    for k in range(L):
        if y[k] != z[k]:
            sign = 1.0 if y[k] > z[k] else -1.0
            nnz = row_write(data.rows, i, sign, L, k, idx, val, nnz)
            if data.bias != 0:
                idx[nnz], val[nnz] = base + k, sign * data.bias
                nnz += 1
    if data.bias != 0:
        base += L
    ends, start, arcs, _, _ = sections(data.plan, L)
    for k in range(L):
        if y[k] != z[k]:
            for j in range(start[k], start[k + 1]):
                arc = np.int64(arcs[j])
                if is_new(y, z, k, ends[arc ^ 1]):
                    nnz = write_pair(data, base, arc >> 1, y, z, idx, val, nnz)
    return nnz


@register_jitable
def write_pair(data, base, e, y, z, idx, val, nnz):
    """Write the features of pair e that y and z do not share; returns the new number of entries."""
    new, old = both(y, data.plan, e), both(z, data.plan, e)
    if not data.associative:
        idx[nnz], val[nnz] = base + 4 * e + new, 1.0
        idx[nnz + 1], val[nnz + 1] = base + 4 * e + old, -1.0
        return nnz + 2
    if (new == BOTH) != (old == BOTH):
        idx[nnz], val[nnz] = base + e, 1.0 if new == BOTH else -1.0
        return nnz + 1
    return nnz


@register_jitable
def is_new(y, z, k, other):
    """Whether the pair (k, other) was not yet met at a smaller label in which y and z differ."""
    return other > k or y[other] == z[other]


@njit(nogil=True)
def margin(data, i, y, z, work):
    """<w, phi(x, y) - phi(x, z)> from the scores that ``score`` or ``decode`` wrote to work."""
    L, total = np.int64(data.cost.shape[0]), 0.0
    ends, start, arcs, _, _ = sections(data.plan, L)
    pairs = work[L:]
    for k in range(L):
        if y[k] != z[k]:
            total += work[k] if y[k] > z[k] else -work[k]
            for j in range(start[k], start[k + 1]):
                arc = np.int64(arcs[j])
                if is_new(y, z, k, ends[arc ^ 1]):
                    e = arc >> 1
                    total += pairs[4 * e + both(y, ends, e)] - pairs[4 * e + both(z, ends, e)]
    return total


def exact_decode(decode_graph: Any) -> Any:
    """A decode that always finds the best set."""

    @njit(nogil=True)
    def decode(data, w, i, mode, y, work):
        L, m = data.cost.shape[0], data.pairs.shape[0]
        set_scores(data, w, i, work)
        pair, unary = work[L : L + 4 * m], work[L + 4 * m : 3 * L + 4 * m]
        set_unary(data, i, mode, work[:L], unary)
        rest = work[3 * L + 4 * m :]
        decode_graph(data.plan, np.int64(2), unary, pair, y, data.messages[:0], rest, 1)

    return decode


def bounded_decode(decode_graph: Any) -> Any:
    """A decode that returns an upper bound."""

    @njit(nogil=True)
    def decode(data, w, i, mode, y, work):
        L, m = data.cost.shape[0], data.pairs.shape[0]
        set_scores(data, w, i, work)
        pair, unary = work[L : L + 4 * m], work[L + 4 * m : 3 * L + 4 * m]
        set_unary(data, i, mode, work[:L], unary)
        rest = work[3 * L + 4 * m :]
        size = len(data.messages) * L // max(len(data.y), 1)
        messages = data.messages[i * size : (i + 1) * size]
        sweeps = PREDICT_SWEEPS if mode == PREDICT else TRAIN_SWEEPS
        bound = decode_graph(data.plan, np.int64(2), unary, pair, y, messages, rest, sweeps)
        bound = checked_bound(data.plan, 2, unary, pair, y, bound)
        if mode == PREDICT:
            return bound
        return bound - score_of(data, i, data.y[i * L : (i + 1) * L], work)

    return decode


@lru_cache
def functions_of(kind: str) -> Functions:
    """The functions of label sets for one kind of inference."""
    exact = is_exact(kind)
    decode = exact_decode(decoder(kind)) if exact else bounded_decode(decoder(kind))
    return Functions(decode, loss, delta, score, margin, bounded=not exact)
