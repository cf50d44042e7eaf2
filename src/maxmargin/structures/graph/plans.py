"""What decoders need to know of each graph, made when graphs are packed."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...data.graph_lists import Graphs
from ...data.sequences import offsets_of
from ...errors import DataError
from ...inference import is_forest, merge_edges, message_size, plan_graph, work_size


class Plans(NamedTuple):
    """The plans of all graphs; the arrays are those of ``functions.GraphData``.

    ``n_tables`` (n,) is the number of tables of pair scores of each graph, and ``work`` the scratch
    memory that a decoder needs for any of them.
    """

    starts: np.ndarray
    edges: np.ndarray
    plan: np.ndarray
    n_messages: int
    n_tables: np.ndarray
    work: int


def plan_graphs(X: Graphs, kind: str, K: int) -> Plans:
    """Plan all graphs for one kind of inference with K labels."""
    nodes, plans, edges, messages, forest, tables = X.lengths.tolist(), [], [], [], [], []
    work = 0
    for i, (lo, hi) in enumerate(pairwise(X.edge_offsets.tolist())):
        mine = X.edges[lo:hi]
        merged, which, flipped = merge_edges(mine)
        plan = plan_graph(nodes[i], merged)
        forest.append(is_forest(plan, nodes[i]))
        if kind == "forest" and not forest[-1]:
            raise DataError(
                f"graph {i} has a cycle, and inference='forest' is for graphs without cycles: use "
                "inference='auto'",
                sequence=i,
            )
        sizes = (nodes[i], len(merged), K)
        work = max(work, work_size(kind, *sizes), work_size("forest", *sizes))
        messages.append(message_size(kind, *sizes))
        tables.append(len(merged))
        plans.append(plan)
        edges.append(np.column_stack([mine, which, flipped]))
    starts = [
        X.offsets, X.edge_offsets, offsets_of([len(p) for p in plans]), offsets_of(messages),
        [*forest, False],
    ]  # fmt: skip
    return Plans(
        np.column_stack(starts).astype(np.int64),
        np.concatenate([np.zeros((0, 4)), *edges]).astype(np.int32),
        np.concatenate([np.zeros(0), *plans]).astype(np.int32),
        sum(messages),
        np.array(tables, np.int64),
        work,
    )


def all_forests(X: Graphs) -> bool:
    """Whether no graph has a cycle."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    total = int(X.offsets[-1])
    if len(X.edges) == 0:
        return True
    ends = X.edges + np.repeat(X.offsets[:-1], np.diff(X.edge_offsets))[:, None]
    ends = merge_edges(ends)[0]
    links = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(total, total))
    return len(ends) == total - connected_components(links, directed=False)[0]
