"""Several sets of labels per example, and how much each label is preferred."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...engine.linalg import row_products
from ...errors import DataError
from ...inference.m_best import (
    PairModel,
    every_label,
    exact_kind,
    max_marginals,
    several_labellings,
)
from ...problem import Pack


def set_models(problem: Any, pack: Pack, w: np.ndarray) -> Iterator[PairModel]:
    """The scores of each example: absence and presence of each label."""
    L, d = problem.n_labels, pack.data.n_features
    scores = row_products(pack.data.rows, w[: d * L].reshape(d, L))
    if problem.bias:
        scores = scores + problem.bias * w[d * L : (d + 1) * L]
    weights, pair = w[pack.dim - problem.pair_weights() :], np.zeros((len(problem.pairs), 2, 2))
    if problem.associative:
        pair[:, 1, 1] = weights
    else:
        pair[:] = weights.reshape(-1, 2, 2)
    instead = every_label(L, 2)
    for mine in scores:
        yield PairModel(pack.data.plan, np.column_stack([-0.5 * mine, 0.5 * mine]), pair, instead)


def label_scores(problem: Any, pack: Pack, w: np.ndarray) -> np.ndarray:
    """The best score of a set with each label, minus the best score without it (n, L)."""
    kind = exact_kind(problem.kind, problem.plan, problem.n_labels)
    if kind is None:
        raise DataError(
            "scores of single labels need exact inference, which there is not with weights of all "
            "pairs of more than 20 labels: use interactions='tree' or 'none'"
        )
    found = np.zeros((pack.n, problem.n_labels))
    for i, model in enumerate(set_models(problem, pack, w)):
        found[i] = np.diff(max_marginals(model, kind), axis=1)[:, 0]
    return found


def several_sets(
    problem: Any, pack: Pack, w: np.ndarray, m: int, diversity: float
) -> list[list[tuple[np.ndarray, float]]] | None:
    """Up to m sets of each example with their scores; None if only ``explore`` can find them."""
    kind = exact_kind(problem.kind, problem.plan, problem.n_labels)
    if kind is None and diversity == 0:
        return None
    return [
        several_labellings(model, kind or problem.kind, m, diversity, kind is not None)
        for model in set_models(problem, pack, w)
    ]
