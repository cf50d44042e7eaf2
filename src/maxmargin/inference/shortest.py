"""Flow along shortest paths, which ends after a number of pushes that the capacities do not change."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from .networks import fields, first_arc, head, residual, sister, supply
from .trees_of_cut import ACTIVE, FREE, NONE, PARENT, SINK, TERMINAL


@register_jitable
def push_shortest(n, start, link, number, node):
    """Push flow along a shortest path from source to sink (Edmonds and Karp 1972).

    Returns False if there is none; the nodes that the source reaches are then those with a parent.
    """
    first, last = np.int64(NONE), np.int64(NONE)
    for v in range(n):
        at = fields(start, link, v)
        node[at + PARENT], node[at + SINK], node[at + ACTIVE] = FREE, 0, NONE
        if number[supply(start, link, v)] > 0.0:
            node[at + PARENT] = TERMINAL
            first, last = append(v, first, last, start, link, node)
    while first != NONE:
        v = first
        if number[supply(start, link, v)] < 0.0:
            push_back(v, start, link, number, node)
            return True
        for j in range(first_arc(start, v), first_arc(start, v + 1)):
            w = head(start, link, j)
            if (
                number[residual(start, link, j)] > 0.0
                and node[fields(start, link, w) + PARENT] == FREE
            ):
                node[fields(start, link, w) + PARENT] = sister(start, link, j)
                first, last = append(w, first, last, start, link, node)
        first = np.int64(node[fields(start, link, v) + ACTIVE])
    return False


@register_jitable
def append(v, first, last, start, link, node):
    """Append v to a list; returns its first and last node."""
    if last == NONE:
        return v, v
    node[fields(start, link, last) + ACTIVE] = v
    return first, v


@register_jitable
def push_back(v, start, link, number, node):
    """Push what can be pushed along the path from the source to v, and from there to the sink."""
    end, flow = v, -number[supply(start, link, v)]
    arc = np.int64(node[fields(start, link, v) + PARENT])
    while arc != TERMINAL:
        flow = min(flow, number[residual(start, link, sister(start, link, arc))])
        v = head(start, link, arc)
        arc = np.int64(node[fields(start, link, v) + PARENT])
    flow = min(flow, number[supply(start, link, v)])
    number[supply(start, link, v)] -= flow
    number[supply(start, link, end)] += flow
    arc = np.int64(node[fields(start, link, end) + PARENT])
    while arc != TERMINAL:
        number[residual(start, link, arc)] += flow
        number[residual(start, link, sister(start, link, arc))] -= flow
        v = head(start, link, arc)
        arc = np.int64(node[fields(start, link, v) + PARENT])
