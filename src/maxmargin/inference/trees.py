"""Moves that choose the labels of many nodes at once: those of an induced forest.

All other nodes keep their labels, so that the best labels of the forest follow from dynamic
programming. Every move visits the nodes in another order and takes each one that closes no cycle;
in sparse graphs that is more than half of them.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from .plan import sections
from .tables import add_pairs, highest, maximise_out

#: End the moves when this many have changed nothing.
PATIENCE = 16


def tree_size(n: int, K: int) -> int:
    """The scratch of ``move_tree``."""
    return n * K + K + 3 * n


@register_jitable
def move_forests(plan, K, unary, pair, y, moves, effort, work):
    """At most ``effort`` moves on forests; ``moves`` were made before. Returns the new number."""
    idle, done = 0, int(moves) % 1000003
    for _ in range(effort):
        done += 1
        idle = 0 if move_tree(plan, K, unary, pair, y, done, work) else idle + 1
        if idle == PATIENCE:
            break
    return done


@register_jitable
def move_tree(plan, K, unary, pair, y, seed, work):
    """Give the nodes of a forest, chosen by ``seed`` (an integer), their best labels.

    Returns whether a label changed. The value of y never falls, up to rounding.
    """
    n, changed = len(y), False
    ends, start, arcs, _, _ = sections(plan, n)
    best, found, rest = work[: n * K], work[n * K : n * K + K], work[n * K + K :]
    group, order, up = rest[:n], rest[n : 2 * n], rest[2 * n : 3 * n]
    choose_forest(ends, start, arcs, seed, group)
    size = order_forest(ends, start, arcs, group, order, up)
    for p in range(size):
        v = np.int64(order[p])
        set_scores(ends, start, arcs, K, unary, pair, y, v, group, best[v * K : v * K + K])
    for p in range(size - 1, -1, -1):
        v, arc = np.int64(order[p]), np.int64(up[np.int64(order[p])])
        if arc >= 0:
            table = pair[(arc >> 1) * K * K : ((arc >> 1) + 1) * K * K]
            parent = np.int64(ends[arc ^ 1])
            maximise_out(best[v * K : v * K + K], table, K, arc & 1, found)
            for k in range(K):
                best[parent * K + k] += found[k]
    for p in range(size):
        v, arc = np.int64(order[p]), np.int64(up[np.int64(order[p])])
        mine = best[v * K : v * K + K]
        if arc >= 0:
            table = pair[(arc >> 1) * K * K : ((arc >> 1) + 1) * K * K]
            add_pairs(table, K, (arc & 1) ^ 1, np.int64(y[ends[arc ^ 1]]), mine)
        k = highest(mine, K)
        changed |= k != y[v]
        y[v] = k
    return changed


@register_jitable
def choose_forest(ends, start, arcs, seed, group):
    """group[v] >= 0 for the nodes of the forest, -1 for the others.

    The nodes are visited by a walk with a step that has no common divisor with their number.
    """
    n = len(group)
    step = stride(n, seed)
    for v in range(n):
        group[v] = -1.0
    v = (seed * 7919) % n
    for _ in range(n):
        v = (v + step) % n
        if joins_different_trees(ends, start, arcs, group, v):
            group[v] = v
            for j in range(start[v], start[v + 1]):
                w = np.int64(ends[arcs[j] ^ 1])
                if group[w] >= 0.0:
                    group[root_of(group, w)] = v


@register_jitable
def stride(n, seed):
    """A step between 1 and n without common divisor with n, so that a walk visits all nodes."""
    step = 1 + (seed * 104729 + n // 3) % n
    while True:
        a, b = n, step
        while b > 0:
            a, b = b, a % b
        if a == 1:
            return step
        step = step % n + 1


@register_jitable
def root_of(group, v):
    """The root of the tree of v; paths to it are shortened."""
    while np.int64(group[v]) != v:
        group[v] = group[np.int64(group[v])]
        v = np.int64(group[v])
    return v


@register_jitable
def joins_different_trees(ends, start, arcs, group, v):
    """Whether all neighbours of v in the forest belong to different trees.

    The roots found are marked by -2 - root while the others are compared with them.
    """
    lo, hi, fits = start[v], start[v + 1], True
    stop = hi
    for j in range(lo, hi):
        w = np.int64(ends[arcs[j] ^ 1])
        if group[w] == -1.0:
            continue
        root = find_marked(group, w)
        if group[root] <= -2.0:
            fits, stop = False, j
            break
        group[root] = -2.0 - root
    for j in range(lo, stop):
        w = np.int64(ends[arcs[j] ^ 1])
        if group[w] != -1.0:
            root = find_marked(group, w)
            group[root] = root
    return fits


@register_jitable
def find_marked(group, v):
    """The root of the tree of v, where the root may be marked."""
    while group[v] >= 0.0 and np.int64(group[v]) != v:
        v = np.int64(group[v])
    return v


@register_jitable
def order_forest(ends, start, arcs, group, order, up):
    """Nodes of the forest, parents first, and the arcs to their parents (-1 for roots)."""
    n, filled = len(group), 0
    for v in range(n):
        up[v] = -2.0
    for root in range(n):
        if group[root] < 0.0 or up[root] != -2.0:
            continue
        up[root], order[filled] = -1.0, root
        head = filled
        filled += 1
        while head < filled:
            v = np.int64(order[head])
            head += 1
            for j in range(start[v], start[v + 1]):
                w = np.int64(ends[arcs[j] ^ 1])
                if group[w] >= 0.0 and up[w] == -2.0:
                    up[w], order[filled] = arcs[j] ^ 1, w
                    filled += 1
    return filled


@register_jitable
def set_scores(ends, start, arcs, K, unary, pair, y, v, group, scores):
    """Scores of the labels of v, with the pairs with neighbours that keep their labels."""
    for k in range(K):
        scores[k] = unary[v * K + k]
    for j in range(start[v], start[v + 1]):
        arc = np.int64(arcs[j])
        w = np.int64(ends[arc ^ 1])
        if group[w] < 0.0:
            table = pair[(arc >> 1) * K * K : ((arc >> 1) + 1) * K * K]
            add_pairs(table, K, (arc & 1) ^ 1, np.int64(y[w]), scores)
