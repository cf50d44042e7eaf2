"""Few nodes with two labels: all labellings, in the order of a search tree with a bound; exact.

In the terms of ``binary.py``, nodes are decided first as far as their scores allow. The others are
given labels one after the other. With label 1 at node p the gain of every later node q changes by
``bond[p, q]``, so that a labelling costs a few additions. Branches whose bound is not above the
best labelling found are left out.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from ..engine.keep import keep
from .binary import HALF
from .plan import edge_count, sections
from .reduce import decide_nodes
from .tables import labelling_value
from .two_labels import two_label_terms


def branch_size(n: int, m: int, K: int) -> int:
    """The scratch of ``decode_branch``."""
    return 8 * n + m + 3 * n * n + 3


@keep
def decode_branch(plan, K, unary, pair, y, messages, work, effort):
    """y = the best labelling of two labels; returns its value."""
    n = len(y)
    m = edge_count(plan, n)
    gain, coupling, rest = work[:n], work[n : n + m], work[n + m :]
    radius, nodes, rest = rest[:n], rest[n : 2 * n], rest[2 * n :]
    two_label_terms(plan, n, unary, pair, gain, coupling)
    decide_nodes(plan, gain, coupling, y, radius, nodes)
    search_rest(plan, gain, coupling, y, radius, nodes, rest)
    return labelling_value(plan, K, unary, pair, y)


@register_jitable
def search_rest(plan, gain, coupling, state, place, nodes, work):
    """state = the best labels of the nodes that are HALF, in whose gains the others are."""
    n, k = len(state), 0
    ends, start, arcs, _, _ = sections(plan, n)
    for v in range(n):
        if state[v] == HALF:
            nodes[k], place[v] = v, k
            k += 1
    if k == 0:
        return
    bond, h = work[: k * k], work[k * k : k * k + k]
    for e in range(k * k):
        bond[e] = 0.0
    for p in range(k):
        v = np.int64(nodes[p])
        h[p] = gain[v]
        for j in range(start[v], start[v + 1]):
            w, c = np.int64(ends[arcs[j] ^ 1]), coupling[arcs[j] >> 1]
            if state[w] == HALF:
                h[p] -= c
                bond[p * k + np.int64(place[w])] += 2.0 * c
    best = work[k * k + k : k * k + 2 * k]
    search(k, h, bond, best, work[k * k + 2 * k :])
    for p in range(k):
        state[np.int64(nodes[p])] = np.int64(best[p])


@register_jitable
def search(k, h, bond, best, work):
    """best = the x of zeros and ones that maximises sum_p h_p x_p + sum_(p<q) bond_pq x_p x_q."""
    fields, room = work[: k * k], work[k * k : 2 * k * k]
    rest = work[2 * k * k :]
    x, tried, value = rest[:k], rest[k : 2 * k + 1], rest[2 * k + 1 : 3 * k + 2]
    for p in range(k):
        fields[p], best[p] = h[p], 0.0
        for q in range(p, k):  # what pairs of later nodes can add to each, half of every pair
            room[p * k + q] = 0.0
            for r in range(p, k):
                if r != q and bond[q * k + r] > 0.0:
                    room[p * k + q] += 0.5 * bond[q * k + r]
    highest, p = 0.0, 0
    value[0], tried[0] = 0.0, 0.0
    while p >= 0:
        if p == k:
            if value[k] > highest:
                highest = value[k]
                for q in range(k):
                    best[q] = x[q]
            p -= 1
            continue
        field = fields[p * k : p * k + k]
        if tried[p] == 0.0:
            bound = value[p]
            for q in range(p, k):
                bound += max(field[q] + room[p * k + q], 0.0)
            if bound <= highest:
                p -= 1
                continue
            x[p] = 1.0 if field[p] + room[p * k + p] > 0.0 else 0.0
        elif tried[p] == 1.0:
            x[p] = 1.0 - x[p]
        else:
            p -= 1
            continue
        tried[p] += 1.0
        value[p + 1] = value[p]
        if x[p] == 1.0:
            value[p + 1] += field[p]
        if p + 1 < k:
            following = fields[(p + 1) * k : (p + 2) * k]
            for q in range(p + 1, k):
                following[q] = field[q] + bond[p * k + q] * x[p]
        p += 1
        tried[p] = 0.0
