"""Tiny sets of labels, for the tests that every structure gets."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..tiny import Tiny
from .estimator import MultilabelSVC
from .problem import LabelSets

X = np.array([[1.0, 0.5], [-0.3, 1.0], [0.2, -1.5], [-1.0, 0.1], [0.7, 0.7]])
Y = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 0], [1, 0, 1]])
PAIRS = [(0, 1), (0, 2)]
COST = np.array([[1.0, 2.0], [0.5, 1.0], [1.0, 1.0]])

TEXT = "".join(
    ",".join(str(k + 1) for k in np.flatnonzero(y)) + f" 1:{x[0]} 2:{x[1]}\n"
    for x, y in zip(X, Y, strict=True)
)


def examples() -> list[Tiny]:
    """Independent labels with a constant, and a tree with costs."""
    return [
        _example("none", (), None, 1.0, "none"),
        _example("tree", PAIRS, COST, 0.0, "tree"),
    ]


def _example(name: str, pairs: Any, cost: Any, bias: float, interactions: str) -> Tiny:
    costs = np.ones((3, 2)) if cost is None else cost

    def features(x: np.ndarray, y: Any) -> np.ndarray:
        x = np.append(x, bias) if bias else x
        weights = np.zeros((len(pairs), 2, 2))
        for e, (a, b) in enumerate(pairs):
            weights[e, y[a], y[b]] = 1
        return np.concatenate([np.outer(x, np.asarray(y) - 0.5).ravel(), weights.ravel()])

    def loss(truth: Any, y: Any) -> float:
        return float(sum(costs[k, t] for k, t in enumerate(truth) if y[k] != t))

    return Tiny(
        name=name,
        problem=LabelSets(3, np.array(pairs, int).reshape(-1, 2), cost, bias),
        X=X,
        Y=Y,
        outputs=lambda x: list(itertools.product((0, 1), repeat=3)),
        features=features,
        loss=loss,
        rescalings=("margin",),
        estimator=MultilabelSVC(interactions=interactions, label_cost=cost, fit_intercept=bias > 0),
        text=TEXT,
        command=("--interactions", interactions),
    )
