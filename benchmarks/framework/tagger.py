"""A tagger in plain Python: a problem whose oracle takes most of the time."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.problem import Problem
from maxmargin.result import Result

LABELS = 16
INPUTS = 12
LENGTH = 12

_ONE_HOT = np.eye(LABELS)


class Tagger(Problem):
    """First-order chains with Hamming loss, decoded by Viterbi's algorithm in interpreted loops."""

    n_features = LABELS * (INPUTS + LABELS)

    def features(self, x: np.ndarray, y: tuple[int, ...]) -> np.ndarray:
        """Sums of inputs by label, and counts of transitions."""
        chosen = _ONE_HOT[list(y)]
        return np.concatenate([(chosen.T @ x).ravel(), (chosen[:-1].T @ chosen[1:]).ravel()])

    def loss(self, y_true: tuple[int, ...], y: tuple[int, ...]) -> float:
        """Fraction of the labels that are wrong."""
        return sum(a != b for a, b in zip(y_true, y, strict=True)) / len(y)

    def decode(
        self,
        x: np.ndarray,
        w: np.ndarray,
        y_true: tuple[int, ...] | None = None,
        rescaling: str = "margin",
    ) -> tuple[int, ...]:
        """The best path; there is no such oracle for slack rescaling."""
        if rescaling != "margin":
            raise NotImplementedError("Viterbi's algorithm maximises sums only")
        emission, transition = np.split(w, [LABELS * INPUTS])
        local = x @ emission.reshape(LABELS, INPUTS).T
        if y_true is not None:
            local += 1.0 / len(x)
            local[np.arange(len(x)), list(y_true)] -= 1.0 / len(x)
        return best_path(local.tolist(), transition.reshape(LABELS, LABELS).tolist())


def best_path(local: list[list[float]], transition: list[list[float]]) -> tuple[int, ...]:
    """Viterbi's algorithm over local (length, labels) and transition scores."""
    labels = range(len(transition))
    score, back = local[0], []
    for here in local[1:]:
        before = [max(labels, key=lambda a: score[a] + transition[a][b]) for b in labels]
        score = [score[a] + transition[a][b] + here[b] for b, a in enumerate(before)]
        back.append(before)
    path = [max(labels, key=lambda b: score[b])]
    for before in reversed(back):
        path.append(before[path[-1]])
    return tuple(reversed(path))


def make_sequences(n: int) -> tuple[list[np.ndarray], list[tuple[int, ...]]]:
    """Paths of a random Markov chain, seen through noise."""
    rng = np.random.default_rng(0)
    moves = rng.dirichlet(np.full(LABELS, 0.3), LABELS)
    means = rng.normal(size=(LABELS, INPUTS))
    X, Y = [], []
    for _ in range(n):
        y = [int(rng.integers(LABELS))]
        while len(y) < LENGTH:
            y.append(int(rng.choice(LABELS, p=moves[y[-1]])))
        X.append(means[y] + 1.5 * rng.normal(size=(LENGTH, INPUTS)))
        Y.append(tuple(y))
    return X, Y


def train_tagger(n: int, **options: Any) -> Result:
    """Train on n sequences, with C = 0.01."""
    from maxmargin.training import train

    X, Y = make_sequences(n)
    return train(Tagger(), X, Y, C=0.01, **options)
