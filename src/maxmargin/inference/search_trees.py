"""The search trees of minimum cuts: active nodes, and orphans that look for a parent.

A node has six fields. Nodes of a tree whose neighbours may be free or in the other tree are active;
those that have lost their parent are orphans. Both are linked lists.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from .networks import above, fields, first_arc, head, residual, sister, supply, tie

#: Fields of a node: the arc to its parent, whether it belongs to the tree of the sink, when its
#: distance to the terminal was computed, this distance, the next active node, the next orphan.
PARENT, SINK, STAMP, DISTANCE, ACTIVE, ORPHAN = 0, 1, 2, 3, 4, 5

#: Values of PARENT that are not arcs: in no tree; a child of the terminal; looking for a parent.
FREE, TERMINAL, LOST = -1, -2, -3

#: The end of a list, and "not in a list"
NONE = -1

#: Fields of ``control``: first and last active node, first and last orphan, number of pushes.
FIRST, LAST, FIRST_ORPHAN, LAST_ORPHAN, TIME, CONTROLS = 0, 1, 2, 3, 4, 8

#: A distance that no node has
FAR = 2**30


@register_jitable
def start_trees(n, start, link, number, node, control):
    """Every node with a terminal capacity starts as a tree, and is active."""
    control[FIRST], control[LAST], control[TIME] = NONE, NONE, 0
    control[FIRST_ORPHAN], control[LAST_ORPHAN] = NONE, NONE
    for v in range(n):
        at, given = fields(start, link, v), number[supply(start, link, v)]
        node[at + PARENT], node[at + ACTIVE] = FREE, NONE
        node[at + SINK], node[at + STAMP], node[at + DISTANCE] = given < 0.0, 0, 1
        if given != 0.0:
            node[at + PARENT] = TERMINAL
            activate(v, start, link, node, control)


@register_jitable
def activate(v, start, link, node, control):
    """Append a node to the list of active ones; the last of the list points to itself."""
    at = fields(start, link, v)
    if node[at + ACTIVE] != NONE:
        return
    if control[LAST] == NONE:
        control[FIRST] = v
    else:
        node[fields(start, link, control[LAST]) + ACTIVE] = v
    control[LAST] = v
    node[at + ACTIVE] = v


@register_jitable
def next_active(start, link, node, control):
    """Take the first active node that is in a tree from the list; NONE if there is none."""
    while control[FIRST] != NONE:
        v = control[FIRST]
        at = fields(start, link, v)
        following = np.int64(node[at + ACTIVE])
        if following == v:
            control[FIRST], control[LAST] = NONE, NONE
        else:
            control[FIRST] = following
        if node[at + PARENT] != FREE:
            node[at + ACTIVE] = v  # not to be activated while it grows
            return v
        node[at + ACTIVE] = NONE
    return np.int64(NONE)


@register_jitable
def lose_first(v, start, link, node, control):
    """Make v the first orphan of the list."""
    at = fields(start, link, v)
    node[at + PARENT], node[at + ORPHAN] = LOST, control[FIRST_ORPHAN]
    control[FIRST_ORPHAN] = v
    if control[LAST_ORPHAN] == NONE:
        control[LAST_ORPHAN] = v


@register_jitable
def lose_last(v, start, link, node, control):
    """Make v the last orphan of the list."""
    at = fields(start, link, v)
    node[at + PARENT], node[at + ORPHAN] = LOST, NONE
    if control[LAST_ORPHAN] == NONE:
        control[FIRST_ORPHAN] = v
    else:
        node[fields(start, link, control[LAST_ORPHAN]) + ORPHAN] = v
    control[LAST_ORPHAN] = v


@register_jitable
def adopt_orphans(start, link, number, node, control):
    """Find a parent for every orphan, or free it."""
    while control[FIRST_ORPHAN] != NONE:
        v = control[FIRST_ORPHAN]
        control[FIRST_ORPHAN] = node[fields(start, link, v) + ORPHAN]
        if control[FIRST_ORPHAN] == NONE:
            control[LAST_ORPHAN] = NONE
        if not adopt(v, start, link, number, node, control[TIME]):
            free(v, start, link, number, node, control)


@register_jitable
def adopt(v, start, link, number, node, time):
    """Find the parent of v in its tree that is closest to the terminal; False if there is none."""
    here = fields(start, link, v)
    sink, best, nearest = node[here + SINK], np.int64(NONE), FAR
    for j in range(first_arc(start, v), first_arc(start, v + 1)):
        w = head(start, link, j)
        at = fields(start, link, w)
        if node[at + SINK] != sink or node[at + PARENT] == FREE:
            continue
        arc = j if sink else sister(start, link, j)
        if number[residual(start, link, arc)] <= 0.0:
            continue
        distance = np.int64(node[at + DISTANCE])
        if node[at + STAMP] != time:
            distance = find_distance(w, start, link, node, time)
        if distance < nearest:
            best, nearest = j, distance
            if distance < node[here + DISTANCE]:
                break
    if best == NONE:
        return False
    node[here + PARENT] = tie(start, best, sister(start, link, best))
    node[here + STAMP], node[here + DISTANCE] = time, nearest + 1
    return True


@register_jitable
def free(v, start, link, number, node, control):
    """Take v out of its tree: its children become orphans, and its neighbours active."""
    here = fields(start, link, v)
    sink, node[here + PARENT] = node[here + SINK], FREE
    for j in range(first_arc(start, v), first_arc(start, v + 1)):
        w = head(start, link, j)
        at = fields(start, link, w)
        if node[at + SINK] != sink or node[at + PARENT] == FREE:
            continue
        back = sister(start, link, j)
        if number[residual(start, link, j if sink else back)] > 0.0:
            activate(w, start, link, node, control)
        if node[at + PARENT] == tie(start, back, j):
            lose_last(w, start, link, node, control)


@register_jitable
def find_distance(w, start, link, node, time):
    """The number of arcs from w to its terminal; FAR if the way passes an orphan.

    Distances on the way are stored with the present time, so that no way is walked twice.
    """
    distance, v = np.int64(0), w
    while True:
        at = fields(start, link, v)
        if node[at + STAMP] == time:
            distance += node[at + DISTANCE]
            break
        parent = np.int64(node[at + PARENT])
        if parent == LOST:
            return np.int64(FAR)
        distance += 1
        if parent == TERMINAL:
            node[at + STAMP], node[at + DISTANCE] = time, 1
            break
        v = above(start, link, parent)
    total, v = distance, w
    at = fields(start, link, v)
    while node[at + STAMP] != time:
        node[at + STAMP], node[at + DISTANCE] = time, distance
        distance -= 1
        at = fields(start, link, above(start, link, np.int64(node[at + PARENT])))
    return total
