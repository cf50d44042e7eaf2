"""The parameter ``class_weight``."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import compute_class_weight


def weigh_classes(
    class_weight: Any, labels: list[Any], codes: np.ndarray, weight: np.ndarray | None
) -> np.ndarray:
    """The weight of each label, by a dict or against the frequencies of ``codes``.

    ``weight`` is how much each of the codes counts, if not 1.
    """
    if isinstance(class_weight, dict):
        return np.array([class_weight.get(label, 1.0) for label in labels], np.float64)
    if isinstance(class_weight, str) and class_weight == "balanced":
        # As in scikit-learn, which takes weights here from version 1.7 on only.
        counts = np.bincount(codes, weight, len(labels))
        return counts.sum() / (len(labels) * counts)
    return compute_class_weight(class_weight, classes=np.arange(len(labels)), y=codes)
