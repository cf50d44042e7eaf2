"""Forests (graphs without cycles): dynamic programming, exact."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from ..engine.keep import keep
from .plan import sections
from .tables import add_pairs, highest, maximise_out


@keep
def decode_forest(plan, K, unary, pair, y, messages, work, effort):
    """y = the best labelling of a forest; returns its value.

    Needs ``work`` of (n + 1) K numbers; ``messages`` and ``effort`` are not used.
    """
    n = len(y)
    ends, start, arcs, order, split = sections(plan, n)
    best, found = work[: n * K], work[n * K : n * K + K]
    total = 0.0
    for e in range(n * K):
        best[e] = unary[e]
    for p in range(n - 1, -1, -1):
        v = np.int64(order[p])
        if split[v] > 0:
            arc = np.int64(arcs[start[v]])
            parent = np.int64(ends[arc ^ 1])
            table = pair[(arc >> 1) * K * K : ((arc >> 1) + 1) * K * K]
            maximise_out(best[v * K : v * K + K], table, K, arc & 1, found)
            for k in range(K):
                best[parent * K + k] += found[k]
    for p in range(n):
        v = np.int64(order[p])
        mine = best[v * K : v * K + K]
        if split[v] > 0:
            arc = np.int64(arcs[start[v]])
            table = pair[(arc >> 1) * K * K : ((arc >> 1) + 1) * K * K]
            add_pairs(table, K, (arc & 1) ^ 1, np.int64(y[ends[arc ^ 1]]), mine)
            y[v] = highest(mine, K)
        else:
            k = highest(mine, K)
            y[v] = k
            total += mine[k]
    return total


@keep
def forest_max_marginals(plan, K, unary, pair, marginals, work):
    """marginals[v * K + k] = the highest value of a labelling with label k at node v.

    Needs ``work`` of (n + 2) K numbers. The trees of a forest are added up, so that every number
    belongs to a labelling of the whole graph.
    """
    n = len(marginals) // K
    ends, start, arcs, order, split = sections(plan, n)
    sent, down, rest = work[: n * K], work[n * K : n * K + K], work[n * K + K : n * K + 2 * K]
    for e in range(n * K):
        marginals[e] = unary[e]
    for p in range(n - 1, -1, -1):
        v = np.int64(order[p])
        if split[v] > 0:
            arc = np.int64(arcs[start[v]])
            parent = np.int64(ends[arc ^ 1])
            table = pair[(arc >> 1) * K * K : ((arc >> 1) + 1) * K * K]
            up = sent[v * K : v * K + K]
            maximise_out(marginals[v * K : v * K + K], table, K, arc & 1, up)
            for k in range(K):
                marginals[parent * K + k] += up[k]
    total = 0.0
    for p in range(n):
        v = np.int64(order[p])
        mine = marginals[v * K : v * K + K]
        if split[v] > 0:
            arc = np.int64(arcs[start[v]])
            parent = np.int64(ends[arc ^ 1])
            table = pair[(arc >> 1) * K * K : ((arc >> 1) + 1) * K * K]
            for k in range(K):
                rest[k] = marginals[parent * K + k] - sent[v * K + k]
            maximise_out(rest, table, K, (arc & 1) ^ 1, down)
            for k in range(K):
                mine[k] += down[k]
        else:
            total += mine[highest(mine, K)]
    complete_trees(marginals, K, total)
    return total


@register_jitable
def complete_trees(marginals, K, total):
    """Add to the marginals of each tree the maxima of all other trees."""
    for v in range(len(marginals) // K):
        mine = marginals[v * K : v * K + K]
        others = total - mine[highest(mine, K)]
        for k in range(K):
            mine[k] += others
