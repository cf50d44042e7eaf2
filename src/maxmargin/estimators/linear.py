"""Classification of the rows of a matrix, into two classes or more."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ..backends.files import FileData, Files
from ..errors import DataError
from ..kernels.estimators import fit_kernel, forget_kernel, kernel_scores
from ..kernels.functions import is_linear
from ..labels import as_label_array, check_no_nan, encode_labels
from ..problem import KernelProblem
from ..problems.binary import Binary
from ..problems.multiclass import Multiclass
from ..training import check_alone, check_examples
from .base import _SVC


class _LinearSVC(ClassifierMixin, _SVC):
    """Classification of the rows of a matrix."""

    fit_intercept: bool
    intercept_scaling: float
    class_weight: Any
    kernel: Any
    gamma: Any
    degree: int
    coef0: float
    n_basis: Any

    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray
    n_features_in_: int

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on the rows of X (n, d) with labels y (n,).

        Parameters
        ----------
        X : array or scipy sparse matrix (n, d)
            float32 and float64 are used as they are. Or ``mm.Files``, alone.
        y : array (n,)
            Labels of any hashable type.
        sample_weight : array (n,), optional
        """
        if isinstance(X, Files):
            check_alone(y, sample_weight)
            return self._fit_files(X)
        prepared = self._prepare(X, y, sample_weight)
        self._seen = (X, y, sample_weight)
        if not is_linear(self.kernel):
            return fit_kernel(self, *prepared)
        forget_kernel(self)
        self._set_weights(self._train(*prepared).w)
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, Any, Any, Any]:
        """What ``train`` needs: the problem, inputs, outputs and weights."""
        X, y = self._read(X, y)
        self.classes_, codes = encode_labels(y)
        weight = check_examples(X, codes, sample_weight)
        self._check_classes(codes, weight)
        return self._problem(), X, self._encode(codes), self._weights(codes, weight)

    def _fit_files(self, files: Files) -> Self:
        """Train on files that the workers read."""
        self._seen = None
        data = FileData(files, self.backend)
        if data.plan.layout.format not in ("svmlight", "npz"):
            raise DataError("hmm and CoNLL files hold sequences: use ChainSVC", files.paths[0])
        self.classes_, self.n_features_in_ = data.classes, data.plan.n_features
        codes = np.arange(len(data.classes))
        self._check_classes(codes, None)
        data.class_weight = self._class_weights(codes, data.counts)
        self._set_weights(self._train(self._problem(), data, None, None).w)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores (n, n_classes); with two classes (n,), of the second against the first."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        if hasattr(self, "dual_coef_"):
            scores = kernel_scores(self, X)
        else:
            scores = X @ self.coef_.T + self.intercept_
        if scores.shape[1] == 2:
            return scores[:, 1] - scores[:, 0]
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The best label of each row."""
        if isinstance(X, Files):
            return np.concatenate(self._predict_files(X))
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]

    def _m_best(self, X: Any, m: int, diversity: float) -> list[list[tuple[Any, float]]]:
        """Classes by their scores; of two classes the scores are half the decision, up and down."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([-0.5 * scores, 0.5 * scores])
        order = np.argsort(-scores, axis=1, kind="stable")[:, :m]
        best = np.take_along_axis(scores, order, axis=1).tolist()
        labels = self.classes_.tolist()
        return [
            [(labels[k], score) for k, score in zip(row, values, strict=True)]
            for row, values in zip(order.tolist(), best, strict=True)
        ]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The part of the rows whose label is predicted."""
        truth = as_label_array(y)
        right = [a == b for a, b in zip(self.predict(X).tolist(), truth.tolist(), strict=True)]
        return float(np.average(right, weights=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    def _read(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Validated input; labels of unusual types pass where scikit-learn would refuse them."""
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        if y is None:
            raise DataError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        labels = as_label_array(y)
        if labels.dtype.kind != "O" or labels.ndim != 1:
            labels = column_or_1d(labels, warn=True)
            check_no_nan(labels)
            check_classification_targets(labels)
        if len(labels) != X.shape[0]:
            raise DataError(
                f"X has {X.shape[0]} examples and y has {len(labels)}: lengths must agree"
            )
        return X, labels

    def _check_classes(self, codes: np.ndarray, weight: np.ndarray | None) -> None:
        present = np.unique(codes if weight is None else codes[weight > 0])
        if len(present) < 2:
            label = self.classes_.tolist()[present[0]]
            raise DataError(
                f"the examples (of positive weight) have one class, {label!r}: "
                "at least two classes are needed"
            )

    def _weights(self, codes: np.ndarray, weight: np.ndarray | None) -> np.ndarray | None:
        """sample_weight times class_weight."""
        by_class = self._class_weights(codes, weight)
        if by_class is None:
            return weight
        return by_class[codes] * (1.0 if weight is None else weight)

    def _class_weights(self, codes: np.ndarray, weight: np.ndarray | None) -> np.ndarray | None:
        """The weight of each class."""
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, dict):
            unknown = [
                label for label in self.class_weight if label not in set(self.classes_.tolist())
            ]
            if unknown:
                raise DataError(f"class_weight has the label {unknown[0]!r}, which y does not have")
            return np.array([self.class_weight.get(c, 1.0) for c in self.classes_.tolist()])
        numbers = np.arange(len(self.classes_))
        return compute_class_weight(
            self.class_weight, classes=numbers, y=codes, sample_weight=weight
        )

    def _bias(self) -> float:
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def _problem(self) -> KernelProblem:
        raise NotImplementedError

    def _encode(self, codes: np.ndarray) -> np.ndarray:
        return codes

    def _set_weights(self, w: np.ndarray) -> None:
        """coef_ (rows, d) and intercept_ (rows,) from feature-major weights."""
        d = self.n_features_in_
        by_feature = w.reshape(d + self.fit_intercept, -1)
        self.coef_ = np.ascontiguousarray(by_feature[:d].T)
        self.intercept_ = (
            by_feature[d] * self._bias() if self.fit_intercept else np.zeros(by_feature.shape[1])
        )


class BinarySVC(_LinearSVC):
    """Two classes; minimises the objective of the linear SVM with hinge loss.

    Parameters
    ----------
    C : float
        Weight of the sum of the losses.
    solver : str or solver object
        "auto", "sdm", "one-slack", or an object such as ``mm.OneSlack(cache=10)``.
    tol : float
        Stop when P/(C n) is certified to be within ``tol`` of its minimum.
    rescaling : {"margin", "slack"}
        Both are the same for two classes.
    fit_intercept : bool
        Add a constant feature of value ``intercept_scaling``; its weight is regularised as well.
    intercept_scaling : float
    class_weight : dict or "balanced", optional
        Multiplies C for the examples of a class.
    kernel : None, "linear", "rbf", "poly", "sigmoid", "precomputed" or callable
        See ``maxmargin.kernels.functions``; the parameters are those of scikit-learn.
    gamma : "scale", "auto" or float
    degree : int
    coef0 : float
    n_basis : int, "auto" or Basis, optional
        Train on so many basis functions of the kernel. By default few examples are treated
        exactly, and for many the number is found ("auto"), unless the solver is one of sampled
        cuts.
    max_iter, max_time : int, float (seconds)
        Limits; the best point so far is kept, with a ConvergenceWarning.
    n_jobs : int
        Threads; the model does not depend on it.
    random_state : int
    warm_start : bool
        Begin from the dual variables of the last ``fit`` on the same data, for another C or tol.
    checkpoint : path or Checkpoint, optional
        A file in which training is saved every 5 minutes, and continued from if it is there.
    backend : optional
        Where training happens: ``mm.Ray(...)`` for the workers of a cluster.
    verbose : int
        1 shows progress.

    Attributes
    ----------
    classes_ : array (2,)
    coef_ : array (1, d)
    intercept_ : array (1,)
    support_, support_vectors_, dual_coef_ : arrays (m,), (m, d), (1, m)
        With a kernel, in place of ``coef_``.
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
        self.C = C
        self.solver = solver
        self.tol = tol
        self.rescaling = rescaling
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_basis = n_basis
        self.max_iter = max_iter
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.backend = backend
        self.verbose = verbose

    def _problem(self) -> KernelProblem:
        if len(self.classes_) > 2:
            raise DataError(
                f"Only binary classification is supported: y has {len(self.classes_)} classes, "
                "use MulticlassSVC"
            )
        return Binary(self._bias())

    def _encode(self, codes: np.ndarray) -> np.ndarray:
        return 2 * codes - 1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class MulticlassSVC(_LinearSVC):
    """Any number of classes at once, as Crammer and Singer wrote it.

    Parameters
    ----------
    C : float
        Weight of the sum of the losses.
    solver : str or solver object
        "auto", "sdm", "one-slack", or an object such as ``mm.OneSlack(cache=10)``.
    tol : float
        Stop when P/(C n) is certified to be within ``tol`` of its minimum.
    rescaling : {"margin", "slack"}
        How a loss other than 0/1 enters: as a larger margin, or as a steeper slope.
    loss : "zero-one" or array (n_classes, n_classes)
        ``loss[t, k]`` is the cost of saying class k when t is true, in the order of ``classes_``.
    fit_intercept : bool
        Add a constant feature of value ``intercept_scaling``; its weights are regularised as well.
    intercept_scaling : float
    class_weight : dict or "balanced", optional
        Multiplies C for the examples of a class.
    kernel : None, "linear", "rbf", "poly", "sigmoid", "precomputed" or callable
        See ``maxmargin.kernels.functions``; the parameters are those of scikit-learn.
    gamma : "scale", "auto" or float
    degree : int
    coef0 : float
    n_basis : int, "auto" or Basis, optional
        Train on so many basis functions of the kernel. By default few examples are treated
        exactly, and for many the number is found ("auto"), unless the solver is one of sampled
        cuts.
    max_iter, max_time : int, float (seconds)
        Limits; the best point so far is kept, with a ConvergenceWarning.
    n_jobs : int
        Threads; the model does not depend on it.
    random_state : int
    warm_start : bool
        Begin from the dual variables of the last ``fit`` on the same data, for another C or tol.
    checkpoint : path or Checkpoint, optional
        A file in which training is saved every 5 minutes, and continued from if it is there.
    backend : optional
        Where training happens: ``mm.Ray(...)`` for the workers of a cluster.
    verbose : int
        1 shows progress.

    Attributes
    ----------
    classes_ : array (n_classes,)
    coef_ : array (n_classes, d)
    intercept_ : array (n_classes,)
    support_, support_vectors_, dual_coef_ : arrays (m,), (m, d), (n_classes, m)
        With a kernel, in place of ``coef_``.
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
        self.C = C
        self.solver = solver
        self.tol = tol
        self.rescaling = rescaling
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_basis = n_basis
        self.max_iter = max_iter
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.backend = backend
        self.verbose = verbose

    def _problem(self) -> KernelProblem:
        if isinstance(self.loss, str) and self.loss != "zero-one":
            raise DataError(f"loss is 'zero-one' or a cost matrix, got {self.loss!r}")
        cost = None if isinstance(self.loss, str) else self.loss
        return Multiclass(len(self.classes_), cost, self._bias())
