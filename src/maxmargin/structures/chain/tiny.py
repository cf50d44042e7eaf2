"""Tiny sequences, for the tests that every structure gets."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..tiny import Tiny
from .estimator import ChainSVC
from .problem import Chain

LABELS = "ABC"
K = len(LABELS)
X = [
    np.array([[1.0, 0.0], [0.5, -1.0], [0.0, 2.0]]),
    np.array([[-1.0, 0.3]]),
    np.array([[0.2, 0.2], [1.5, -0.5]]),
]
Y = [np.array([0, 1, 2]), np.array([1]), np.array([2, 0])]
TEXT = "the A\ncat B\nsees C\n\nit B\n\nsees C\nthe A\n\n"

#: B does not follow B, and C does not follow A.
ALLOWED = np.ones((K + 2, K), bool)
ALLOWED[1, 1] = ALLOWED[0, 2] = False


def examples() -> list[Tiny]:
    """Both losses; and weights of first and last labels with pairs that are not allowed."""
    everything = np.ones((K + 2, K), bool)
    return [
        _example("hamming", "hamming", everything, False),
        _example("zero-one", "zero-one", everything, False),
        _example("masked, first and last", "hamming", ALLOWED, True),
    ]


def _example(name: str, kind: str, allowed: np.ndarray, ends: bool) -> Tiny:
    def loss(truth: Any, y: Any) -> float:
        wrong = sum(a != b for a, b in zip(truth, y, strict=True))
        return float(wrong > 0) if kind == "zero-one" else float(wrong)

    return Tiny(
        name=name,
        problem=Chain(K, kind, None, allowed, ends),
        X=X,
        Y=Y,
        outputs=lambda x: _outputs(len(x), allowed),
        features=lambda x, y: _features(x, y, ends),
        loss=loss,
        estimator=ChainSVC(loss=kind, start_stop=ends),
        data=(X, [[LABELS[k] for k in y] for y in Y]),
        text=TEXT,
        command=("--loss", kind, *(["--start-stop"] if ends else [])),
    )


def _outputs(length: int, allowed: np.ndarray) -> list[tuple[int, ...]]:
    """All sequences of labels in which all pairs, the first and the last label are allowed."""
    return [
        y
        for y in itertools.product(range(K), repeat=length)
        if all(allowed[a, b] for a, b in itertools.pairwise(y))
        and allowed[K, y[0]]
        and allowed[K + 1, y[-1]]
    ]


def _features(x: np.ndarray, y: Any, ends: bool) -> np.ndarray:
    """Emissions (d, K), transitions (K, K), and the first and the last label (K each)."""
    emission, transition, edge = np.zeros((x.shape[1], K)), np.zeros((K, K)), np.zeros((2, K))
    for t, k in enumerate(y):
        emission[:, k] += x[t]
    for a, b in itertools.pairwise(y):
        transition[a, b] += 1
    edge[0, y[0]] = edge[1, y[-1]] = 1
    return np.concatenate([emission.ravel(), transition.ravel(), edge.ravel() if ends else []])
