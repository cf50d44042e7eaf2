"""Parsing: phi(x, y) counts the rules of the tree y over the sentence x, and what stands in spans.

w holds, in this order: a weight for each rule and each step of a unary chain
(``Grammar.features``); d * K weights of features of words, feature by feature, for K tags; and,
with rich features, for each feature of a constituent's surroundings a weight for each label: of
its first and of its last edge, of its width, of its first and last word together, of the words
just outside together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from ..problem import MARGIN, PREDICT, Kernels
from .cky import (
    CHAINS,
    MORE,
    RULES,
    SPANS,
    TAGS,
    best_root,
    inside,
    lay_out,
    scores,
    span_of,
    trace,
    trace_fragments,
)
from .cky_second import second_best
from .grammar import (
    BASE,
    FEATURE,
    FEATURE_AT,
    LABEL,
    LABEL_AT,
    LABELS,
    LEFT,
    N_GROUPS,
    N_LABELS,
    N_PHRASES,
    N_TAGS,
    PARENT,
    START,
    TOP,
    WIDTH,
    section,
)

#: Kinds of loss: wrong and missing constituents and wrong tags, or 1 for a tree with any error.
BRACKET, ZERO_ONE = 0, 1


class CFGData(NamedTuple):
    """Packed sentences; the tokens of sentence i are ``offsets[i]:offsets[i + 1]``.

    ``table`` is that of the grammar. The features of token t are
    ``feature[feature_at[t]:feature_at[t + 1]]``, those of the places between tokens (one more than
    tokens in each sentence) follow after those of all tokens. Token t may have the tags
    ``tags[tag_at[t]:tag_at[t + 1]]``; its group is a small number (0 stands for the end of the
    sentence). ``truth`` and ``at`` are those of the pack; ``token`` names the words. ``beam`` is
    for prediction only, since a certificate needs exact oracles.
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
    """CKY; with costs of wrong constituents, or for the best tree that is not the true one."""
    lo, G = data.offsets[i], data.table
    L = data.offsets[i + 1] - lo
    if L == 0:
        return
    J = work.view(np.int64)
    size, ints = lay_out(G, L, J)
    F, J = work[ints : ints + size], J[:ints]
    score_rules(G, w, scores(F, J, RULES), 0)
    score_rules(G, w, scores(F, J, CHAINS), G[LEFT + 1] - G[LEFT])
    K, base = np.int64(G[N_TAGS]), section(G, BASE)
    sum_weights(data.feature, data.feature_at[lo : lo + L + 1], w[base[0] :], K, scores(F, J, TAGS))
    score_spans(data, w, i, L, F, J)
    truth = data.truth[data.at[i] : data.at[i + 1]]
    if mode == MARGIN and data.kind == BRACKET:
        add_costs(G, truth, L, scores(F, J, SPANS), scores(F, J, TAGS))
    beam = data.beam if mode == PREDICT else np.inf
    inside(G, F, J, L, data.tags, data.tag_at, lo, beam)
    root = best_root(G, F, J, L, -1)
    if root < 0:
        trace_fragments(G, F, J, L, y)
        return
    trace(G, F, J, L, 0, L, root, y, 0)
    if mode != PREDICT and data.kind == ZERO_ONE and same(y, truth):
        second_best(G, F, J, L, y)


@register_jitable
def score_rules(G, w, score, first):
    """The scores of rules, or of chains, which come later among the lists of features."""
    at, feature = section(G, FEATURE_AT)[first:], section(G, FEATURE)
    for r in range(len(score)):
        score[r] = 0.0
        for e in range(at[r], at[r + 1]):
            score[r] += w[feature[e]]


@register_jitable
def sum_weights(feature, at, w, K, score):
    """score[t*K + k] = the sum of w[f*K + k] over the features f of row t."""
    for t in range(len(at) - 1):
        row = score[t * K : t * K + K]
        for k in range(K):
            row[k] = 0.0
        for e in range(at[t], at[t + 1]):
            weights = w[feature[e] * K : feature[e] * K + K]
            for k in range(K):
                row[k] += weights[k]


@register_jitable
def score_spans(data, w, i, L, F, J):
    """The scores of all labels over all spans."""
    G, lo, span = data.table, data.offsets[i], scores(F, J, SPANS)
    if not data.rich:
        for e in range(len(span)):
            span[e] = 0.0
        return
    NL, base, first = np.int64(G[N_LABELS]), section(G, BASE), data.offsets[-1] + lo + i
    edge = scores(F, J, MORE)
    sum_weights(data.feature, data.feature_at[first : first + L + 2], w[base[1] :], 2 * NL, edge)
    for a in range(L):
        start = edge[2 * a * NL : 2 * a * NL + NL]
        for b in range(a + 1, L + 1):
            end = edge[2 * b * NL + NL : 2 * b * NL + 2 * NL]
            width, inner, outer = span_places(G, data.group[lo : lo + L], a, b)
            row = span[(a * L + b - 1) * NL : (a * L + b) * NL]
            u, v, z = w[width : width + NL], w[inner : inner + NL], w[outer : outer + NL]
            for A in range(NL):
                row[A] = start[A] + end[A] + u[A] + v[A] + z[A]


@register_jitable
def span_places(G, group, a, b):
    """Where in w the weights of the width of span (a, b), of its ends and of its outside begin."""
    NL, n, L = np.int64(G[N_LABELS]), np.int64(G[N_GROUPS]), len(group)
    base, widths = section(G, BASE), section(G, WIDTH)
    before = group[a - 1] if a > 0 else 0
    after = group[b] if b < L else 0
    return (
        base[2] + widths[min(b - a, len(widths) - 1)] * NL,
        base[3] + (group[a] * n + group[b - 1]) * NL,
        base[4] + (before * n + after) * NL,
    )


@register_jitable
def add_costs(G, y, L, span, tag):
    """What each label in each span, and each tag, adds to the loss, up to a constant."""
    K, NL, R = np.int64(G[N_TAGS]), np.int64(G[N_LABELS]), G[LEFT + 1] - G[LEFT]
    for e in range(len(span)):
        span[e] += 1.0
    for n in range(2 * L - 1):
        a, b = span_of(y[3 * n])
        place = (a * L + b - 1) * NL
        for which in range(count_labels(G, y, n)):
            span[place + label_number(G, y, n, which)] -= 2.0
        if b - a == 1:
            for k in range(K):
                if k != y[3 * n + 1] - R:
                    tag[a * K + k] += 1.0


@register_jitable
def own_label(G, y, n):
    """The label of the constituent that node n is, below its chain; -1 if it is none."""
    rule, R = y[3 * n + 1], G[LEFT + 1] - G[LEFT]
    if rule < R:
        A = G[G[PARENT] + rule]
        return np.int64(G[G[LABEL] + A]) if G[N_PHRASES] > A else np.int64(-1)
    return np.int64(G[START]) if rule == R + G[N_TAGS] and n == 0 else np.int64(-1)


@register_jitable
def count_labels(G, y, n):
    """How many constituents node n and its chain are."""
    c, n_chains = y[3 * n + 2], G[TOP + 1] - G[TOP]
    count = 1 if own_label(G, y, n) >= 0 else 0
    if c >= n_chains:  # a root above a fragment
        count, c = count + (1 if G[START] >= 0 else 0), c - n_chains
    return count + G[G[LABEL_AT] + c + 1] - G[G[LABEL_AT] + c]


@register_jitable
def label_number(G, y, n, which):
    """Constituent number ``which`` of node n and its chain: its own label, the chain's, a root."""
    own, c, n_chains = own_label(G, y, n), y[3 * n + 2], G[TOP + 1] - G[TOP]
    if own >= 0:
        if which == 0:
            return own
        which -= 1
    c = c % n_chains
    first, last = G[G[LABEL_AT] + c], G[G[LABEL_AT] + c + 1]
    return np.int64(G[G[LABELS] + first + which]) if first + which < last else np.int64(G[START])


@register_jitable
def same(y, z):
    """Whether two trees are the same."""
    differences = 0
    for e in range(len(y)):
        differences += y[e] != z[e]
    return differences == 0


@njit(nogil=True)
def loss(data, i, y):
    """Constituents in one of the two trees only, and wrong tags; or whether the trees differ."""
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
    """The errors of node a of y beside node b of z, over the same words."""
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
    """phi(x, y) - phi(x, z): nodes that the two trees do not share."""
    nodes, nnz, a, b = len(y) // 3, 0, 0, 0
    while a < nodes or b < nodes:
        first, second = False, False
        if b == nodes or (a < nodes and y[3 * a] < z[3 * b]):
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
        nnz = write_rules(G, rule, idx, nnz)
    elif rule < R + G[N_TAGS]:
        at = data.feature_at[lo + a : lo + a + 2]
        nnz = write_row(data.feature[at[0] : at[1]], base[0], G[N_TAGS], rule - R, idx, nnz)
    nnz = write_rules(G, R + chain, idx, nnz)
    if data.rich:
        NL, group = np.int64(G[N_LABELS]), data.group[lo : data.offsets[i + 1]]
        at = data.feature_at[data.offsets[-1] + lo + i :]
        for which in range(count_labels(G, y, n)):
            label = label_number(G, y, n, which)
            row = data.feature[at[a] : at[a + 1]]
            nnz = write_row(row, base[1], 2 * NL, label, idx, nnz)
            row = data.feature[at[b] : at[b + 1]]
            nnz = write_row(row, base[1], 2 * NL, NL + label, idx, nnz)
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
    """Append the features of a word or an edge, as those of label k."""
    for e in range(len(row)):
        idx[nnz] = base + row[e] * np.int64(K) + k
        nnz += 1
    return nnz


KERNELS = Kernels(decode, loss, delta)
