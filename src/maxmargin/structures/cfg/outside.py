"""Max-marginals of trees: the best score that a tree can have with a given tag or constituent.

The outside pass goes through a filled chart from the whole sentence to its words (max-sum): the
outside value of a symbol over a span is the best score of the rest of a tree around it. Together
with the chart, which has the best score inside, this gives the best tree through every symbol.

A binary tree without a node over a span has a node that crosses it, so the best tree *without* a
constituent is the best one through a crossing node, or with another symbol over the same span.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from ...engine.keep import leaf
from .cky import (
    BEGIN,
    DOWN,
    END,
    RULES,
    SPANS,
    SYMBOLS,
    TAGS,
    UP,
    VALUES,
    chain_score,
    inside,
    lay_out,
    open_chart,
    scores,
)
from .cky_trace import best_root
from .grammar import (
    ABOVE,
    ABOVE_AT,
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
from .scores import score_sentence


def outside_work(table: np.ndarray, longest: int) -> int:
    """Scratch memory of ``fill_marginals`` in floats, for sentences of at most this length."""
    J = np.zeros(18, np.int64)
    chart = int(sum(lay_out(table, longest, J)))
    P, S = int(table[N_PHRASES] + table[N_TAGS]), len(section(table, FIRST)) - 1
    listed = int(J[VALUES + 1] - J[VALUES])
    return chart + longest * longest * (P + 1) + listed + P + S


@leaf
def fill_marginals(data, w, i, query, tags, margin, work):
    """Max-marginals of sentence i; returns whether the grammar has a tree for it.

    ``tags[t*K + k]`` is set to the best score of a tree with tag k at token t; without a tree, to
    the score of the tag alone. Each row of ``query`` is a constituent (start, end, label);
    ``margin`` is set to the best score with it minus the best score without it.
    """
    G, lo = data.table, data.offsets[i]
    L = data.offsets[i + 1] - lo
    F, J, rest = open_chart(G, L, work)
    score_sentence(data, w, i, L, F, J)
    inside(G, F, J, L, data.tags, data.tag_at, lo, np.inf)
    N, K = np.int64(G[N_PHRASES]), np.int64(G[N_TAGS])
    whole = best_root(G, F, J, L, -1) >= 0
    for e in range(L * K):
        tags[e] = -np.inf
    for t in range(L):
        for e in range(data.tag_at[lo + t], data.tag_at[lo + t + 1]):
            k = data.tags[e]
            tags[t * K + k] = scores(F, J, TAGS)[t * K + k]
    if not whole:
        return False
    P = N + K
    up, rest = rest[: L * L * P], rest[L * L * P :]
    through, rest = rest[: L * L], rest[L * L :]
    size = J[VALUES + 1] - J[VALUES]
    listed, below = rest[:size], rest[size:]
    outside(G, F, J, L, up, listed, through, below)
    for t in range(L):
        climb_down(G, F, J, up[(t * L + t) * P : (t * L + t) * P + P], below[:P], t * L + t)
        for k in range(K):
            tags[t * K + k] += below[N + k]
    for q in range(len(query)):
        margin[q] = margin_of(G, F, J, L, up, listed, through, query[q])
    return True


@register_jitable
def outside(G, F, J, L, up, listed, through, below):
    """Fill the outside values.

    ``up[cell*P + X]`` are those of symbols above their chains, ``listed[e]`` those of the entries
    of right lists, and ``through[cell]`` is the best score of a tree with a node over a cell.
    ``below`` is scratch memory: P values below chains, then one value per symbol of the grammar.
    """
    P, S = np.int64(G[N_PHRASES]) + G[N_TAGS], len(section(G, FIRST)) - 1
    use, symbols, values = section(G, USE), section(J, SYMBOLS), scores(F, J, VALUES)
    begin, end, ups = section(J, BEGIN), section(J, END), scores(F, J, UP)
    down, parent = below[:P], below[P : P + S]
    for section_of in (up, listed, through):
        for e in range(len(section_of)):
            section_of[e] = -np.inf
    for X in range(P):
        if use[X] & AS_ROOT:
            up[(L - 1) * P + X] = 0.0
    for width in range(L, 0, -1):
        for i in range(L - width + 1):
            j = i + width
            cell = i * L + j - 1
            row = up[cell * P : cell * P + P]
            for A in range(S):
                parent[A] = -np.inf
            for e in range(begin[cell], end[cell]):
                C = symbols[e]
                if C < P:
                    row[C] = max(row[C], listed[e])
                else:
                    parent[C] = listed[e]
                    through[cell] = max(through[cell], listed[e] + values[e])
            for X in range(P):
                value = row[X] + ups[((j - 1) * P + X) * L + i]
                through[cell] = max(through[cell], value)
            if width > 1:
                climb_down(G, F, J, row, down, cell)
                add_phrases(G, F, J, down, parent, cell)
                split(G, F, J, L, i, j, up, listed, parent)


@register_jitable
def climb_down(G, F, J, row, down, cell):
    """down = outside values of symbols below their chains, from those above (``row``)."""
    above, above_at, tops = section(G, ABOVE), section(G, ABOVE_AT), section(G, TOP)
    for X in range(len(down)):
        down[X] = row[X]
        for e in range(above_at[X], above_at[X + 1]):
            c = np.int64(above[e])
            if row[tops[c]] > -np.inf:
                down[X] = max(down[X], row[tops[c]] + chain_score(G, F, J, c, cell))


@register_jitable
def add_phrases(G, F, J, down, parent, cell):
    """parent[A] = outside value of the rules of constituent A, with the score of its label."""
    NL, label, spans = np.int64(G[N_LABELS]), section(G, LABEL), scores(F, J, SPANS)
    for A in range(G[N_PHRASES]):
        if down[A] > -np.inf:
            parent[A] = down[A] + spans[cell * NL + label[A]]


@register_jitable
def split(G, F, J, L, i, j, up, listed, parent):
    """Pass the outside values of the parents of rules over (i, j) on to their two parts."""
    P = np.int64(G[N_PHRASES]) + G[N_TAGS]
    lefts, parents, firsts = section(G, LEFT), section(G, PARENT), section(G, FIRST)
    rules, ups, values = scores(F, J, RULES), scores(F, J, UP), scores(F, J, VALUES)
    symbols, begin, end = section(J, SYMBOLS), section(J, BEGIN), section(J, END)
    for k in range(i + 1, j):
        left = (i * L + k - 1) * P
        for e in range(begin[k * L + j - 1], end[k * L + j - 1]):
            C = symbols[e]
            for r in range(firsts[C], firsts[C + 1]):
                value = parent[parents[r]] + rules[r]
                B = np.int64(lefts[r])
                mine = ups[((k - 1) * P + B) * L + i]
                if value == -np.inf or mine == -np.inf:
                    continue
                up[left + B] = max(up[left + B], value + values[e])
                listed[e] = max(listed[e], value + mine)


@register_jitable
def margin_of(G, F, J, L, up, listed, through, constituent):
    """The best score with a constituent minus the best score without it."""
    a, b, label = constituent
    P, cell = np.int64(G[N_PHRASES]) + G[N_TAGS], a * L + b - 1
    row = up[cell * P : cell * P + P]
    having, without = best_with(G, F, J, row, cell, label)
    for e in range(J[J[BEGIN] + cell], J[J[END] + cell]):
        if J[J[SYMBOLS] + e] >= P:
            without = max(without, listed[e] + F[J[VALUES] + e])
    for i in range(L):
        for j in range(i + 1, L + 1):
            if i < a < j < b or a < i < b < j:
                without = max(without, through[i * L + j - 1])
    return having - without if having > -np.inf or without > -np.inf else np.nan


@register_jitable
def best_with(G, F, J, row, cell, label):
    """The best scores of trees with a symbol over a cell: having this label there, and not."""
    above, above_at, tops = section(G, ABOVE), section(G, ABOVE_AT), section(G, TOP)
    labels, label_at, of = section(G, LABELS), section(G, LABEL_AT), section(G, LABEL)
    N, P = np.int64(G[N_PHRASES]), len(row)
    down = F[J[DOWN] + cell * P : J[DOWN] + cell * P + P]
    having, without = -np.inf, -np.inf
    for X in range(P):
        if down[X] == -np.inf:
            continue
        own = X < N and of[X] == label
        if own:
            having = max(having, down[X] + row[X])
        else:
            without = max(without, down[X] + row[X])
        for e in range(above_at[X], above_at[X + 1]):
            c = np.int64(above[e])
            value = down[X] + chain_score(G, F, J, c, cell) + row[tops[c]]
            found = own
            for f in range(label_at[c], label_at[c + 1]):
                found |= labels[f] == label
            if found:
                having = max(having, value)
            else:
                without = max(without, value)
    return having, without
