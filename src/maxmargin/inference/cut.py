"""Minimum cuts with real capacities, by the method of Boykov and Kolmogorov.

Two trees grow from the terminals along arcs with residual capacity. Where they meet, flow is pushed
along the path between the terminals; nodes whose arc to their parent is then saturated look for
another parent in their tree (Boykov and Kolmogorov 2004, An experimental comparison of min-cut/
max-flow algorithms, IEEE TPAMI 26). Every push makes at least one residual exactly 0, also with
rounding, so that saturated arcs are recognised without a tolerance.

The network is stored by nodes, so that the arcs of a node lie one behind the other:

``start`` (n + 1)
    The arcs j of node v are ``start[v]`` to ``start[v + 1]``.
``link`` (int32) and ``residual`` (float64), views of 16 bytes per arc
    Arc j leads to node ``link[4 * j]``, ``link[4 * j + 1]`` is the arc in the opposite direction,
    and ``residual[2 * j + 1]`` is what it can still carry.
``node`` (int32) and ``terminal`` (float64), views of 32 bytes per node
    ``node[STRIDE * v + ...]`` are the fields below, and ``terminal[4 * v + 3]`` is the residual
    capacity from the source if positive, to the sink if negative.

What belongs to an arc or a node lies in one cache line, which halves the time on large grids.
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
def max_flow(n, start, link, residual, terminal, node, control):
    """Push the largest flow; returns it. The nodes of the source's tree are its side of the cut."""
    total, current = push_along_arcs(n, start, link, residual, terminal), NONE
    start_trees(n, terminal, node, control)
    while True:
        if current == NONE:
            current = next_active(node, control)
            if current == NONE:
                return total
        arc = grow(current, start, link, residual, node, control)
        if arc == NONE:
            node[current * STRIDE + ACTIVE] = NONE
            current = NONE
            continue
        control[TIME] += 1
        total += push(arc, link, residual, terminal, node, control)
        while control[FIRST_ORPHAN] != NONE:
            v = np.int64(control[FIRST_ORPHAN])
            control[FIRST_ORPHAN] = node[v * STRIDE + ORPHAN]
            if control[FIRST_ORPHAN] == NONE:
                control[LAST_ORPHAN] = NONE
            adopt(v, start, link, residual, node, control)
        if node[current * STRIDE + PARENT] == FREE:
            node[current * STRIDE + ACTIVE] = NONE
            current = NONE


@register_jitable
def push_along_arcs(n, start, link, residual, terminal):
    """Push flow from the source over single arcs to the sink, which needs no trees."""
    total = 0.0
    for v in range(n):
        left = terminal[4 * v + 3]
        if left <= 0.0:
            continue
        for j in range(start[v], start[v + 1]):
            w = link[4 * j]
            if terminal[4 * w + 3] < 0.0:
                flow = min(left, residual[2 * j + 1], -terminal[4 * w + 3])
                residual[2 * j + 1] -= flow
                residual[2 * np.int64(link[4 * j + 1]) + 1] += flow
                terminal[4 * w + 3] += flow
                left -= flow
                total += flow
        terminal[4 * v + 3] = left
    return total


@register_jitable
def start_trees(n, terminal, node, control):
    """Every node with a terminal capacity starts as a tree, and is active."""
    control[FIRST], control[LAST], control[TIME] = NONE, NONE, 0
    control[FIRST_ORPHAN], control[LAST_ORPHAN] = NONE, NONE
    for v in range(n):
        at = v * STRIDE
        node[at + PARENT], node[at + ACTIVE] = FREE, NONE
        node[at + SINK], node[at + STAMP], node[at + DISTANCE] = terminal[4 * v + 3] < 0.0, 0, 1
        if terminal[4 * v + 3] != 0.0:
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
def grow(v, start, link, residual, node, control):
    """Add the free neighbours of v to its tree.

    Returns the arc from the tree of the source to the tree of the sink if they meet, or NONE.
    """
    sink = node[v * STRIDE + SINK]
    stamp, distance = node[v * STRIDE + STAMP], node[v * STRIDE + DISTANCE]
    for j in range(start[v], start[v + 1]):
        arc = np.int64(link[4 * j + 1]) if sink else np.int64(j)
        if residual[2 * arc + 1] <= 0.0:
            continue
        w = np.int64(link[4 * j])
        at = w * STRIDE
        if node[at + PARENT] == FREE:
            node[at + PARENT], node[at + SINK] = link[4 * j + 1], sink
            node[at + STAMP], node[at + DISTANCE] = stamp, distance + 1
            activate(w, node, control)
        elif node[at + SINK] != sink:
            return arc
        elif node[at + STAMP] <= stamp and node[at + DISTANCE] > distance:
            node[at + PARENT] = link[4 * j + 1]  # a shorter way to the terminal
            node[at + STAMP], node[at + DISTANCE] = stamp, distance + 1
    return np.int64(NONE)


@register_jitable
def push(arc, link, residual, terminal, node, control):
    """Push flow along the path through ``arc`` from source to sink; returns how much."""
    back = np.int64(link[4 * arc + 1])
    flow = min(
        residual[2 * arc + 1], smallest(np.int64(link[4 * back]), link, residual, terminal, node)
    )
    flow = min(flow, smallest(np.int64(link[4 * arc]), link, residual, terminal, node))
    residual[2 * arc + 1] -= flow
    residual[2 * back + 1] += flow
    push_to_root(np.int64(link[4 * back]), flow, link, residual, terminal, node, control)
    push_to_root(np.int64(link[4 * arc]), flow, link, residual, terminal, node, control)
    return flow


@register_jitable
def smallest(v, link, residual, terminal, node):
    """The smallest residual between node v and the terminal of its tree."""
    flow, sink = np.inf, node[v * STRIDE + SINK]
    while node[v * STRIDE + PARENT] != TERMINAL:
        arc = np.int64(node[v * STRIDE + PARENT])
        left = residual[2 * arc + 1] if sink else residual[2 * np.int64(link[4 * arc + 1]) + 1]
        flow = left if left < flow else flow
        v = np.int64(link[4 * arc])
    return min(flow, abs(terminal[4 * v + 3]))


@register_jitable
def push_to_root(v, flow, link, residual, terminal, node, control):
    """Push flow between node v and its terminal; nodes behind saturated arcs become orphans."""
    sink = node[v * STRIDE + SINK]
    while node[v * STRIDE + PARENT] != TERMINAL:
        arc = np.int64(node[v * STRIDE + PARENT])
        back = np.int64(link[4 * arc + 1])
        if not sink:
            arc, back = back, arc
        residual[2 * arc + 1] -= flow
        residual[2 * back + 1] += flow
        above = np.int64(link[4 * arc] if sink else link[4 * back])
        if residual[2 * arc + 1] == 0.0:
            lose_first(v, node, control)
        v = above
    terminal[4 * v + 3] += flow if sink else -flow
    if terminal[4 * v + 3] == 0.0:
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
def adopt(v, start, link, residual, node, control):
    """Find the parent of v in its tree that is closest to the terminal, or free v."""
    sink = node[v * STRIDE + SINK]
    best, nearest, time = np.int64(NONE), FAR, control[TIME]
    for j in range(start[v], start[v + 1]):
        w = np.int64(link[4 * j])
        if node[w * STRIDE + SINK] != sink or node[w * STRIDE + PARENT] == FREE:
            continue
        arc = np.int64(j) if sink else np.int64(link[4 * j + 1])
        if residual[2 * arc + 1] <= 0.0:
            continue
        distance = node[w * STRIDE + DISTANCE]
        if node[w * STRIDE + STAMP] != time:
            distance = find_distance(w, link, node, time)
        if distance < nearest:
            best, nearest = np.int64(j), distance
    if best != NONE:
        node[v * STRIDE + PARENT] = best
        node[v * STRIDE + STAMP], node[v * STRIDE + DISTANCE] = control[TIME], nearest + 1
        return
    node[v * STRIDE + PARENT] = FREE
    for j in range(start[v], start[v + 1]):
        w = np.int64(link[4 * j])
        parent = np.int64(node[w * STRIDE + PARENT])
        if node[w * STRIDE + SINK] != sink or parent == FREE:
            continue
        if residual[2 * np.int64(j if sink else link[4 * j + 1]) + 1] > 0.0:
            activate(w, node, control)
        if parent >= 0 and link[4 * parent] == v:
            lose_last(w, node, control)


@register_jitable
def find_distance(w, link, node, time):
    """The number of arcs from w to its terminal; FAR if the path contains an orphan.

    Distances on the path are stored with the present time, so that no path is followed twice.
    """
    distance, v = 0, w
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
        v = np.int64(link[4 * parent])
    total, v = distance, w
    while node[v * STRIDE + STAMP] != time:
        node[v * STRIDE + STAMP], node[v * STRIDE + DISTANCE] = time, distance
        distance -= 1
        v = np.int64(link[4 * np.int64(node[v * STRIDE + PARENT])])
    return total
