"""A model of support vectors: scores are weighted sums of kernel values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import DataError
from .functions import Kernel, placed
from .rows import KernelRows


@dataclass(frozen=True)
class KernelModel:
    """``scores(x) = sum_j K(x, support_j) coef_j + intercept``.

    Attributes
    ----------
    kernel : Kernel
        The kernel without an offset; the intercept is stored separately.
    support : int array (m,)
        Indices of the support vectors among the training rows.
    vectors : array or CSR matrix (m, d), or None
        The support vectors; None with a precomputed kernel.
    coef : array (m, labels)
        Coefficients of the support vectors.
    intercept : array (labels,)
    rest : array
        Weights that do not belong to rows, such as those of transitions.
    n_columns : int
        Number of columns of X.
    """

    kernel: Kernel
    support: np.ndarray
    vectors: Any
    coef: np.ndarray
    intercept: np.ndarray
    rest: np.ndarray
    n_columns: int

    def scores(self, X: Any, n_jobs: int = 1) -> np.ndarray:
        """Scores (n, labels) of the rows of X, computed in batches."""
        if X.shape[1] != self.n_columns:
            raise DataError(
                f"X has {X.shape[1]} features, but the model was trained with {self.n_columns}"
            )
        sparse = hasattr(X, "tocsr") or hasattr(self.vectors, "tocsr") or self.vectors is None
        kernel = self.kernel if sparse else placed(self.kernel, self.vectors)
        right = KernelRows(kernel, self.vectors, self.support)
        return KernelRows(kernel, X).product(right, self.coef, n_jobs) + self.intercept

    @classmethod
    def of(
        cls,
        rows: KernelRows,
        support: np.ndarray,
        coef: np.ndarray,
        intercept: np.ndarray,
        rest: np.ndarray,
    ) -> KernelModel:
        """The model with coefficients (m, labels) of some training rows, without zero rows."""
        used = np.flatnonzero(coef.any(axis=1))
        support, coef = support[used], np.ascontiguousarray(coef[used])
        kernel = rows.kernel
        kernel = Kernel(
            kernel.name, kernel.gamma, kernel.degree, kernel.coef0, function=kernel.function
        )
        vectors = None if kernel.name == "precomputed" else rows.X[support]
        return cls(kernel, support, vectors, coef, intercept, rest, rows.X.shape[1])


def set_model(estimator: Any, model: KernelModel) -> None:
    """Set the fitted attributes of an estimator."""
    estimator.kernel_ = model.kernel
    estimator.support_ = model.support
    estimator.support_vectors_ = model.vectors
    estimator.dual_coef_ = model.coef.T
    if not hasattr(estimator, "template"):
        estimator.intercept_ = model.intercept
        return
    K = len(estimator.classes_)
    ends = model.rest[K * K :] if estimator.start_stop else np.zeros(2 * K)
    estimator.transition_ = model.rest[: K * K].reshape(K, K)
    estimator.start_, estimator.stop_ = ends[:K], ends[K:]


def get_model(estimator: Any) -> KernelModel:
    """The model behind the fitted attributes."""
    rows = len(estimator.dual_coef_)
    rest = np.zeros(0)
    if hasattr(estimator, "transition_"):
        ends = [estimator.start_, estimator.stop_] if estimator.start_stop else []
        rest = np.concatenate([estimator.transition_.ravel(), *ends])
    return KernelModel(
        estimator.kernel_,
        estimator.support_,
        estimator.support_vectors_,
        estimator.dual_coef_.T,
        getattr(estimator, "intercept_", np.zeros(rows)),
        rest,
        estimator.n_features_in_,
    )
