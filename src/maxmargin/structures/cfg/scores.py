"""The scores of rules, chains, words and spans of a sentence, and the constituents of a tree.

For the order of w see ``functions.py``, for charts and trees ``cky.py``; n is the index of a node.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from .cky import CHAINS, MORE, RULES, SPANS, TAGS, scores, span_of
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


@register_jitable
def score_sentence(data, w, i, L, F, J):
    """The scores, without costs, of everything that a tree of sentence i can contain."""
    G, lo = data.table, data.offsets[i]
    score_rules(G, w, scores(F, J, RULES), 0)
    score_rules(G, w, scores(F, J, CHAINS), G[LEFT + 1] - G[LEFT])
    K, base = np.int64(G[N_TAGS]), section(G, BASE)
    sum_weights(data.feature, data.feature_at[lo : lo + L + 1], w[base[0] :], K, scores(F, J, TAGS))
    score_spans(data, w, i, L, F, J)


@register_jitable
def score_rules(G, w, score, first):
    """The scores of rules, or of chains, whose lists of features begin at ``first``."""
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
    """Positions in w of the weights of the width of span (a, b), of its ends and its outside."""
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
def score_tree(G, F, J, L, y):
    """The score of a tree."""
    R, n_chains, NL = G[LEFT + 1] - G[LEFT], G[TOP + 1] - G[TOP], np.int64(G[N_LABELS])
    rules, chains, tags = scores(F, J, RULES), scores(F, J, CHAINS), scores(F, J, TAGS)
    spans, total = scores(F, J, SPANS), 0.0
    for n in range(2 * L - 1):
        a, b = span_of(y[3 * n])
        rule, place = y[3 * n + 1], (a * L + b - 1) * NL
        if rule < R:
            total += rules[rule]
        elif rule < R + G[N_TAGS]:
            total += tags[a * np.int64(G[N_TAGS]) + rule - R]
        total += chains[y[3 * n + 2] % n_chains]
        for which in range(count_labels(G, y, n)):
            total += spans[place + label_number(G, y, n, which)]
    return total


@register_jitable
def add_costs(G, y, L, span, tag):
    """Add the loss of each label in each span and of each tag, up to a constant."""
    K, R = np.int64(G[N_TAGS]), G[LEFT + 1] - G[LEFT]
    for e in range(len(span)):
        span[e] += 1.0
    add_to_labels(G, y, L, span, -2.0)
    for n in range(2 * L - 1):
        a, b = span_of(y[3 * n])
        if b - a == 1:
            for k in range(K):
                if k != y[3 * n + 1] - R:
                    tag[a * K + k] += 1.0


@register_jitable
def add_to_labels(G, y, L, span, cost):
    """Add ``cost`` to the score of each constituent of the tree y."""
    NL = np.int64(G[N_LABELS])
    for n in range(2 * L - 1):
        a, b = span_of(y[3 * n])
        place = (a * L + b - 1) * NL
        for which in range(count_labels(G, y, n)):
            span[place + label_number(G, y, n, which)] += cost


@register_jitable
def own_label(G, y, n):
    """The label of node n below its chain; -1 if it is not a constituent."""
    rule, R = y[3 * n + 1], G[LEFT + 1] - G[LEFT]
    if rule < R:
        A = G[G[PARENT] + rule]
        return np.int64(G[G[LABEL] + A]) if G[N_PHRASES] > A else np.int64(-1)
    return np.int64(G[START]) if rule == R + G[N_TAGS] and n == 0 else np.int64(-1)


@register_jitable
def count_labels(G, y, n):
    """The number of constituents of node n and its chain."""
    c, n_chains = y[3 * n + 2], G[TOP + 1] - G[TOP]
    count = 1 if own_label(G, y, n) >= 0 else 0
    if c >= n_chains:  # a root above a fragment
        count, c = count + (1 if G[START] >= 0 else 0), c - n_chains
    return count + G[G[LABEL_AT] + c + 1] - G[G[LABEL_AT] + c]


@register_jitable
def label_number(G, y, n, which):
    """Label number ``which`` of node n: its own label, then those of its chain, then a root."""
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
    """Whether two trees are equal."""
    differences = 0
    for e in range(len(y)):
        differences += y[e] != z[e]
    return differences == 0
