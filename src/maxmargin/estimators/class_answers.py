"""Decisions and suspects of classifiers, from the scores of their classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.costs import check_cost
from ..data.labels import as_label_array
from ..errors import DataError
from ..outputs.calibration import Decisions
from ..outputs.explain import Suspects, largest


def class_decisions(clf: Any, X: Any, y: Any) -> Decisions:
    """Scores and true classes; with two classes, whether the second one is true."""
    number = {label: k for k, label in enumerate(clf.classes_.tolist())}
    truth = np.array([number.get(label, -1) for label in as_label_array(y).tolist()], int)
    scores = clf.decision_function(X)
    if scores.ndim == 1:
        known = truth >= 0
        scores, truth = scores[known], truth[known] == 1
    return Decisions(scores, truth)


def class_suspects(clf: Any, X: Any, y: Any, n: int) -> Suspects:
    """The n rows with the largest slack, by the names of their classes; also with a kernel."""
    names, scores = clf.classes_.tolist(), clf.decision_function(X)
    codes = _codes(y, names)
    if len(codes) != len(scores):
        raise DataError(f"X has {len(scores)} examples and y has {len(codes)}: lengths must agree")
    if scores.ndim == 1:
        scores = np.column_stack([-0.5 * scores, 0.5 * scores])
    loss, row = getattr(clf, "loss", "zero-one"), np.arange(len(codes))
    cost = check_cost(None if isinstance(loss, str) else loss, len(names))[codes]
    margin = scores[row, codes][:, None] - scores
    value = cost * (1.0 - margin) if clf.rescaling == "slack" else cost - margin
    value[row, codes] = 0.0
    slack, worst = value.max(axis=1), value.argmax(axis=1)
    return Suspects(
        {"index": i, "slack": float(slack[i]), "loss": float(cost[i, worst[i]]),
         "truth": names[codes[i]], "worst": names[worst[i]]}
        for i in largest(slack, n).tolist()
    )  # fmt: skip


def _codes(y: Any, names: list[Any]) -> np.ndarray:
    """The numbers of the classes of labels, all of which must be known."""
    numbers = {label: k for k, label in enumerate(names)}
    labels = as_label_array(y).tolist()
    strange = next((label for label in labels if label not in numbers), None)
    if strange is not None:
        raise DataError(
            f"the label {strange!r} is not in the training data: X and Y must be the training "
            "examples; a report takes others as test=(X, Y)"
        )
    return np.array([numbers[label] for label in labels], int)
