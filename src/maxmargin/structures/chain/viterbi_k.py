"""The m best sequences of a chain, and diverse sequences, from its scores.

Scores are stored as in ``viterbi.py``. The best prefix is computed for each token and label;
further prefixes are computed only if they are needed, so that the m best sequences cost little more
than the best one.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from .viterbi import advance, viterbi


@register_jitable
def open_lists(s, T, K, L, depth, work):
    """Prepare lists of the best prefixes, which ``next_rank`` extends as needed.

    There is one list per state. State t*K + b is a prefix of t + 1 labels with b as last label, and
    state L*K a complete sequence. ``work`` holds: the score of the best prefix of each state
    (``best``), the scores of up to ``depth`` others, their back pointers ``a * depth + q`` (the
    q-th prefix with last label a, one token before), the number of known prefixes, and scratch
    memory of one number per label and one per token.
    """
    best, known = work[: L * K], work[L * K : 2 * L * K + 1]
    for b in range(K):
        best[b] = s[b] + T[K * K + b]
    for t in range(1, L):
        now = best[t * K : t * K + K]
        advance(best[(t - 1) * K : t * K], T, K, s[t * K : t * K + K], now)
    for state in range(L * K):
        known[state] = 1
    known[L * K] = 0


@register_jitable
def next_rank(s, T, K, L, depth, work):
    """The score of the next best sequence, -inf if there are no more.

    The next prefix of a state requires the next prefix of only one state before it, the one from
    which its last prefix came. From the end backwards these states form a path (the recursive
    enumeration of Jimenez and Marzal). Each costs K steps.
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
    """The back pointer of the best prefix of a state."""
    before = best[(t - 1) * K : t * K]
    highest, where = -np.inf, 0
    for a in range(K):
        if before[a] + T[a * K + b] > highest:
            highest, where = before[a] + T[a * K + b], a
    return where * depth


@register_jitable
def extend(s, T, K, L, depth, t, b, best, known, score, back, heads):
    """Append the next best prefix to the list of a state."""
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
    """z = the labels of the sequence with this rank."""
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
    """Whether z differs from the first r sequences of Y and from the banned one, if any."""
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
    """z = the best sequence that is not among the first r of Y; returns whether there is one."""
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
    """Y[1:] = the best sequences except Y[0] and the banned one; returns the length of Y."""
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
    """DivMBest: each next sequence is the best new one for s plus a reward for differences.

    The reward, ``diversity`` times the Hamming distances to the sequences before it, changes the
    scores of the tokens (``s`` is modified). If the best sequence is an old one, the next best are
    enumerated until one is new.
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
