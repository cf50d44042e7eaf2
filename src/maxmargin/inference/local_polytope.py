"""The relaxation of a labelling to the local polytope: its points, messages and their bound.

A node v has shares x_v(k) >= 0 of its labels, which sum to 1; an edge (a, b) has shares z_e(j, k)
of its pairs of labels, whose sums are x_a and x_b. Messages ``lam`` are the multipliers of these
sums, one vector per arc (``plan.py``), and whatever they are,

    bound = sum over v of max_k (unary_v + sum of the messages of its arcs)_k
          + sum over e of max_jk (pair_e(j, k) - lam_a(j) - lam_b(k))

is at least the optimum. Sweeps of TRW-S lower it fast and end near the optimum. What a label is
below these maxima, in its node and in the best pairs of all edges of the node, is its cost: a point
that gives the label a share loses at least this share of it, so that labels with a high cost have
no part in good points (``core.py``).
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from .plan import edge_count, sections
from .tables import highest, maximise_out


@register_jitable
def point_size(n: int, m: int, K: int) -> int:
    """The numbers of messages, shares of nodes and shares of edges."""
    return 2 * m * K + n * K + m * K * K


@register_jitable
def point_parts(point, n, m, K):
    """The messages, the shares of the nodes and those of the edges."""
    a, b = 2 * m * K, 2 * m * K + n * K
    return point[:a], point[a:b], point[b : b + m * K * K]


@register_jitable
def sweep(plan, n, K, unary, pair, lam, belief, source, forward):
    """One pass of TRW-S over the nodes; the bound never rises."""
    _, start, arcs, order, split = sections(plan, n)
    for p in range(n):
        v = np.int64(order[p if forward else n - 1 - p])
        lo, middle, hi = start[v], start[v] + split[v], start[v + 1]
        for k in range(K):
            belief[k] = unary[v * K + k]
        for j in range(lo, hi):
            arc = np.int64(arcs[j])
            back, mine = arc ^ 1, lam[arc * K : arc * K + K]
            for k in range(K):
                source[k] = -lam[back * K + k]
            table = pair[(arc >> 1) * K * K : ((arc >> 1) + 1) * K * K]
            maximise_out(source, table, K, back & 1, mine)
            for k in range(K):
                belief[k] += mine[k]
        share = 1.0 / max(middle - lo, hi - middle, 1)
        first, last = (middle, hi) if forward else (lo, middle)
        for j in range(first, last):
            mine = lam[np.int64(arcs[j]) * K : (np.int64(arcs[j]) + 1) * K]
            for k in range(K):
                mine[k] -= share * belief[k]


@register_jitable
def sweep_both(plan, n, K, unary, pair, lam, belief, source, times):
    """Passes in both directions."""
    for _ in range(times):
        sweep(plan, n, K, unary, pair, lam, belief, source, True)
        sweep(plan, n, K, unary, pair, lam, belief, source, False)


@register_jitable
def label_costs(plan, n, K, unary, pair, lam, cost, best):
    """cost = what each label is below the best one, in its node and edges; returns the bound.

    ``best`` holds 2 K numbers.
    """
    ends, start, arcs, _, _ = sections(plan, n)
    total = 0.0
    for v in range(n):
        mine = cost[v * K : v * K + K]
        for k in range(K):
            mine[k] = unary[v * K + k]
        for j in range(start[v], start[v + 1]):
            arc = np.int64(arcs[j])
            for k in range(K):
                mine[k] += lam[arc * K + k]
        top = mine[highest(mine, K)]
        for k in range(K):
            mine[k] = top - mine[k]
        total += top
    for e in range(edge_count(plan, n)):
        both, table = lam[2 * e * K : (2 * e + 2) * K], pair[e * K * K : (e + 1) * K * K]
        top = edge_maxima(K, table, both, best)
        for side in range(2):
            v = np.int64(ends[2 * e + side])
            for k in range(K):
                cost[v * K + k] += top - best[side * K + k]
        total += top
    return total


@register_jitable
def edge_maxima(K, table, lam, best):
    """best = the maxima over pairs, minus messages, with each label of both ends; returns the top.

    ``lam`` and ``best`` hold 2 K numbers.
    """
    for k in range(K):
        best[K + k] = -np.inf
    top = -np.inf
    for j in range(K):
        row, most = table[j * K : j * K + K], -np.inf
        for k in range(K):
            value = row[k] - lam[K + k] - lam[j]
            most = value if value > most else most
            best[K + k] = value if value > best[K + k] else best[K + k]
        best[j] = most
        top = max(top, most)
    return top


@register_jitable
def round_labels(plan, n, K, unary, pair, lam, belief, y):
    """y = the best label of one node after the other, given those before and the messages."""
    ends, start, arcs, order, split = sections(plan, n)
    for p in range(n):
        v = np.int64(order[p])
        middle = start[v] + split[v]
        for k in range(K):
            belief[k] = unary[v * K + k]
        for j in range(middle, start[v + 1]):
            arc = np.int64(arcs[j])
            for k in range(K):
                belief[k] += lam[arc * K + k]
        for j in range(start[v], middle):
            arc = np.int64(arcs[j])
            e, other = arc >> 1, np.int64(y[ends[arc ^ 1]])
            for k in range(K):
                place = other * K + k if arc & 1 else k * K + other
                belief[k] += pair[e * K * K + place]
        y[v] = highest(belief, K)


@register_jitable
def mean_range(K, pair):
    """The average range of the scores of an edge: the unit of messages. 1 if all are equal."""
    total, m = 0.0, len(pair) // (K * K)
    for e in range(m):
        low = high = pair[e * K * K]
        for p in range(e * K * K, (e + 1) * K * K):
            low, high = min(low, pair[p]), max(high, pair[p])
        total += high - low
    return total / m if total > 0.0 else 1.0
