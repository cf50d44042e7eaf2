"""The functions of graphs over packed nodes and edges; for the order of w see ``problem.py``.

Scores are in ``work``: K scores of labels per node, then ``n_pairs`` scores of pairs per edge.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from ...engine.linalg import Rows, row_write, row_write_both, rows_scores
from ...problem import PREDICT

#: The columns of ``GraphData.starts``.
NODES, EDGES, PLAN, MESSAGES, FOREST = range(5)

#: The columns of ``GraphData.edges``.
FROM, TO, TABLE, FLIPPED = range(4)


class GraphData(NamedTuple):
    """Packed graphs.

    Attributes
    ----------
    rows, edge_rows : Rows
        The features of the nodes and edges of all graphs.
    starts : int64 array (n + 1, 5)
        Where graph i begins among NODES, EDGES, PLAN (the numbers of ``plan``) and MESSAGES; and
        whether it is a FOREST.
    edges : int32 array (total edges, 4)
        The nodes that an edge joins, FROM and TO, counted within the graph; the TABLE of scores to
        which it adds its own, and whether it does so FLIPPED (edges that join the same nodes share
        a table).
    plan : int32 array
        What the decoders need to know of each graph (``inference.plan``).
    messages : float64 array
        What the decoders keep from call to call.
    y, weight : arrays (total nodes,)
        True labels, and the costs of errors.
    cost : array (K, K)
        ``cost[t, k]`` times the weight of a node is the loss of predicting k if t is true.
    pairs : int64 array (K, K)
        The number of the weight of each pair of labels, -1 if it has none.
    instead : int16 array (total nodes, K), or (0, K) without types of nodes
        For each label of a node itself, or for one that its type does not have, another that it
        has (``node_types.py``).
    n_features, n_pairs : int
        Number of node features, and of weights of pairs per edge feature.
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


@njit(nogil=True)
def score(data, w, i, work):
    """Scores of the labels of all nodes, and of the pairs of labels of all edges."""
    set_scores(data, w, i, work)


@register_jitable
def set_scores(data, w, i, work):
    """The same as ``score``, for calls from other compiled functions; returns their number."""
    K, P = np.int64(data.cost.shape[0]), np.int64(data.n_pairs)
    first, first_edge = data.starts[i, NODES], data.starts[i, EDGES]
    n, m = data.starts[i + 1, NODES] - first, data.starts[i + 1, EDGES] - first_edge
    scores = work[: n * K + m * P]
    rows_scores(data.rows, first, n, w, K, scores[: n * K])
    rows_scores(data.edge_rows, first_edge, m, w[data.n_features * K :], P, scores[n * K :])
    return len(scores)


@register_jitable
def set_unary(data, i, mode, scores, unary):
    """Write the scores of the nodes, plus costs unless the mode is PREDICT."""
    K, first = np.int64(data.cost.shape[0]), data.starts[i, NODES]
    for v in range(data.starts[i + 1, NODES] - first):
        cost, weight = data.cost[data.y[first + v]], data.weight[first + v]
        if mode == PREDICT:
            weight = 0.0
        for k in range(K):
            unary[v * K + k] = scores[v * K + k] + weight * cost[k]


@register_jitable
def set_tables(data, i, scores, pair):
    """Write the scores of all pairs of labels (K * K numbers) of each table."""
    K, P = np.int64(data.cost.shape[0]), np.int64(data.n_pairs)
    for e in range(len(pair)):
        pair[e] = 0.0
    first = data.starts[i, EDGES]
    for e in range(data.starts[i + 1, EDGES] - first):
        place = np.int64(data.edges[first + e, TABLE]) * K * K
        mine, table = scores[e * P : e * P + P], pair[place : place + K * K]
        flipped = data.edges[first + e, FLIPPED]
        for a in range(K):
            for b in range(K):
                number = data.pairs[a, b]
                if number >= 0:
                    table[b * K + a if flipped else a * K + b] += mine[number]


@register_jitable
def score_of(data, i, y, scores):
    """<w, phi(x, y)> from the scores of nodes and pairs."""
    K, P, n = np.int64(data.cost.shape[0]), np.int64(data.n_pairs), len(y)
    total, first, pairs = 0.0, data.starts[i, EDGES], scores[n * K :]
    for v in range(n):
        total += scores[v * K + y[v]]
    for e in range(data.starts[i + 1, EDGES] - first):
        number = data.pairs[y[data.edges[first + e, FROM]], y[data.edges[first + e, TO]]]
        if number >= 0:
            total += pairs[e * P + number]
    return total


@njit(nogil=True)
def loss(data, i, y):
    """The weighted number of wrong labels."""
    first, total = data.starts[i, NODES], 0.0
    for v in range(len(y)):
        total += data.weight[first + v] * data.cost[data.y[first + v], y[v]]
    return total


@njit(nogil=True)
def delta(data, i, y, z, idx, val):
    """phi(x, y) - phi(x, z): nodes and edges at which the two differ."""
    K, P = np.int64(data.cost.shape[0]), np.int64(data.n_pairs)
    first, nnz = data.starts[i, NODES], 0
    for v in range(len(y)):
        if y[v] != z[v]:
            nnz = row_write_both(data.rows, first + v, K, y[v], z[v], idx, val, nnz)
    base = data.n_features * K
    for e in range(data.starts[i, EDGES], data.starts[i + 1, EDGES]):
        a, b = data.edges[e, FROM], data.edges[e, TO]
        new, old = data.pairs[y[a], y[b]], data.pairs[z[a], z[b]]
        if new != old:
            if new >= 0:
                nnz = row_write(data.edge_rows, e, 1.0, P, base + new, idx, val, nnz)
            if old >= 0:
                nnz = row_write(data.edge_rows, e, -1.0, P, base + old, idx, val, nnz)
    return nnz


@njit(nogil=True)
def margin(data, i, y, z, work):
    """<w, phi(x, y) - phi(x, z)> from the scores that ``score`` or ``decode`` wrote to work."""
    K, P, n = np.int64(data.cost.shape[0]), np.int64(data.n_pairs), len(y)
    total, first, pairs = 0.0, data.starts[i, EDGES], work[n * K :]
    for v in range(n):
        if y[v] != z[v]:
            total += work[v * K + y[v]] - work[v * K + z[v]]
    for e in range(data.starts[i + 1, EDGES] - first):
        a, b = data.edges[first + e, FROM], data.edges[first + e, TO]
        new, old = data.pairs[y[a], y[b]], data.pairs[z[a], z[b]]
        if new != old:
            total += pairs[e * P + new] if new >= 0 else 0.0
            total -= pairs[e * P + old] if old >= 0 else 0.0
    return total
