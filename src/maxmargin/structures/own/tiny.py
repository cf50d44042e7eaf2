"""A tiny problem in plain Python, for the tests that every structure gets."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.python import as_compiled_problem
from ...problem import Problem
from ..tiny import Tiny
from .estimator import StructuredSVC

OUTPUTS = ("left", "right", "up")


class Direction(Problem):
    """One of three words."""

    n_features = 6

    def features(self, x: Any, y: Any) -> np.ndarray:
        """x in the block of y."""
        return np.outer([y == other for other in OUTPUTS], x).ravel().astype(float)

    def loss(self, y_true: Any, y: Any) -> float:
        """Up is further from the others than they are from each other."""
        return 0.0 if y == y_true else 2.0 if "up" in (y, y_true) else 1.0

    def decode(self, x: Any, w: np.ndarray, y_true: Any = None, rescaling: str = "margin") -> Any:
        """The best of all."""

        def value(y: str) -> float:
            score = float(w @ self.features(x, y))
            if y_true is None:
                return score
            loss = self.loss(y_true, y)
            if rescaling == "margin":
                return loss + score
            return loss * (1 + score - float(w @ self.features(x, y_true)))

        return max(OUTPUTS, key=value)


def examples() -> list[Tiny]:
    """One problem; it has no files."""
    own = Direction()
    return [
        Tiny(
            name="directions",
            problem=as_compiled_problem(own),
            X=np.array([[1.0, 0.2], [-1.0, 0.1], [0.3, 2.0], [0.8, 0.9]]),
            Y=["right", "left", "up", "right"],
            outputs=lambda x: OUTPUTS,
            features=own.features,
            loss=own.loss,
            estimator=StructuredSVC(own),
        )
    ]
