"""A first flow for minimum cuts of grids, by sweeps over the nodes.

A sweep visits the nodes in their order and pushes what a terminal supplies to a node on to its
later neighbours, in equal shares, as far as the arcs carry it; then it goes back in the opposite
order. Where supplies of source and sink meet, they cancel. These are the passes of TRW-S for two
labels (Kolmogorov 2006). Whatever is pushed, the minimum cuts stay the same; after a few sweeps
little remains for the search trees to do.
"""

from __future__ import annotations

from math import frexp, ldexp

from numba.extending import register_jitable

from .networks import first_ahead, first_arc, head, residual, shares, sister, supply

#: The largest number of sweeps; a sweep that lowers the supply by a smaller share is the last one.
SWEEPS, SHARE = 8, 0.03

#: Sweep if at least this share of the nodes has a supply.
SUPPLIED = 0.25

#: Shares are multiples of the largest supply times about 2^-BITS, so that whole numbers are pushed
#: without rounding.
BITS = 40


@register_jitable
def sweep_flow(n, start, link, number):
    """Push flow by sweeps as long as it pays."""
    total, count, largest = 0.0, 0, 0.0
    for v in range(n):
        given = number[supply(start, link, v)]
        total += max(given, 0.0)
        count += given != 0.0
        largest = max(largest, abs(given))
    exponent = frexp(largest)[1]
    if count < SUPPLIED * n or not -900 < exponent < 900:
        return
    unit = ldexp(1.5, exponent + 52 - BITS)
    for _ in range(SWEEPS):
        sweep(n, start, link, number, unit, True)
        sweep(n, start, link, number, unit, False)
        left = 0.0
        for v in range(n):
            left += max(number[supply(start, link, v)], 0.0)
        if left > (1.0 - SHARE) * total:
            return
        total = left


@register_jitable
def sweep(n, start, link, number, unit, forward):
    """Push the supplies to later neighbours, or to earlier ones if not ``forward``.

    Adding and subtracting ``unit`` rounds a share.
    """
    for p in range(n):
        v = p if forward else n - 1 - p
        left = number[supply(start, link, v)]
        if left == 0.0:
            continue
        ways = shares(start, link, v)
        first, step = first_ahead(start, v, forward)
        for j in range(first, first_arc(start, v + 1), step):
            w = head(start, link, j)
            if (w > v) == forward:
                arc = residual(start, link, j)
                back = residual(start, link, sister(start, link, j))
                share = left if ways == 1 else (left / ways + unit) - unit
                flow = min(max(share, -number[back]), number[arc])
                number[arc] -= flow
                number[back] += flow
                number[supply(start, link, w)] += flow
                left -= flow
                ways -= 1
        number[supply(start, link, v)] = left


@register_jitable
def push_along_arcs(n, start, link, number):
    """Push flow from the source over single arcs to the sink, for graphs that are no grids.

    There the order of the nodes says little, and sweeps take longer than they save.
    """
    for v in range(n):
        left = number[supply(start, link, v)]
        if left <= 0.0:
            continue
        for j in range(first_arc(start, v), first_arc(start, v + 1)):
            w = supply(start, link, head(start, link, j))
            if number[w] < 0.0:
                flow = min(left, number[residual(start, link, j)], -number[w])
                number[residual(start, link, j)] -= flow
                number[residual(start, link, sister(start, link, j))] += flow
                number[w] += flow
                left -= flow
        number[supply(start, link, v)] = left
