"""How classifiers of the rows of a matrix are stored in model files."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.costs import check_cost
from ..kernels.saved import KernelParts, decode_kernel, has_kernel
from ..objective import check_positive
from ..saving.contents import check_class_weight, check_flag
from ..saving.parts import Arrays
from ..saving.sparse import finite


class ClassifierParts(KernelParts):
    """Weights and intercepts, or a kernel model."""

    def check_parameters(self, parameters: dict[str, Any]) -> None:
        """Also the parameters of the intercept and the weights of classes."""
        super().check_parameters(parameters)
        check_flag("fit_intercept", parameters["fit_intercept"])
        if parameters["fit_intercept"]:
            check_positive("intercept_scaling", parameters["intercept_scaling"])
        check_class_weight("class_weight", parameters["class_weight"])

    def encode(self, estimator: Any, arrays: Arrays) -> dict[str, Any]:
        """Store ``coef_`` and ``intercept_``, or the kernel model."""
        if not has_kernel(estimator):
            arrays["coef_"] = estimator.coef_
        arrays["intercept_"] = estimator.intercept_
        return super().encode(estimator, arrays)

    def decode(self, estimator: Any, meta: dict[str, Any], arrays: Arrays) -> np.ndarray:
        """Set the weights of the estimator; returns w."""
        rows, d = estimator._n_scores(), estimator.n_features_in_
        if estimator.classes_.shape != (max(rows, 2),):
            raise ValueError(f"{estimator.classes_!r} are not the classes of the estimator")
        loss = getattr(estimator, "loss", "zero-one")
        if not isinstance(loss, str):
            check_cost(loss, len(estimator.classes_))
        elif loss != "zero-one":
            raise ValueError(f"{loss!r:.100} is not a loss of classes")
        estimator.intercept_ = finite(arrays, "intercept_", ndim=1)
        if "kernel" in meta:
            return decode_kernel(estimator, meta["kernel"], arrays, rows)
        coef = estimator.coef_ = finite(arrays, "coef_", ndim=2)
        if coef.shape != (rows, d) or estimator.intercept_.shape != (rows,):
            raise ValueError(f"weights of shape {coef.shape} do not fit the estimator")
        return _feature_major(estimator)


def _feature_major(estimator: Any) -> np.ndarray:
    """The inverse of ``_LinearSVC._set_weights``: w from coef_ and intercept_, up to rounding."""
    by_feature = estimator.coef_.T
    if estimator.fit_intercept:
        by_feature = np.vstack([by_feature, estimator.intercept_ / estimator.intercept_scaling])
    return by_feature.ravel()
