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

``number`` (float64) holds capacities, and ``node`` (int32), a view of the same memory, six fields
of each node. In a grid all that belongs to a node lies in one cache line (in two for 8
neighbours); in other graphs an arc has 16 bytes and a node 32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload, register_jitable


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


def tie(start: Any, up: Any, down: Any) -> Any:
    """What a node of a search tree stores, from the arc to its parent and the arc back."""
    return down if isinstance(start, int) else up


def above(start: Any, link: Any, stored: Any) -> Any:
    """The parent. In a grid it takes no other load: walks along paths are chains of such loads."""
    return stored >> start if isinstance(start, int) else link[4 * stored]


def up_arc(start: Any, link: Any, v: Any, stored: Any) -> Any:
    """The arc from node v to its parent."""
    return (v << start) + ((stored & (len(link) - 1)) ^ 1) if isinstance(start, int) else stored


def down_arc(start: Any, link: Any, stored: Any) -> Any:
    """The arc from the parent of a node to the node."""
    return stored if isinstance(start, int) else link[4 * stored + 1]


def first_ahead(start: Any, v: Any, forward: Any) -> Any:
    """The first arc that may lead to a later node, and the distance to the next one.

    To an earlier node if not ``forward``. In a grid every other arc leads to a later node.
    """
    return ((v << start) + (0 if forward else 1), 2) if isinstance(start, int) else (start[v], 1)


def shares(start: Any, link: Any, v: Any) -> Any:
    """The larger one of the numbers of arcs to later and to earlier nodes."""
    return len(link) // 2 if isinstance(start, int) else _count_ahead(start, link, v)


@register_jitable
def _count_ahead(start, link, v):
    later = 0
    for j in range(start[v], start[v + 1]):
        later += link[4 * j] > v
    return max(later, start[v + 1] - start[v] - later)


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


@overload(tie)
def _tie(start, up, down):
    if isinstance(start, types.Integer):
        return lambda start, up, down: down
    return lambda start, up, down: up


@overload(above)
def _above(start, link, stored):
    if isinstance(start, types.Integer):
        return lambda start, link, stored: stored >> start
    return lambda start, link, stored: np.int64(link[4 * stored])


@overload(up_arc)
def _up_arc(start, link, v, stored):
    if isinstance(start, types.Integer):
        return lambda start, link, v, stored: (v << start) + ((stored & (len(link) - 1)) ^ 1)
    return lambda start, link, v, stored: stored


@overload(down_arc)
def _down_arc(start, link, stored):
    if isinstance(start, types.Integer):
        return lambda start, link, stored: stored
    return lambda start, link, stored: np.int64(link[4 * stored + 1])


@overload(first_ahead)
def _first_ahead(start, v, forward):
    if isinstance(start, types.Integer):
        return lambda start, v, forward: ((v << start) + (0 if forward else 1), 2)
    return lambda start, v, forward: (np.int64(start[v]), 1)


@overload(shares)
def _shares(start, link, v):
    if isinstance(start, types.Integer):
        return lambda start, link, v: len(link) // 2
    return lambda start, link, v: _count_ahead(start, link, v)
