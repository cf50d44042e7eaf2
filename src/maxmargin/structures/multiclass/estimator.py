"""The estimator for any number of classes."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from ...errors import DataError
from ...estimators.classifier import _LinearSVC
from ...estimators.cv import PathCV
from ...estimators.parameters import estimator
from ...problem import CompiledProblem
from . import STRUCTURE
from .problem import Multiclass


@estimator
class MulticlassSVC(_LinearSVC):
    """Multi-class classifier with the objective of Crammer and Singer.

    Parameters
    ----------
    {C, solver, tol}
    rescaling : {"margin", "slack"}
        How the loss enters the hinge loss: added to the margin, or as a factor of the slack. Both
        are the same for the 0/1 loss.
    loss : "zero-one" or array (n_classes, n_classes)
        ``loss[t, k]`` is the cost of predicting class k if t is true, in the order of
        ``classes_``.
    {fit_intercept, intercept_scaling, class_weight, kernel, gamma, degree, coef0, n_basis}
    {max_iter, max_time, n_jobs, deterministic}
    {random_state, warm_start, checkpoint, backend, verbose}

    Attributes
    ----------
    classes_ : array (n_classes,)
        The labels, sorted.
    coef_ : array (n_classes, d)
        The weights of each class.
    intercept_ : array (n_classes,)
        The weights of the constant feature times its value; 0 without one.
    support_, support_vectors_, dual_coef_ : arrays (m,), (m, d), (n_classes, m)
        Support vectors and their coefficients, with a kernel instead of ``coef_``.
    {result_}

    Examples
    --------
    >>> import maxmargin as mm
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = mm.MulticlassSVC(C=0.1).fit(X[:1000] / 16, y[:1000])
    >>> bool(clf.score(X[1000:] / 16, y[1000:]) > 0.9)
    True
    """

    structure = STRUCTURE

    C: float = 1.0
    _: KW_ONLY
    loss: Any = "zero-one"

    def _problem(self) -> CompiledProblem:
        if isinstance(self.loss, str) and self.loss != "zero-one":
            raise DataError(f"loss must be 'zero-one' or a cost matrix, got {self.loss!r}")
        cost = None if isinstance(self.loss, str) else self.loss
        return Multiclass(len(self.classes_), cost, self._bias())


class MulticlassSVCCV(PathCV):
    """``MulticlassSVC`` whose C is chosen by cross-validation; see ``PathCV``."""

    default = MulticlassSVC
