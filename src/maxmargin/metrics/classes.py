"""Counts of predicted against true classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .counts import Counts


@dataclass(frozen=True)
class Evaluation:
    """Counts of predictions.

    Attributes
    ----------
    classes : list
        The labels that the model knows.
    confusion : int array (k + 1, k)
        ``confusion[t, p]`` is the number of examples of class t with prediction p. The last row is
        for labels that the model does not know.
    """

    classes: list[Any]
    confusion: np.ndarray

    @classmethod
    def of(cls, y: np.ndarray, predicted: np.ndarray, classes: np.ndarray) -> Self:
        """Count predictions; ``predicted`` has labels of ``classes``, y may have others."""
        k = len(classes)
        counts = np.zeros((k + 1, k), np.int64)
        np.add.at(counts, (_numbers(y, classes), _numbers(predicted, classes)), 1)
        return cls(classes.tolist(), counts)

    @property
    def n(self) -> int:
        """Number of examples."""
        return int(self.confusion.sum())

    @property
    def unseen(self) -> int:
        """Number of examples whose label the model does not know."""
        return int(self.confusion[-1].sum())

    @property
    def by_class(self) -> Counts:
        """Correct predictions, all predictions and examples of each class."""
        return Counts.of(self.classes, self.confusion)

    @property
    def correct(self) -> int:
        """Number of examples that are predicted correctly."""
        return int(self.confusion.trace())

    @property
    def accuracy(self) -> float:
        """Fraction of all examples that are predicted correctly."""
        return self.correct / self.n


def _numbers(y: np.ndarray, classes: np.ndarray) -> list[int]:
    """Class numbers of labels, -1 for unknown labels.

    The labels of a file are numbers only if all of them are. So two files with the same classes may
    have labels of different types.
    """
    if classes.dtype.kind == "U" and y.dtype.kind != "U":
        y = y.astype(str)
    labels = y.tolist()
    if classes.dtype.kind in "iuf" and y.dtype.kind == "U":
        labels = [_as_number(label) for label in labels]
    numbers = {label: k for k, label in enumerate(classes.tolist())}
    return [numbers.get(label, -1) for label in labels]


def _as_number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
