"""The backward pass through a chart, which finds the rules and chains of the best tree."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from .cky import (
    BEGIN,
    DOWN,
    END,
    MORE,
    NOTES,
    RULES,
    STACK,
    SYMBOLS,
    UP,
    VALUES,
    chain_score,
    scores,
    write_node,
)
from .grammar import (
    AS_ROOT,
    BELOW,
    BELOW_AT,
    BOTTOM,
    FIRST,
    LEFT,
    N_PHRASES,
    N_TAGS,
    PARENT,
    RIGHT,
    TOP,
    USE,
    section,
)


@register_jitable
def best_root(G, F, J, L, but):
    """The best root of the sentence except ``but``; -1 if there is none."""
    P = G[N_PHRASES] + G[N_TAGS]
    up, use = scores(F, J, UP)[(L - 1) * P * L :], section(G, USE)
    found = -1
    for X in range(P):
        rival = up[found * L] if found >= 0 else -np.inf
        if use[X] & AS_ROOT and but != X and up[X * L] > rival:
            found = X
    return found


@register_jitable
def find_chain(G, F, J, L, i, j, T, but):
    """``(value, c, X)``: the best chain c from a symbol X to T, except the chain ``but``."""
    cell = i * L + j - 1
    place = J[DOWN] + cell * (G[N_PHRASES] + G[N_TAGS])
    best, chain, symbol = -np.inf, 0, T
    if but != 0:
        best = F[place + T]
    for e in range(G[G[BELOW_AT] + T], G[G[BELOW_AT] + T + 1]):
        c = np.int64(G[G[BELOW] + e])
        X = np.int64(G[G[BOTTOM] + c])
        if c != but:
            value = F[place + X] + chain_score(G, F, J, c, cell)
            if value > best:
                best, chain, symbol = value, c, X
    return best, chain, symbol


@register_jitable
def find_rule(G, F, J, L, i, j, A, but_r, but_k):
    """``(value, rule, split)`` of the best way to build A except (but_r, but_k), without span."""
    P = G[N_PHRASES] + G[N_TAGS]
    best, rule, split = -np.inf, np.int64(-1), np.int64(-1)
    lefts, parents, firsts = section(G, LEFT), section(G, PARENT), section(G, FIRST)
    ups, rules = scores(F, J, UP), scores(F, J, RULES)
    for k in range(i + 1, j):
        left = ups[(k - 1) * P * L + i :]
        cell = k * L + j - 1
        for e in range(J[J[BEGIN] + cell], J[J[END] + cell]):
            C = J[J[SYMBOLS] + e]
            for r in range(firsts[C], firsts[C + 1]):
                if parents[r] == A and not (r == but_r and k == but_k):
                    score = left[lefts[r] * L] + F[J[VALUES] + e] + rules[r]
                    if score > best:
                        best, rule, split = score, r, k
    return best, rule, split


@register_jitable
def trace(G, F, J, L, i, j, A, y, n):
    """Write the best tree of symbol A over (i, j), starting at node n."""
    stack = section(J, STACK)
    stack[0], stack[1], stack[2], stack[3] = i, j, A, n
    trace_stack(G, F, J, L, y, 1)


@register_jitable
def trace_stack(G, F, J, L, y, size):
    """Write the best subtrees for all entries of the stack."""
    N, R = np.int64(G[N_PHRASES]), np.int64(G[LEFT + 1] - G[LEFT])
    stack = section(J, STACK)
    while size > 0:
        size -= 1
        i, j, A, n = stack[4 * size], stack[4 * size + 1], stack[4 * size + 2], stack[4 * size + 3]
        chain = 0
        if N + G[N_TAGS] > A:
            _, chain, A = find_chain(G, F, J, L, i, j, A, -1)
        if j - i == 1:
            write_node(y, n, i, j, R + A - N, chain)
        else:
            _, rule, k = find_rule(G, F, J, L, i, j, A, -1, -1)
            size = write_rule(G, J, y, n, i, j, rule, k, chain, size)


@register_jitable
def write_rule(G, J, y, n, i, j, rule, k, chain, size):
    """Write node n, and put its two parts on the stack, the left one on top."""
    write_node(y, n, i, j, rule, chain)
    stack, left, right = section(J, STACK)[4 * size :], G[G[LEFT] + rule], G[G[RIGHT] + rule]
    stack[0], stack[1], stack[2], stack[3] = k, j, right, n + 2 * (k - i)
    stack[4], stack[5], stack[6], stack[7] = i, k, left, n + 1
    return size + 2


@register_jitable
def trace_fragments(G, F, J, L, y):
    """Cover a sentence that the grammar cannot derive by the fewest fragments, the best of these.

    Several fragments are joined by the rule R + K. For a single fragment n_chains is added to its
    chain. Both mean that the most frequent root is put above.
    """
    P, R = G[N_PHRASES] + G[N_TAGS], np.int64(G[LEFT + 1] - G[LEFT])
    total, notes, ups = scores(F, J, MORE), section(J, NOTES), scores(F, J, UP)
    count, symbol, back = notes[: L + 1], notes[2 * L + 1 :], notes[4 * L :]
    total[0], count[0] = 0.0, 0
    for j in range(1, L + 1):
        count[j] = L + 1
        for i in range(j):
            up, X = ups[(j - 1) * P * L + i :], 0
            for Z in range(P):
                if up[Z * L] > up[X * L]:
                    X = Z
            value, pieces = total[i] + up[X * L], count[i] + 1
            if up[X * L] == -np.inf or pieces > count[j]:
                continue
            if pieces < count[j] or value > total[j]:
                total[j], count[j], symbol[j - 1], back[j - 1] = value, pieces, X, i
    j = L
    while j > 0:
        i = back[j - 1]
        if j < L:
            write_node(y, 2 * i, i, L, R + G[N_TAGS], 0)
        trace(G, F, J, L, i, j, symbol[j - 1], y, 2 * i + (1 if j < L else 0))
        j = i
    if count[L] == 1:
        y[2] += G[TOP + 1] - G[TOP]
