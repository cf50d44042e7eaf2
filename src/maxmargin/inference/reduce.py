"""Choices between two labels, after the nodes are decided whose label does not need a cut.

In the terms of ``binary.py``, label 1 in place of 0 at node v changes the value by gain_v plus a
number between -r_v and r_v, the sum of |coupling| over its edges. If |gain_v| >= r_v, the sign of
gain_v is the best label whatever the neighbours have, also in the relaxation, whose value therefore
stays the same. A decided node adds its edges to the gains of its neighbours, and more of them are
decided. In many models few nodes remain: those of the network that is cut.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from .binary import HALF, binary_size, solve_binary
from .plan import sections

#: Marks a node whose edges have been added to the gains of its neighbours.
DONE = -1.0


def reduced_size(n: int, m: int) -> int:
    """The number of float64 that ``solve_reduced`` needs for n nodes and m edges."""
    return 4 * n + m + (4 * m + 3 * n + 2) // 2 + binary_size(n, m)


@register_jitable
def solve_reduced(plan, gain, coupling, state, work):
    """The same as ``binary.solve_binary``, in less time if few nodes remain; changes ``gain``."""
    n, m = len(gain), len(coupling)
    radius, nodes, rest = work[:n], work[n : 2 * n], work[2 * n :]
    bound = decide_nodes(plan, gain, coupling, state, radius, nodes)
    left = 0
    for v in range(n):
        if state[v] == HALF:
            nodes[left], radius[v] = v, left
            left += 1
    if left == 0:
        return bound
    size = 4 * m + 3 * n + 2
    small_plan = rest[: size // 2].view(np.int32)
    rest = rest[size // 2 :]
    small_gain, small_state, small_coupling = rest[:left], rest[n : n + left], rest[2 * n :]
    edges = write_plan(plan, n, coupling, state, radius, nodes[:left], small_plan, small_coupling)
    for p in range(left):
        small_gain[p] = gain[np.int64(nodes[p])]
    bound += solve_binary(
        small_plan[: 4 * edges + 3 * left + 1], small_gain, small_coupling[:edges], small_state,
        rest[2 * n + m :],
    )  # fmt: skip
    for p in range(left):
        state[np.int64(nodes[p])] = np.int64(small_state[p])
    return bound


@register_jitable
def decide_nodes(plan, gain, coupling, state, radius, queue):
    """state = 0 or 1 of decided nodes, HALF of the others; returns the value of the former.

    Values are relative to that of label 0 everywhere.
    """
    n, bound, size, head = len(gain), 0.0, 0, 0
    ends, start, arcs, _, _ = sections(plan, n)
    for v in range(n):
        radius[v] = 0.0
    for e in range(len(coupling)):
        radius[ends[2 * e]] += abs(coupling[e])
        radius[ends[2 * e + 1]] += abs(coupling[e])
    for v in range(n):
        state[v] = HALF
        if abs(gain[v]) >= radius[v]:
            state[v], queue[size] = gain[v] > 0.0, v
            size += 1
    while head < size:
        v = np.int64(queue[head])
        head += 1
        radius[v] = DONE
        label = np.int64(state[v])
        bound += gain[v] * label
        for j in range(start[v], start[v + 1]):
            w, c = np.int64(ends[arcs[j] ^ 1]), coupling[arcs[j] >> 1]
            if radius[w] == DONE or c == 0.0:
                continue
            bound -= c * label
            gain[w] += c if label == 1 else -c
            radius[w] = max(radius[w] - abs(c), 0.0)
            if state[w] == HALF and abs(gain[w]) >= radius[w]:
                state[w], queue[size] = gain[w] > 0.0, w
                size += 1
    return bound


@register_jitable
def write_plan(plan, n, coupling, state, number, nodes, small, small_coupling):
    """Write the plan of the nodes that remain and the couplings of their edges; returns these.

    The plan has no order of the nodes: cuts do not need it. Edges without coupling are left out.
    """
    ends, start, arcs, _, _ = sections(plan, n)
    left, edges = len(nodes), 0
    for p in range(left):
        v = np.int64(nodes[p])
        for j in range(start[v], start[v + 1]):
            arc = np.int64(arcs[j])
            w, c = ends[arc ^ 1], coupling[arc >> 1]
            if arc & 1 == 0 and c != 0.0 and state[w] == HALF:
                small[2 * edges], small[2 * edges + 1] = p, np.int64(number[w])
                small_coupling[edges] = c
                edges += 1
    ends, start, arcs, filled, _ = sections(small[: 4 * edges + 3 * left + 1], left)
    for p in range(left + 1):
        start[p] = 0
    for a in range(2 * edges):
        start[ends[a] + 1] += 1
    for p in range(left):
        start[p + 1] += start[p]
        filled[p] = start[p]
    for a in range(2 * edges):
        arcs[filled[ends[a]]] = a
        filled[ends[a]] += 1
    return edges
