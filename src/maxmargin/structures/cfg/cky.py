"""CKY: the best tree of a sentence, from the scores of rules, chains, tags and spans.

A chart has a cell for every span. A cell is filled in two steps: binary rules combine two cells to
symbols (``DOWN``); then unary chains, one step each, lead from these to the symbols that larger
cells use (``UP``). As a left part, a cell is a dense row over constituents and tags, which are few.
As a right part, it is a list of its symbols, including parts of long rules, each with the rules
that have it on the right. Only maxima are stored; the backward pass finds their arguments.

A tree is stored as 3 numbers per node, a parent before its parts: the key of the span, the rule
(R + tag for a word), and the chain. A subtree over m words always has 2 m - 1 nodes.

In all functions ``G`` is the table of a grammar (``grammar.py``), ``F`` and ``J`` are the floats
and integers of a chart, and L is the length of the sentence. Cell (i, j) has the number
i * L + j - 1. ``UP`` has another order: X over (i, j) is entry ((j - 1) * P + X) * L + i, where P
is the number of constituents and tags.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

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
    TOP,
    USE,
    section,
)

#: Keys order spans by their start and then by length, the longest first, as in trees.
SHIFT = 16
LONGEST = (1 << 15) - 1

#: Sections of F: scores of rules, chains, tags (per token) and labels (per cell); the cells before
#: and after chains; the best value of each symbol in the cells that are being filled; the values of
#: right lists; scratch memory.
RULES, CHAINS, TAGS, SPANS, DOWN, UP, BEST, VALUES, MORE = range(9)

#: Sections of J: symbols of right lists; begin and end of the list of each cell; the symbols of the
#: cell that is being filled; a stack of subtrees to be written; scratch memory; which symbols end
#: before each token. Before these sections J holds the positions of the sections of F.
SYMBOLS, BEGIN, END, SEEN, STACK, NOTES, ENDS = range(10, 17)


@register_jitable
def lay_out(G, L, J):
    """Write the positions of the sections of a chart; returns the lengths of F and J."""
    P, S = G[N_PHRASES] + G[N_TAGS], len(section(G, FIRST)) - 1
    R, n_chains, NL = len(section(G, LEFT)), len(section(G, TOP)), G[N_LABELS]
    listed = L * P + (L * L - L) // 2 * S
    place = 0
    floats = (R, n_chains, L * G[N_TAGS], L * L * NL, L * L * P, L * L * P, S * L + P, listed)
    for k, size in enumerate((*floats, 2 * (L + 1) * NL + 2 * L)):
        J[k] = place
        place += size
    J[9] = end = place
    place = 18
    for k, size in enumerate((listed, L * L, L * L, 2 * S, 4 * L + 8, 6 * L, L * P)):
        J[10 + k] = place
        place += size
    J[17] = place
    return end, place


@register_jitable
def open_chart(G, L, work):
    """``(F, J, rest)``: memory for a chart, and the rest of ``work``."""
    J = work.view(np.int64)
    size, ints = lay_out(G, L, J)
    return work[ints : ints + size], J[:ints], work[ints + size :]


@register_jitable
def scores(F, J, k):
    """Section k of F."""
    return F[J[k] : J[k + 1]]


@register_jitable
def span_of(key):
    """``(i, j)`` of the key of a span."""
    return key >> SHIFT, LONGEST - (key & ((1 << SHIFT) - 1))


@register_jitable
def write_node(y, n, i, j, rule, chain):
    """Write node n of a tree."""
    y[3 * n] = (i << SHIFT) + LONGEST - j
    y[3 * n + 1] = rule
    y[3 * n + 2] = chain


@register_jitable
def inside(G, F, J, L, tags, tag_at, lo, beam):
    """Fill the chart; token t may have the tags ``tags[tag_at[lo + t]:tag_at[lo + t + 1]]``.

    Cells with the same end j are filled from the shortest to the longest. As soon as cell (i, j) is
    filled, it is combined with everything that ends at i: one vector operation per rule, for all
    starts a < i. Symbols with a value more than ``beam`` below the best of their cell are pruned.
    """
    N, K, NL = np.int64(G[N_PHRASES]), np.int64(G[N_TAGS]), np.int64(G[N_LABELS])
    P, S = N + K, len(section(G, FIRST)) - 1
    best, row, tag = scores(F, J, BEST), scores(F, J, BEST)[S * L :], scores(F, J, TAGS)
    seen, mark = section(J, SEEN)[:S], section(J, SEEN)[S:]
    begin, end, ends = section(J, BEGIN), section(J, END), section(J, ENDS)
    symbols, values, use = section(J, SYMBOLS), scores(F, J, VALUES), section(G, USE)
    downs, ups, spans = scores(F, J, DOWN), scores(F, J, UP), scores(F, J, SPANS)
    lefts, firsts, label = section(G, LEFT), section(G, FIRST), section(G, LABEL)
    for A in range(S):
        mark[A] = 0
    for e in range(len(ends)):
        ends[e] = 0
    free = 0
    for j in range(1, L + 1):
        n = 0
        for i in range(j - 1, -1, -1):
            cell = i * L + j - 1
            down = downs[cell * P : cell * P + P]
            for X in range(P):
                down[X] = -np.inf
            begin[cell] = free
            if j - i == 1:
                for e in range(tag_at[lo + i], tag_at[lo + j]):
                    down[N + tags[e]] = tag[i * K + tags[e]]
            for t in range(n):
                A = seen[t]
                if best[A * L + i] == -np.inf:
                    continue
                if A < P:
                    down[A] = best[A * L + i] + spans[cell * NL + label[A]]
                elif i > 0 and is_wanted(firsts, lefts, A, ends[i * P : i * P + P]):
                    symbols[free] = A
                    values[free] = best[A * L + i]
                    free += 1
            climb(G, F, J, down, row, cell, j - i == L)
            if beam < np.inf and j - i < L:
                free = prune(symbols, values, row, begin[cell], free, beam)
            for X in range(P):
                ups[((j - 1) * P + X) * L + i] = row[X]
                if row[X] > -np.inf:
                    if j < L:
                        ends[j * P + X] = 1
                    if i > 0 and use[X] & AS_RIGHT:
                        symbols[free] = X
                        values[free] = row[X]
                        free += 1
            end[cell] = free
            if i > 0:
                n = join(G, F, J, L, i, j, n)


@register_jitable
def join(G, F, J, L, k, j, n):
    """The inner loop: combine cell (k, j), on the right, with everything that ends at k.

    ``best[A * L + a]`` is the best value of A over (a, j) so far; ``seen`` holds n symbols A, those
    with ``mark[A] == j``. Returns the new n.
    """
    S, P = len(section(G, FIRST)) - 1, np.int64(G[N_PHRASES]) + G[N_TAGS]
    lefts, parents, firsts = section(G, LEFT), section(G, PARENT), section(G, FIRST)
    rules, best, ups = scores(F, J, RULES), scores(F, J, BEST), scores(F, J, UP)[(k - 1) * P * L :]
    seen, mark = section(J, SEEN), section(J, SEEN)[S:]
    ends = section(J, ENDS)[k * P : k * P + P]
    symbols, values = section(J, SYMBOLS), scores(F, J, VALUES)
    for e in range(J[J[BEGIN] + k * L + j - 1], J[J[END] + k * L + j - 1]):
        C = symbols[e]
        for r in range(np.uint64(firsts[C]), np.uint64(firsts[C + 1])):
            B = np.uint32(lefts[r])
            if ends[B] == 0:
                continue
            A = np.uint32(parents[r])
            score = values[e] + rules[r]
            left, row = ups[B * L : B * L + k], best[A * L : A * L + k]
            if mark[A] == j:
                for a in range(k):
                    row[a] = max(row[a], left[a] + score)
            else:
                mark[A] = j
                seen[n] = A
                n += 1
                for a in range(k):
                    row[a] = left[a] + score
    return n


@register_jitable
def prune(symbols, values, row, begin, end, beam):
    """Prune a cell: its ``row`` and its list of parts of long rules; returns the list's end."""
    best = -np.inf
    for X in range(len(row)):
        best = max(best, row[X])
    for X in range(len(row)):
        if row[X] < best - beam:
            row[X] = -np.inf
    best, free = -np.inf, begin
    for e in range(begin, end):
        best = max(best, values[e])
    for e in range(begin, end):
        if values[e] >= best - beam:
            symbols[free], values[free] = symbols[e], values[e]
            free += 1
    return free


@register_jitable
def is_wanted(firsts, lefts, A, ends):
    """Whether a rule has A on the right, and on the left a symbol that ends where A begins."""
    found = 0
    for r in range(firsts[A], firsts[A + 1]):
        found |= ends[lefts[r]]
    return found > 0


@register_jitable
def climb(G, F, J, down, up, cell, whole):
    """up = the best values after unary chains; symbols that are only roots need the whole span."""
    above, above_at = section(G, ABOVE), section(G, ABOVE_AT)
    tops, use = section(G, TOP), section(G, USE)
    wanted = AS_LEFT + AS_RIGHT + AS_ROOT if whole else AS_LEFT + AS_RIGHT
    for X in range(len(down)):
        up[X] = -np.inf
    for X in range(len(down)):
        if down[X] == -np.inf:
            continue
        up[X] = max(up[X], down[X])
        for e in range(above_at[X], above_at[X + 1]):
            T = tops[above[e]]
            if use[T] & wanted:
                up[T] = max(up[T], down[X] + chain_score(G, F, J, np.int64(above[e]), cell))


@register_jitable
def chain_score(G, F, J, c, cell):
    """The score of chain c in a cell."""
    score = F[J[CHAINS] + c]
    place = J[SPANS] + cell * G[N_LABELS]
    for e in range(G[G[LABEL_AT] + c], G[G[LABEL_AT] + c + 1]):
        score += F[place + G[G[LABELS] + e]]
    return score
