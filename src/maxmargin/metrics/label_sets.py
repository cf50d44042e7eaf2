"""Measures of predicted sets of labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class LabelSetScores:
    """How well predicted sets of labels agree with the true ones.

    Attributes
    ----------
    n : int
        Number of examples.
    hamming : float
        Fraction of wrong entries of the indicator matrix.
    subset_accuracy : float
        Fraction of examples whose set is right as a whole.
    example_f1 : float
        The F1 of each example, averaged; 1 if both sets are empty.
    micro_f1 : float
        The F1 of all labels of all examples together.
    macro_f1 : float
        The F1 of each label, averaged; 0 for labels that are neither true nor predicted.
    label_f1 : array (n_labels,)
        The F1 of each label.
    support : int array (n_labels,)
        Number of examples with each label.
    """

    n: int
    hamming: float
    subset_accuracy: float
    example_f1: float
    micro_f1: float
    macro_f1: float
    label_f1: np.ndarray
    support: np.ndarray


def score_label_sets(truth: np.ndarray, predicted: np.ndarray) -> LabelSetScores:
    """Compare two indicator matrices (n, n_labels).

    Examples
    --------
    >>> import numpy as np
    >>> found = score_label_sets(np.array([[1, 0], [1, 1]]), np.array([[1, 0], [0, 1]]))
    >>> found.hamming, found.subset_accuracy, round(found.micro_f1, 3)
    (0.25, 0.5, 0.8)
    """
    a, b = np.asarray(truth) != 0, np.asarray(predicted) != 0
    both, either = a & b, a.sum(axis=0) + b.sum(axis=0)
    per_example = a.sum(axis=1) + b.sum(axis=1)
    example = np.where(per_example > 0, 2 * both.sum(axis=1) / np.maximum(per_example, 1), 1.0)
    label = 2 * both.sum(axis=0) / np.maximum(either, 1)
    return LabelSetScores(
        n=len(a),
        hamming=float((a != b).mean()) if a.size else 0.0,
        subset_accuracy=float((a == b).all(axis=1).mean()) if len(a) else 0.0,
        example_f1=float(example.mean()) if len(a) else 0.0,
        micro_f1=float(2 * both.sum() / max(either.sum(), 1)),
        macro_f1=float(label.mean()),
        label_f1=label,
        support=a.sum(axis=0),
    )
