"""Tiny graphs, for the tests that every structure gets."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np

from ...data.graphs import Graph
from ...io.graphs import graph_arrays
from ...io.npz import npz_bytes
from ..tiny import Tiny
from .estimator import GraphSVC
from .problem import GraphProblem

LABELS = "ABC"

#: A tree, a single node, an empty graph, and two edges between the same nodes.
FOREST = [
    Graph([[1.0, 0.0], [0.5, -1.0], [0.0, 2.0]], [(0, 1), (2, 1)]),
    Graph([[-1.0, 0.3]]),
    Graph(np.zeros((0, 2))),
    Graph([[0.2, 0.2], [1.5, -0.5]], [(0, 1), (1, 0)]),
]
Y = [np.array([0, 1, 2]), np.array([1]), np.array([], int), np.array([2, 0])]

#: Edges with features, one of them zero.
FEATURES = [
    Graph([[1.0, 0.0], [0.5, -1.0], [0.0, 2.0]], [(0, 1), (2, 1)], [[1.0, 0.5], [0.0, -0.2]]),
    Graph([[-1.0, 0.3], [0.4, 0.1]], [(1, 0)], [[0.0, 2.0]]),
]

#: Two types of nodes: the first one has the labels 0 and 1, the second one 1 and 2.
TYPED = [
    Graph([[1.0, 0.5], [0.5, -1.0], [-0.2, 2.0]], [(0, 1), (2, 1)], types=[0, 1, 0]),
    Graph([[-1.0, 0.3], [0.4, 0.1]], [(1, 0)], types=[1, 1]),
    Graph([[0.6, -0.3], [0.4, 0.9]], [(1, 0)], types=[1, 0]),
]
TYPE_CLASSES = np.array([[True, True, False], [False, True, True]])
Y_TYPED = [np.array([0, 2, 1]), np.array([1, 2]), np.array([2, 1])]


def examples() -> list[Tiny]:
    """Weights of ordered pairs, of pairs in any order with edge features, and types of nodes."""
    two = [np.array([0, 1, 1]), np.array([1, 0])]
    return [
        _example("full", FOREST, Y, 3, "full"),
        _example("symmetric", FEATURES, two, 2, "symmetric"),
        replace(
            _example("types", TYPED, Y_TYPED, 3, "full"),
            problem=GraphProblem(3, "full", None, "forest", TYPE_CLASSES),
            outputs=lambda x: list(
                itertools.product(*(np.flatnonzero(TYPE_CLASSES[t]).tolist() for t in x.types))
            ),
            features=typed_features,
        ),
    ]


def _example(name: str, X: Any, Y: Any, K: int, pairwise: str) -> Tiny:
    return Tiny(
        name=name,
        problem=GraphProblem(K, pairwise, None, "forest"),
        X=X,
        Y=Y,
        outputs=lambda x: list(itertools.product(range(K), repeat=len(x))),
        features=lambda x, y: features(x, y, K, pairwise),
        loss=lambda truth, y: float(np.sum(np.asarray(truth) != np.asarray(y))),
        rescalings=("margin",),
        estimator=GraphSVC(pairwise=pairwise),
        data=(X, [[LABELS[k] for k in y] for y in Y]),
        text=npz_bytes(graph_arrays(X, [np.array([LABELS[k] for k in y], "U1") for y in Y])),
        command=("--pairwise", pairwise),
    )


def typed_features(x: Graph, y: Any) -> np.ndarray:
    """The same for two types: features of nodes by type, and of edges by pair of types."""
    nodes, pairs = np.zeros((2, 2, 3)), np.zeros((2, 2, 3, 3))
    for v, k in enumerate(y):
        nodes[x.types[v], :, k] += x.nodes[v]
    for a, b in x.edges.tolist():
        pairs[x.types[a], x.types[b], y[a], y[b]] += 1
    return np.concatenate([nodes.ravel(), pairs.ravel()])


def features(x: Graph, y: Any, K: int, pairwise: str) -> np.ndarray:
    """Weights of nodes (d, K), then of pairs of labels for each edge feature."""
    nodes, e = np.zeros((x.nodes.shape[1], K)), 1
    for v, k in enumerate(y):
        nodes[:, k] += x.nodes[v]
    if x.edge_features is not None:
        e = x.edge_features.shape[1]
    symmetric = list(itertools.combinations_with_replacement(range(K), 2))
    pairs = {"full": K * K, "symmetric": len(symmetric)}.get(pairwise, 1)
    weights = np.zeros((e, pairs))
    for number, (a, b) in enumerate(x.edges.tolist()):
        value = np.ones(1) if x.edge_features is None else x.edge_features[number]
        if pairwise == "full":
            weights[:, y[a] * K + y[b]] += value
        elif pairwise == "symmetric":
            weights[:, symmetric.index((min(y[a], y[b]), max(y[a], y[b])))] += value
        elif y[a] == y[b]:
            weights[:, 0] += value
    return np.concatenate([nodes.ravel(), weights.ravel()])
