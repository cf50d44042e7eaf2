"""Cross-validation over C; within a fold each value of C starts from the one before."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from ..data.source import n_examples, single_labels, take
from ..engine.python import as_compiled_problem
from ..engine.shard import Shard
from ..errors import DataError
from ..training import check_examples, check_stop
from .path import check_Cs, train_path


@dataclass(eq=False, repr=False)
class PathCV(BaseEstimator):
    """Chooses C by cross-validation, then trains on all examples.

    Within a fold, training for one C starts from the result for the smaller C before it; see
    ``mm.regularization_path``.

    Parameters
    ----------
    estimator : BinarySVC, MulticlassSVC, ChainSVC or StructuredSVC, optional
        The model with its parameters; its C is ignored.
    Cs : int or array of float
        The values of C, or the number of values between 0.001 and 10, on a logarithmic scale.
    cv : int or splitter of scikit-learn
        The number of folds, or how to split. Folds are stratified if each example has one class.
    scoring : callable ``(estimator, X, Y) -> float``, or a name of scikit-learn's, optional
        Higher is better; ``estimator.score`` by default.

    Attributes
    ----------
    C_ : float
        The best value; the smallest one if several are best.
    Cs_ : array (n_values,)
        The values of C in increasing order.
    scores_ : array (n_folds, n_values)
        The scores on the held-out examples.
    n_oracle_ : int
        Number of oracle calls in all folds.
    best_estimator_ : estimator
        Trained with the best value on all examples.

    Examples
    --------
    >>> import maxmargin as mm
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = mm.MulticlassSVCCV(Cs=[0.01, 0.1, 1.0], cv=3).fit(X, y)
    >>> bool(clf.score(X, y) > 0.9), clf.scores_.shape
    (True, (3, 3))
    """

    #: Makes the default estimator.
    default: ClassVar[Callable[[], Any] | None] = None

    estimator: Any = None
    _: KW_ONLY
    Cs: Any = 10
    cv: Any = 5
    scoring: Callable[..., float] | str | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Score all values of C on held-out examples, then train with the best."""
        from sklearn.model_selection import check_cv  # slow to import

        estimator = self._estimator()
        if getattr(estimator, "kernel", None) not in (None, "linear"):
            raise DataError("a path over C needs a model without a kernel: use GridSearchCV")
        if not hasattr(estimator, "_prepare"):
            raise DataError(f"no path over C for {type(estimator).__name__}: use GridSearchCV")
        self.Cs_, scoring = check_Cs(self.Cs), self._scoring()
        weight = check_examples(X, y, sample_weight)
        single = single_labels(y) and hasattr(estimator, "decision_function")
        folds = check_cv(self.cv, y if single else None, classifier=single)
        rows, self.n_oracle_ = [], 0
        for train, test in folds.split(np.zeros(n_examples(y)), y if single else None):
            rows.append(self._score_fold(estimator, X, y, weight, train, test, scoring))
        self.scores_ = np.array(rows)
        mean = self.scores_.mean(axis=0)
        self.C_ = float(self.Cs_[np.flatnonzero(mean >= mean.max() - 1e-12)[0]])
        self.best_estimator_ = clone(estimator).set_params(C=self.C_).fit(X, y, sample_weight)
        return self

    def predict(self, X: Any) -> Any:
        """The predictions of the best model."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score of the best model."""
        check_is_fitted(self)
        return self.best_estimator_.score(X, y, sample_weight)

    def save(self, path: Any) -> None:
        """Write the best model to a file that ``mm.load`` reads."""
        check_is_fitted(self)
        self.best_estimator_.save(path)

    def _estimator(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        if self.default is None:
            raise DataError("PathCV needs an estimator, such as PathCV(mm.ChainSVC())")
        return self.default()

    def _scoring(self) -> Callable[..., float] | None:
        """The function that scores a model, of which scikit-learn has some by name."""
        if self.scoring is None or callable(self.scoring):
            return self.scoring
        from sklearn.metrics import get_scorer

        try:
            return get_scorer(self.scoring)
        except (ValueError, TypeError) as error:
            raise DataError(f"scoring={self.scoring!r}: {error}") from error

    def _score_fold(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        weight: Any,
        train: np.ndarray,
        test: np.ndarray,
        scoring: Callable[..., float] | None,
    ) -> list[float]:
        """The score for each value of C on the examples ``test``."""
        model = clone(estimator)
        weights = None if weight is None else weight[train]
        problem, inputs, outputs, weights = model._prepare(take(X, train), take(y, train), weights)
        problem = as_compiled_problem(problem)
        pack = problem.pack(inputs, outputs, check_examples(inputs, outputs, weights))
        stop = check_stop(model._tolerance(), model.max_iter, model.max_time)
        options = (model.solver, stop, model.rescaling, model.random_state)
        X_test, y_test, scores = take(X, test), take(y, test), []
        shard = Shard(problem, pack, model.n_jobs or 1, deterministic=model.deterministic)
        with closing(shard):
            for result in train_path(shard, self.Cs_, *options):
                model._finish(result)
                model._set_weights(result.w)
                self.n_oracle_ += result.n_oracle
                score = model.score if scoring is None else partial(scoring, model)
                scores.append(float(score(X_test, y_test)))
        return scores
