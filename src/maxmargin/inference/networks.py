"""Networks of minimum cuts: where arcs lead, and where their capacities and those of nodes are.

A network is ``(start, link, number, node)`` in one of two forms, and the same algorithm runs on
both. Compiled code chooses the form by the type of ``start``.

Any graph: ``start`` is an int32 array (n + 1)
    The arcs j of node v are ``start[v]`` to ``start[v + 1]``. Arc j leads to node ``link[4 * j]``,
    and ``link[4 * j + 1]`` is the arc in the opposite direction.
A grid: ``start`` is the integer s
    The arcs of node v are ``v << s`` to ``(v + 1) << s``, and the one in place k leads to node
    ``v + link[k]``. The arcs in the places k and ``k ^ 1`` of ``link`` (int64) are opposite to each
    other. Nothing is stored for an arc but its capacity. Arcs that would leave the grid have the
    capacity 0, and the arrays have room for the nodes to which they would lead.

``number`` (float64) holds capacities, and ``node`` (int32), a view of the same memory, six fields of
each node. In a grid all that belongs to a node lies in one cache line (in two for 8 neighbours); in
other graphs an arc has 16 bytes and a node 32. Half of the time on large grids is spent waiting for
memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload


def first_arc(start: Any, v: Any) -> Any:
    """The first arc of node v; the first arc of node v + 1 comes after its last one."""
    return v << start if isinstance(start, int) else start[v]


def head(start: Any, link: Any, j: Any) -> Any:
    """The node to which arc j leads."""
    return (j >> start) + link[j & (len(link) - 1)] if isinstance(start, int) else link[4 * j]


def sister(start: Any, link: Any, j: Any) -> Any:
    """The arc in the opposite direction of arc j."""
    if isinstance(start, int):
        k = j & (len(link) - 1)
        return (((j >> start) + link[k]) << start) + (k ^ 1)
    return link[4 * j + 1]


def residual(start: Any, link: Any, j: Any) -> Any:
    """Where ``number`` has what arc j can still carry."""
    if isinstance(start, int):
        return ((j >> start) << (start + 1)) + (j & (len(link) - 1))
    return 2 * j + 1


def supply(start: Any, link: Any, v: Any) -> Any:
    """Where ``number`` has what node v can get from the source or, negative, give to the sink."""
    if isinstance(start, int):
        return (v << (start + 1)) + len(link)
    return 2 * len(link) // 4 + 4 * v + 3


def fields(start: Any, link: Any, v: Any) -> Any:
    """Where the six fields of node v begin in ``node``."""
    if isinstance(start, int):
        return (v << (start + 2)) + 2 * len(link) + 2
    return len(link) + 8 * v


@overload(first_arc)
def _first_arc(start, v):
    if isinstance(start, types.Integer):
        return lambda start, v: v << start
    return lambda start, v: np.int64(start[v])


@overload(head)
def _head(start, link, j):
    if isinstance(start, types.Integer):
        return lambda start, link, j: (j >> start) + link[j & (len(link) - 1)]
    return lambda start, link, j: np.int64(link[4 * j])


@overload(sister)
def _sister(start, link, j):
    if isinstance(start, types.Integer):

        def of_grid(start, link, j):
            k = j & (len(link) - 1)
            return (((j >> start) + link[k]) << start) + (k ^ 1)

        return of_grid
    return lambda start, link, j: np.int64(link[4 * j + 1])


@overload(residual)
def _residual(start, link, j):
    if isinstance(start, types.Integer):
        return lambda start, link, j: ((j >> start) << (start + 1)) + (j & (len(link) - 1))
    return lambda start, link, j: 2 * j + 1


@overload(supply)
def _supply(start, link, v):
    if isinstance(start, types.Integer):
        return lambda start, link, v: (v << (start + 1)) + len(link)
    return lambda start, link, v: (len(link) >> 1) + 4 * v + 3


@overload(fields)
def _fields(start, link, v):
    if isinstance(start, types.Integer):
        return lambda start, link, v: (v << (start + 2)) + 2 * len(link) + 2
    return lambda start, link, v: len(link) + 8 * v
