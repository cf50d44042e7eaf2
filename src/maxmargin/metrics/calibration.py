"""How well predicted probabilities agree with how often predictions are right."""

from __future__ import annotations

from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ..errors import DataError


class ReliabilityCurve(NamedTuple):
    """Predictions grouped by the probability of the predicted class, in bins of equal width.

    Attributes
    ----------
    probability : array (n_bins,)
        Average probability of the predictions in each bin; NaN if it is empty.
    accuracy : array (n_bins,)
        Fraction of them that is right; NaN if the bin is empty.
    support : int array (n_bins,)
        Number of predictions in each bin.
    """

    probability: np.ndarray
    accuracy: np.ndarray
    support: np.ndarray

    @property
    def error(self) -> float:
        """The expected calibration error: the average of ``abs(accuracy - probability)``."""
        used = self.support > 0
        gaps = np.abs(self.accuracy[used] - self.probability[used])
        return float(gaps @ self.support[used] / max(self.support.sum(), 1))


def reliability_curve(
    truth: Any, probabilities: Any, classes: Any, n_bins: int = 15
) -> ReliabilityCurve:
    """Compare the probability of the most probable class with how often it is the true one.

    Parameters
    ----------
    truth : array (n,) of labels, or list of sequences of labels
        The true labels.
    probabilities : array (n, n_classes), or list of arrays (L, n_classes)
        As from ``predict_proba`` or ``predict_marginals``.
    classes : array (n_classes,)
        The label of each column: ``clf.classes_``. True labels that are not among them are errors.
    n_bins : int
        Number of bins of equal width between 0 and 1.

    Returns
    -------
    ReliabilityCurve

    Examples
    --------
    >>> curve = reliability_curve(["a", "b"], [[0.9, 0.1], [0.7, 0.3]], ["a", "b"], n_bins=2)
    >>> curve.support.tolist(), curve.accuracy.tolist(), round(curve.error, 3)
    ([0, 2], [nan, 0.5], 0.3)
    """
    labels, table = _flat(truth, probabilities)
    names = list(classes)
    if table.ndim != 2 or table.shape[1] != len(names):
        raise DataError(
            f"probabilities have shape {table.shape}: {len(names)} classes need as many columns"
        )
    if len(labels) != len(table):
        raise DataError(
            f"there are {len(labels)} labels and {len(table)} rows of probabilities: "
            "the numbers must agree"
        )
    if n_bins < 1:
        raise DataError(f"n_bins must be at least 1, got {n_bins!r}")
    top = table.max(axis=1, initial=0.0)
    if not ((table >= 0) & (table <= 1 + 1e-9)).all():  # NaN fails both
        raise DataError("probabilities must be numbers from 0 to 1")
    chosen = table.argmax(axis=1) if len(table) else []
    right = np.array([names[k] == y for k, y in zip(chosen, labels, strict=True)], bool)
    return group(top, right, n_bins)


def group(probability: np.ndarray, right: np.ndarray, n_bins: int = 15) -> ReliabilityCurve:
    """The curve of decisions with a probability each, both arrays (n,)."""
    number = np.clip((probability * n_bins).astype(int), 0, n_bins - 1)
    count = np.bincount(number, minlength=n_bins)
    with np.errstate(invalid="ignore"):
        mean, accuracy = (
            np.bincount(number, weights=values, minlength=n_bins) / count
            for values in (probability, right.astype(float))
        )
    return ReliabilityCurve(mean, accuracy, count)


def expected_calibration_error(
    truth: Any, probabilities: Any, classes: Any, n_bins: int = 15
) -> float:
    """The average difference of probability and accuracy, over bins of equal width (ECE).

    It is 0 if, among predictions with probability p, a fraction p is right, for every p. For the
    parameters see ``reliability_curve``.

    Examples
    --------
    >>> expected_calibration_error(["a", "b"], [[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    0.0
    """
    return reliability_curve(truth, probabilities, classes, n_bins).error


def _flat(truth: Any, probabilities: Any) -> tuple[list[Any], np.ndarray]:
    """Labels and probabilities of all tokens, if they are given by sequence."""
    parts = list(probabilities)
    labels = [y.tolist() if isinstance(y, np.ndarray | np.generic) else y for y in truth]
    if not parts or np.ndim(parts[0]) < 2:
        return labels, np.asarray(probabilities, np.float64)
    for i, (y, p) in enumerate(zip(labels, parts, strict=False)):
        if len(y) != len(p):
            raise DataError(
                f"sequence {i} has {len(y)} labels and {len(p)} rows of probabilities: "
                "the lengths must agree"
            )
    if len(labels) != len(parts):
        raise DataError(
            f"there are {len(labels)} true sequences and {len(parts)} with probabilities: "
            "the numbers must agree"
        )
    return list(chain(*labels)), np.concatenate(parts)
