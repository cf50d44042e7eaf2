"""The plan of a graph: its edges, neighbours and an order of its nodes, as one vector of integers.

A vector per graph makes packing simple: the plans of all graphs lie one behind the other, and
compiled code takes the slice of its graph. For n nodes and m edges the plan has ``4m + 3n + 1``
numbers:

======= ====== ===================================================================================
ends    2m     the two ends of edge e are ``ends[2e]`` and ``ends[2e + 1]``
start   n + 1  ``arcs[start[v] : start[v + 1]]`` are the arcs of node v
arcs    2m     arc ``a`` belongs to edge ``a // 2`` and starts at ``ends[a]``; it leads to
               ``ends[a ^ 1]``. The arcs of a node are sorted by the position of the other end
order   n      the nodes in the order in which they are visited
split   n      how many arcs of a node lead to nodes that are earlier in this order
======= ====== ===================================================================================

The order is that of the numbers of the nodes, but in a forest (a graph without cycles) every node
comes after its parent, so that ``split`` is 0 for roots and 1 otherwise.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from ..engine.keep import keep


def plan_graph(n: int, edges: np.ndarray) -> np.ndarray:
    """The plan of a graph of n nodes, int32.

    Parameters
    ----------
    n : int
        The number of nodes.
    edges : array (m, 2)
        The ends of the edges, checked to be two different nodes of the graph.

    Examples
    --------
    >>> plan = plan_graph(3, np.array([[0, 1], [1, 2]]))
    >>> len(plan), is_forest(plan, 3)
    (18, True)
    """
    edges = np.ascontiguousarray(edges, np.int32).reshape(-1, 2)
    plan = np.zeros(4 * len(edges) + 3 * n + 1, np.int32)
    fill_plan(n, edges.ravel(), plan, np.empty(n + 2 * len(edges), np.int32))
    return plan


def is_forest(plan: np.ndarray, n: int) -> bool:
    """Whether the graph of n nodes with this plan has no cycles; parallel edges are a cycle."""
    return bool((plan[len(plan) - n :] <= 1).all())


def merge_edges(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unite edges between the same two nodes, in either direction.

    Parameters
    ----------
    edges : array (m, 2)

    Returns
    -------
    merged : int32 array (k, 2)
        The edges without duplicates; the smaller node is the first one.
    which : int64 array (m,)
        The merged edge to which each edge belongs.
    flipped : bool array (m,)
        Whether the edge runs against its merged edge, so that its table must be transposed.

    Examples
    --------
    >>> merged, which, flipped = merge_edges(np.array([[1, 0], [2, 1], [0, 1]]))
    >>> merged.tolist(), which.tolist(), flipped.tolist()
    ([[0, 1], [1, 2]], [0, 1, 0], [True, True, False])
    """
    edges = np.asarray(edges, np.int64).reshape(-1, 2)
    low, high = edges.min(axis=1), edges.max(axis=1)
    base = int(high.max(initial=0)) + 1
    # One number per edge: NumPy sorts numbers much faster than rows.
    numbers, which = np.unique(low * base + high, return_inverse=True)
    merged = np.column_stack(np.divmod(numbers, base)).astype(np.int32)
    return merged, which.reshape(-1), edges[:, 0] > edges[:, 1]


@register_jitable
def edge_count(plan, n):
    """The number of edges of a graph of n nodes."""
    return (len(plan) - 3 * n - 1) // 4


@register_jitable
def sections(plan, n):
    """The parts of a plan: ends, start, arcs, order, split."""
    m = edge_count(plan, n)
    ends, start = plan[: 2 * m], plan[2 * m : 2 * m + n + 1]
    arcs = plan[2 * m + n + 1 : 4 * m + n + 1]
    rest = plan[4 * m + n + 1 :]
    return ends, start, arcs, rest[:n], rest[n : 2 * n]


@keep
def fill_plan(n, edges, plan, scratch):
    """Write the plan; ``edges`` is flat, ``scratch`` has n + 2m integers."""
    ends, start, arcs, order, split = sections(plan, n)
    filled, unsorted = scratch[:n], scratch[n : n + len(ends)]
    for a in range(len(ends)):
        ends[a] = edges[a]
        start[ends[a] + 1] += 1
    for v in range(n):
        start[v + 1] += start[v]
        filled[v] = start[v]
    for a in range(len(ends)):
        unsorted[filled[ends[a]]] = a
        filled[ends[a]] += 1
    if not breadth_first(n, ends, start, unsorted, order, filled):
        for v in range(n):
            order[v] = v
    sort_arcs(ends, start, unsorted, order, filled, arcs)
    position = filled
    for p in range(n):
        position[order[p]] = p
    for v in range(n):
        split[v] = 0
        for j in range(start[v], start[v + 1]):
            split[v] += position[ends[arcs[j] ^ 1]] < position[v]


@register_jitable
def sort_arcs(ends, start, unsorted, order, filled, arcs):
    """Sort the arcs of each node by the position of the other end.

    The nodes are visited in their order, and each adds itself to the lists of its neighbours.
    """
    for v in range(len(order)):
        filled[v] = start[v]
    for p in range(len(order)):
        v = order[p]
        for j in range(start[v], start[v + 1]):
            arc = unsorted[j] ^ 1
            arcs[filled[ends[arc]]] = arc
            filled[ends[arc]] += 1


@register_jitable
def breadth_first(n, ends, start, arcs, order, seen):
    """Order the nodes so that parents come before children; False if there is a cycle."""
    for v in range(n):
        seen[v] = 0
    filled, trees = 0, 0
    for root in range(n):
        if seen[root]:
            continue
        seen[root] = 1
        order[filled] = root
        head = filled
        filled, trees = filled + 1, trees + 1
        while head < filled:
            v = order[head]
            head += 1
            for j in range(start[v], start[v + 1]):
                other = ends[arcs[j] ^ 1]
                if not seen[other]:
                    seen[other] = 1
                    order[filled] = other
                    filled += 1
    return len(ends) // 2 == n - trees
