"""The parameter ``class_weight``."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import compute_class_weight


def weigh_classes(
    class_weight: Any, labels: list[Any], codes: np.ndarray, weight: np.ndarray | None
) -> np.ndarray:
    """The weight of each label, from a dict or inversely proportional to its frequency.

    Parameters
    ----------
    class_weight : dict or "balanced"
    labels : list (K,)
    codes : int array (n,)
        Label numbers of the examples.
    weight : array (n,), optional
        Weights of the examples; 1 by default.

    Returns
    -------
    float array (K,)
    """
    if isinstance(class_weight, dict):
        return np.array([class_weight.get(label, 1.0) for label in labels], np.float64)
    if isinstance(class_weight, str) and class_weight == "balanced":
        # As in scikit-learn, which supports sample weights here only since version 1.7.
        counts = np.bincount(codes, weight, len(labels))
        return counts.sum() / (len(labels) * counts)
    return compute_class_weight(class_weight, classes=np.arange(len(labels)), y=codes)
