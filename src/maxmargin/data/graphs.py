"""Graphs: nodes with features, joined by edges that may have features too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import DataError
from .checked import NotFinite, check_finite_rows, check_weights, csr_rows, plain_array
from .labels import as_label_array
from .node_types import join_types


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """One graph, checked when it is made.

    Parameters
    ----------
    nodes : array or scipy sparse matrix (n, d)
        The features of the nodes.
    edges : int array (m, 2)
        The nodes that each edge joins, counted from 0. The order within a pair matters only for
        ``pairwise="full"``. An edge that is given twice counts twice.
    edge_features : array or scipy sparse matrix (m, e), optional
        The features of the edges; by default each edge has the single feature 1.
    node_weight : array (n,), optional
        The cost of an error at each node, such as the size of a superpixel; 1 by default, and 0
        for nodes that do not count.
    positions : array (n, 2), optional
        Where pictures draw the nodes: x to the right, y downwards.
    types : array (n,), optional
        The type of each node, of any hashable type. Each type has separate weights for all node
        features, each ordered pair of types for all edge features, and a node is only given labels
        that nodes of its type had in training. See also ``of_types``.

    Examples
    --------
    >>> import numpy as np, maxmargin as mm
    >>> mm.Graph(np.eye(3), [(0, 1), (1, 2)])
    Graph(3 nodes of 3 features, 2 edges)
    """

    nodes: Any
    edges: Any = ()
    edge_features: Any = None
    node_weight: Any = None
    positions: Any = None
    types: Any = None

    def __post_init__(self) -> None:
        nodes = _matrix(self.nodes, "nodes", "node")
        edges = _edges(self.edges, nodes.shape[0])
        self._set("nodes", nodes)
        self._set("edges", edges)
        if self.edge_features is not None:
            features = _matrix(self.edge_features, "edge_features", "edge")
            if features.shape[0] != len(edges):
                raise DataError(
                    f"there are {len(edges)} edges and {features.shape[0]} rows of edge_features: "
                    "give one row per edge"
                )
            self._set("edge_features", features)
        if self.node_weight is not None:
            weight = check_weights(self.node_weight, nodes.shape[0], "node_weight")
            self._set("node_weight", weight)
        if self.positions is not None:
            self._set("positions", _positions(self.positions, nodes.shape[0]))
        if self.types is not None:
            self._set("types", _types(self.types, nodes.shape[0]))

    @classmethod
    def of_types(
        cls,
        nodes: Any,
        edges: Any,
        edge_features: Any = None,
        node_weight: Any = None,
        positions: Any = None,
    ) -> Graph:
        """A graph whose nodes and edges are given by type, with different features for each type.

        Parameters
        ----------
        nodes : dict from type to array or scipy sparse matrix (n_type, d_type)
            The features of the nodes of each type. The nodes of the graph, and thus its labels,
            are in this order: all nodes of the first type, then all of the second one, ...
        edges : dict from (type, type) to int array (m, 2)
            The edges from nodes of one type to nodes of another, counted within each type. Edges
            ``(a, b)`` and ``(b, a)`` have separate weights.
        edge_features : dict from (type, type) to array or scipy sparse matrix (m, e), optional
            The features of these edges; for pairs of types without, the single feature 1.
        node_weight, positions : optional
            As for a ``Graph``, in the order of its nodes.

        Examples
        --------
        >>> import numpy as np, maxmargin as mm
        >>> words, lines = np.eye(3), np.ones((1, 2))
        >>> within = np.array([[0, 0], [1, 0], [2, 0]])
        >>> graph = mm.Graph.of_types({"word": words, "line": lines}, {("word", "line"): within})
        >>> graph.types.tolist(), graph.edges.tolist()
        (['word', 'word', 'word', 'line'], [[0, 3], [1, 3], [2, 3]])
        """
        joined = join_types(nodes, edges, {} if edge_features is None else edge_features)
        return cls(
            joined.nodes, joined.edges, joined.edge_features, node_weight, positions, joined.types
        )

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return self.nodes.shape[0]

    def __repr__(self) -> str:
        features = "" if self.edge_features is None else f" of {self.edge_features.shape[1]}"
        return (
            f"Graph({len(self)} nodes of {self.nodes.shape[1]} features, "
            f"{len(self.edges)} edges{features + ' features' if features else ''})"
        )


def as_graph(x: Any) -> Graph:
    """A graph, given as one or as a tuple ``(nodes, edges[, edge_features])``."""
    if isinstance(x, Graph):
        return x
    if isinstance(x, tuple | list) and 1 <= len(x) <= 3 and np.ndim(x[0]) != 1:
        return Graph(*x)
    raise DataError(
        f"is a {type(x).__name__}: give mm.Graph(nodes, edges, edge_features), or a tuple of these"
    )


def _matrix(values: Any, name: str, row: str) -> Any:
    """A checked matrix of finite numbers, one row per node or edge."""
    if hasattr(values, "tocsr"):
        matrix = csr_rows(values, name)
    else:
        try:
            matrix = plain_array(values, name)
        except DataError:
            raise
        except ValueError as error:
            raise DataError(f"the rows of {name} have different lengths: {error}") from error
        if matrix.shape == (0,):
            matrix = np.zeros((0, 0))
    if matrix.ndim != 2:
        raise DataError(
            f"{name} has shape {matrix.shape}: it must be a matrix with one row per {row}"
        )
    try:
        check_finite_rows(matrix, name)
    except NotFinite as error:
        raise DataError(
            f"feature {error.column} of {row} {error.row} is {error.value}: features must be finite"
        ) from None
    return matrix


def _edges(edges: Any, n: int) -> np.ndarray:
    """Pairs of nodes (m, 2) as int64, checked to join two different nodes of the graph."""
    try:
        edges = plain_array(edges, "edges")
    except ValueError as error:
        raise DataError(f"edges must be pairs of nodes: {error}") from error
    if edges.size == 0:
        return np.zeros((0, 2), np.int64)
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise DataError(f"edges has shape {edges.shape}: it must have two columns, one per node")
    if edges.dtype.kind not in "iu":
        raise DataError(f"edges is an array of {edges.dtype}: nodes are counted by integers from 0")
    outside = ((edges < 0) | (edges >= n)).any(axis=1)
    if outside.any():
        e = int(np.argmax(outside))
        raise DataError(
            f"edge {e} joins the nodes {edges[e, 0]} and {edges[e, 1]}, but the graph has {n} "
            "nodes: nodes are counted from 0 within each graph"
        )
    loops = edges[:, 0] == edges[:, 1]
    if loops.any():
        e = int(np.argmax(loops))
        raise DataError(
            f"edge {e} joins node {edges[e, 0]} to itself: leave it out, and give what it says "
            "as features of the node"
        )
    return edges.astype(np.int64, copy=False)


def _positions(positions: Any, n: int) -> np.ndarray:
    positions = plain_array(positions, "positions", np.float64)
    if positions.shape != (n, 2) or not np.isfinite(positions).all():
        raise DataError(
            f"positions must be finite numbers of shape ({n}, 2), got shape {positions.shape}"
        )
    return positions


def _types(types: Any, n: int) -> np.ndarray:
    """The types of nodes (n,), checked to be known and hashable."""
    types = as_label_array(types)
    if types.shape != (n,):
        raise DataError(f"types has shape {types.shape}: give one type for each of the {n} nodes")
    for v, name in enumerate(types.tolist()):
        if name is None or name != name or isinstance(name, list | dict | set):
            raise DataError(f"the type of node {v} is {name!r}: give a name or a number")
    return types
