"""Several labellings and max-marginals of packed graphs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ...engine.linalg import row_products
from ...errors import DataError
from ...inference.m_best import (
    PairModel,
    every_label,
    exact_kind,
    max_marginals,
    near_labellings,
    several_labellings,
)
from ...problem import Pack
from .functions import EDGES, FLIPPED, NODES, PLAN, TABLE

#: The largest graph with cycles for which the m best labellings are found exactly: they take a
#: minimum cut for each node.
MOST_CUTS = 1000


def pair_models(problem: Any, pack: Pack, w: np.ndarray) -> Iterator[PairModel]:
    """The scores of each graph for prediction."""
    data, K, P = pack.data, problem.n_classes, problem.n_pairs
    split = data.n_features * K
    nodes = row_products(data.rows, w[:split].reshape(-1, K))
    edges = row_products(data.edge_rows, w[split:].reshape(-1, P))
    for i in range(pack.n):
        here, end = data.starts[i], data.starts[i + 1]
        unary = np.ascontiguousarray(nodes[here[NODES] : end[NODES]], np.float64)
        plan, mine = data.plan[here[PLAN] : end[PLAN]], data.edges[here[EDGES] : end[EDGES]]
        scores = edges[here[EDGES] : end[EDGES]][:, data.pairs.clip(min=0)]
        tables = np.where(data.pairs >= 0, scores, 0.0)
        tables = np.where(mine[:, FLIPPED, None, None] != 0, tables.swapaxes(1, 2), tables)
        pair = np.zeros(((len(plan) - 3 * len(unary) - 1) // 4, K, K))
        np.add.at(pair, mine[:, TABLE], tables)
        instead = every_label(len(unary), K)
        if len(data.instead):
            instead = data.instead[here[NODES] : end[NODES]].astype(np.int64)
        yield PairModel(plan, unary, pair, instead)


def exact_kinds(problem: Any, pack: Pack) -> list[str | None]:
    """The exact decoder of each graph, None where there is none."""
    starts, plan = pack.data.starts, pack.data.plan
    return [
        exact_kind(problem.kind, plan[a[PLAN] : b[PLAN]], int(b[NODES] - a[NODES]))
        for a, b in pairwise(starts)
    ]


def graph_marginals(problem: Any, pack: Pack, w: np.ndarray) -> list[np.ndarray]:
    """The max-marginals of each graph, arrays (nodes, labels)."""
    kinds = exact_kinds(problem, pack)
    if None in kinds:
        i = kinds.index(None)
        raise DataError(
            f"graph {i} has a cycle: max-marginals are known for graphs without cycles, and for "
            "two labels with pairwise='associative'",
            sequence=i,
        )
    found = zip(pair_models(problem, pack, w), kinds, strict=True)
    return [max_marginals(model, str(kind)) for model, kind in found]


def several_of_graphs(
    problem: Any, pack: Pack, w: np.ndarray, m: int, diversity: float, labels: np.ndarray
) -> list[list[tuple[np.ndarray, float]]]:
    """Up to m labellings of each graph with their scores, the best ones if they can be known.

    ``labels`` are predicted: from there others are searched where the decoder is not exact.
    """
    exact, sizes = exact_kinds(problem, pack), np.diff(pack.offsets)
    for i in range(pack.n):
        if exact[i] not in (None, "forest") and sizes[i] > MOST_CUTS:
            exact[i] = None
    predicted = np.split(labels, pack.offsets[1:])[:-1]
    return [
        near_labellings(model, y, m)
        if kind is None and diversity == 0
        else several_labellings(model, kind or problem.kind, m, diversity, kind is not None)
        for model, kind, y in zip(pair_models(problem, pack, w), exact, predicted, strict=True)
    ]
