"""The base class of estimators that classify the rows of a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ..backends.files import FileData, Files
from ..data.checked import check_vector, csr_rows, plain_array
from ..data.labels import as_label_array, check_no_nan, encode_labels
from ..data.probabilities import Sigmoid, Softmax
from ..errors import DataError
from ..kernels.estimators import check_linear, fit_kernel, forget_kernel, kernel_scores
from ..kernels.functions import is_linear
from ..objective import LARGEST, check_factor
from ..outputs.explain import Suspects
from ..problem import CompiledProblem
from ..training import check_alone, check_examples
from .base import _SVC
from .calibrated import get_curve, if_calibrated
from .class_answers import class_decisions, class_suspects
from .parameters import KernelParameters
from .weights import weigh_classes


def check_range(X: Any) -> None:
    """Raise a DataError if entries of X are too large to be multiplied with each other."""
    if X.dtype == np.float32:
        return  # all float32 values are within the range
    values = X.data if hasattr(X, "tocsr") else X
    largest = max(float(values.max()), -float(values.min())) if values.size else 0.0
    if largest > LARGEST:
        raise DataError(
            f"X has entries of up to {largest:.0e}, beyond {LARGEST:.0e}: scale its columns, for "
            "example with sklearn.preprocessing.MaxAbsScaler"
        )


def read_matrix(estimator: Any, X: Any, reset: bool = True) -> Any:
    """X, validated by scikit-learn; sparse indices are checked first, which it does not do."""
    if hasattr(X, "tocsr") and len(X.shape) == 2:
        X = csr_rows(X)
    elif isinstance(X, np.ma.MaskedArray):
        X = plain_array(X, "X")
    return validate_data(
        estimator, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ClassifierParameters(KernelParameters):
    """The parameters of estimators that classify the rows of a matrix.

    fit_intercept : bool
        Add a constant feature with value ``intercept_scaling``; its weights are regularized too.
    intercept_scaling : float
        Value of the constant feature: the larger, the less its weights are regularized.
    class_weight : dict or "balanced", optional
        Factor of C for the examples of each class.
    """

    fit_intercept: bool = False
    intercept_scaling: float = 1.0
    class_weight: Any = None


class _LinearSVC(ClassifierMixin, ClassifierParameters, _SVC):
    """Base class of estimators that classify the rows of a matrix."""

    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray
    n_features_in_: int

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on the rows of X (n, d) with labels y (n,).

        Parameters
        ----------
        X : array or scipy sparse matrix (n, d)
            float32 and float64 are used without conversion. Or ``mm.Files``, without ``y`` and
            ``sample_weight``.
        y : array (n,)
            Labels of any hashable type.
        sample_weight : array (n,), optional
            Weights >= 0 of the examples.
        """
        with self._keeping_model():
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
        """The arguments of ``train``: problem, inputs, outputs and weights."""
        X, y = self._read(X, y)
        self.classes_, codes = encode_labels(y)
        weight = check_examples(X, codes, sample_weight)
        self._check_classes(codes, weight)
        return self._problem(), X, self._encode(codes), self._weights(codes, weight)

    def _fit_files(self, files: Files) -> Self:
        """Train on files that the workers read."""
        self._seen = None
        check_linear(self)
        data = FileData(files, self.backend, verbose=self.verbose)
        if data.plan.layout.format not in ("svmlight", "npz"):
            raise DataError("hmm and CoNLL files contain sequences: use ChainSVC", files.paths[0])
        self.classes_, self.n_features_in_ = data.classes, data.plan.n_features
        codes = np.arange(len(data.classes))
        self._check_classes(codes, data.counts)
        data.class_weight = self._class_weights(codes, data.counts)
        self._set_weights(self._train(self._problem(), data, None, None).w)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores (n, n_classes); with two classes (n,), positive for the second class."""
        check_is_fitted(self)
        X = read_matrix(self, X, reset=False)
        if hasattr(self, "dual_coef_"):
            scores = kernel_scores(self, X)
        else:
            rows = self._n_scores()
            coef = check_vector(self.coef_, rows, self.n_features_in_)
            scores = X @ coef.T + check_vector(self.intercept_, rows)
        if scores.shape[1] == 2:
            return scores[:, 1] - scores[:, 0]
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The predicted label of each row, array (n,)."""
        if isinstance(X, Files):
            return np.concatenate(self._predict_files(X))
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]

    @if_calibrated
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, array (n, n_classes) in the order of ``classes_``.

        Needs ``mm.calibrate``. With two classes they are a logistic curve of the decision value
        (Platt), with more a softmax of the scores with a fitted temperature; or step functions,
        if the method was "isotonic".
        """
        curve, scores = get_curve(self, "classes"), self.decision_function(X)
        if scores.ndim == 2:
            return curve(scores)
        second = curve(scores)
        return np.column_stack([1.0 - second, second])

    def _decisions(self, X: Any, Y: Any) -> dict[str, Any]:
        return {"classes": class_decisions(self, X, Y)}

    def _curves(self) -> dict[str, type]:
        return super()._curves() | {"classes": Sigmoid if len(self.classes_) == 2 else Softmax}

    def _m_best(self, X: Any, m: int, diversity: float) -> list[list[tuple[Any, float]]]:
        """Classes sorted by score; two classes have plus and minus half the decision value."""
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

    def _suspects(self, X: Any, Y: Any, n: int) -> Suspects:
        return class_suspects(self, X, Y, n)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy: the weighted fraction of rows whose label is predicted correctly."""
        truth = as_label_array(y)
        right = [a == b for a, b in zip(self.predict(X).tolist(), truth.tolist(), strict=True)]
        return float(np.average(right, weights=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    def _read(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Validated X and y; labels may be of types that scikit-learn does not accept."""
        X = read_matrix(self, X)
        check_range(X)
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
                f"the examples (of positive weight) have only one class, {label!r}: "
                "at least two classes are needed"
            )

    def _weights(self, codes: np.ndarray, weight: np.ndarray | None) -> np.ndarray | None:
        """sample_weight times class_weight."""
        by_class = self._class_weights(codes, weight)
        if by_class is None:
            return weight
        return by_class[codes] * (1.0 if weight is None else weight)

    def _class_weights(self, codes: np.ndarray, weight: np.ndarray | None) -> np.ndarray | None:
        """The weight of each class, array (n_classes,); None if all are 1."""
        if self.class_weight is None:
            return None
        labels = self.classes_.tolist()
        if isinstance(self.class_weight, dict):
            unknown = [label for label in self.class_weight if label not in set(labels)]
            if unknown:
                raise DataError(f"class_weight has the label {unknown[0]!r}, which y does not have")
        return weigh_classes(self.class_weight, labels, codes, weight)

    def _bias(self) -> float:
        if not self.fit_intercept:
            return 0.0
        return check_factor("intercept_scaling", self.intercept_scaling)

    def _problem(self) -> CompiledProblem:
        raise NotImplementedError

    def _n_scores(self) -> int:
        """Number of scores per example, which is the number of rows of ``coef_``."""
        return len(self.classes_)

    def _encode(self, codes: np.ndarray) -> np.ndarray:
        return codes

    def _set_weights(self, w: np.ndarray) -> None:
        """Set ``coef_`` (rows, d) and ``intercept_`` (rows,) from feature-major weights."""
        d = self.n_features_in_
        by_feature = w.reshape(d + bool(self.fit_intercept), -1)
        self.coef_ = np.ascontiguousarray(by_feature[:d].T)
        self.intercept_ = (
            by_feature[d] * self._bias() if self.fit_intercept else np.zeros(by_feature.shape[1])
        )
