"""Graphs whose outputs are points of the local polytope: the relaxed problem.

P(w) has the best point of each example in the place of its best labels, so that it is an upper
bound on P(w) of the exact problem. Points are stored as integers that are exactly consistent, so
that every plane is a plane of the relaxed problem, and D a lower bound on its optimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.graph_lists import Graphs, stack_graphs
from ...data.sequences import offsets_of
from ...engine.linalg import read_only
from ...inference.lp import relaxation_size
from ...inference.points import point_length, units_of
from ...inference.two_labels import roof_dual_size
from ...problem import Pack
from ...result import RELAXED
from .functions import MESSAGES, NODES, PLAN
from .problem import GraphProblem
from .relaxed_functions import messages_of, relaxed_functions
from .relaxed_planes import RelaxedData


class RelaxedGraphProblem(GraphProblem):
    """Points of the local polytope, for labels 0..n_classes-1 of the nodes of graphs.

    The parameters are those of ``GraphProblem``, without ``inference``.
    """

    bounds = RELAXED

    def __init__(
        self, n_classes: int, pairwise: str = "full", cost: Any = None, type_classes: Any = None
    ):
        kind = "roof-dual" if n_classes == 2 else "lp"
        super().__init__(n_classes, pairwise, cost, kind, type_classes)
        self.units = units_of(n_classes)
        self.functions = relaxed_functions(n_classes == 2)

    def pack(self, X: Any, Y: Any = None, sample_weight: np.ndarray | None = None) -> Pack:
        """Pack graphs X with class numbers Y of the nodes of each graph."""
        X, K = stack_graphs(X), self.n_classes
        pack = super().pack(X, Y, sample_weight)
        data = pack.data
        nodes, tables = X.lengths, table_counts(data.starts)
        sizes = list(zip(nodes.tolist(), tables.tolist(), strict=True))
        offsets = offsets_of([point_length(n, m, K) for n, m in sizes])
        starts = data.starts.copy()
        starts[:, MESSAGES] = offsets_of([messages_of(n, m, K) for n, m in sizes])
        width = self._width(X, pack)
        work = [
            point_length(n, m, K)
            + n
            + (roof_dual_size(n, m) if K == 2 else relaxation_size(n, m, K))
            for n, m in sizes
        ]
        data = data._replace(
            starts=read_only(starts, np.int64), messages=np.zeros(int(starts[-1, MESSAGES]))
        )
        dense = pack.dim if width > pack.dim else 0
        return pack._replace(
            data=RelaxedData(**data._asdict(), units=self.units, dim=dense),
            offsets=read_only(offsets, np.int64),
            truth=self._points(data, sizes),
            width=width,
            work=pack.work + self._scratch(X, tables) + max([0, *work]),
        )

    def _width(self, X: Graphs, pack: Pack) -> int:
        """Room for the entries of a plane; for as many as w has, twice, if there may be more."""
        data = pack.data
        entries = np.diff(data.rows.indptr[X.offsets]) * self.n_classes
        entries += np.diff(data.edge_rows.indptr[X.edge_offsets]) * int((self.pairs >= 0).sum())
        most = int(entries.max(initial=0))
        return most if most <= pack.dim else 2 * pack.dim

    def _points(self, data: Any, sizes: list[tuple[int, int]]) -> np.ndarray:
        """The true labels as points."""
        L, dtype = self.n_classes - 1, np.int8 if self.n_classes == 2 else np.int16
        points = [np.zeros(0, dtype)]
        for i, (n, m) in enumerate(sizes):
            y = data.y[data.starts[i, NODES] : data.starts[i + 1, NODES]].astype(np.int64)
            ends = data.plan[data.starts[i, PLAN] :][: 2 * m].reshape(m, 2)
            nodes, edges = np.zeros((n, L), dtype), np.zeros((m, L, L), dtype)
            v, e = np.flatnonzero(y > 0), np.flatnonzero((y[ends] > 0).all(axis=1))
            nodes[v, y[v] - 1] = self.units
            edges[e, y[ends[e, 0]] - 1, y[ends[e, 1]] - 1] = self.units
            points += [nodes.ravel(), edges.ravel()]
        return read_only(np.concatenate(points), dtype)

    def label_bounds(self, pack: Pack) -> tuple[int, int]:
        """Counts from none to all units."""
        return 0, self.units

    def valid_labels(self, pack: Pack, labels: np.ndarray) -> np.ndarray:
        """Counts of points that are consistent; all counts of an example are valid or none."""
        valid = super().valid_labels(pack, labels)
        starts, offsets = pack.data.starts, pack.offsets.tolist()
        for i, m in enumerate(table_counts(starts).tolist()):
            n, lo, hi = int(starts[i + 1, NODES] - starts[i, NODES]), offsets[i], offsets[i + 1]
            ends = pack.data.plan[starts[i, PLAN] :][: 2 * m].reshape(m, 2)
            valid[lo:hi] &= is_point(labels[lo:hi], n, ends, self.n_classes, self.units)
            if len(pack.data.instead):
                own = pack.data.instead[starts[i, NODES] : starts[i + 1, NODES]]
                valid[lo:hi] &= has_own_labels(labels[lo:hi], own, self.units)
        return valid

    def first_scores(self, pack: Pack, w: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """``<w, phi_i(y)>`` of these points (n,)."""
        functions, scores = self.functions, super().first_scores(pack, w, pack.data.y)
        idx, val = np.zeros(pack.width, np.uint64), np.zeros(pack.width)
        for i, (lo, hi) in enumerate(zip(pack.offsets[:-1], pack.offsets[1:], strict=True)):
            nnz = functions.delta(pack.data, i, labels[lo:hi], pack.truth[lo:hi], idx, val)
            scores[i] += val[:nnz] @ w[idx[:nnz].astype(np.int64)]
        return scores


def table_counts(starts: np.ndarray) -> np.ndarray:
    """The number of tables of pair scores of each graph (n,), from the lengths of the plans."""
    return (np.diff(starts[:, PLAN]) - 3 * np.diff(starts[:, NODES]) - 1) // 4


def is_point(y: np.ndarray, n: int, ends: np.ndarray, K: int, units: int) -> bool:
    """Whether counts are those of a point: no count is negative, that of label 0 included."""
    L, y = K - 1, y.astype(np.int64)
    nodes, inside = y[: n * L].reshape(n, L), y[n * L :].reshape(-1, L, L)
    first, second = nodes[ends[:, 0]] - inside.sum(2), nodes[ends[:, 1]] - inside.sum(1)
    neither = units - nodes[ends[:, 0]].sum(1) - second.sum(1)
    rest = units - nodes.sum(1)
    return all((part >= 0).all() for part in (y, rest, first, second, neither))


def has_own_labels(y: np.ndarray, instead: np.ndarray, units: int) -> bool:
    """Whether a point has no counts of labels that its nodes cannot have."""
    n, K = instead.shape
    nodes = y[: n * (K - 1)].reshape(n, K - 1).astype(np.int64)
    counts = np.column_stack([units - nodes.sum(axis=1), nodes])
    return not counts[instead != np.arange(K)].any()
