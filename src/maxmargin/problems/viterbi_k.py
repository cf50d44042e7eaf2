"""The m best sequences of a chain from its scores, and diverse ones.

Scores are laid out as in ``viterbi.py``. A list of the ``depth`` best beginnings is kept for each
token and label, and the next list is merged from those before it.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from .viterbi import viterbi


@register_jitable
def list_paths(s, T, K, L, depth, work):
    """Fill ``work`` with the lists of the best beginnings; ``trace_path`` reads it.

    ``work`` holds ``best[t, b, r]``, the r-th highest score of the first t + 1 labels that end in
    b, the same amount of places ``a * depth + q`` that it came from, and K heads of lists.
    """
    size = K * depth
    best, back = work[: L * size], work[L * size : 2 * L * size]
    heads = work[2 * L * size : 2 * L * size + K]
    for e in range(size):
        best[e] = -np.inf
    for b in range(K):
        best[b * depth] = s[b] + T[K * K + b]
    for t in range(1, L):
        before, now = best[(t - 1) * size : t * size], best[t * size : t * size + size]
        places = back[t * size : t * size + size]
        for b in range(K):
            merge(before, T[b : K * K : K], s[t * K + b], K, depth, heads,
                  now[b * depth : b * depth + depth], places[b * depth : b * depth + depth])  # fmt: skip


@register_jitable
def merge(lists, gain, score, K, depth, heads, top, place):
    """top[r] = the r-th highest of lists[a, q] + gain[a] + score, and place[r] = a * depth + q."""
    for a in range(K):
        heads[a] = 0
    for r in range(depth):
        highest, where = -np.inf, -1
        for a in range(K):
            q = int(heads[a])
            if q < depth and lists[a * depth + q] + gain[a] > highest:
                highest, where = lists[a * depth + q] + gain[a], a
        top[r] = highest + score
        if where >= 0:
            place[r] = where * depth + heads[where]
            heads[where] += 1


@register_jitable
def finish_paths(T, K, L, depth, work, top, place):
    """The scores of the ``depth`` best sequences, -inf for those there are not."""
    size = K * depth
    heads = work[2 * L * size : 2 * L * size + K]
    merge(work[(L - 1) * size : L * size], T[K * K + K : K * K + 2 * K], 0.0, K, depth, heads, top,
          place)  # fmt: skip


@register_jitable
def trace_path(K, L, depth, place, work, z):
    """z = the labels of the sequence that ends at ``place``."""
    size = K * depth
    back = work[L * size : 2 * L * size]
    for t in range(L - 1, -1, -1):
        k = int(place) // depth
        z[t] = k
        place = back[t * size + int(place)]


@register_jitable
def path_score(s, T, K, L, y):
    """The score of a sequence."""
    total = T[K * K + y[0]] + T[K * K + K + y[L - 1]]
    for t in range(L):
        total += s[t * K + y[t]]
        if t > 0:
            total += T[y[t - 1] * K + y[t]]
    return total


@register_jitable
def is_new(z, L, Y, r, banned):
    """Whether the labels z are none of the first r sequences of Y, nor the banned one, if any."""
    for q in range(r):
        differs = False
        for t in range(L):
            differs = differs or z[t] != Y[q * L + t]
        if not differs:
            return False
    if len(banned) == 0:
        return True
    for t in range(L):
        if z[t] != banned[t]:
            return True
    return False


@register_jitable
def next_path(s, T, K, L, depth, Y, r, banned, z, work):
    """z = the best sequence that is new; returns whether there is one."""
    top = work[: depth]
    place, lists = work[depth : 2 * depth], work[2 * depth :]
    list_paths(s, T, K, L, depth, lists)
    finish_paths(T, K, L, depth, lists, top, place)
    for q in range(depth):
        if top[q] == -np.inf:
            return False
        trace_path(K, L, depth, place[q], lists, z)
        if is_new(z, L, Y, r, banned):
            return True
    return False


@register_jitable
def best_paths(s, T, K, L, m, Y, banned, work):
    """Y[1], Y[2], ... = the best sequences other than Y[0] and the banned one; their number + 1."""
    depth = m + (len(banned) > 0)
    top, place, z = work[: depth], work[depth : 2 * depth], work[2 * depth : 2 * depth + L]
    lists = work[2 * depth + L :]
    list_paths(s, T, K, L, depth, lists)
    finish_paths(T, K, L, depth, lists, top, place)
    r = 1
    for q in range(depth):
        if r == m or top[q] == -np.inf:
            break
        trace_path(K, L, depth, place[q], lists, z)
        if is_new(z, L, Y, 1, banned):
            for t in range(L):
                Y[r * L + t] = int(z[t])
            r += 1
    return r


@register_jitable
def diverse_paths(s, T, K, L, m, diversity, Y, banned, work):
    """DivMBest: each next sequence is the best new one for s plus a reward for every difference.

    The Hamming distance to the sequences before it, times ``diversity``, is a change of the scores
    of the tokens (``s`` is changed). Where the argmax is an old sequence, lists of as many as could
    be old are made, and the first new one of them is taken.
    """
    z, work = work[:L], work[L:]
    for r in range(1, m):
        for t in range(L):
            s[t * K + Y[(r - 1) * L + t]] -= diversity
        viterbi(s, T, K, L, z, work)
        if not is_new(z, L, Y, r, banned):
            depth = r + 1 + (len(banned) > 0)
            if not next_path(s, T, K, L, depth, Y, r, banned, z, work):
                return r
        for t in range(L):
            Y[r * L + t] = int(z[t])
    return m
