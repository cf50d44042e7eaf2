"""The estimator for any number of classes."""

from __future__ import annotations

from typing import Any

from ...errors import DataError
from ...estimators.classifier import _LinearSVC
from ...estimators.cv import PathCV
from ...problem import CompiledProblem
from . import STRUCTURE
from .problem import Multiclass


class MulticlassSVC(_LinearSVC):
    """Multi-class classifier with the objective of Crammer and Singer.

    Parameters
    ----------
    C : float
        Weight of the sum of the losses.
    solver : str or solver object
        "auto", "sdm", "one-slack", or an object such as ``mm.OneSlack(cache=10)``.
    tol : float
        Stop when P/(C n) is certified to be within ``tol`` of its minimum, in units of loss.
    rescaling : {"margin", "slack"}
        How the loss enters the hinge loss: added to the margin, or as a factor of the slack. Both
        are the same for the 0/1 loss.
    loss : "zero-one" or array (n_classes, n_classes)
        ``loss[t, k]`` is the cost of predicting class k if t is true, in the order of
        ``classes_``.
    fit_intercept : bool
        Add a constant feature with value ``intercept_scaling``; its weights are regularized too.
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
    classes_ : array (n_classes,)
    coef_ : array (n_classes, d)
    intercept_ : array (n_classes,)
    support_, support_vectors_, dual_coef_ : arrays (m,), (m, d), (n_classes, m)
        Support vectors and their coefficients, with a kernel instead of ``coef_``.
    result_ : Result
        The certificate and the history.

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
    loss: Any

    def __init__(
        self,
        C: float = 1.0,
        *,
        solver: Any = "auto",
        tol: float = 1e-2,
        rescaling: str = "margin",
        loss: Any = "zero-one",
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
        if isinstance(self.loss, str) and self.loss != "zero-one":
            raise DataError(f"loss must be 'zero-one' or a cost matrix, got {self.loss!r}")
        cost = None if isinstance(self.loss, str) else self.loss
        return Multiclass(len(self.classes_), cost, self._bias())


class MulticlassSVCCV(PathCV):
    """``MulticlassSVC`` whose C is chosen by cross-validation; see ``PathCV``."""

    default = MulticlassSVC
