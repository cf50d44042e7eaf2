"""Tiny problems of two classes, for the tests that every structure gets."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tiny import Tiny, svmlight_text
from .estimator import BinarySVC
from .problem import Binary

X = np.array([[1.0, 0.5], [-0.3, 1.0], [0.2, -1.5], [-1.0, 0.0], [0.7, 0.7]])
Y = np.array([1, -1, 1, -1, -1])


def examples() -> list[Tiny]:
    """Without and with an intercept."""
    return [_example("plain", 0.0), _example("intercept", 1.0)]


def _example(name: str, bias: float) -> Tiny:
    def features(x: np.ndarray, y: Any) -> np.ndarray:
        return y * np.append(x, [bias] if bias else []) / 2

    return Tiny(
        name=name,
        problem=Binary(bias),
        X=X,
        Y=Y,
        outputs=lambda x: (-1, 1),
        features=features,
        loss=lambda truth, y: float(truth != y),
        estimator=BinarySVC(fit_intercept=bool(bias)),
        text=svmlight_text(X, Y),
        command=("--intercept",) if bias else (),
    )
