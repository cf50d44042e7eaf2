"""The functions of parsing: phi(x, y) counts the rules of tree y and the features of its spans.

w holds, in this order: a weight per rule and per step of a unary chain (``Grammar.features``);
d * K weights of features of words for K tags (feature-major); and, with rich features, one weight
per label for each feature of a span: of its first and its last edge, of its width, of its first and
last word together, and of the words just outside together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from ...engine.keep import leaf
from ...engine.sparse import sparse_axpy
from ...engine.views import frozen
from ...problem import MARGIN, PREDICT, Functions
from .cky import SPANS, TAGS, inside, open_chart, scores, span_of
from .cky_second import second_best
from .cky_trace import best_root, trace, trace_fragments
from .grammar import BASE, FEATURE, FEATURE_AT, LEFT, N_LABELS, N_TAGS, TOP, section
from .scores import (
    add_costs,
    count_labels,
    label_number,
    same,
    score_sentence,
    score_tree,
    span_places,
)
from .several import best_trees, diverse_trees

#: Kinds of loss: wrong and missing constituents and wrong tags, or 1 for a tree with any error.
BRACKET, ZERO_ONE = 0, 1


class CFGData(NamedTuple):
    """Packed sentences; the tokens of sentence i are ``offsets[i]:offsets[i + 1]``.

    ``table`` is the table of the grammar. The features of token t are
    ``feature[feature_at[t]:feature_at[t + 1]]``; after those of all tokens follow the features of
    the positions between tokens (L + 1 in a sentence of L tokens). The possible tags of token t are
    ``tags[tag_at[t]:tag_at[t + 1]]``; its group is a small number (0 is the end of the sentence).
    ``truth`` and ``at`` are ``truth`` and ``offsets`` of the pack; ``token`` holds the numbers of
    the words. ``beam`` is for prediction only, because a certificate needs an exact oracle.
    """

    table: np.ndarray
    feature: np.ndarray
    feature_at: np.ndarray
    offsets: np.ndarray
    tags: np.ndarray
    tag_at: np.ndarray
    group: np.ndarray
    at: np.ndarray
    truth: np.ndarray
    token: np.ndarray
    kind: int
    rich: int
    beam: float


@njit(nogil=True)
def decode(data, w, i, mode, y, work):
    """CKY; in training with costs of wrong constituents, or for the best wrong tree."""
    if len(y) > 0:
        F, J, _ = open_chart(data.table, data.offsets[i + 1] - data.offsets[i], work)
        parse(data, w, i, mode, y, F, J)


@njit(nogil=True)
def decode_brackets(data, w, i, mode, y, work):
    """``decode`` for prediction and for the bracket loss, where the true tree may be the best."""
    if len(y) > 0:
        F, J, _ = open_chart(data.table, data.offsets[i + 1] - data.offsets[i], work)
        parse_best(data, w, i, mode, y, F, J)


@register_jitable
def parse(data, w, i, mode, y, F, J):
    """Write the tree of ``decode`` and its chart; returns whether the grammar has a tree."""
    whole = parse_best(data, w, i, mode, y, F, J)
    truth = data.truth[data.at[i] : data.at[i + 1]]
    if whole and mode != PREDICT and data.kind == ZERO_ONE and same(frozen(y), truth):
        second_best(data.table, F, J, data.offsets[i + 1] - data.offsets[i], y)
    return whole


@register_jitable
def parse_best(data, w, i, mode, y, F, J):
    """Write the best tree, or fragments if the grammar has none; returns whether it has one."""
    lo, G = data.offsets[i], data.table
    L = data.offsets[i + 1] - lo
    score_sentence(data, w, i, L, F, J)
    if mode == MARGIN and data.kind == BRACKET:
        truth = data.truth[data.at[i] : data.at[i + 1]]
        add_costs(G, truth, L, scores(F, J, SPANS), scores(F, J, TAGS))
    beam = data.beam if mode == PREDICT else np.inf
    inside(G, F, J, L, data.tags, data.tag_at, lo, beam)
    root = best_root(G, F, J, L, -1)
    if root < 0:
        trace_fragments(G, F, J, L, y)
        return False
    trace(G, F, J, L, 0, L, root, y, 0)
    return True


@njit(nogil=True)
def m_best(data, w, i, mode, diversity, m, Y, value, work):
    """The best trees, with a penalty ``diversity`` per constituent of an earlier tree.

    With the zero-one loss the true tree is excluded, unless it is the first.
    """
    lo, G, size = data.offsets[i], data.table, len(Y) // m
    L, count = data.offsets[i + 1] - lo, 1
    value[0] = 0.0
    if L == 0:
        return count
    F, J, rest = open_chart(G, L, work)
    whole = parse(data, w, i, mode, Y[:size], F, J)
    wrong_only = data.kind == ZERO_ONE and mode != PREDICT
    banned = data.truth[data.at[i] : data.at[i + 1] if wrong_only else data.at[i]]
    if whole and diversity == 0:
        count = best_trees(G, F, J, L, m, Y, banned, rest)
    elif whole:
        beam = data.beam if mode == PREDICT else np.inf
        count = diverse_trees(data, lo, F, J, L, m, diversity, beam, Y, banned, rest)
    score_sentence(data, w, i, L, F, J)
    for r in range(count):
        value[r] = score_tree(G, F, J, L, Y[r * size : r * size + size])
    return count


@njit(nogil=True)
def loss(data, i, y):
    """Constituents in only one of the two trees plus wrong tags; or 1 if the trees differ."""
    G, z = data.table, data.truth[data.at[i] : data.at[i + 1]]
    if data.kind == ZERO_ONE:
        return 0.0 if same(y, z) else 1.0
    nodes, total, a, b = len(y) // 3, 0.0, 0, 0
    while a < nodes or b < nodes:
        if b == nodes or (a < nodes and y[3 * a] < z[3 * b]):
            total += count_labels(G, y, a)
            a += 1
        elif a == nodes or z[3 * b] < y[3 * a]:
            total += count_labels(G, z, b)
            b += 1
        else:
            total += compare_nodes(G, y, a, z, b)
            a += 1
            b += 1
    return total


@register_jitable
def compare_nodes(G, y, a, z, b):
    """The number of errors of node a of y compared with node b of z, over the same words."""
    n, m, R = count_labels(G, y, a), count_labels(G, z, b), G[LEFT + 1] - G[LEFT]
    wrong = n + m
    for s in range(n):
        for t in range(m):
            if label_number(G, y, a, s) == label_number(G, z, b, t):
                wrong -= 2
    rule, true = y[3 * a + 1], z[3 * b + 1]
    if rule != true and R <= true < R + G[N_TAGS]:
        wrong += 1  # the tag of a word
    return wrong


@njit(nogil=True)
def delta(data, i, y, z, idx, val):
    """phi(x, y) - phi(x, z): nodes in only one of the trees. With an empty z it is phi(x, y)."""
    nodes, others, nnz, a, b = len(y) // 3, len(z) // 3, 0, 0, 0
    while a < nodes or b < others:
        first, second = False, False
        if b == others or (a < nodes and y[3 * a] < z[3 * b]):
            first = True
        elif a == nodes or z[3 * b] < y[3 * a]:
            second = True
        elif y[3 * a + 1] != z[3 * b + 1] or y[3 * a + 2] != z[3 * b + 2]:
            first = second = True
        else:
            a += 1
            b += 1
        if first:
            nnz = write_features(data, i, y, a, 1.0, idx, val, nnz)
            a += 1
        if second:
            nnz = write_features(data, i, z, b, -1.0, idx, val, nnz)
            b += 1
    return nnz


@register_jitable
def write_features(data, i, y, n, sign, idx, val, nnz):
    """Append the features of node n."""
    G, lo, start = data.table, data.offsets[i], nnz
    R, n_chains, base = G[LEFT + 1] - G[LEFT], G[TOP + 1] - G[TOP], section(G, BASE)
    a, b = span_of(y[3 * n])
    rule, chain = y[3 * n + 1], y[3 * n + 2] % n_chains
    if rule < R:
        nnz = write_rules(G, np.int64(rule), idx, nnz)
    elif rule < R + G[N_TAGS]:
        K = np.int64(G[N_TAGS])
        at = data.feature_at[lo + a : lo + a + 2]
        nnz = write_row(data.feature[at[0] : at[1]], base[0], K, np.int64(rule - R), idx, nnz)
    nnz = write_rules(G, np.int64(R + chain), idx, nnz)
    if data.rich:
        NL, group = np.int64(G[N_LABELS]), data.group[lo : data.offsets[i + 1]]
        at = data.feature_at[data.offsets[-1] + lo + i :]
        for which in range(count_labels(G, y, n)):
            label = label_number(G, y, n, which)
            row = data.feature[at[a] : at[a + 1]]
            nnz = write_row(row, base[1], 2 * NL, np.int64(label), idx, nnz)
            row = data.feature[at[b] : at[b + 1]]
            nnz = write_row(row, base[1], 2 * NL, np.int64(NL + label), idx, nnz)
            for place in span_places(G, group, a, b):
                idx[nnz] = place + label
                nnz += 1
    for e in range(start, nnz):
        val[e] = sign
    return nnz


@register_jitable
def write_rules(G, r, idx, nnz):
    """Append the features of a rule or of a chain."""
    for e in range(G[G[FEATURE_AT] + r], G[G[FEATURE_AT] + r + 1]):
        idx[nnz] = G[G[FEATURE] + e]
        nnz += 1
    return nnz


@register_jitable
def write_row(row, base, K, k, idx, nnz):
    """Append the features of a word or an edge, for label k."""
    for e in range(len(row)):
        idx[nnz] = base + row[e] * K + k
        nnz += 1
    return nnz


@leaf
def sum_truths(pack, total, scratch):
    """total += sum_i weight_i phi_i(y_i)."""
    idx, val = scratch
    for i in range(len(pack.weight)):
        y = pack.truth[pack.offsets[i] : pack.offsets[i + 1]]
        nnz = delta(pack.data, i, y, y[:0], idx, val)
        sparse_axpy(pack.weight[i], idx, val, nnz, total)


FUNCTIONS = Functions(decode, loss, delta, m_best=m_best)
BRACKET_FUNCTIONS = Functions(decode_brackets, loss, delta, m_best=m_best)
