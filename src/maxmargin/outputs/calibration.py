"""Calibrated probabilities: how often an output with a given confidence is entirely right.

``sklearn.calibration.CalibratedClassifierCV`` works on ``BinarySVC`` and ``MulticlassSVC`` and
gives a probability for every class. Structures have too many outputs for that. For them, held-out
data show how often the predicted output is right as a whole, given the difference of its score
from that of the second best output.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.several import differ
from ..errors import DataError


class Calibrated:
    """A fitted estimator together with the probability that its outputs are right.

    Returned by `calibrate`.

    Attributes
    ----------
    estimator : estimator
        The fitted estimator.
    method : {"sigmoid", "isotonic"}
        As given to ``calibrate``.
    n : int
        Number of held-out examples that the calibration was fitted to.
    """

    def __init__(self, estimator: Any, method: str, model: Any, n: int):
        self.estimator = estimator
        self.method = method
        self.n = n
        self._model = model

    def predict(self, X: Any) -> Any:
        """The predictions of the estimator."""
        return self.estimator.predict(X)

    def probability(self, X: Any) -> np.ndarray:
        """Probability that the predicted output of each example is right as a whole, shape (n,).

        It is 1 for examples with a single possible output.
        """
        return self.of_confidence(self.estimator.confidence(X))

    def of_confidence(self, confidence: Any) -> np.ndarray:
        """The probabilities (n,) for the given confidences (n,), in units of score."""
        confidence = np.asarray(confidence, np.float64)
        out = np.ones(len(confidence))
        known = np.isfinite(confidence)
        if known.any():
            out[known] = self._model(confidence[known])
        return out

    def __repr__(self) -> str:
        return f"Calibrated({self.estimator!r}, method={self.method!r}, n={self.n})"


def calibrate(estimator: Any, X: Any, Y: Any, method: str = "sigmoid") -> Calibrated:
    """Fit the probability that an output is right as a function of its confidence.

    Parameters
    ----------
    estimator : BinarySVC, MulticlassSVC, ChainSVC, StructuredSVC
        Fitted, but not on these examples: predictions of the training data are right too often.
    X, Y : sequences
        Held-out inputs and true outputs.
    method : {"sigmoid", "isotonic"}
        A logistic curve with two parameters (Platt), or an increasing step function, which needs
        about a thousand examples.

    Returns
    -------
    Calibrated

    Examples
    --------
    >>> import maxmargin as mm
    >>> X_train, X_test, y_train, y_test = mm.datasets.load_digits_split()
    >>> clf = mm.MulticlassSVC(C=0.1).fit(X_train[:900], y_train[:900])
    >>> calibrated = mm.calibrate(clf, X_train[900:], y_train[900:])
    >>> p = calibrated.probability(X_test)
    >>> bool(abs(p.mean() - clf.score(X_test, y_test)) < 0.05)
    True
    """
    if method not in ("sigmoid", "isotonic"):
        raise DataError(f"method is 'sigmoid' or 'isotonic', got {method!r}")
    predicted = estimator.predict(X)
    if len(predicted) != len(Y):
        raise DataError(f"X has {len(predicted)} examples and Y has {len(Y)}: lengths must agree")
    right = np.array([_same(a, b) for a, b in zip(predicted, Y, strict=True)], bool)
    confidence = estimator.confidence(X)
    known = np.isfinite(confidence)
    right, confidence = right[known], confidence[known]
    if right.all() or not right.any():
        what = (
            "no held-out output is right"
            if len(right) and not right.any()
            else ("no held-out output is wrong")
        )
        raise DataError(
            f"{what} ({len(right)} examples): calibration needs both, use more examples"
        )
    fit = _fit_sigmoid if method == "sigmoid" else _fit_isotonic
    return Calibrated(estimator, method, fit(confidence, right), len(right))


def _same(a: Any, b: Any) -> bool:
    """Whether two outputs are equal; sequences of labels may be lists, tuples or arrays."""
    if isinstance(a, list | tuple | np.ndarray) and isinstance(b, list | tuple | np.ndarray):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return not differ(a, b)


def _fit_sigmoid(confidence: np.ndarray, right: np.ndarray) -> Any:
    """Platt's logistic curve; his targets lie strictly between 0 and 1.

    Each example therefore appears twice, as right and as wrong, weighted by its target.
    """
    from sklearn.linear_model import LogisticRegression

    n_right, n_wrong = right.sum(), (~right).sum()
    target = np.where(right, (n_right + 1) / (n_right + 2), 1 / (n_wrong + 2))
    scale = float(confidence.std()) or 1.0
    column = np.concatenate([confidence, confidence])[:, None] / scale
    side = np.repeat([1, 0], len(right))
    weight = np.concatenate([target, 1 - target])
    curve = LogisticRegression(C=1e6, max_iter=1000).fit(column, side, sample_weight=weight)
    return lambda values: curve.predict_proba(values[:, None] / scale)[:, 1]


def _fit_isotonic(confidence: np.ndarray, right: np.ndarray) -> Any:
    from sklearn.isotonic import IsotonicRegression

    steps = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    return steps.fit(confidence, right.astype(float)).predict
