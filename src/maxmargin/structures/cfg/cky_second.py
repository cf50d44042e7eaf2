"""The second best tree, for the oracle of the zero-one loss if the best tree is the true one.

For each node of the true tree, from the bottom to the top, the best wrong subtree of the same
symbol has another rule or split, or the same rule and split and a wrong left or right part, or
another unary chain. So it is enough to visit the 2 L - 1 cells of the true tree again; no second
chart is needed.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from .cky import (
    BEGIN,
    END,
    MORE,
    NOTES,
    RULES,
    SPANS,
    SYMBOLS,
    UP,
    VALUES,
    chain_score,
    scores,
    span_of,
    write_node,
)
from .cky_trace import best_root, find_chain, find_rule, trace, trace_stack, write_rule
from .grammar import LABEL, LEFT, N_LABELS, N_PHRASES, N_TAGS, PARENT, TOP, section

#: In what the second best subtree of a node differs from the best.
CHAIN, RULE, LEFT_PART, RIGHT_PART = range(4)


@register_jitable
def second_best(G, F, J, L, y):
    """Replace the best tree ``y`` by the second best, if its score is less than 1 lower."""
    N, P = np.int64(G[N_PHRASES]), G[N_PHRASES] + G[N_TAGS]
    other = scores(F, J, MORE)  # value of the best other subtree of each node
    change = section(J, NOTES)  # kind of the change, and two numbers that describe it
    for n in range(2 * L - 2, -1, -1):
        improve_node(G, F, J, L, y, n, other, change)
    rival = best_root(G, F, J, L, top_symbol(G, y, 0))
    least = top_value(G, F, J, L, y, 0) - 1.0  # below this the true tree has the highest value
    if rival >= 0 and F[J[UP] + ((L - 1) * P + rival) * L] >= other[0]:
        if F[J[UP] + ((L - 1) * P + rival) * L] > least:
            trace(G, F, J, L, 0, L, rival, y, 0)
        return
    if other[0] <= least:
        return
    n = 0
    while change[3 * n] == LEFT_PART or change[3 * n] == RIGHT_PART:
        n = n + 1 if change[3 * n] == LEFT_PART else right_part(y, n)
    i, j = span_of(y[3 * n])
    if change[3 * n] == RULE:
        chain, rule, k = np.int64(y[3 * n + 2]), change[3 * n + 1], change[3 * n + 2]
    else:
        chain, symbol = change[3 * n + 1], change[3 * n + 2]
        if j - i == 1:
            write_node(y, n, i, j, G[LEFT + 1] - G[LEFT] + symbol - N, chain)
            return
        _, rule, k = find_rule(G, F, J, L, i, j, np.int64(symbol), -1, -1)
    trace_stack(G, F, J, L, y, write_rule(G, J, y, n, i, j, rule, k, chain, 0))


@register_jitable
def improve_node(G, F, J, L, y, n, other, change):
    """other[n] = value of the best subtree that differs from that of ``y``; stores the change."""
    i, j = span_of(y[3 * n])
    cell, rule, chain = i * L + j - 1, y[3 * n + 1], y[3 * n + 2]
    value, kind, first, second = -np.inf, RULE, np.int64(0), np.int64(0)
    X = bottom_symbol(G, y, n)
    if j - i > 1:
        right = right_part(y, n)
        _, k = span_of(y[3 * n + 3])
        value, first, second = find_rule(G, F, J, L, i, j, np.int64(X), np.int64(rule), np.int64(k))
        mine = F[J[RULES] + rule]
        a, b = top_value(G, F, J, L, y, n + 1), top_value(G, F, J, L, y, right)
        if other[n + 1] + b + mine > value:
            value, kind = other[n + 1] + b + mine, LEFT_PART
        if a + other[right] + mine > value:
            value, kind = a + other[right] + mine, RIGHT_PART
        if G[N_PHRASES] > X:
            value += F[J[SPANS] + cell * G[N_LABELS] + G[G[LABEL] + X]]
    if G[N_PHRASES] + G[N_TAGS] > X:
        value += chain_score(G, F, J, np.int64(chain), cell)
        found, c, Z = find_chain(G, F, J, L, i, j, top_symbol(G, y, n), np.int64(chain))
        if found > value:
            value, kind, first, second = found, CHAIN, c, Z
    other[n] = value
    change[3 * n], change[3 * n + 1], change[3 * n + 2] = kind, first, second


@register_jitable
def right_part(y, n):
    """The index of the right part of node n."""
    i, _ = span_of(y[3 * n])
    _, k = span_of(y[3 * n + 3])
    return n + 2 * (k - i)


@register_jitable
def bottom_symbol(G, y, n):
    """The symbol of node n below its chain."""
    rule, R = y[3 * n + 1], G[LEFT + 1] - G[LEFT]
    return np.int64(G[G[PARENT] + rule]) if rule < R else np.int64(rule - R + G[N_PHRASES])


@register_jitable
def top_symbol(G, y, n):
    """The symbol of node n above its chain."""
    chain = y[3 * n + 2]
    return bottom_symbol(G, y, n) if chain == 0 else np.int64(G[G[TOP] + chain])


@register_jitable
def top_value(G, F, J, L, y, n):
    """The value in the chart of the top symbol of node n."""
    P = G[N_PHRASES] + G[N_TAGS]
    i, j = span_of(y[3 * n])
    cell, T = i * L + j - 1, top_symbol(G, y, n)
    if T < P:
        return F[J[UP] + ((j - 1) * P + T) * L + i]
    for e in range(J[J[BEGIN] + cell], J[J[END] + cell]):
        if J[J[SYMBOLS] + e] == T:
            return F[J[VALUES] + e]
    return -np.inf
