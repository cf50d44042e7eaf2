"""Curves that turn scores into probabilities, and ``Calibration``: those of one model.

``outputs/calibration.py`` fits them to held-out examples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Sigmoid:
    """``1 / (1 + exp(-(slope * score + offset)))``, Platt's logistic curve."""

    slope: float
    offset: float

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """The probability of each score, in the same shape; 1 for an infinite score."""
        alone = scores == np.inf  # the only possible output
        z = self.slope * np.where(alone, 0.0, scores) + self.offset
        return np.where(alone, 1.0, 0.5 * (1.0 + np.tanh(0.5 * z)))


@dataclass(frozen=True)
class Steps:
    """An increasing curve through the points ``(x, y)``, constant before and after them.

    Attributes
    ----------
    x, y : arrays (m,)
        Both sorted; y are probabilities.
    """

    x: np.ndarray
    y: np.ndarray

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """The probability of each score, in the same shape; 1 for an infinite score."""
        return np.where(scores == np.inf, 1.0, np.interp(scores, self.x, self.y))


@dataclass(frozen=True)
class Softmax:
    """``exp(score / temperature)`` of each class, divided by their sum.

    Attributes
    ----------
    temperature : float
    steps : Steps or None
        Applied to each probability, after which they are divided by their sum again.
    """

    temperature: float
    steps: Steps | None = None

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """The probabilities of the classes, array (n, n_classes) like ``scores``; rows sum to 1.

        A class with the score -inf is impossible: its probability is 0.
        """
        found = softmax(scores, 1.0 / self.temperature)
        if self.steps is None:
            return found
        # A curve may be 0 for all classes of a row: the first probabilities decide there.
        mapped = np.where(found > 0, self.steps(found) + 1e-12 * found, 0.0)
        return mapped / mapped.sum(axis=1, keepdims=True)


Curve = Sigmoid | Steps | Softmax


@dataclass(frozen=True)
class Calibration:
    """How the scores of a model become probabilities.

    Attributes
    ----------
    method : {"sigmoid", "isotonic"}
    n : int
        Number of held-out examples that the curves were fitted to.
    curves : dict
        A curve for each kind of decision: "output", the prediction of an example as a whole, and
        those that the structure adds, such as "classes".
    """

    method: str
    n: int
    curves: dict[str, Curve]


def softmax(scores: np.ndarray, factor: float) -> np.ndarray:
    """exp(factor * scores) with rows that sum to 1, array (n, n_classes)."""
    if scores.shape[1] == 0:
        return scores.copy()
    shifted = np.exp(factor * (scores - scores.max(axis=1, keepdims=True)))
    return shifted / shifted.sum(axis=1, keepdims=True)
