"""The functions of first-order chains over packed sequences; for the order of w see ``problem.py``.

Scores are in ``work``: first those of transitions, of the first and of the last label (K * K, K and
K numbers), then K scores of labels per token.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from ...engine.lanes import FEWEST, add_scaled
from ...engine.linalg import Rows, row_write_both, rows_scores
from ...problem import MARGIN, PREDICT, SLACK
from .viterbi import count_errors, trace_errors, viterbi
from .viterbi_k import best_paths, diverse_paths, path_score

#: Kinds of loss: a sum over the tokens, or 1 for a sequence with any error.
HAMMING, ZERO_ONE = 0, 1


class ChainData(NamedTuple):
    """Packed sequences.

    ``cost[t, k]`` times the ``weight`` of a token is the loss of predicting k if t is true.
    ``barrier`` is added to the weights of transitions, of the first and of the last label: 0 if
    they are allowed, -inf if not.
    """

    rows: Rows
    offsets: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    cost: np.ndarray
    barrier: np.ndarray
    n_features: int
    kind: int
    ends: int


@njit(nogil=True)
def score(data, w, i, work):
    """Scores of transitions and of the labels of all tokens."""
    set_scores(data, w, i, work)


@register_jitable
def set_scores(data, w, i, work):
    """The same as ``score``, for calls from other compiled functions."""
    K = np.int64(data.cost.shape[0])
    lo, hi = data.offsets[i], data.offsets[i + 1]
    L, n = hi - lo, K * K + 2 * K
    set_transitions(data, w, K, work[:n], True)
    s = work[n : n + L * K]
    rows_scores(data.rows, lo, L, w, K, s)


@njit(nogil=True)
def decode(data, w, i, mode, y, work):
    """Viterbi over the scores of the tokens, with a count of errors if the loss needs it."""
    if mode == PREDICT or (mode == MARGIN and data.kind == HAMMING):
        decode_tokens(data, w, i, mode, y, work)
    elif len(y) > 0:
        set_scores(data, w, i, work)
        K, L = np.int64(data.cost.shape[0]), len(y)
        n = K * K + 2 * K
        T, s, rest = work[:n], work[n : n + L * K], work[n + L * K :]
        decode_by_count(data, data.offsets[i], mode, s, T, K, L, y, rest)


@njit(nogil=True)
def decode_sums(data, w, i, mode, y, work):
    """``decode`` for prediction, and for the Hamming loss with margin rescaling."""
    decode_tokens(data, w, i, mode, y, work)


@register_jitable
def decode_tokens(data, w, i, mode, y, work):
    """Viterbi over the scores of the tokens, plus costs unless the mode is PREDICT."""
    # K is int64, because in interpreted code products of int16 labels would overflow.
    lo, K, L = data.offsets[i], np.int64(data.cost.shape[0]), len(y)
    if L == 0:
        return
    set_scores(data, w, i, work)
    n = K * K + 2 * K
    T, s, rest = work[:n], work[n : n + L * K], work[n + L * K :]
    augmented, best = rest[: L * K], rest[L * K :]
    for t in range(L):
        cost, weight = data.cost[data.y[lo + t]], data.weight[lo + t]
        if mode == PREDICT:
            weight = 0.0
        scores, higher = s[t * K : t * K + K], augmented[t * K : t * K + K]
        if K >= FEWEST:
            add_scaled(scores, weight, cost, K, higher)
        else:
            for k in range(K):
                higher[k] = scores[k] + weight * cost[k]
    if viterbi(augmented, T, K, L, y, best) == -np.inf and mode == PREDICT:
        # The mask allows no sequence of this length: decode without the mask.
        set_transitions(data, w, K, T, False)
        viterbi(augmented, T, K, L, y, best)


@register_jitable
def set_transitions(data, w, K, T, masked):
    """T = weights plus barriers of transitions, of the first and of the last label."""
    weights = w[data.n_features * K :]
    n = K * K + 2 * K if data.ends else K * K
    for e in range(K * K + 2 * K):
        T[e] = data.barrier[e] if masked else 0.0
    for e in range(n):
        T[e] += weights[e]


@register_jitable
def decode_by_count(data, lo, mode, s, T, K, L, y, work):
    """The best of the best sequences with each number of errors.

    The value of slack rescaling, ``c (1 - (score of the truth - score))``, is not a sum over the
    tokens, but among the sequences with c errors it is largest for the highest score.
    """
    errors, best = work[: L * K], work[L * K :]
    total = 0.0
    truth = T[K * K + data.y[lo]] + T[K * K + K + data.y[lo + L - 1]]
    for t in range(L):
        now, worst = data.y[lo + t], 0.0
        for k in range(K):
            error = data.weight[lo + t] * data.cost[now, k]
            if data.kind == ZERO_ONE and error > 0:
                error = 1.0
            errors[t * K + k] = error
            worst = max(worst, errors[t * K + k])
        total += worst
        truth += s[t * K + now]
        if t > 0:
            truth += T[data.y[lo + t - 1] * K + now]
    most = min(int(total), 1) if data.kind == ZERO_ONE else int(total)
    count_errors(s, T, K, L, errors, most, best)
    value, count, last = 0.0, -1, 0
    for c in range(mode == SLACK, most + 1):  # slack rescaling gives 0 without errors
        for k in range(K):
            margin = truth - best[((L - 1) * (most + 1) + c) * K + k] - T[K * K + K + k]
            found = c * (1.0 - margin) if mode == SLACK else c - margin
            if found > value:
                value, count, last = found, c, k
    if count < 0:
        for t in range(L):
            y[t] = data.y[lo + t]
    else:
        trace_errors(T, K, L, errors, most, count, last, y, best)


@njit(nogil=True)
def loss(data, i, y):
    """The weighted number of wrong labels, or 1 if there is any."""
    lo = data.offsets[i]
    total = 0.0
    for t in range(len(y)):
        total += data.weight[lo + t] * data.cost[data.y[lo + t], y[t]]
    if data.kind == ZERO_ONE:
        return 1.0 if total > 0 else 0.0
    return total


@njit(nogil=True)
def delta(data, i, y, z, idx, val):
    """phi(x, y) - phi(x, z): tokens and transitions at which the two differ."""
    lo, K, L = data.offsets[i], np.int64(data.cost.shape[0]), len(y)
    base = data.n_features * K
    nnz = 0
    for t in range(L):
        same = y[t] == z[t]
        if not same:
            nnz = row_write_both(data.rows, lo + t, K, y[t], z[t], idx, val, nnz)
        if t > 0 and not (same and y[t - 1] == z[t - 1]):
            idx[nnz], val[nnz] = base + y[t - 1] * K + y[t], 1.0
            idx[nnz + 1], val[nnz + 1] = base + z[t - 1] * K + z[t], -1.0
            nnz += 2
    if data.ends and L > 0:
        base += K * K
        for t in (0, L - 1):
            if y[t] != z[t]:
                idx[nnz], val[nnz] = base + y[t], 1.0
                idx[nnz + 1], val[nnz + 1] = base + z[t], -1.0
                nnz += 2
            base += K
    return nnz


@njit(nogil=True)
def delta_tokens(data, i, y, z, idx, val):
    """``delta`` without transitions: their weights stay zero, and ``decode`` needs no change."""
    lo, K, nnz = data.offsets[i], np.int64(data.cost.shape[0]), 0
    for t in range(len(y)):
        if y[t] != z[t]:
            nnz = row_write_both(data.rows, lo + t, K, y[t], z[t], idx, val, nnz)
    return nnz


@njit(nogil=True)
def margin(data, i, y, z, work):
    """<w, phi(x, y) - phi(x, z)> from the scores that ``score`` or ``decode`` wrote to work."""
    K, L = np.int64(data.cost.shape[0]), len(y)
    if L == 0:
        return 0.0
    n, a, b = K * K, y[0], z[0]
    T, s = work, work[n + 2 * K :]
    total = T[n + a] - T[n + b] + s[a] - s[b]
    for t in range(1, L):
        c, d = y[t], z[t]
        total += s[t * K + c] - s[t * K + d] + T[a * K + c] - T[b * K + d]
        a, b = c, d
    return total + T[n + K + a] - T[n + K + b]


@njit(nogil=True)
def m_best(data, w, i, mode, diversity, m, Y, value, work):
    """The best sequences.

    They are exact for prediction and for the Hamming loss with margin rescaling. Otherwise the
    first is that of the oracle, and the others are the best for the scores of ``augment``, which
    approximate the loss near the first sequence.
    """
    lo, K = data.offsets[i], np.int64(data.cost.shape[0])
    L, n = data.offsets[i + 1] - lo, K * K + 2 * K
    if L == 0:
        value[0] = 0.0
        return 1
    decode(data, w, i, mode, Y[:L], work)
    T, s, augmented = work[:n], work[n : n + L * K], work[n + L * K : n + 2 * L * K]
    augment(data, i, mode, s, T, K, L, Y[:L], augmented)
    banned = data.y[lo : lo + L] if data.kind == ZERO_ONE and mode != PREDICT else data.y[:0]
    rest = work[n + 2 * L * K :]
    if diversity == 0:
        count = best_paths(augmented, T, K, L, m, Y, banned, rest)
    else:
        count = diverse_paths(augmented, T, K, L, m, diversity, Y, banned, rest)
    for r in range(count):
        value[r] = path_score(s, T, K, L, Y[r * L : r * L + L])
    return count


@register_jitable
def augment(data, i, mode, s, T, K, L, y, augmented):
    """Scores of the tokens plus ``rate`` times the loss of each label.

    To first order around the output y, the value of slack rescaling, loss * (1 - margin), is a
    constant plus loss(y) times (score + rate * loss), where rate = (1 - margin(y)) / loss(y). The
    zero-one loss is the same for all wrong outputs: the rate is 0, and the truth is excluded.
    """
    lo, rate = data.offsets[i], 1.0
    if mode == PREDICT or data.kind == ZERO_ONE:
        rate = 0.0
    elif mode == SLACK:
        cost = loss(data, i, y)
        if cost > 0:
            truth = path_score(s, T, K, L, data.y[lo : lo + L])
            rate = max(0.0, 1.0 - truth + path_score(s, T, K, L, y)) / cost
    for t in range(L):
        costs, weight = data.cost[data.y[lo + t]], rate * data.weight[lo + t]
        for k in range(K):
            augmented[t * K + k] = s[t * K + k] + weight * costs[k]
