"""Viterbi decoders of a chain, from its scores.

``s`` holds the scores of the labels of all tokens (L * K). ``T`` holds the transition scores
``T[a*K + b]`` from a to b, then K scores of the first label and K of the last; -inf forbids a
transition. The forward pass computes only maxima, so that it uses vector instructions; the backward
pass finds their arguments.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from ...engine.lanes import FEWEST, max_plus


@register_jitable
def viterbi(s, T, K, L, y, best):
    """y = the sequence with the highest score, which is returned; ``best`` is scratch (L * K)."""
    first, last = T[K * K : K * K + K], T[K * K + K : K * K + 2 * K]
    now = best[:K]
    for b in range(K):
        now[b] = s[b] + first[b]
    for t in range(1, L):
        before, now = best[(t - 1) * K : t * K], best[t * K : t * K + K]
        advance(before, T, K, s[t * K : t * K + K], now)
    top, k = -np.inf, 0
    now = best[(L - 1) * K : L * K]
    for b in range(K):
        if now[b] + last[b] > top:
            top, k = now[b] + last[b], b
    y[L - 1] = k
    for t in range(L - 1, 0, -1):
        before = best[(t - 1) * K : t * K]
        highest, a = -np.inf, 0
        for b in range(K):
            value = before[b] + T[b * K + k]
            if value > highest:
                highest, a = value, b
        k = a
        y[t - 1] = k
    return top


@register_jitable
def advance(before, T, K, score, now):
    """now[b] = score[b] + max_a before[a] + T[a, b]: the loop that takes most of the time."""
    if K >= FEWEST:
        max_plus(before, T, K, score, now)
        return
    start, row = before[0], T[:K]
    for b in range(K):
        now[b] = start + row[b]
    for a in range(1, K):
        start, row = before[a], T[a * K : a * K + K]
        for b in range(K):
            value = start + row[b]
            now[b] = value if value > now[b] else now[b]
    for b in range(K):
        now[b] += score[b]


@register_jitable
def count_errors(s, T, K, L, errors, most, best):
    """Viterbi that also counts errors.

    ``best[t, c, b]`` is set to the highest score of the first t + 1 labels with c errors and b as
    last label. ``errors[t*K + b]`` is the number of errors of label b at token t. Counts are
    limited to ``most``.
    """
    first, size = T[K * K : K * K + K], (most + 1) * K
    for e in range(L * size):
        best[e] = -np.inf
    reached = 0
    for b in range(K):
        count = min(int(errors[b]), most)
        best[count * K + b] = s[b] + first[b]
        reached = max(reached, count)
    now = best[L * size : L * size + K]
    for t in range(1, L):
        before, after = best[(t - 1) * size : t * size], best[t * size : t * size + size]
        worst = 0
        for c in range(reached + 1):
            advance(before[c * K : c * K + K], T, K, s[t * K : t * K + K], now)
            for b in range(K):
                count = int(errors[t * K + b])
                worst = max(worst, count)
                place = min(c + count, most) * K + b
                after[place] = max(after[place], now[b])
        reached = min(reached + worst, most)


@register_jitable
def trace_errors(T, K, L, errors, most, count, k, y, best):
    """y = the best sequence with ``count`` errors that ends with label k."""
    size = (most + 1) * K
    y[L - 1] = k
    for t in range(L - 1, 0, -1):
        before = best[(t - 1) * size : t * size]
        step = int(errors[t * K + k])
        top, a, c = -np.inf, 0, 0
        # If the count is ``most``, several counts of the token before can lead to it.
        for count_before in range(max(count - step, 0), count + 1):
            if min(count_before + step, most) != count:
                continue
            for b in range(K):
                value = before[count_before * K + b] + T[b * K + k]
                if value > top:
                    top, a, c = value, b, count_before
        k, count = a, c
        y[t - 1] = k
