"""Many graphs as a few arrays: the form in which they are packed and stored in files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import DataError
from .checked import check_offsets
from .graphs import Graph, as_graph
from .labels import as_label_array
from .node_types import stack_wide, widen
from .sequences import offsets_of, tokens_of
from .source import list_of


class Graphs(Sequence[Graph]):
    """The nodes and edges of all graphs, end to end.

    Parameters
    ----------
    nodes : array or CSR matrix (total nodes, d)
    offsets : int array (n + 1,)
        The nodes of graph i are ``nodes[offsets[i]:offsets[i + 1]]``.
    edges : int64 array (total edges, 2)
        Pairs of nodes, counted within each graph.
    edge_offsets : int array (n + 1,)
        The edges of graph i are ``edges[edge_offsets[i]:edge_offsets[i + 1]]``.
    edge_features : array or CSR matrix (total edges, e), optional
    weight : array (total nodes,), optional
        The cost of an error at each node.
    types : array (total nodes,), optional
        The type of each node.

    Notes
    -----
    The content of graphs is not checked here: ``stack_graphs`` and ``split_graphs`` do.
    """

    def __init__(
        self,
        nodes: Any,
        offsets: np.ndarray,
        edges: np.ndarray,
        edge_offsets: np.ndarray,
        edge_features: Any = None,
        weight: np.ndarray | None = None,
        types: np.ndarray | None = None,
    ):
        self.nodes, self.offsets = nodes, offsets
        self.edges, self.edge_offsets = edges, edge_offsets
        self.edge_features, self.weight, self.types = edge_features, weight, types

    @property
    def n_features(self) -> int:
        """Number of features of a node."""
        return self.nodes.shape[1]

    @property
    def n_edge_features(self) -> int:
        """Number of features of an edge, 1 if none are given."""
        return 1 if self.edge_features is None else self.edge_features.shape[1]

    @property
    def lengths(self) -> np.ndarray:
        """Number of nodes of each graph, array (n,)."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, key: Any) -> Any:
        """One graph, or the ``Graphs`` of a slice or an array of numbers."""
        if isinstance(key, int | np.integer):
            i = range(len(self))[key]
            nodes = slice(self.offsets[i], self.offsets[i + 1])
            edges = slice(self.edge_offsets[i], self.edge_offsets[i + 1])
            return Graph(
                self.nodes[nodes],
                self.edges[edges],
                None if self.edge_features is None else self.edge_features[edges],
                None if self.weight is None else self.weight[nodes],
                types=None if self.types is None else self.types[nodes],
            )
        chosen = np.arange(len(self))[key]
        nodes, edges = tokens_of(self.offsets, chosen), tokens_of(self.edge_offsets, chosen)
        return Graphs(
            self.nodes[nodes],
            offsets_of(self.lengths[chosen]),
            self.edges[edges],
            offsets_of(np.diff(self.edge_offsets)[chosen]),
            None if self.edge_features is None else self.edge_features[edges],
            None if self.weight is None else self.weight[nodes],
            None if self.types is None else self.types[nodes],
        )

    def __iter__(self) -> Iterator[Graph]:
        return (self[i] for i in range(len(self)))

    def locate(self, node: int) -> tuple[int, int]:
        """The numbers of the graph and of the node within it, of a row of ``nodes``."""
        i = int(np.searchsorted(self.offsets, node, side="right")) - 1
        return i, int(node - self.offsets[i])

    def locate_edge(self, edge: int) -> tuple[int, int]:
        """The numbers of the graph and of the edge within it, of a row of ``edges``."""
        i = int(np.searchsorted(self.edge_offsets, edge, side="right")) - 1
        return i, int(edge - self.edge_offsets[i])

    def of_widths(self, d: int, e: int) -> Graphs:
        """The same graphs; where there are no nodes or edges, with these numbers of features.

        If nodes have types, columns of zeros are added, since there may be none of the widest type.
        """
        if self.types is not None:
            ones = np.ones((len(self.edges), 1))
            edge_features = ones if self.edge_features is None else self.edge_features
            return self._with(nodes=widen(self.nodes, d), edge_features=widen(edge_features, e))
        nodes = np.zeros((0, d)) if self.nodes.shape[0] == 0 else self.nodes
        empty = len(self.edges) == 0 and e != 1
        return self._with(
            nodes=nodes, edge_features=np.zeros((0, e)) if empty else self.edge_features
        )

    def with_weight(self, weight: np.ndarray) -> Graphs:
        """The same graphs with other weights of the nodes."""
        return self._with(weight=weight)

    def with_types(self, types: np.ndarray) -> Graphs:
        """The same graphs with other types of the nodes."""
        return self._with(types=types)

    def _with(self, **changes: Any) -> Graphs:
        return Graphs(**(vars(self) | changes))

    def keep_nodes(self, keep: np.ndarray) -> Graphs:
        """The graphs without some nodes, and without the edges of these nodes.

        ``keep`` is a bool array (total nodes,).
        """
        before = np.concatenate([[0], np.cumsum(keep)])  # kept nodes before each node
        first = np.repeat(self.offsets[:-1], np.diff(self.edge_offsets))
        ends = self.edges + first[:, None]
        edges = keep[ends].all(axis=1)
        kept_edges = np.concatenate([[0], np.cumsum(edges)])
        return Graphs(
            self.nodes[np.flatnonzero(keep)],
            before[self.offsets],
            (before[ends] - before[first][:, None])[edges],
            kept_edges[self.edge_offsets],
            None if self.edge_features is None else self.edge_features[np.flatnonzero(edges)],
            None if self.weight is None else self.weight[keep],
            None if self.types is None else self.types[keep],
        )


def stack_graphs(X: Any) -> Graphs:
    """A list of graphs, each a ``Graph`` or a tuple, as ``Graphs``; errors name the graph."""
    if isinstance(X, Graphs):
        return X
    if isinstance(X, Graph) or hasattr(X, "shape"):
        raise DataError("X is not a list of graphs: for a single graph use [graph]")
    graphs = [_try_graph(i, as_graph, x) for i, x in enumerate(list_of(X, "X"))]
    types = _stack_types(graphs)
    common = _common if types is None else _widest
    d = common([g.nodes for g in graphs], "nodes")
    e = common([g.edge_features for g in graphs], "edges")
    features = [g.edge_features for g in graphs]
    for i, g in enumerate(graphs):
        if e is None or g.edge_features is not None:
            continue
        if types is not None:
            features[i] = np.ones((len(g.edges), 1))
        elif len(g.edges):
            raise DataError(
                f"graph {i} has no edge_features, but others have {e}: give them for all graphs",
                sequence=i,
            )
    weight = None
    if any(g.node_weight is not None for g in graphs):
        weight = np.concatenate(
            [np.ones(len(g)) if g.node_weight is None else g.node_weight for g in graphs]
        )
    return Graphs(
        _stack([g.nodes for g in graphs], d or 0),
        offsets_of([len(g) for g in graphs]),
        np.concatenate([np.zeros((0, 2), np.int64), *(g.edges for g in graphs)]),
        offsets_of([len(g.edges) for g in graphs]),
        None if e is None else _stack(features, e),
        weight,
        types,
    )


def split_graphs(
    nodes: Any,
    offsets: Any,
    edges: Any,
    edge_offsets: Any,
    edge_features: Any = None,
    weight: Any = None,
    types: Any = None,
) -> Graphs:
    """Arrays from a file as ``Graphs``; every graph is checked."""
    for name, given, total in (
        ("node_offsets", offsets, nodes.shape[0]),
        ("edge_offsets", edge_offsets, len(edges)),
    ):
        try:
            check_offsets(given, total)
        except DataError as error:
            raise DataError(f"{name}: {error}") from error
    if len(offsets) != len(edge_offsets):
        raise DataError(
            f"node_offsets has {len(offsets)} numbers and edge_offsets {len(edge_offsets)}: both "
            "need one more than there are graphs"
        )
    for name, values, total in (
        ("edge_features", edge_features, len(edges)), ("node_weight", weight, nodes.shape[0]),
        ("node_types", types, nodes.shape[0]),
    ):  # fmt: skip
        if values is not None and values.shape[0] != total:
            raise DataError(f"{name} has {values.shape[0]} rows, expected {total}")
    ends = zip(offsets, offsets[1:], edge_offsets, edge_offsets[1:], strict=False)
    return stack_graphs(
        [
            _try_graph(
                i,
                Graph,
                nodes[a:b],
                edges[c:d],
                None if edge_features is None else edge_features[c:d],
                None if weight is None else weight[a:b],
                None,
                None if types is None else types[a:b],
            )
            for i, (a, b, c, d) in enumerate(ends)
        ]
    )


def _try_graph(i: int, make: Callable[..., Graph], *parts: Any) -> Graph:
    """A graph that is made of its parts; an error names its number."""
    try:
        return make(*parts)
    except DataError as error:
        raise DataError(f"graph {i}: {error}", sequence=i) from error


def _common(parts: list[Any], what: str) -> int | None:
    """The number of features that all graphs with such rows have; None if there are no features."""
    d = next((x.shape[1] for x in parts if x is not None and x.shape[0]), None)
    for i, x in enumerate(parts):
        if x is not None and x.shape[0] and x.shape[1] != d:
            raise DataError(
                f"graph {i} has {what} of {x.shape[1]} features, the graphs before it have {d}",
                sequence=i,
            )
    return d


def _widest(parts: list[Any], what: str) -> int | None:
    """The largest number of features of a graph; None if there are no features."""
    return max((x.shape[1] for x in parts if x is not None), default=None)


def _stack_types(graphs: list[Graph]) -> np.ndarray | None:
    """The types of all nodes; None if no graph has types."""
    typed = [i for i, g in enumerate(graphs) if g.types is not None]
    if not typed:
        return None
    for i, g in enumerate(graphs):
        if g.types is None and len(g):
            raise DataError(
                f"graph {i} has no types of nodes, but graph {typed[0]} has: give them for all",
                sequence=i,
            )
    return as_label_array([name for i in typed for name in graphs[i].types.tolist()])


def _stack(parts: list[Any], d: int) -> Any:
    """The rows of all graphs in one matrix with d columns, sparse if any is."""
    some = [x for x in parts if x is not None and x.shape[0]]
    return stack_wide([np.zeros((0, d)), *some])
