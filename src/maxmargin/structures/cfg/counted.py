"""The oracles of losses that are not sums over a tree: F1, and slack rescaling of brackets.

With r right constituents, e others, and m in the true tree, the loss 1 - F1 is
``(m + e - r) / (m + e + r)``: it falls with r and grows with e. One more r changes it by at most
2 / m, one more e by at most 1 / (2 m), and it lies between 0 and 1. With margin rescaling, these
are the prices of ``cky_counts.py``. With slack rescaling, a tree is replaced only by one whose
score and counts are at least as good: the value, loss times (1 - margin), is then at least the same
where it is positive, and the true tree has the value 0.

The bracket loss is ``m + e - r`` plus the number of wrong tags: one count is enough for it.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

from ...problem import MARGIN, PREDICT, Functions
from .cky import DOWN, NOTES, UP, open_chart, scores, span_of
from .cky_counts import HIGH, LOW, N_NOTES, NEXT, fill_lists, new_lists, write_tree
from .functions import BRACKET, decode_brackets, delta, loss, m_best, parse_best
from .grammar import AS_ROOT, LEFT, N_LABELS, N_PHRASES, N_TAGS, USE, section
from .scores import add_to_labels, count_labels, label_number, score_sentence, score_tree

#: The third kind of loss, see ``functions.py``.
F1 = 2

#: Memory for partial trees at first, for each span; it is doubled until it is enough.
FIRST_SIZE = 64


@njit(nogil=True)
def decode_counted(data, w, i, mode, y, work):
    """The best tree by its score and by its numbers of right and wrong constituents."""
    L = data.offsets[i + 1] - data.offsets[i]
    if L == 0:
        return
    F, J, _ = open_chart(data.table, L, work)
    if mode == PREDICT or (mode == MARGIN and data.kind == BRACKET):
        parse_best(data, w, i, mode, y, F, J)
    else:
        parse_counted(data, w, i, mode, y, F, J, L)


@register_jitable
def parse_counted(data, w, i, mode, y, F, J, L):
    """Write the tree with the highest value in a training mode."""
    G, truth = data.table, data.truth[data.at[i] : data.at[i + 1]]
    score_sentence(data, w, i, L, F, J)
    true = mark_truth(G, F, J, L, truth, data.kind)
    prices, size = np.full(3, np.inf), FIRST_SIZE * L * L
    if mode == MARGIN:
        prices[0], prices[1], prices[2] = 2.0 / max(true, 1), 0.5 / true if true else 1.0, 1.0
    lists = new_lists(size, prices, int(data.kind == BRACKET))
    while not fill_lists(G, F, J, L, data.tags, data.tag_at, data.offsets[i], lists):
        size *= 2
        lists = new_lists(size, prices, int(data.kind == BRACKET))
    root = best_entry(G, F, J, L, lists, true, score_tree(G, F, J, L, truth), mode)
    if root >= 0:
        write_tree(G, J, L, lists, root, y)
    else:
        for e in range(len(y)):
            y[e] = truth[e]


@register_jitable
def mark_truth(G, F, J, L, y, kind):
    """Mark the constituents and tags of the true tree; returns the number of constituents."""
    mark, tag, total = scores(F, J, DOWN), section(J, NOTES), 0
    for e in range(L * L * G[N_LABELS]):
        mark[e] = 0.0
    add_to_labels(G, y, L, mark, 1.0)
    for n in range(2 * L - 1):
        a, b = span_of(y[3 * n])
        total += count_labels(G, y, n)
        if b - a == 1:
            tag[a] = y[3 * n + 1] - (G[LEFT + 1] - G[LEFT]) if kind == BRACKET else -1
    return total


@register_jitable
def best_entry(G, F, J, L, lists, true, least, mode):
    """The entry of a root with the highest value; -1 if it is that of the truth."""
    P, use = np.int64(G[N_PHRASES]) + G[N_TAGS], section(G, USE)
    up, note = scores(F, J, UP).view(np.int64)[(L - 1) * P :], lists.note
    best, found = 0.0, -1
    for X in range(P):
        q = up[X] if use[X] & AS_ROOT else -1
        while q >= 0:
            low, high = note[N_NOTES * q + LOW], note[N_NOTES * q + HIGH]
            cost = 1.0 * (true + high)
            if not lists.signed:
                cost = f1_loss(low, low + high, true)
            margin = least - lists.score[q]
            value = cost - margin if mode == MARGIN else cost * (1.0 - margin)
            if value > best:
                best, found = value, q
            q = note[N_NOTES * q + NEXT]
    return found


@register_jitable
def f1_loss(right, predicted, true):
    """1 - F1; 0 if neither tree has a constituent."""
    return 1.0 - 2.0 * right / (predicted + true) if predicted + true > 0 else 0.0


@njit(nogil=True)
def loss_counted(data, i, y):
    """1 - F1 of the constituents, where tags do not count; or the bracket loss."""
    if data.kind == BRACKET:
        return loss(data, i, y)
    G, z = data.table, data.truth[data.at[i] : data.at[i + 1]]
    nodes, right, predicted, true, a, b = len(y) // 3, 0, 0, 0, 0, 0
    for n in range(nodes):
        predicted += count_labels(G, y, n)
        true += count_labels(G, z, n)
    while a < nodes and b < nodes:
        if y[3 * a] == z[3 * b]:
            right += count_shared(G, y, a, z, b)
        one, other = y[3 * a] <= z[3 * b], z[3 * b] <= y[3 * a]
        a += one
        b += other
    return f1_loss(right, predicted, true)


@register_jitable
def count_shared(G, y, a, z, b):
    """The number of constituents that node a of y and node b of z, over the same words, share."""
    shared = 0
    for s in range(count_labels(G, y, a)):
        for t in range(count_labels(G, z, b)):
            shared += label_number(G, y, a, s) == label_number(G, z, b, t)
    return shared


COUNTED_FUNCTIONS = Functions(decode_counted, loss_counted, delta, m_best=m_best)

#: For prediction with the F1 loss. A shard also computes losses of known trees with these.
F1_PREDICTION = Functions(decode_brackets, loss_counted, delta, m_best=m_best)
