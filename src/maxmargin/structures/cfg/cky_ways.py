"""The ways to build an item of a chart from its parts, in the order of their values.

An item is a cell and a key: symbol X before its unary chain (key X) or after it (key S + X, where S
is the number of symbols); key S + P is the complete sentence. A way is a rule with a split, a
chain, or a root, encoded as ``name * (L + 1) + split``.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from .cky import BEGIN, DOWN, END, RULES, SPANS, SYMBOLS, UP, VALUES, chain_score, scores
from .grammar import (
    AS_ROOT,
    BELOW,
    BELOW_AT,
    BOTTOM,
    FIRST,
    LABEL,
    LEFT,
    N_LABELS,
    N_PHRASES,
    N_TAGS,
    PARENT,
    RIGHT,
    USE,
    section,
)


@register_jitable
def key_sizes(G):
    """``(S, P)``: the number of symbols, and of those that are not parts of long rules."""
    return len(section(G, FIRST)) - 1, np.int64(G[N_PHRASES]) + G[N_TAGS]


@register_jitable
def count_parts(G, L, cell, key):
    """The number of parts of an item: 0 for a word, 1 above a chain or for a root, else 2."""
    S, _ = key_sizes(G)
    if key >= S:
        return 1
    return 0 if cell % L == cell // L else 2


@register_jitable
def part_of(G, L, cell, key, way, which):
    """``(cell, key)`` of the first or second part of an item built in this way."""
    S, P = key_sizes(G)
    name, k = way // (L + 1), way % (L + 1)
    if key == S + P:
        return cell, S + name
    if key >= S:
        return cell, np.int64(G[G[BOTTOM] + name]) if name > 0 else key - S
    if which == 0:
        return cell // L * L + k - 1, S + np.int64(G[G[LEFT] + name])
    X = np.int64(G[G[RIGHT] + name])
    return k * L + cell % L, X if X >= P else S + X


@register_jitable
def next_way(G, F, J, L, cell, key, last, last_way):
    """``(value, way)`` of the best way after the last one; the way is -1 if there is none."""
    S, P = key_sizes(G)
    best, way = -np.inf, np.int64(-1)
    down = scores(F, J, DOWN)[cell * P : cell * P + P]
    if key == S + P:
        up, use = scores(F, J, UP)[(L - 1) * P * L :], section(G, USE)
        for X in range(P):
            if use[X] & AS_ROOT:
                best, way = choose(up[X * L], X * (L + 1), last, last_way, best, way)
    elif key >= S:
        T = key - S
        best, way = choose(down[T], 0, last, last_way, best, way)
        for e in range(G[G[BELOW_AT] + T], G[G[BELOW_AT] + T + 1]):
            c = np.int64(G[G[BELOW] + e])
            value = down[G[G[BOTTOM] + c]] + chain_score(G, F, J, c, cell)
            best, way = choose(value, c * (L + 1), last, last_way, best, way)
    elif cell % L == cell // L:
        best, way = choose(down[key], 0, last, last_way, best, way)
    else:
        best, way = next_rule(G, F, J, L, cell, key, last, last_way)
    return best, way


@register_jitable
def next_rule(G, F, J, L, cell, A, last, last_way):
    """The same for a symbol over several words."""
    _, P = key_sizes(G)
    i, j = cell // L, cell % L + 1
    best, way, own = -np.inf, np.int64(-1), 0.0
    if A < P:
        own = F[J[SPANS] + cell * G[N_LABELS] + G[G[LABEL] + A]]
    lefts, parents, firsts = section(G, LEFT), section(G, PARENT), section(G, FIRST)
    ups, rules = scores(F, J, UP), scores(F, J, RULES)
    for k in range(i + 1, j):
        left, right = ups[(k - 1) * P * L + i :], k * L + j - 1
        for e in range(J[J[BEGIN] + right], J[J[END] + right]):
            C = J[J[SYMBOLS] + e]
            for r in range(np.int64(firsts[C]), np.int64(firsts[C + 1])):
                if parents[r] == A:
                    value = left[lefts[r] * L] + F[J[VALUES] + e] + rules[r] + own
                    best, way = choose(value, r * (L + 1) + k, last, last_way, best, way)
    return best, way


@register_jitable
def choose(value, way, last, last_way, best, best_way):
    """The better of two ways, if it comes after the last one; ties are broken by number."""
    after = value < last or (value == last and way > last_way)
    if after and (value > best or (value == best and way < best_way)):
        return value, np.int64(way)
    return best, best_way
