"""CKY for values that are not sums over a tree: lists of the best trees by two counts.

The value of a tree depends on its score and on two counts: it falls with ``low`` and grows with
``high`` (``counted.py`` says what they count). An item of the chart, a symbol over a span, holds a
list of partial trees instead of the best one. A partial tree is left out if another one of the same
item *covers* it: whatever the rest of the tree is, the other one gives at least the same value. So
the list of a root contains a tree of the highest value.

One covers another if its score is higher by at least ``need``, a bound on the value that its counts
can lose: ``prices[0]`` for each ``low`` that it has more, ``prices[1]`` for each ``high`` that it
has less, and ``prices[2]`` at most. The bound satisfies the triangle inequality, so a partial tree
that was left out is covered by one that is in the list at the end.

The memory of the chart is that of ``cky.py``. Its sections have other contents: ``DOWN`` is 1 for
the constituents of the true tree, ``UP`` and ``VALUES`` hold the first entries of lists, and
``NOTES`` the true tags.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from .cky import (
    BEGIN,
    BEST,
    DOWN,
    END,
    NOTES,
    RULES,
    SEEN,
    SPANS,
    STACK,
    SYMBOLS,
    TAGS,
    UP,
    VALUES,
    chain_score,
    scores,
    write_node,
)
from .grammar import (
    ABOVE,
    ABOVE_AT,
    AS_LEFT,
    AS_RIGHT,
    AS_ROOT,
    FIRST,
    LABEL,
    LABEL_AT,
    LABELS,
    LEFT,
    N_LABELS,
    N_PHRASES,
    N_TAGS,
    PARENT,
    RIGHT,
    TOP,
    USE,
    section,
)

#: The integers of a partial tree: its two counts; its rule and split as ``rule * (L + 1) + split``,
#: its chain, or its tag; its parts; the next partial tree of the list.
LOW, HIGH, WAY, ONE, TWO, NEXT, N_NOTES = range(7)

#: ``state`` of the lists: entries in use, the first entry that is free again, whether one was lost.
USED, FREE, FULL = range(3)


class Lists(NamedTuple):
    """Partial trees, as linked lists: scores, `N_NOTES` integers each, state, and prices.

    With ``signed`` 1 a right constituent counts -1 ``high``, a wrong one 1. With 0 a right one
    counts 1 ``low``, a wrong one 1 ``high``.
    """

    score: np.ndarray
    note: np.ndarray
    state: np.ndarray
    prices: np.ndarray
    signed: int


@register_jitable
def new_lists(size, prices, signed):
    """Memory for ``size`` partial trees."""
    state = np.zeros(3, np.int64)
    state[FREE] = -1
    return Lists(np.empty(size), np.empty(N_NOTES * size, np.int64), state, prices, signed)


@register_jitable
def fill_lists(G, F, J, L, tags, tag_at, lo, lists):
    """Fill the chart; returns False if the memory of the lists is too small."""
    P, S = np.int64(G[N_PHRASES]) + G[N_TAGS], len(section(G, FIRST)) - 1
    bucket, ups = scores(F, J, BEST).view(np.int64), scores(F, J, UP).view(np.int64)
    heads, symbols, use = scores(F, J, VALUES).view(np.int64), section(J, SYMBOLS), section(G, USE)
    begin, end, seen, free = section(J, BEGIN), section(J, END), section(J, SEEN), 0
    for A in range(S):
        bucket[A] = -1
    for j in range(1, L + 1):
        for i in range(j - 1, -1, -1):
            cell = i * L + j - 1
            begin[cell] = free
            if j - i == 1:
                n = put_tags(G, F, J, i, tags[tag_at[lo + i] : tag_at[lo + j]], bucket, lists)
            else:
                n = join_lists(G, F, J, L, i, j, bucket, lists)
                add_own(G, F, J, cell, bucket, n, lists)
            up = ups[cell * P : cell * P + P]
            climb_lists(G, F, J, cell, j - i == L, bucket, n, up, lists)
            for t in range(n):
                A = seen[t]
                if A >= P and i > 0:
                    symbols[free], heads[free] = A, bucket[A]
                    free += 1
                bucket[A] = -1
            for X in range(P):
                if up[X] >= 0 and i > 0 and use[X] & AS_RIGHT:
                    symbols[free], heads[free] = X, up[X]
                    free += 1
            end[cell] = free
            if lists.state[FULL]:
                return False
    return True


@register_jitable
def put_tags(G, F, J, i, tags, bucket, lists):
    """The possible tags of token i; a wrong one counts 1 ``high`` if tags count at all."""
    N, K, seen = np.int64(G[N_PHRASES]), np.int64(G[N_TAGS]), section(J, SEEN)
    true = section(J, NOTES)[i]
    for e in range(len(tags)):
        k = np.int64(tags[e])
        wrong = 1 if true >= 0 and k != true else 0
        seen[e] = N + k
        put(lists, bucket, N + k, F[J[TAGS] + i * K + k], 0, wrong, k, -1, -1)
    return len(tags)


@register_jitable
def join_lists(G, F, J, L, i, j, bucket, lists):
    """Combine the lists of all pairs of cells; returns the number of symbols in ``SEEN``."""
    P, n = np.int64(G[N_PHRASES]) + G[N_TAGS], 0
    ups, heads = scores(F, J, UP).view(np.int64), scores(F, J, VALUES).view(np.int64)
    lefts, parents, firsts = section(G, LEFT), section(G, PARENT), section(G, FIRST)
    rules, symbols, seen = scores(F, J, RULES), section(J, SYMBOLS), section(J, SEEN)
    score, note = lists.score, lists.note
    for k in range(i + 1, j):
        left, right = ups[(i * L + k - 1) * P :], k * L + j - 1
        for e in range(J[J[BEGIN] + right], J[J[END] + right]):
            C = symbols[e]
            for r in range(np.int64(firsts[C]), np.int64(firsts[C + 1])):
                a, A = left[lefts[r]], np.int64(parents[r])
                if lists.state[FULL]:
                    return n
                if a >= 0 and bucket[A] < 0:
                    seen[n] = A
                    n += 1
                while a >= 0:
                    b, at = heads[e], N_NOTES * a
                    while b >= 0:
                        to = N_NOTES * b
                        put(
                            lists, bucket, A, score[a] + score[b] + rules[r],
                            note[at + LOW] + note[to + LOW], note[at + HIGH] + note[to + HIGH],
                            r * (L + 1) + k, a, b,
                        )  # fmt: skip
                        b = note[to + NEXT]
                    a = note[at + NEXT]
    return n


@register_jitable
def add_own(G, F, J, cell, bucket, n, lists):
    """Add the constituent itself to the partial trees of each symbol that is one."""
    seen, NL = section(J, SEEN), np.int64(G[N_LABELS])
    for t in range(n):
        A = seen[t]
        if G[N_PHRASES] <= A:
            continue
        label = np.int64(G[G[LABEL] + A])
        low, high = count_label(F, J, cell * NL + label, lists.signed)
        q = bucket[A]
        while q >= 0:
            lists.score[q] += F[J[SPANS] + cell * NL + label]
            lists.note[N_NOTES * q + LOW] += low
            lists.note[N_NOTES * q + HIGH] += high
            q = lists.note[N_NOTES * q + NEXT]


@register_jitable
def count_label(F, J, place, signed):
    """``(low, high)`` of a label over a span."""
    right = np.int64(F[J[DOWN] + place])
    return (0, 1 - 2 * right) if signed else (right, 1 - right)


@register_jitable
def climb_lists(G, F, J, cell, whole, bucket, n, up, lists):
    """up = the lists after unary chains, one step each, as ``cky.climb`` does it."""
    above, above_at, seen = section(G, ABOVE), section(G, ABOVE_AT), section(J, SEEN)
    tops, use, NL = section(G, TOP), section(G, USE), np.int64(G[N_LABELS])
    wanted = AS_LEFT + AS_RIGHT + AS_ROOT if whole else AS_LEFT + AS_RIGHT
    for X in range(len(up)):
        up[X] = -1
    for t in range(n):
        X = seen[t]
        if len(up) <= X:
            continue
        put_all(lists, bucket[X], up, X, 0.0, 0, 0, 0)
        for e in range(above_at[X], above_at[X + 1]):
            c = np.int64(above[e])
            if not use[tops[c]] & wanted:
                continue
            low, high = 0, 0
            for f in range(G[G[LABEL_AT] + c], G[G[LABEL_AT] + c + 1]):
                more = count_label(F, J, cell * NL + G[G[LABELS] + f], lists.signed)
                low, high = low + more[0], high + more[1]
            score = chain_score(G, F, J, c, cell)
            put_all(lists, bucket[X], up, np.int64(tops[c]), score, low, high, c)


@register_jitable
def put_all(lists, q, heads, A, score, low, high, chain):
    """Put a list below a chain: into list A, with a score and counts added."""
    note = lists.note
    while q >= 0:
        at = N_NOTES * q
        put(
            lists, heads, A, lists.score[q] + score, note[at + LOW] + low, note[at + HIGH] + high,
            chain, q, -1,
        )  # fmt: skip
        q = note[at + NEXT]


@register_jitable
def put(lists, heads, A, score, low, high, way, one, two):
    """Put a partial tree into list A, unless one covers it; remove those that it covers."""
    note, state, before, q = lists.note, lists.state, -1, heads[A]
    while q >= 0:
        at = N_NOTES * q
        after = note[at + NEXT]
        fewer, more = note[at + LOW] - low, high - note[at + HIGH]
        if lists.score[q] - score >= need(lists.prices, fewer, more):
            return
        if score - lists.score[q] >= need(lists.prices, -fewer, -more):
            if before >= 0:
                note[N_NOTES * before + NEXT] = after
            else:
                heads[A] = after
            note[at + NEXT] = state[FREE]
            state[FREE] = q
        else:
            before = q
        q = after
    q = state[FREE]
    if q >= 0:
        state[FREE] = note[N_NOTES * q + NEXT]
    elif state[USED] < len(lists.score):
        q = state[USED]
        state[USED] += 1
    else:
        state[FULL] = 1
        return
    at = N_NOTES * q
    lists.score[q] = score
    note[at + LOW], note[at + HIGH], note[at + WAY] = low, high, way
    note[at + ONE], note[at + TWO], note[at + NEXT] = one, two, heads[A]
    heads[A] = q


@register_jitable
def need(prices, low, high):
    """How much higher the score of a partial tree with more ``low`` and less ``high`` must be."""
    found = 0.0
    if low > 0:
        found += prices[0] * low
    if high > 0:
        found += prices[1] * high
    return min(found, prices[2])


@register_jitable
def write_tree(G, J, L, lists, root, y):
    """Write the tree whose root is the entry ``root``."""
    P, R = np.int64(G[N_PHRASES]) + G[N_TAGS], np.int64(G[LEFT + 1] - G[LEFT])
    stack, note, size = section(J, STACK), lists.note, 1
    stack[0], stack[1], stack[2], stack[3] = root, 0, 0, L
    while size > 0:
        size -= 1
        q, n, i, j = stack[4 * size], stack[4 * size + 1], stack[4 * size + 2], stack[4 * size + 3]
        chain = 0
        if j > 0:
            chain, q = note[N_NOTES * q + WAY], note[N_NOTES * q + ONE]
        j, way = abs(j), note[N_NOTES * q + WAY]
        if j - i == 1:
            write_node(y, n, i, j, R + way, chain)
            continue
        rule, k = way // (L + 1), way % (L + 1)
        write_node(y, n, i, j, rule, chain)
        top = stack[4 * size :]
        top[0], top[1], top[2] = note[N_NOTES * q + TWO], n + 2 * (k - i), k
        top[3] = j if G[G[RIGHT] + rule] < P else -j  # a part of a long rule has no chain
        top[4], top[5], top[6], top[7] = note[N_NOTES * q + ONE], n + 1, i, k
        size += 2
