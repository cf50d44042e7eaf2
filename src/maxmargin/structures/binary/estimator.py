"""The estimator for two classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import DataError
from ...estimators.classifier import _LinearSVC
from ...estimators.cv import PathCV
from ...problem import CompiledProblem
from . import STRUCTURE
from .problem import Binary


class BinarySVC(_LinearSVC):
    """Binary classifier with the objective of the linear SVM with hinge loss.

    Parameters
    ----------
    C : float
        Weight of the sum of the losses.
    solver : str or solver object
        "auto", "sdm", "one-slack", or an object such as ``mm.OneSlack(cache=10)``.
    tol : float
        Stop when P/(C n) is certified to be within ``tol`` of its minimum, in units of loss.
    rescaling : {"margin", "slack"}
        Both are the same for two classes.
    fit_intercept : bool
        Add a constant feature with value ``intercept_scaling``; its weight is regularized too.
    intercept_scaling : float
    class_weight : dict or "balanced", optional
        Factor of C for the examples of each class.
    kernel : None, "linear", "rbf", "poly", "sigmoid", "precomputed" or callable
        See ``maxmargin.kernels.functions``; the parameters are those of scikit-learn.
    gamma : "scale", "auto" or float
    degree : int
    coef0 : float
    n_basis : int, "auto" or Basis, optional
        Number of basis functions of the kernel to train on; "auto" chooses it from the duality gap
        that they leave. By default training is exact for up to 1500 examples and uses "auto" for
        more. Solvers with sampled cuts use no basis functions.
    max_iter : int
        Maximum number of iterations.
    max_time : float, optional
        Maximum time in the solver, in seconds. If a limit is reached, the best weights so far are
        kept, with a ConvergenceWarning.
    n_jobs : int
        Number of threads; the model does not depend on it.
    random_state : int
    warm_start : bool
        Start from the dual variables of the last ``fit`` on the same data, with another C or tol.
    checkpoint : path or Checkpoint, optional
        A file to which training is saved every 5 minutes, and from which it continues if the file
        exists.
    backend : optional
        Where training runs: ``mm.Ray(...)`` for the workers of a cluster.
    verbose : int
        1 shows progress.

    Attributes
    ----------
    classes_ : array (2,)
    coef_ : array (1, d)
    intercept_ : array (1,)
    support_, support_vectors_, dual_coef_ : arrays (m,), (m, d), (1, m)
        Support vectors and their coefficients, with a kernel instead of ``coef_``.
    result_ : Result
        The certificate and the history.

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

    def __init__(
        self,
        C: float = 1.0,
        *,
        solver: Any = "auto",
        tol: float = 1e-2,
        rescaling: str = "margin",
        fit_intercept: bool = False,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        kernel: Any = None,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        n_basis: Any = None,
        max_iter: int = 10_000,
        max_time: float | None = None,
        n_jobs: int | None = 1,
        random_state: Any = 0,
        warm_start: bool = False,
        checkpoint: Any = None,
        backend: Any = None,
        verbose: int = 0,
    ):
        self._keep(locals())

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
