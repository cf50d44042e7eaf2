"""Precision, recall and F1 from three counts per label or type of entity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..data.frames import data_frame
from ..data.printable import printable


@dataclass(frozen=True)
class Counts:
    """Numbers of correct predictions, predictions and true occurrences of each name.

    Attributes
    ----------
    names : list
        Labels, or types of entities.
    correct, found, support : int arrays (k,)
        Correct predictions, all predictions, and true occurrences of each name.
    """

    names: list[Any]
    correct: np.ndarray
    found: np.ndarray
    support: np.ndarray

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def of(cls, names: list[Any], confusion: np.ndarray) -> Self:
        """The counts of a confusion matrix, whose rows may include one of unknown labels."""
        known = confusion[: len(names)]
        return cls(names, known.diagonal(), confusion.sum(axis=0), known.sum(axis=1))

    @property
    def precision(self) -> np.ndarray:
        """Fraction of the predictions that are correct, per name; 0 if there are none."""
        return self.correct / np.maximum(self.found, 1)

    @property
    def recall(self) -> np.ndarray:
        """Fraction of the true occurrences that are found, per name; 0 if there are none."""
        return self.correct / np.maximum(self.support, 1)

    @property
    def f1(self) -> np.ndarray:
        """Harmonic mean of precision and recall, per name."""
        return 2 * self.correct / np.maximum(self.found + self.support, 1)

    @property
    def overall(self) -> Self:
        """The counts of all names together, for the micro average."""
        sums = (np.array([a.sum()]) for a in (self.correct, self.found, self.support))
        return type(self)(["overall"], *sums)

    def rows(self) -> list[dict[str, Any]]:
        """One dict of plain Python numbers per name."""
        columns = (self.precision, self.recall, self.f1, self.correct, self.found, self.support)
        keys = ("name", "precision", "recall", "f1", "correct", "found", "support")
        values = zip(*(column.tolist() for column in columns), strict=True)
        return [
            dict(zip(keys, (plain(name), *row), strict=True))
            for name, row in zip(self.names, values, strict=True)
        ]

    def to_frame(self) -> Any:
        """A data frame with one row per name; needs pandas."""
        keys = ("name", "precision", "recall", "f1", "correct", "found", "support")
        return data_frame(self.rows(), keys)

    def report(self) -> dict[str, dict[str, float]]:
        """The dict of scikit-learn's ``classification_report(output_dict=True)``.

        For each name, and for "micro avg", "macro avg" and "weighted avg": "precision", "recall",
        "f1-score" and "support".
        """
        measures = np.array([self.precision, self.recall, self.f1]).reshape(3, -1)
        overall, n = self.overall, int(self.support.sum())
        micro = [float(v[0]) for v in (overall.precision, overall.recall, overall.f1)]
        rows: dict[str, Any] = {
            str(plain(name)): (*values, int(support))
            for name, values, support in zip(
                self.names, measures.T.tolist(), self.support, strict=True
            )
        }
        rows["micro avg"] = (*micro, n)
        rows["macro avg"] = (*measures.mean(axis=1).tolist(), n) if len(self) else (0.0,) * 3 + (n,)
        rows["weighted avg"] = (*(measures @ self.support / max(n, 1)).tolist(), n)
        keys = ("precision", "recall", "f1-score", "support")
        return {name: dict(zip(keys, row, strict=True)) for name, row in rows.items()}

    def __str__(self) -> str:
        names = [printable(name) for name in self.names]
        width = max([5, *map(len, names)])
        lines = [f"{'label':<{width}}  precision   recall       F1  support"]
        lines += [
            f"{name:<{width}}  {100 * p:8.2f}%  {100 * r:6.2f}%  {100 * f:7.2f}  {n:7d}"
            for name, p, r, f, n in zip(
                names, self.precision, self.recall, self.f1, self.support, strict=True
            )
        ]
        return "\n".join(lines)


def frequent_errors(confusion: np.ndarray, n: int | None = None) -> list[tuple[int, int, int]]:
    """The n most frequent errors of a confusion matrix as ``(true, predicted, count)``."""
    counts = confusion.copy()
    np.fill_diagonal(counts, 0)
    t, p = np.nonzero(counts)
    order = np.argsort(-counts[t, p], kind="stable")[:n]
    return list(
        zip(t[order].tolist(), p[order].tolist(), counts[t, p][order].tolist(), strict=True)
    )


def plain(label: Any) -> Any:
    """A label as a JSON type; labels of other types become strings."""
    label = label.item() if isinstance(label, np.generic) else label
    return label if label is None or isinstance(label, str | int | float | bool) else str(label)
