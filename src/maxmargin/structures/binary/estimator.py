"""The estimator for two classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import DataError
from ...estimators.classifier import _LinearSVC
from ...estimators.cv import PathCV
from ...estimators.parameters import estimator
from ...problem import CompiledProblem
from . import STRUCTURE
from .problem import Binary


@estimator
class BinarySVC(_LinearSVC):
    """Binary classifier with the objective of the linear SVM with hinge loss.

    Parameters
    ----------
    {C, solver, tol}
    rescaling : {"margin", "slack"}
        Both are the same for two classes.
    {fit_intercept, intercept_scaling, class_weight, kernel, gamma, degree, coef0, n_basis}
    {max_iter, max_time, n_jobs, deterministic}
    {random_state, warm_start, checkpoint, backend, verbose}

    Attributes
    ----------
    classes_ : array (2,)
        The two labels, sorted.
    coef_ : array (1, d)
        The weights; positive scores are for the second class.
    intercept_ : array (1,)
        The weight of the constant feature times its value; 0 without one.
    support_, support_vectors_, dual_coef_ : arrays (m,), (m, d), (1, m)
        Support vectors and their coefficients, with a kernel instead of ``coef_``.
    {result_}

    Examples
    --------
    >>> import maxmargin as mm
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = mm.BinarySVC(C=0.1).fit(X / X.max(axis=0), y)
    >>> bool(clf.score(X / X.max(axis=0), y) > 0.9), clf.result_.status.name
    (True, 'CONVERGED')
    """

    structure = STRUCTURE

    C: float = 1.0

    def _problem(self) -> CompiledProblem:
        if len(self.classes_) > 2:
            raise DataError(
                f"Only binary classification is supported: y has {len(self.classes_)} classes, "
                "use MulticlassSVC"
            )
        return Binary(self._bias())

    def _n_scores(self) -> int:
        return 1

    def _encode(self, codes: np.ndarray) -> np.ndarray:
        return 2 * codes - 1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class BinarySVCCV(PathCV):
    """``BinarySVC`` whose C is chosen by cross-validation; see ``PathCV``."""

    default = BinarySVC
