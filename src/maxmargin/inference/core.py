"""The part of a relaxation that is not decided: few labels of some nodes, and their edges.

Near the optimum almost all labels have costs (``local_polytope.label_costs``) that no good point
can pay. The others and those of the last point are the labels of the core. A node with one label
is decided, and adds its pair scores to those of its neighbours. What is left is the same linear
program with far fewer variables; each of its points is a point of the whole one.

Counts of labels and pairs of labels, in units (``points.py``), describe a whole point in the arrays
x (n K) and z (m K K), and one of the core in arrays like its scores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from .plan import edge_count, sections


class Core(NamedTuple):
    """A graph whose nodes have different numbers of labels.

    Attributes
    ----------
    n, m : int
        The number of its nodes and edges.
    constant : float
        The scores of all that is decided.
    place : int array
        For each node of the whole graph its number in the core; -1 - k if its label k is decided.
    node, start, label : int arrays
        Node p is ``node[p]`` of the whole graph; ``label[start[p] : start[p + 1]]`` are its labels.
    degree : int array
        The number of its edges in the core.
    edge, first, second : int arrays
        Edge q is ``edge[q]`` of the whole graph and joins the nodes ``first[q]`` and ``second[q]``.
    at, arc : int arrays
        Where its pairs of labels and its messages begin.
    unary, pair : float arrays
        The scores of labels and pairs of labels.
    """

    n: int
    m: int
    constant: float
    place: np.ndarray
    node: np.ndarray
    start: np.ndarray
    label: np.ndarray
    degree: np.ndarray
    edge: np.ndarray
    first: np.ndarray
    second: np.ndarray
    at: np.ndarray
    arc: np.ndarray
    unary: np.ndarray
    pair: np.ndarray


@register_jitable
def core_size(n: int, m: int, K: int) -> int:
    """The scratch of a core."""
    return 4 * n + 5 * m + 3 + 2 * n * K + m * K * K


@register_jitable
def make_core(plan, n, K, unary, pair, cost, most, x, work):
    """The core of labels that cost at most ``most`` or have a count in x."""
    m = edge_count(plan, n)
    index = work[: 4 * n + n * K + 5 * m + 3].view(np.int64)
    place, node, degree = index[:n], index[n : 2 * n], index[2 * n : 3 * n]
    start, label = index[3 * n : 4 * n + 1], index[4 * n + 1 : 4 * n + 1 + n * K]
    rest = index[4 * n + 1 + n * K :]
    edge, first, second = rest[:m], rest[m : 2 * m], rest[2 * m : 3 * m]
    at, arc = rest[3 * m : 4 * m + 1], rest[4 * m + 1 : 5 * m + 2]
    scores = work[len(index) :]
    u, t = scores[: n * K], scores[n * K : n * K + m * K * K]
    N, constant = keep_labels(n, K, unary, cost, most, x, place, node, start, label)
    for p in range(N):
        degree[p] = add_decided(plan, n, K, unary, pair, place, p, node, start, label, u)
    M, more = keep_edges(plan, n, K, pair, place, start, label, edge, first, second, at, arc, t)
    return Core(
        N, M, constant + more, place, node, start, label, degree, edge, first, second, at, arc, u, t
    )


@register_jitable
def keep_labels(n, K, unary, cost, most, x, place, node, start, label):
    """Choose nodes and labels; returns the number of nodes, and the scores of decided labels."""
    N, filled, constant = 0, 0, 0.0
    for v in range(n):
        end = filled
        for k in range(K):
            if cost[v * K + k] <= most or x[v * K + k] > 0.0:
                label[end] = k
                end += 1
        if end - filled > 1:
            place[v], node[N], start[N] = N, v, filled
            N, filled = N + 1, end
        else:
            place[v] = -1 - label[filled]
            constant += unary[v * K + label[filled]]
    start[N] = filled
    return N, constant


@register_jitable
def add_decided(plan, n, K, unary, pair, place, p, node, start, label, target):
    """Write the scores of the labels of node p with its decided neighbours; returns its degree."""
    ends, begin, arcs, _, _ = sections(plan, n)
    v, degree = node[p], 0
    for j in range(start[p], start[p + 1]):
        target[j] = unary[v * K + label[j]]
    for g in range(begin[v], begin[v + 1]):
        arc = np.int64(arcs[g])
        other = place[ends[arc ^ 1]]
        if other >= 0:
            degree += 1
            continue
        base, k = (arc >> 1) * K * K, -1 - other
        for j in range(start[p], start[p + 1]):
            target[j] += pair[base + (k * K + label[j] if arc & 1 else label[j] * K + k)]
    return degree


@register_jitable
def keep_edges(plan, n, K, pair, place, start, label, edge, first, second, at, arc, target):
    """Choose edges between nodes of the core; returns their number, and the scores of decided ones.

    Scores of edges with one decided end are those of labels.
    """
    M, constant = 0, 0.0
    at[0] = arc[0] = 0
    for e in range(edge_count(plan, n)):
        a, b = place[plan[2 * e]], place[plan[2 * e + 1]]
        if a < 0 and b < 0:
            constant += pair[e * K * K + (-1 - a) * K - 1 - b]
        if a < 0 or b < 0:
            continue
        edge[M], first[M], second[M] = e, a, b
        q = at[M]
        for j in range(start[a], start[a + 1]):
            row = e * K * K + label[j] * K
            for k in range(start[b], start[b + 1]):
                target[q] = pair[row + label[k]]
                q += 1
        at[M + 1] = q
        arc[M + 1] = arc[M] + start[a + 1] - start[a] + start[b + 1] - start[b]
        M += 1
    return M, constant


@register_jitable
def load_point(core, K, units, lam, x, z, lam1, x1, z1):
    """Copy messages of the whole graph, and shares from its counts, to the core."""
    for p in range(core.n):
        for j in range(core.start[p], core.start[p + 1]):
            x1[j] = x[core.node[p] * K + core.label[j]] / units
    for q in range(core.m):
        a, b, e = core.first[q], core.second[q], core.edge[q]
        r, s = core.arc[q], core.at[q]
        for j in range(core.start[a], core.start[a + 1]):
            lam1[r] = lam[2 * e * K + core.label[j]]
            r += 1
            for k in range(core.start[b], core.start[b + 1]):
                z1[s] = z[(e * K + core.label[j]) * K + core.label[k]] / units
                s += 1
        for k in range(core.start[b], core.start[b + 1]):
            lam1[r] = lam[(2 * e + 1) * K + core.label[k]]
            r += 1


@register_jitable
def store_messages(core, K, lam1, lam):
    """Copy the messages of the core to the whole graph."""
    for q in range(core.m):
        a, b, e, r = core.first[q], core.second[q], core.edge[q], core.arc[q]
        for j in range(core.start[a], core.start[a + 1]):
            lam[2 * e * K + core.label[j]] = lam1[r]
            r += 1
        for k in range(core.start[b], core.start[b + 1]):
            lam[(2 * e + 1) * K + core.label[k]] = lam1[r]
            r += 1


@register_jitable
def store_counts(plan, n, K, units, core, count, table, x, z):
    """Write the point whose core has these counts of labels and pairs of labels."""
    for j in range(n * K):
        x[j] = 0.0
    for v in range(n):
        if core.place[v] < 0:
            x[v * K - 1 - core.place[v]] = units
    for p in range(core.n):
        for j in range(core.start[p], core.start[p + 1]):
            x[core.node[p] * K + core.label[j]] = count[j]
    spread_decided(plan, n, K, core.place, x, z)
    for q in range(core.m):
        a, b, s = core.first[q], core.second[q], core.at[q]
        for j in range(core.start[a], core.start[a + 1]):
            row = (core.edge[q] * K + core.label[j]) * K
            for k in range(core.start[b], core.start[b + 1]):
                z[row + core.label[k]] = table[s]
                s += 1


@register_jitable
def spread_decided(plan, n, K, place, x, z):
    """Edges with a decided end have the counts of the labels of the other end; others have none."""
    for j in range(len(z)):
        z[j] = 0.0
    for e in range(edge_count(plan, n)):
        a, b = np.int64(plan[2 * e]), np.int64(plan[2 * e + 1])
        if place[a] < 0:
            row = (e * K - 1 - place[a]) * K
            for k in range(K):
                z[row + k] = x[b * K + k]
        elif place[b] < 0:
            for j in range(K):
                z[(e * K + j) * K - 1 - place[b]] = x[a * K + j]
