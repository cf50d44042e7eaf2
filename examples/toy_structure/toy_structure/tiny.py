"""Tiny examples: the tests that every structure gets are built from them."""

import numpy as np

from maxmargin.structures.tiny import Tiny

from .estimator import ToySVC
from .problem import Levels

X = np.array([[0.1, 1.0], [0.9, -1.0], [1.8, 0.5], [3.2, 0.0], [2.1, -0.5], [0.3, 0.2]])
Y = np.array([1, 2, 3, 4, 4, 1])
LEVELS = [1, 2, 3, 4]


def features(x, y):
    """phi(x, y), from its definition."""
    return np.concatenate([(y - 1) * x, [float(y >= level) for level in LEVELS[1:]]])


def examples() -> list[Tiny]:
    """Both losses."""
    losses = {
        "levels": lambda truth, y: abs(y - truth),
        "zero-one": lambda truth, y: y != truth,
    }
    return [
        Tiny(
            name=name,
            problem=Levels(LEVELS, zero_one=name == "zero-one"),
            X=X,
            Y=Y,
            outputs=lambda x: LEVELS,
            features=features,
            loss=loss,
            estimator=ToySVC(zero_one=name == "zero-one"),
            text="\n".join(" ".join(map(str, (y, *x))) for x, y in zip(X, Y, strict=True)) + "\n",
        )
        for name, loss in losses.items()
    ]
