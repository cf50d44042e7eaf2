"""Calibrated probabilities, from the scores of a model and held-out examples.

Every estimator predicts with ``confidence``, the difference of the two best scores; how often an
output of this confidence is right as a whole is fitted as an increasing curve. Estimators of
classes, sequences and trees also score single decisions: classes of an example, labels of a token,
constituents. Their scores become probabilities by a softmax with one temperature, or by a curve.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..data.probabilities import Calibration, Curve, Sigmoid, Softmax, Steps, softmax
from ..data.source import n_examples, single_labels, take
from ..engine.several import differ
from ..errors import DataError

METHODS = ("sigmoid", "isotonic")

#: The factor of the scores in a softmax is searched between exp(-RANGE) and exp(RANGE), times the
#: inverse of the standard deviation of the scores.
RANGE = 12.0


class Decisions(NamedTuple):
    """Decisions of a model on held-out examples.

    Attributes
    ----------
    scores : array (m,) or (m, n_classes)
        One score per decision, higher if it is more likely to be true; or one per class.
    truth : bool array (m,) or int array (m,)
        Whether the decision is true; or the number of the true class, -1 if the model does not
        know it.
    """

    scores: np.ndarray
    truth: np.ndarray


def calibrate(estimator: Any, X: Any, Y: Any, method: str = "sigmoid", cv: Any = None) -> Any:
    """Fit how the scores of a fitted estimator become probabilities.

    Afterwards the estimator has ``probability`` (of whole outputs) and, depending on its
    structure, ``predict_proba`` (classes) or ``predict_marginals`` (labels of tokens, parts of
    trees). Model files contain the calibration; ``fit`` removes it.

    Parameters
    ----------
    estimator : BinarySVC, MulticlassSVC, ChainSVC, CFGSVC, StructuredSVC, ...
        Fitted.
    X, Y : sequences
        Inputs and true outputs that it was not trained on: predictions of the training data are
        right too often. With ``cv`` they may be the training data.
    method : {"sigmoid", "isotonic"}
        "sigmoid": a logistic curve (Platt), and for several classes a softmax with one
        temperature. "isotonic": an increasing step function, for several classes of the
        probabilities of the softmax; it needs about a thousand examples.
    cv : int or splitter of scikit-learn, optional
        Train copies of the estimator on all folds but one, and fit the curves to their scores of
        the held-out fold. The estimator itself is not changed otherwise.

    Returns
    -------
    estimator
        The same object, with the attribute ``calibration_``.

    Examples
    --------
    >>> import maxmargin as mm
    >>> X_train, X_test, y_train, y_test = mm.datasets.load_digits_split()
    >>> clf = mm.MulticlassSVC(C=0.1).fit(X_train[:900], y_train[:900])
    >>> clf = mm.calibrate(clf, X_train[900:], y_train[900:])
    >>> p = clf.predict_proba(X_test)
    >>> p.shape, bool(abs(p.max(axis=1).mean() - clf.score(X_test, y_test)) < 0.03)
    ((450, 10), True)
    """
    from sklearn.utils.validation import check_is_fitted

    if method not in METHODS:
        raise DataError(f"method must be 'sigmoid' or 'isotonic', got {method!r}")
    check_is_fitted(estimator)
    held_out = list(_folds(estimator, X, Y, cv))
    decisions = {name: _join([found[name] for found in held_out]) for name in held_out[0]}
    curves = {name: _fit(each, method) for name, each in decisions.items() if _both_occur(each)}
    if not curves:
        raise _one_sided(decisions["output"])
    estimator.calibration_ = Calibration(method, len(decisions["output"].truth), curves)
    return estimator


def _folds(estimator: Any, X: Any, Y: Any, cv: Any) -> Iterator[dict[str, Decisions]]:
    """The decisions of the estimator, or of its copies that are trained on parts of X."""
    if cv is None:
        yield decide(estimator, X, Y)
        return
    from sklearn.base import clone
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import check_cv

    single = single_labels(Y) and hasattr(estimator, "decision_function")
    folds = check_cv(cv, Y if single else None, classifier=single)
    for train, test in folds.split(np.zeros(n_examples(Y)), Y if single else None):
        part = clone(estimator).set_params(verbose=0, checkpoint=None)
        X_train, X_test = _inputs(estimator, X, train), _inputs(estimator, X, test, train)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the estimator itself has warned
            part.fit(X_train, take(Y, train))
        yield decide(part, X_test, take(Y, test))


def _inputs(estimator: Any, X: Any, chosen: np.ndarray, train: np.ndarray | None = None) -> Any:
    """Some of the inputs; the columns of a precomputed kernel are the training rows."""
    if X is None:
        return None
    if getattr(estimator, "kernel", None) == "precomputed" and hasattr(X, "shape"):
        return X[np.ix_(chosen, chosen if train is None else train)]
    return take(X, chosen)


def decide(estimator: Any, X: Any, Y: Any) -> dict[str, Decisions]:
    """The decisions of a fitted estimator on examples, by kind."""
    X, Y = estimator._examples(X, Y)
    predicted = estimator.predict(X)
    predicted = predicted.toarray() if hasattr(predicted, "toarray") else predicted
    if len(predicted) != len(Y):
        raise DataError(f"X has {len(predicted)} examples and Y has {len(Y)}: lengths must agree")
    right = np.array([_same(a, b) for a, b in zip(predicted, Y, strict=True)], bool)
    whole = Decisions(estimator.confidence(X), right)
    return {"output": whole} | estimator._decisions(X, Y)


def _same(a: Any, b: Any) -> bool:
    """Whether two outputs are equal; sequences of labels may be lists, tuples or arrays."""
    if isinstance(a, list | tuple | np.ndarray) and isinstance(b, list | tuple | np.ndarray):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return not differ(a, b)


def _join(parts: list[Decisions]) -> Decisions:
    """The decisions of all folds, without those that had no alternative or an unknown truth."""
    if parts[0].scores.ndim == 1:
        scores = np.concatenate([part.scores for part in parts])
        known = np.isfinite(scores)
        return Decisions(scores[known], np.concatenate([part.truth for part in parts])[known])
    most = max(part.scores.shape[1] for part in parts)
    pad = [(0, most - part.scores.shape[1]) for part in parts]  # a fold may lack classes
    scores = np.concatenate(
        [
            np.pad(part.scores, ((0, 0), width), constant_values=-np.inf)
            for part, width in zip(parts, pad, strict=True)
        ]
    )
    truth = np.concatenate([part.truth for part in parts])
    known = truth >= 0
    known[known] = np.isfinite(scores[known, truth[known]])
    known &= np.isfinite(scores).sum(axis=1) > 1
    return Decisions(scores[known], truth[known])


def _right(decisions: Decisions) -> np.ndarray:
    """Whether each decision is right, bool array (m,)."""
    if decisions.scores.ndim == 1:
        return decisions.truth
    return decisions.scores.argmax(axis=1) == decisions.truth


def _both_occur(decisions: Decisions) -> bool:
    right = _right(decisions)
    return bool(right.any() and not right.all())


def _one_sided(outputs: Decisions) -> DataError:
    n = len(outputs.truth)
    what = "right" if n and not outputs.truth.any() else "wrong"
    return DataError(
        f"no held-out output is {what} ({n} examples): calibration needs both, use more examples"
    )


def _fit(decisions: Decisions, method: str) -> Curve:
    scores, truth = decisions
    if scores.ndim == 2:
        return fit_softmax(scores, truth, method)
    return fit_sigmoid(scores, truth) if method == "sigmoid" else fit_steps(scores, truth)


def fit_sigmoid(scores: np.ndarray, truth: np.ndarray) -> Sigmoid:
    """Platt's logistic curve; his targets lie strictly between 0 and 1.

    Each example therefore appears twice, as right and as wrong, weighted by its target.
    """
    from sklearn.linear_model import LogisticRegression

    n_true, n_false = truth.sum(), (~truth).sum()
    target = np.where(truth, (n_true + 1) / (n_true + 2), 1 / (n_false + 2))
    scale = float(scores.std()) or 1.0
    column = np.concatenate([scores, scores])[:, None] / scale
    side = np.repeat([1, 0], len(truth))
    weight = np.concatenate([target, 1 - target])
    curve = LogisticRegression(C=1e6, max_iter=1000).fit(column, side, sample_weight=weight)
    # Noise may give few examples a falling curve, but a higher score is never less probable.
    return Sigmoid(max(float(curve.coef_[0, 0]) / scale, 0.0), float(curve.intercept_[0]))


def fit_steps(scores: np.ndarray, truth: np.ndarray) -> Steps:
    """The increasing step function with the least squared error."""
    from sklearn.isotonic import IsotonicRegression

    found = IsotonicRegression(y_min=0.0, y_max=1.0).fit(scores, truth.astype(float))
    return Steps(found.X_thresholds_, found.y_thresholds_)


def fit_softmax(scores: np.ndarray, truth: np.ndarray, method: str) -> Softmax:
    """The temperature with the highest likelihood of the true classes.

    With "isotonic" also one increasing curve for the probabilities of all classes together, so
    that it cannot change their order (Zhang, Kailkhura and Han, 2020).
    """
    from scipy.optimize import minimize_scalar

    shifted = scores - scores.max(axis=1, keepdims=True)
    mine = shifted[np.arange(len(truth)), truth]
    scale = float(shifted[np.isfinite(shifted)].std()) or 1.0

    def loss(u: float) -> float:
        factor = np.exp(u) / scale
        return float(np.log(np.exp(factor * shifted).sum(axis=1)).mean() - factor * mine.mean())

    best = minimize_scalar(loss, bounds=(-RANGE, RANGE), method="bounded")
    temperature = float(scale * np.exp(-best.x))
    if method == "sigmoid":
        return Softmax(temperature)
    found = softmax(scores, 1.0 / temperature)
    is_true = np.arange(scores.shape[1]) == truth[:, None]
    possible = np.isfinite(scores)
    return Softmax(temperature, fit_steps(found[possible], is_true[possible]))
