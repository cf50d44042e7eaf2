"""Flow along shortest paths: the number of pushes has a bound that no capacity changes."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from .networks import (
    above,
    down_arc,
    fields,
    first_arc,
    head,
    residual,
    sister,
    supply,
    tie,
    up_arc,
)  # fmt: skip
from .search_trees import ACTIVE, FREE, NONE, PARENT, SINK, TERMINAL


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
                node[fields(start, link, w) + PARENT] = tie(start, sister(start, link, j), j)
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
    stored = np.int64(node[fields(start, link, v) + PARENT])
    while stored != TERMINAL:
        flow = min(flow, number[residual(start, link, down_arc(start, link, stored))])
        v = above(start, link, stored)
        stored = np.int64(node[fields(start, link, v) + PARENT])
    flow = min(flow, number[supply(start, link, v)])
    number[supply(start, link, v)] -= flow
    number[supply(start, link, end)] += flow
    v = end
    stored = np.int64(node[fields(start, link, v) + PARENT])
    while stored != TERMINAL:
        number[residual(start, link, up_arc(start, link, v, stored))] += flow
        number[residual(start, link, down_arc(start, link, stored))] -= flow
        v = above(start, link, stored)
        stored = np.int64(node[fields(start, link, v) + PARENT])
