"""Planes of points of the local polytope (``inference/points.py``): loss and features of counts.

An output is a point: integer counts of labels and of pairs of labels, in units. Loss and features
are linear in them, so that points are outputs like any other, with true planes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from ...engine.linalg import Rows, row_write
from .functions import EDGES, FLIPPED, FROM, NODES, TABLE, TO


class RelaxedData(NamedTuple):
    """Packed graphs: the fields of ``functions.GraphData``, and the following.

    Attributes
    ----------
    units : int
        The units of a share of 1.
    dim : int
        The length of w if planes may have more entries, which are then added up, else 0.
    """

    rows: Rows
    edge_rows: Rows
    starts: np.ndarray
    edges: np.ndarray
    plan: np.ndarray
    messages: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    cost: np.ndarray
    pairs: np.ndarray
    instead: np.ndarray
    n_features: int
    n_pairs: int
    units: int
    dim: int


@register_jitable
def node_step(y, z, K, v, k):
    """The count of label k at node v in y minus that in z."""
    at = v * (K - 1) - 1
    if k > 0:
        return np.int64(y[at + k]) - np.int64(z[at + k])
    total = 0
    for j in range(1, K):
        total -= np.int64(y[at + j]) - np.int64(z[at + j])
    return total


@register_jitable
def differs(y, z, start, length):
    """Whether two points differ in this part."""
    first, second, bits = y[start : start + length], z[start : start + length], 0
    for p in range(length):
        bits |= np.int64(first[p]) ^ np.int64(second[p])
    return bits != 0


@register_jitable
def edge_differs(y, z, K, start, a, b):
    """Whether two points differ at an edge from a to b or at its ends."""
    L = K - 1
    return differs(y, z, start, L * L) or differs(y, z, a * L, L) or differs(y, z, b * L, L)


@register_jitable
def table_of(data, e, n, K):
    """``(start, a, b, flipped)`` of the counts of edge e, whose ends are a and b in their order."""
    start = n * (K - 1) + np.int64(data.edges[e, TABLE]) * (K - 1) * (K - 1)
    a, b = np.int64(data.edges[e, FROM]), np.int64(data.edges[e, TO])
    if data.edges[e, FLIPPED]:
        return start, b, a, True
    return start, a, b, False


@njit(nogil=True)
def loss(data, i, y):
    """The expected cost of the labels."""
    K, first, total = np.int64(data.cost.shape[0]), data.starts[i, NODES], 0.0
    for v in range(data.starts[i + 1, NODES] - first):
        cost, rest = data.cost[data.y[first + v]], data.units
        mine = 0.0
        for k in range(1, K):
            count = np.int64(y[v * (K - 1) + k - 1])
            rest -= count
            mine += cost[k] * count
        total += data.weight[first + v] * (mine + cost[0] * rest)
    return total / data.units


@register_jitable
def write_row(dim, rows, i, share, K, k, idx, val, nnz):
    """Append ``share * X[i]`` as features of label k; returns the new length.

    If ``dim`` is not 0 there is room for this many entries: before they are too many, they are
    added to a dense vector behind them, and ``idx[dim]`` says so.
    """
    if dim > 0 and nnz + rows.indptr[i + 1] - rows.indptr[i] > dim:
        add_up(dim, idx, val, nnz)
        nnz = 0
    return row_write(rows, i, share, K, k, idx, val, nnz)


@register_jitable
def add_up(dim, idx, val, nnz):
    """Add the entries to the dense vector behind them, ``val[dim : 2 * dim]``."""
    sums = val[dim : 2 * dim]
    if idx[dim] == 0:
        idx[dim] = 1
        for j in range(dim):
            sums[j] = 0.0
    for p in range(nnz):
        sums[np.int64(idx[p])] += val[p]


@register_jitable
def compress(dim, idx, val):
    """Move the non-zeros of the dense vector to the front; returns their number."""
    sums, nnz = val[dim : 2 * dim], 0
    for j in range(dim):
        if sums[j] != 0.0:
            idx[nnz], val[nnz] = j, sums[j]
            nnz += 1
    return nnz


@njit(nogil=True)
def delta(data, i, y, z, idx, val):
    """phi(x, y) - phi(x, z): nodes and edges at which the two differ."""
    K, dim = np.int64(data.cost.shape[0]), data.dim
    first, nnz = data.starts[i, NODES], 0
    n = data.starts[i + 1, NODES] - first
    if dim > 0:
        idx[dim] = 0
    for v in range(n):
        if differs(y, z, v * (K - 1), K - 1):
            for k in range(K):
                step = node_step(y, z, K, v, k)
                if step != 0:
                    share = step / data.units
                    nnz = write_row(dim, data.rows, first + v, share, K, k, idx, val, nnz)
    for e in range(data.starts[i, EDGES], data.starts[i + 1, EDGES]):
        start, a, b, flipped = table_of(data, e, n, K)
        if edge_differs(y, z, K, start, a, b):
            nnz = write_edge(
                dim, data.units, data.edge_rows, data.pairs, data.n_features * K,
                np.int64(data.n_pairs), e, y, z, K, start, a, b, flipped, idx, val, nnz,
            )  # fmt: skip
    if dim > 0 and idx[dim] > 0:
        add_up(dim, idx, val, nnz)
        return compress(dim, idx, val)
    return nnz


@register_jitable
def write_edge(dim, units, rows, pairs, base, P, e, y, z, K, start, a, b, flipped, idx, val, nnz):
    """Append the features of an edge between a and b, by pairs of labels; returns the new length.

    ``start`` is where its counts begin. Counts of pairs with label 0 are what the others leave.
    """
    L, corner = K - 1, 0
    inside = differs(y, z, start, L * L)
    for j in range(L):
        rest, row = difference(y, z, a * L + j), start + j * L
        corner -= rest
        if inside and differs(y, z, row, L):
            for k in range(L):
                step = difference(y, z, row + k)
                if step != 0:
                    corner, rest = corner + step, rest - step
                    number = pairs[k + 1, j + 1] if flipped else pairs[j + 1, k + 1]
                    nnz = write_pair(dim, units, rows, number, base, P, e, step, idx, val, nnz)
        if rest != 0:
            number = pairs[0, j + 1] if flipped else pairs[j + 1, 0]
            nnz = write_pair(dim, units, rows, number, base, P, e, rest, idx, val, nnz)
    for k in range(L):
        rest = difference(y, z, b * L + k)
        corner -= rest
        if inside:
            for j in range(L):
                rest -= difference(y, z, start + j * L + k)
        if rest != 0:
            number = pairs[k + 1, 0] if flipped else pairs[0, k + 1]
            nnz = write_pair(dim, units, rows, number, base, P, e, rest, idx, val, nnz)
    if corner != 0:
        nnz = write_pair(dim, units, rows, pairs[0, 0], base, P, e, corner, idx, val, nnz)
    return nnz


@register_jitable
def difference(y, z, p):
    """A count of y minus that of z."""
    return np.int64(y[p]) - np.int64(z[p])


@register_jitable
def write_pair(dim, units, rows, number, base, P, e, step, idx, val, nnz):
    """Append the features of edge e for ``step`` counts of a pair of labels, if it has weights."""
    if number < 0:
        return nnz
    return write_row(dim, rows, e, step / units, P, base + number, idx, val, nnz)
