"""Graphs: one label per node, with weights of node features and of pairs of labels at edges.

w holds, in this order: d * K weights of node features (feature-major), and e * P weights of pairs
of labels (by edge feature), where P is the number of weights that ``pairwise`` has per feature.
"""

from __future__ import annotations

from itertools import pairwise as neighbours
from typing import Any

import numpy as np

from ...data.checked import check_codes
from ...data.costs import check_cost
from ...data.graph_lists import Graphs, stack_graphs
from ...engine.linalg import add_rows, pack_rows, read_only, row_products, sparse_if_it_pays
from ...errors import DataError
from ...inference import choose
from ...problem import SLACK, CompiledProblem, Pack
from .decoding import functions_of
from .functions import EDGES, FROM, NODES, TO, GraphData
from .node_types import (
    check_truth,
    check_type_classes,
    labels_instead,
    spread_features,
    type_numbers,
)
from .pairs import pair_numbers
from .plans import plan_graphs


class GraphProblem(CompiledProblem):
    """Labels 0..n_classes-1 of the nodes of graphs.

    Parameters
    ----------
    n_classes : int
    pairwise : {"full", "symmetric", "potts", "associative"}
        The weights of pairs of labels, for each edge feature: see ``pairs.KINDS``.
    cost : array (n_classes, n_classes), optional
        ``cost[t, k]`` is the loss of predicting k if t is true, for each node; 0/1 by default.
    inference : str
        The decoder of graphs with cycles (``maxmargin.inference``); "auto" chooses one. Graphs
        without cycles are decoded exactly. "forest" needs graphs without cycles.
    type_classes : bool array (n_types, n_classes), optional
        Which labels each type of nodes has, if nodes have types, numbered from 0. There are then
        d features of nodes for each type, and e of edges for each ordered pair of types.
    """

    cache = 10

    def __init__(
        self,
        n_classes: int,
        pairwise: str = "full",
        cost: Any = None,
        inference: str = "auto",
        type_classes: Any = None,
    ):
        if n_classes > np.iinfo(np.int16).max:
            raise DataError(f"{n_classes} labels are too many: at most 32767")
        self.n_classes, self.pairwise = n_classes, pairwise
        self.cost = check_cost(cost, n_classes)
        self.type_classes, self.n_types = None, 1
        if type_classes is not None:
            self.type_classes = check_type_classes(type_classes, n_classes)
            self.n_types = len(self.type_classes)
        self.pairs = read_only(pair_numbers(pairwise, n_classes), np.int64)
        self.n_pairs = int(self.pairs.max(initial=0)) + 1
        attractive = pairwise == "associative" and n_classes == 2
        self.kind = choose(inference, n_classes, inference == "forest", attractive)
        self.functions = functions_of(self.kind)

    def dim(self, d: int, e: int) -> int:
        """Length of w for d features of nodes and e features of edges."""
        T = self.n_types
        return T * d * self.n_classes + T * T * e * self.n_pairs

    def pack(self, X: Any, Y: Any = None, sample_weight: np.ndarray | None = None) -> Pack:
        """Pack graphs X with class numbers Y of the nodes of each graph."""
        X = stack_graphs(X)
        if self.pairwise == "associative":
            check_not_negative(X)
        n, total = len(X), int(X.offsets[-1])
        truth = read_only(np.zeros(total) if Y is None else self._codes(X, Y), np.int16)
        matrices, instead = self._by_type(X, truth if Y is not None else None)
        rows, edge_rows = (pack_rows(sparse_if_it_pays(M)) for M in matrices)
        plans = plan_graphs(X, self.kind, self.n_classes)
        entries = np.diff(rows.indptr[X.offsets]) + np.diff(edge_rows.indptr[X.edge_offsets])
        return Pack(
            data=GraphData(
                rows, edge_rows, read_only(plans.starts, np.int64),
                read_only(plans.edges, np.int32), read_only(plans.plan, np.int32),
                np.zeros(plans.n_messages), truth,
                read_only(np.ones(total) if X.weight is None else X.weight, np.float64),
                self.cost, self.pairs, instead, self.n_types * X.n_features, self.n_pairs,
            ),
            offsets=read_only(X.offsets, np.int64),
            truth=truth,
            dim=self.dim(X.n_features, X.n_edge_features),
            width=2 * int(entries.max(initial=0)),
            weight=read_only(np.ones(n) if sample_weight is None else sample_weight, np.float64),
            work=self._scratch(X, plans.n_tables) + plans.work,
        )  # fmt: skip

    def _by_type(self, X: Graphs, truth: np.ndarray | None) -> tuple[Any, np.ndarray]:
        """The matrices of nodes and edges, and the array ``instead`` of ``GraphData``."""
        matrices = X.nodes, edge_matrix(X)
        if self.type_classes is None:
            return matrices, read_only(np.zeros((0, self.n_classes)), np.int16)
        kinds = type_numbers(X, self.n_types)
        if truth is not None:
            check_truth(X, kinds, self.type_classes, truth)
        instead = labels_instead(self.type_classes)[kinds]
        return spread_features(X, matrices[1], kinds, self.n_types), read_only(instead, np.int16)

    def _codes(self, X: Graphs, Y: Any) -> np.ndarray:
        """The class numbers of all nodes (total,)."""
        if [len(labels) for labels in Y] != X.lengths.tolist():
            raise DataError("Y must have one label per node of each graph of X")
        flat = np.concatenate([np.zeros(0, np.int16), *Y])
        return check_codes(flat, len(flat), 0, self.n_classes - 1, "the label of node")

    def _scratch(self, X: Graphs, n_tables: np.ndarray) -> int:
        """Memory for the scores of the largest graph, in floats."""
        K = self.n_classes
        sizes = 2 * X.lengths * K + np.diff(X.edge_offsets) * self.n_pairs + n_tables * K * K
        return int(sizes.max(initial=0))

    def work(self, pack: Pack, mode: int) -> int:
        """Scratch memory of ``decode`` in floats."""
        if mode == SLACK:
            raise DataError(
                "slack rescaling has no oracle for graphs: the product of loss and score is not a "
                "sum over nodes and edges; use rescaling='margin'"
            ) from NotImplementedError("slack rescaling")
        return pack.work

    def positive(self, pack: Pack) -> range | None:
        """The weights of pairs of an associative model are >= 0."""
        if self.pairwise != "associative":
            return None
        return range(pack.data.n_features * self.n_classes, pack.dim)

    def truth_features(self, pack: Pack) -> np.ndarray:
        """sum_i weight_i phi_i(y_i)."""
        K, data = self.n_classes, pack.data
        of_node, of_edge, numbers = self._pairs_of(pack, data.y)
        total = np.zeros(pack.dim)
        add_rows(data.rows, pack.weight[of_node], data.y.astype(np.int64), K, total)
        scale = np.where(numbers >= 0, pack.weight[of_edge], 0.0)
        pairs = total[data.n_features * K :]
        add_rows(data.edge_rows, scale, numbers.clip(min=0), self.n_pairs, pairs)
        return total

    def first_scores(self, pack: Pack, w: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """``<w, phi_i(y)>`` of these labels (n,)."""
        data, scores = pack.data, np.zeros(pack.n)
        of_node, of_edge, numbers = self._pairs_of(pack, labels)
        split = data.n_features * self.n_classes
        nodes = row_products(data.rows, w[:split].reshape(-1, self.n_classes))
        edges = row_products(data.edge_rows, w[split:].reshape(-1, self.n_pairs))
        np.add.at(scores, of_node, nodes[np.arange(len(labels)), labels])
        some = np.flatnonzero(numbers >= 0)
        np.add.at(scores, of_edge[some], edges[some, numbers[some]])
        return scores

    def _pairs_of(self, pack: Pack, labels: np.ndarray) -> tuple[np.ndarray, ...]:
        """The graph of each node and edge, and the number of the weight of each edge's labels."""
        starts, edges = pack.data.starts, pack.data.edges
        of_node, of_edge = (
            np.repeat(np.arange(pack.n), np.diff(starts[:, column])) for column in (NODES, EDGES)
        )
        first = starts[of_edge, NODES]
        ends = (labels[first + edges[:, column]] for column in (FROM, TO))
        return of_node, of_edge, self.pairs[tuple(ends)]

    def operations(self, pack: Pack) -> float:
        """Scores of nodes and edges, and some sweeps over the pairs of labels."""
        K, data = self.n_classes, pack.data
        scores = data.rows.nnz * K + data.edge_rows.nnz * self.n_pairs
        return float(scores + 20 * len(data.edges) * K * K)

    def effort(self, pack: Pack) -> np.ndarray:
        """Nodes and pairs of labels at edges."""
        starts = pack.data.starts
        return np.diff(starts[:, NODES]) + np.diff(starts[:, EDGES]) * float(self.n_classes) + 1.0

    def label_bounds(self, pack: Pack) -> tuple[int, int]:
        """The class numbers."""
        return 0, self.n_classes - 1

    def unpack(self, pack: Pack, labels: np.ndarray) -> list[np.ndarray]:
        """The class numbers of the nodes of each graph."""
        return [labels[a:b] for a, b in neighbours(pack.offsets.tolist())]


def edge_matrix(X: Graphs) -> Any:
    """The features of all edges; without features each edge has the single feature 1."""
    return np.ones((len(X.edges), 1)) if X.edge_features is None else X.edge_features


def check_not_negative(X: Graphs) -> None:
    """Raise a DataError if an edge feature is negative, which associative models do not allow."""
    features = edge_matrix(X)
    sparse = hasattr(features, "indptr")
    values = features.data if sparse else features
    if values.size == 0 or values.min() >= 0:
        return
    place = int(np.argmax(values.ravel() < 0))
    row, value = place // features.shape[1], values.ravel()[place]
    if sparse:
        row = int(np.searchsorted(features.indptr, place, side="right")) - 1
    i, edge = X.locate_edge(row)
    raise DataError(
        f"graph {i}: edge {edge} has the feature value {value}: pairwise='associative' needs "
        "edge features >= 0; shift or exponentiate them, or use pairwise='potts'",
        sequence=i,
    )
