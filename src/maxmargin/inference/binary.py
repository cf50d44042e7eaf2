"""Choices between two labels at each node, by minimum cuts and roof duality.

With x_v = 0 or 1, every pairwise score is, up to a constant,

    sum over nodes of gain_v x_v  -  sum over edges of |coupling_e| [x_a, x_b differ or, if
    coupling_e < 0, agree],   coupling_e = (p00 + p11 - p01 - p10) / 2

If signs can be chosen for the nodes so that every edge with coupling < 0 joins two signs and every
other edge one (no cycle has an odd number of negative edges), a minimum cut finds the best x.
Otherwise each node gets a copy for 1 - x_v, and the cut of the doubled network, divided by 2, is
the optimum of the relaxation of x to the local polytope: the roof dual (Boros and Hammer 2002,
Pseudo-Boolean optimization). Nodes whose two copies lie on different sides have their label in a
best labelling; the others have the value 1/2 in the relaxation.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from .cut import PUSHES, max_flow, source_side
from .grid import MANY, cut_steps, find_steps, grid_size
from .networks import fields, residual, supply
from .plan import sections
from .search_trees import ACTIVE, CONTROLS, FREE, NONE, PARENT, SINK, TERMINAL
from .sweeps import push_along_arcs

#: The state of a node that is neither 0 nor 1 in the relaxation.
HALF = 2

#: Residuals below this share of the largest capacity of a doubled network are rounding.
LEAST = 1e-11


def network_size(n: int, m: int) -> int:
    """The number of float64 that ``cut_network`` needs for n nodes and m edges."""
    return CONTROLS + max(4 * m + 4 * n + (2 * m + n + 2) // 2, grid_size(n, m))


def binary_size(n: int, m: int) -> int:
    """The number of float64 that ``solve_binary`` needs: the doubled network, and the signs."""
    return network_size(2 * n, 2 * m) + n


@register_jitable
def solve_binary(plan, gain, coupling, state, work):
    """state = 0, 1 or HALF for each node; returns an upper bound on the maximum.

    The bound is that of the relaxation, and the maximum if no state is HALF.
    """
    n = len(gain)
    sign, rest = work[:n], work[n:]
    if choose_signs(plan, coupling, sign, rest):
        return cut_network(plan, 1, gain, coupling, sign, state, rest)
    return cut_network(plan, 2, gain, coupling, sign, state, rest)


@register_jitable
def choose_signs(plan, coupling, sign, stack):
    """Signs 1 or -1 of the nodes, so that edges with coupling < 0 join different ones.

    Returns False if there are none; the signs are then meaningless.
    """
    n = len(sign)
    ends, start, arcs, _, _ = sections(plan, n)
    for v in range(n):
        sign[v] = 0.0
    for root in range(n):
        if sign[root] != 0.0:
            continue
        sign[root], stack[0], size = 1.0, root, 1
        while size > 0:
            size -= 1
            v = np.int64(stack[size])
            for j in range(start[v], start[v + 1]):
                w, c = np.int64(ends[arcs[j] ^ 1]), coupling[arcs[j] >> 1]
                if c == 0.0:
                    continue
                wanted = sign[v] if c > 0.0 else -sign[v]
                if sign[w] == 0.0:
                    sign[w], stack[size] = wanted, w
                    size += 1
                elif sign[w] != wanted:
                    return False
    return True


@register_jitable
def cut_network(plan, copies, gain, coupling, sign, state, work):
    """Solve by a minimum cut of one or two copies of the graph; returns the bound.

    With one copy, the cut is between x_v for nodes of sign 1 and 1 - x_v for the others.
    """
    n, m = len(gain), len(coupling)
    control, work = work[:CONTROLS].view(np.int64), work[CONTROLS:]
    if copies == 1:
        count = find_steps(plan, n, m, work[:MANY].view(np.int64))
        if count > 0:
            return cut_steps(plan, count, gain, coupling, sign, state, control, work)
    N, M = copies * n, copies * m
    number, integers = work[: 4 * M + 4 * N], work[4 * M + 4 * N :].view(np.int32)
    node, start, place = number.view(np.int32), integers[: N + 1], integers[N + 1 : N + 1 + 2 * m]
    link = node[: 8 * M]
    base = build_network(plan, copies, gain, coupling, sign, start, link, place, number)
    push_along_arcs(N, start, link, number)
    left = max_flow(N, start, link, number, node, control, PUSHES * (N + 2 * M))
    if copies == 2:
        mark_reached(N, start, link, number, node, LEAST * largest(gain, coupling))
    for v in range(n):
        source = source_side(v, start, link, node)
        if copies == 1:
            state[v] = source if sign[v] > 0.0 else not source
        else:
            state[v] = HALF if source == source_side(n + v, start, link, node) else source
    return base + left / copies


@register_jitable
def largest(gain, coupling):
    """The largest absolute value."""
    top = 0.0
    for v in range(len(gain)):
        top = max(top, abs(gain[v]))
    for e in range(len(coupling)):
        top = max(top, abs(coupling[e]))
    return top


@register_jitable
def mark_reached(n, start, link, number, node, least):
    """Make the source's tree the nodes that it reaches by arcs with residuals above ``least``.

    In the doubled network both terminals can be saturated at the same time. What rounding leaves
    would then decide nodes that are 1/2.
    """
    last = np.int64(NONE)
    for v in range(n):
        at = fields(start, link, v)
        node[at + PARENT], node[at + SINK] = FREE, 0
        if number[supply(start, link, v)] > least:
            node[at + PARENT], node[at + ACTIVE] = TERMINAL, last
            last = np.int64(v)
    while last != NONE:
        v = last
        last = np.int64(node[fields(start, link, v) + ACTIVE])
        for j in range(start[v], start[v + 1]):
            w = np.int64(link[4 * j])
            at = fields(start, link, w)
            if number[residual(start, link, j)] > least and node[at + PARENT] == FREE:
                node[at + PARENT], node[at + ACTIVE] = TERMINAL, last
                last = w


@register_jitable
def build_network(plan, copies, gain, coupling, sign, start, link, place, number):
    """Write the network; ``place`` is scratch (2m).

    Returns what the value of the model adds to the capacity of the cut, for each copy.
    """
    n, m, base = len(gain), len(coupling), 0.0
    ends, first, arcs, _, _ = sections(plan, n)
    for v in range(n):
        start[v], number[supply(start, link, v)] = first[v], gain[v]
        if copies == 2:
            start[n + v], number[supply(start, link, n + v)] = 2 * m + first[v], -gain[v]
            base += 0.5 * gain[v]
        elif sign[v] < 0.0:
            number[supply(start, link, v)] = -gain[v]
            base += gain[v]
    start[copies * n] = copies * 2 * m
    for e in range(m):
        base -= min(coupling[e], 0.0)
    for j in range(2 * m):
        place[arcs[j]] = j
    for j in range(2 * m):
        arc = np.int64(arcs[j])
        other, back, c = ends[arc ^ 1], place[arc ^ 1], coupling[arc >> 1]
        if copies == 1:
            write_arc(link, number, j, other, back, c)
        else:
            crossed = np.int64(c < 0.0)
            write_arc(link, number, j, other + crossed * n, back + crossed * 2 * m, c)
            straight = 1 - crossed
            second = 2 * m + j
            write_arc(link, number, second, other + straight * n, back + straight * 2 * m, c)
    return base


@register_jitable
def write_arc(link, number, j, head, sister, coupling):
    """The record of arc j, as ``cut.py`` reads it."""
    link[4 * j], link[4 * j + 1] = head, sister
    number[2 * j + 1] = abs(coupling)
