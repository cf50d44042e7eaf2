"""Minimum cuts with real capacities, by the method of Boykov and Kolmogorov.

Two trees grow from the terminals along arcs with residual capacity. Where they meet, flow is pushed
along the path between the terminals; nodes whose arc to their parent is then saturated look for
another parent in their tree (Boykov and Kolmogorov 2004, An experimental comparison of min-cut/max-
flow algorithms, IEEE TPAMI 26). Every push makes at least one residual exactly 0, also with
rounding: saturated arcs are recognised without a tolerance. No bound on the number of pushes of
this method is independent of the capacities. After ``limit`` pushes the flow takes shortest paths
(``shortest.py``), which ends for all capacities. The network is ``(start, link, number, node)`` of
``networks.py``.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from ..engine.keep import keep
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
from .search_trees import (
    ACTIVE,
    DISTANCE,
    FIRST_ORPHAN,
    FREE,
    NONE,
    PARENT,
    SINK,
    STAMP,
    TERMINAL,
    TIME,
    activate,
    adopt_orphans,
    lose_first,
    next_active,
    start_trees,
)  # fmt: skip
from .shortest import push_shortest

#: The number of pushes per node and arc after which shortest paths are taken.
PUSHES = 20


@keep
def max_flow(n, start, link, number, node, control, limit):
    """Push the largest flow; returns the sum of what the source can still give to nodes.

    The nodes of the source's tree are its side of a minimum cut (``source_side``). ``control`` is
    scratch of ``CONTROLS`` integers.
    """
    start_trees(n, start, link, number, node, control)
    grow_trees(start, link, number, node, control, limit)
    if control[TIME] >= limit:
        while push_shortest(n, start, link, number, node):
            pass
    left = 0.0
    for v in range(n):
        left += max(number[supply(start, link, v)], 0.0)
    return left


@register_jitable
def source_side(v, start, link, node):
    """Whether node v is on the source's side of the cut that ``max_flow`` found."""
    at = fields(start, link, v)
    return node[at + PARENT] != FREE and node[at + SINK] == 0


@register_jitable
def grow_trees(start, link, number, node, control, limit):
    """Grow the trees and push flow where they meet, at most ``limit`` times."""
    current = np.int64(NONE)
    while control[TIME] < limit:
        if current == NONE:
            current = next_active(start, link, node, control)
            if current == NONE:
                return
        arc = grow(current, start, link, number, node, control)
        if arc != NONE:
            control[TIME] += 1
            push(arc, start, link, number, node, control)
            if control[FIRST_ORPHAN] != NONE:
                adopt_orphans(start, link, number, node, control)
        if arc == NONE or node[fields(start, link, current) + PARENT] == FREE:
            node[fields(start, link, current) + ACTIVE] = NONE
            current = np.int64(NONE)


@register_jitable
def grow(v, start, link, number, node, control):
    """Add the free neighbours of v to its tree.

    Returns the arc from the tree of the source to the tree of the sink if they meet, or NONE.
    """
    at = fields(start, link, v)
    sink, stamp, distance = node[at + SINK], node[at + STAMP], node[at + DISTANCE]
    for j in range(first_arc(start, v), first_arc(start, v + 1)):
        back = sister(start, link, j)
        arc = back if sink else j
        if number[residual(start, link, arc)] <= 0.0:
            continue
        w = head(start, link, j)
        at = fields(start, link, w)
        if node[at + PARENT] == FREE:
            node[at + PARENT], node[at + SINK] = tie(start, back, j), sink
            node[at + STAMP], node[at + DISTANCE] = stamp, distance + 1
            activate(w, start, link, node, control)
        elif node[at + SINK] != sink:
            return arc
        elif node[at + STAMP] <= stamp and node[at + DISTANCE] > distance:
            node[at + PARENT] = tie(start, back, j)  # a shorter way to the terminal
            node[at + STAMP], node[at + DISTANCE] = stamp, distance + 1
    return np.int64(NONE)


@register_jitable
def push(arc, start, link, number, node, control):
    """Push flow along the path through ``arc`` from source to sink."""
    back = sister(start, link, arc)
    v, w = head(start, link, back), head(start, link, arc)
    flow = min(number[residual(start, link, arc)], smallest(v, w, start, link, number, node))
    number[residual(start, link, arc)] -= flow
    number[residual(start, link, back)] += flow
    push_to_root(v, flow, 0, start, link, number, node, control)
    push_to_root(w, flow, 1, start, link, number, node, control)


@register_jitable
def smallest(v, w, start, link, number, node):
    """The smallest residual between v and the source, and between w and the sink.

    Both ways are walked at the same time: the processor waits for both together.
    """
    flow = np.inf
    first = np.int64(node[fields(start, link, v) + PARENT])
    second = np.int64(node[fields(start, link, w) + PARENT])
    while first != TERMINAL or second != TERMINAL:
        if first != TERMINAL:
            left = number[residual(start, link, down_arc(start, link, first))]
            flow = left if left < flow else flow
            v = above(start, link, first)
            first = np.int64(node[fields(start, link, v) + PARENT])
        if second != TERMINAL:
            left = number[residual(start, link, up_arc(start, link, w, second))]
            flow = left if left < flow else flow
            w = above(start, link, second)
            second = np.int64(node[fields(start, link, w) + PARENT])
    return min(flow, number[supply(start, link, v)], -number[supply(start, link, w)])


@register_jitable
def push_to_root(v, flow, sink, start, link, number, node, control):
    """Push flow between node v and its terminal; nodes behind saturated arcs become orphans."""
    stored = np.int64(node[fields(start, link, v) + PARENT])
    while stored != TERMINAL:
        up = residual(start, link, up_arc(start, link, v, stored))
        down = residual(start, link, down_arc(start, link, stored))
        arc, back = (up, down) if sink else (down, up)
        left = number[arc] - flow
        number[arc] = left
        number[back] += flow
        if left <= 0.0:
            lose_first(v, start, link, node, control)
        v = above(start, link, stored)
        stored = np.int64(node[fields(start, link, v) + PARENT])
    number[supply(start, link, v)] += flow if sink else -flow
    if number[supply(start, link, v)] == 0.0:
        lose_first(v, start, link, node, control)
