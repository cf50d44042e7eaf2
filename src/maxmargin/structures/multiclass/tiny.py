"""Tiny problems of several classes, for the tests that every structure gets."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tiny import Tiny, svmlight_text
from .estimator import MulticlassSVC
from .problem import Multiclass

X = np.array([[1.0, 0.5], [-0.3, 1.0], [0.2, -1.5], [-1.0, 0.0], [0.7, 0.7], [0.1, -0.6]])
Y = np.array([0, 1, 2, 1, 0, 1])
COST = np.array([[0.0, 1.0, 2.0], [0.5, 0.0, 1.0], [3.0, 1.0, 0.0]])


def examples() -> list[Tiny]:
    """The 0/1 loss, and costs."""
    return [_example("zero-one", None), _example("costs", COST)]


def _example(name: str, cost: np.ndarray | None) -> Tiny:
    def features(x: np.ndarray, y: Any) -> np.ndarray:
        return np.outer(x, np.arange(3) == y).ravel()

    def loss(truth: Any, y: Any) -> float:
        return float(truth != y) if cost is None else float(cost[truth, y])

    return Tiny(
        name=name,
        problem=Multiclass(3, cost),
        X=X,
        Y=Y,
        outputs=lambda x: range(3),
        features=features,
        loss=loss,
        estimator=MulticlassSVC(loss="zero-one" if cost is None else cost),
        text=svmlight_text(X, Y),
    )
