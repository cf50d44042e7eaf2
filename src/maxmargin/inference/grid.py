"""Minimum cuts of grids, whose arcs are not stored.

A graph is a grid here if the numbers of the two ends of its edges differ by at most four different
steps: 1 and the width for 4 neighbours, and the width plus and minus 1 for 8 neighbours. What is at
the borders does not matter, as edges that do not exist have the capacity 0.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from .cut import PUSHES, max_flow, source_side
from .networks import residual, supply
from .sweeps import sweep_flow

#: The largest number of different steps, and the numbers of arcs of a node.
STEPS, FEW, MANY = 4, 4, 8


def grid_size(n: int, m: int) -> int:
    """The number of float64 that ``cut_steps`` needs at most for n nodes and m edges."""
    return MANY + 2 * (FEW if m <= 2 * n else MANY) * 2 * n


@register_jitable
def find_steps(plan, n, m, steps):
    """Write the different steps between the ends of edges to ``steps``; returns how many.

    0 if the graph is no grid: there are more than four, or one that is longer than half of it.
    """
    count = 0
    for e in range(m):
        step = np.int64(plan[2 * e + 1]) - np.int64(plan[2 * e])
        step = step if step > 0 else -step
        k = 0
        while k < count and steps[k] != step:
            k += 1
        if k == count:
            if count == STEPS or 2 * step > n:
                return 0
            steps[k] = step
            count += 1
    if count > 2 and m <= 2 * n:
        return 0
    return count


@register_jitable
def cut_steps(plan, count, gain, coupling, sign, state, control, work):
    """``binary.cut_network`` of one copy of a grid; ``work`` begins with its steps."""
    n, shift = len(gain), 2 if count <= 2 else 3
    link, rest = work[: 1 << shift].view(np.int64), work[MANY:]
    margin = np.int64(0)
    for k in range((1 << shift) - 1, -1, -1):
        step = link[k >> 1] if k >> 1 < count else np.int64(0)
        link[k] = -step if k & 1 else step
        margin = max(margin, step)
    N = n + 2 * margin
    number = rest[: N << (shift + 1)]
    base = build_grid(plan, margin, shift, link, gain, coupling, sign, number)
    node = number.view(np.int32)
    sweep_flow(N, shift, link, number)
    left = max_flow(N, shift, link, number, node, control, PUSHES * (N << shift))
    for v in range(n):
        source = source_side(margin + v, shift, link, node)
        state[v] = source if sign[v] > 0.0 else not source
    return base + left


@register_jitable
def build_grid(plan, margin, shift, link, gain, coupling, sign, number):
    """Write the network, with a margin of empty nodes at both ends; returns the constant."""
    n, base = len(gain), 0.0
    for j in range(len(number)):
        number[j] = 0.0
    for v in range(n):
        if sign[v] > 0.0:
            number[supply(shift, link, margin + v)] = gain[v]
        else:
            number[supply(shift, link, margin + v)] = -gain[v]
            base += gain[v]
    for e in range(len(coupling)):
        a, b = np.int64(plan[2 * e]), np.int64(plan[2 * e + 1])
        a, step = (a, b - a) if a < b else (b, a - b)
        k = 0
        while link[k] != step:
            k += 2
        v, c = (margin + a) << shift, coupling[e]
        number[residual(shift, link, v + k)] += abs(c)
        number[residual(shift, link, v + (step << shift) + k + 1)] += abs(c)
        base -= min(c, 0.0)
    return base
