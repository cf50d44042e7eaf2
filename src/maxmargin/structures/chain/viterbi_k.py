"""The m best sequences of a chain from its scores, and diverse ones.

Scores are laid out as in ``viterbi.py``. The best beginning is known for each token and label, and
further ones are found only where they are needed, so that the m best sequences cost little more
than the best one.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from .viterbi import advance, viterbi


@register_jitable
def open_lists(s, T, K, L, depth, work):
    """Prepare lists of the best beginnings, of which ``next_rank`` computes what is needed.

    The lists belong to states: state t*K + b stands for the first t + 1 labels, the last of them b,
    and state L*K for whole sequences. ``work`` holds: the score of the best beginning of each state
    (``best``), those of up to ``depth`` others, the place ``a * depth + q`` that each came from
    (the q-th of label a before it), how many are known, and room for one number a label and one a
    token.
    """
    best, known = work[: L * K], work[L * K : 2 * L * K + 1]
    for b in range(K):
        best[b] = s[b] + T[K * K + b]
    for t in range(1, L):
        now = best[t * K : t * K + K]
        advance(best[(t - 1) * K : t * K], T, K, now)
        for b in range(K):
            now[b] += s[t * K + b]
    for state in range(L * K):
        known[state] = 1
    known[L * K] = 0


@register_jitable
def next_rank(s, T, K, L, depth, work):
    """The score of the next best sequence, -inf when there are no more.

    To know the next of a state, one must know the next of that state before it from which the last
    one came, and of no other: from the end backwards these form a chain (the recursive enumeration
    of Jimenez and Marzal). Each costs K steps.
    """
    size = (L * K + 1) * depth
    best, known = work[: L * K], work[L * K : 2 * L * K + 1]
    score, back = work[2 * L * K + 1 : 2 * L * K + 1 + size], work[2 * L * K + 1 + size :]
    path, heads = back[size : size + L + 1], back[size + L + 1 : size + L + 1 + K]
    t, b = L, 0
    while True:
        path[t] = b
        state = t * K + b
        rank = int(known[state])
        if t == 0 or rank == 0:
            break
        if rank == 1 and t < L:
            back[state * depth] = first_place(best, T, K, t, b, depth)
        last = best[state] if rank == 1 and t < L else score[state * depth + rank - 1]
        if last == -np.inf:
            break
        place = int(back[state * depth + rank - 1])
        if known[(t - 1) * K + place // depth] > place % depth + 1:
            break
        t, b = t - 1, place // depth
    while True:
        b = int(path[t])
        extend(s, T, K, L, depth, t, b, best, known, score, back, heads)
        if t == L:
            break
        t += 1
    return score[L * K * depth + int(known[L * K]) - 1]


@register_jitable
def first_place(best, T, K, t, b, depth):
    """Where the best beginning of a state came from."""
    before = best[(t - 1) * K : t * K]
    highest, where = -np.inf, 0
    for a in range(K):
        if before[a] + T[a * K + b] > highest:
            highest, where = before[a] + T[a * K + b], a
    return where * depth


@register_jitable
def extend(s, T, K, L, depth, t, b, best, known, score, back, heads):
    """Append the next best beginning to the list of a state."""
    state = t * K + b
    rank = int(known[state])
    known[state] = rank + 1
    highest, where = -np.inf, -1
    if t > 0:
        for a in range(K):
            heads[a] = 0
        for r in range(rank):
            if (r == 0 and t < L) or score[state * depth + r] > -np.inf:
                heads[int(back[state * depth + r]) // depth] += 1
        for a in range(K):
            q, before = int(heads[a]), (t - 1) * K + a
            if q >= known[before]:
                continue
            value = best[before] if q == 0 else score[before * depth + q]
            value += T[K * K + K + a] if t == L else T[a * K + b]
            if value > highest:
                highest, where = value, a
    if where >= 0:
        back[state * depth + rank] = where * depth + heads[where]
    score[state * depth + rank] = highest if t == L else highest + s[state]


@register_jitable
def trace_path(T, K, L, depth, rank, work, z):
    """z = the labels of the sequence of this rank."""
    size = (L * K + 1) * depth
    best, back = work[: L * K], work[2 * L * K + 1 + size :]
    place = int(back[L * K * depth + rank])
    for t in range(L - 1, -1, -1):
        k = place // depth
        z[t] = k
        if t > 0 and place % depth == 0:
            place = first_place(best, T, K, t, k, depth)
        elif t > 0:
            place = int(back[(t * K + k) * depth + place % depth])


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
    differs = False
    for t in range(L):
        differs = differs or z[t] != banned[t]
    return differs


@register_jitable
def next_path(s, T, K, L, depth, Y, r, banned, z, work):
    """z = the best sequence that is none of the first r of Y; returns whether there is one."""
    open_lists(s, T, K, L, depth, work)
    for rank in range(depth):
        if next_rank(s, T, K, L, depth, work) == -np.inf:
            return False
        trace_path(T, K, L, depth, rank, work, z)
        if is_new(z, L, Y, r, banned):
            return True
    return False


@register_jitable
def best_paths(s, T, K, L, m, Y, banned, work):
    """Y[1], Y[2], ... = the best sequences other than Y[0] and the banned one; their number + 1."""
    z, work = work[:L], work[L:]
    depth, r = m + (len(banned) > 0), 1
    open_lists(s, T, K, L, depth, work)
    for rank in range(depth):
        if r == m or next_rank(s, T, K, L, depth, work) == -np.inf:
            break
        trace_path(T, K, L, depth, rank, work, z)
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
