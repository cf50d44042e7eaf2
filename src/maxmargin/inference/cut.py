"""Minimum cuts with real capacities, by the method of Boykov and Kolmogorov.

Two trees grow from the terminals along arcs with residual capacity. Where they meet, flow is pushed
along the path between the terminals; nodes whose arc to their parent is then saturated look for
another parent in their tree (Boykov and Kolmogorov 2004, An experimental comparison of min-cut/
max-flow algorithms, IEEE TPAMI 26). Every push makes at least one residual exactly 0, also with
rounding, so that saturated arcs are recognised without a tolerance.

The network is stored by nodes, so that the arcs of a node lie one behind the other:

``start`` (n + 1), ``head`` and ``sister`` (2m), ``residual`` (2m)
    The arcs j of node v are ``start[v]`` to ``start[v + 1]``; arc j leads to ``head[j]``, and
    ``sister[j]`` is the arc in the opposite direction.
``terminal`` (n)
    The residual capacity from the source if positive, to the sink if negative.
``node`` (n * STRIDE)
    The record of each node: the fields below. Fields of a node are neighbours in memory.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from ..engine.keep import keep

#: Fields of a node: the arc to its parent, whether it belongs to the tree of the sink, when its
#: distance to the terminal was computed, this distance, the next active node, the next orphan.
PARENT, SINK, STAMP, DISTANCE, ACTIVE, ORPHAN, STRIDE = 0, 1, 2, 3, 4, 5, 8

#: Values of PARENT that are not arcs: in no tree; a child of the terminal; looking for a parent.
FREE, TERMINAL, LOST = -1, -2, -3

#: The end of a list, and "not in a list"
NONE = -1

#: Fields of ``control``: first and last active node, first and last orphan, number of pushes.
FIRST, LAST, FIRST_ORPHAN, LAST_ORPHAN, TIME, CONTROLS = 0, 1, 2, 3, 4, 8

FAR = 2**30


@keep
def max_flow(n, start, head, sister, residual, terminal, node, control):
    """Push the largest flow; returns it. The nodes of the source's tree are its side of the cut."""
    start_trees(n, terminal, node, control)
    total, current = 0.0, NONE
    while True:
        if current == NONE:
            current = next_active(node, control)
            if current == NONE:
                return total
        arc = grow(current, start, head, sister, residual, node, control)
        if arc == NONE:
            node[current * STRIDE + ACTIVE] = NONE
            current = NONE
            continue
        control[TIME] += 1
        total += push(arc, head, sister, residual, terminal, node, control)
        while control[FIRST_ORPHAN] != NONE:
            v = np.int64(control[FIRST_ORPHAN])
            control[FIRST_ORPHAN] = node[v * STRIDE + ORPHAN]
            if control[FIRST_ORPHAN] == NONE:
                control[LAST_ORPHAN] = NONE
            adopt(v, start, head, sister, residual, node, control)
        if node[current * STRIDE + PARENT] == FREE:
            node[current * STRIDE + ACTIVE] = NONE
            current = NONE


@register_jitable
def start_trees(n, terminal, node, control):
    """Every node with a terminal capacity is a tree of its own, and active."""
    control[FIRST], control[LAST], control[TIME] = NONE, NONE, 0
    control[FIRST_ORPHAN], control[LAST_ORPHAN] = NONE, NONE
    for v in range(n):
        at = v * STRIDE
        node[at + PARENT], node[at + ACTIVE] = FREE, NONE
        node[at + SINK], node[at + STAMP], node[at + DISTANCE] = terminal[v] < 0.0, 0, 1
        if terminal[v] != 0.0:
            node[at + PARENT] = TERMINAL
            activate(v, node, control)


@register_jitable
def activate(v, node, control):
    """Append a node to the list of active ones; the last of the list points to itself."""
    if node[v * STRIDE + ACTIVE] != NONE:
        return
    if control[LAST] == NONE:
        control[FIRST] = v
    else:
        node[control[LAST] * np.int64(STRIDE) + ACTIVE] = v
    control[LAST] = v
    node[v * STRIDE + ACTIVE] = v


@register_jitable
def next_active(node, control):
    """Take the first active node that is in a tree from the list; NONE if there is none."""
    while control[FIRST] != NONE:
        v = np.int64(control[FIRST])
        following = node[v * STRIDE + ACTIVE]
        if following == v:
            control[FIRST], control[LAST] = NONE, NONE
        else:
            control[FIRST] = following
        if node[v * STRIDE + PARENT] != FREE:
            node[v * STRIDE + ACTIVE] = v  # not to be activated while it grows
            return v
        node[v * STRIDE + ACTIVE] = NONE
    return np.int64(NONE)


@register_jitable
def grow(v, start, head, sister, residual, node, control):
    """Add the free neighbours of v to its tree.

    Returns the arc from the tree of the source to the tree of the sink if they meet, or NONE.
    """
    sink = node[v * STRIDE + SINK]
    stamp, distance = node[v * STRIDE + STAMP], node[v * STRIDE + DISTANCE]
    for j in range(start[v], start[v + 1]):
        arc = np.int64(sister[j]) if sink else np.int64(j)
        if residual[arc] <= 0.0:
            continue
        w = np.int64(head[j])
        at = w * STRIDE
        if node[at + PARENT] == FREE:
            node[at + PARENT], node[at + SINK] = sister[j], sink
            node[at + STAMP], node[at + DISTANCE] = stamp, distance + 1
            activate(w, node, control)
        elif node[at + SINK] != sink:
            return arc
        elif node[at + STAMP] <= stamp and node[at + DISTANCE] > distance:
            node[at + PARENT] = sister[j]  # a shorter way to the terminal
            node[at + STAMP], node[at + DISTANCE] = stamp, distance + 1
    return np.int64(NONE)


@register_jitable
def push(arc, head, sister, residual, terminal, node, control):
    """Push flow along the path through ``arc`` from source to sink; returns how much."""
    back = np.int64(sister[arc])
    flow = min(
        residual[arc], smallest(np.int64(head[back]), head, sister, residual, terminal, node)
    )
    flow = min(flow, smallest(np.int64(head[arc]), head, sister, residual, terminal, node))
    residual[arc] -= flow
    residual[back] += flow
    push_to_root(np.int64(head[back]), flow, head, sister, residual, terminal, node, control)
    push_to_root(np.int64(head[arc]), flow, head, sister, residual, terminal, node, control)
    return flow


@register_jitable
def smallest(v, head, sister, residual, terminal, node):
    """The smallest residual between node v and the terminal of its tree."""
    flow, sink = np.inf, node[v * STRIDE + SINK]
    while node[v * STRIDE + PARENT] != TERMINAL:
        arc = np.int64(node[v * STRIDE + PARENT])
        left = residual[arc] if sink else residual[sister[arc]]
        flow = left if left < flow else flow
        v = np.int64(head[arc])
    return min(flow, abs(terminal[v]))


@register_jitable
def push_to_root(v, flow, head, sister, residual, terminal, node, control):
    """Push flow between node v and its terminal; nodes behind saturated arcs become orphans."""
    sink = node[v * STRIDE + SINK]
    while node[v * STRIDE + PARENT] != TERMINAL:
        arc = np.int64(node[v * STRIDE + PARENT])
        back = np.int64(sister[arc])
        if not sink:
            arc, back = back, arc
        residual[arc] -= flow
        residual[back] += flow
        above = np.int64(head[arc] if sink else head[back])
        if residual[arc] == 0.0:
            lose_first(v, node, control)
        v = above
    terminal[v] += flow if sink else -flow
    if terminal[v] == 0.0:
        lose_first(v, node, control)


@register_jitable
def lose_first(v, node, control):
    """Make v the first orphan of the list."""
    node[v * STRIDE + PARENT], node[v * STRIDE + ORPHAN] = LOST, control[FIRST_ORPHAN]
    control[FIRST_ORPHAN] = v
    if control[LAST_ORPHAN] == NONE:
        control[LAST_ORPHAN] = v


@register_jitable
def lose_last(v, node, control):
    """Make v the last orphan of the list."""
    node[v * STRIDE + PARENT], node[v * STRIDE + ORPHAN] = LOST, NONE
    if control[LAST_ORPHAN] == NONE:
        control[FIRST_ORPHAN] = v
    else:
        node[control[LAST_ORPHAN] * np.int64(STRIDE) + ORPHAN] = v
    control[LAST_ORPHAN] = v


@register_jitable
def adopt(v, start, head, sister, residual, node, control):
    """Find the parent of v in its tree that is closest to the terminal, or free v."""
    sink = node[v * STRIDE + SINK]
    best, nearest = np.int64(NONE), FAR
    for j in range(start[v], start[v + 1]):
        arc = np.int64(j) if sink else np.int64(sister[j])
        w = np.int64(head[j])
        if residual[arc] <= 0.0 or node[w * STRIDE + SINK] != sink:
            continue
        if node[w * STRIDE + PARENT] != FREE:
            distance = find_distance(w, head, node, control)
            if distance < nearest:
                best, nearest = np.int64(j), distance
    if best != NONE:
        node[v * STRIDE + PARENT] = best
        node[v * STRIDE + STAMP], node[v * STRIDE + DISTANCE] = control[TIME], nearest + 1
        return
    node[v * STRIDE + PARENT] = FREE
    for j in range(start[v], start[v + 1]):
        w = np.int64(head[j])
        parent = np.int64(node[w * STRIDE + PARENT])
        if node[w * STRIDE + SINK] != sink or parent == FREE:
            continue
        if residual[j if sink else sister[j]] > 0.0:
            activate(w, node, control)
        if parent >= 0 and head[parent] == v:
            lose_last(w, node, control)


@register_jitable
def find_distance(w, head, node, control):
    """The number of arcs from w to its terminal; FAR if the way passes an orphan.

    Distances on the way are stored with the present time, so that no way is walked twice.
    """
    time, distance, v = control[TIME], 0, w
    while True:
        if node[v * STRIDE + STAMP] == time:
            distance += node[v * STRIDE + DISTANCE]
            break
        parent = np.int64(node[v * STRIDE + PARENT])
        if parent == LOST:
            return FAR
        distance += 1
        if parent == TERMINAL:
            node[v * STRIDE + STAMP], node[v * STRIDE + DISTANCE] = time, 1
            break
        v = np.int64(head[parent])
    total, v = distance, w
    while node[v * STRIDE + STAMP] != time:
        node[v * STRIDE + STAMP], node[v * STRIDE + DISTANCE] = time, distance
        distance -= 1
        v = np.int64(head[node[v * STRIDE + PARENT]])
    return total
