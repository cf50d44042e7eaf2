"""Fitting and prediction of the estimators with a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.sequences import Sequences
from ..engine.threads import n_threads
from ..errors import DataError
from ..saving.checkpoint import as_checkpoint
from .fit import train_kernel
from .functions import is_linear, make_kernel
from .model import get_model, set_model
from .scores import identity_of, matrix_of

#: Fitted attributes of a model with a kernel, and the attributes of linear models they replace.
FITTED = ("kernel_", "support_", "support_vectors_", "dual_coef_")


def fit_kernel(estimator: Any, problem: Any, X: Any, Y: Any, weight: Any) -> Any:
    """Fit an estimator with a kernel; returns the estimator."""
    matrix = matrix_of(X)
    kernel = make_kernel(
        estimator.kernel, matrix, estimator.gamma, estimator.degree, estimator.coef0
    )
    if kernel.name == "precomputed" and hasattr(matrix, "toarray"):
        raise DataError("a precomputed kernel must be a dense array: use X.toarray()")
    if getattr(estimator, "backend", None) is not None:
        raise DataError("backend= is for training without a kernel: leave one of them out")
    result = train_kernel(
        problem, X, Y, weight, kernel, estimator.n_basis, as_checkpoint(estimator.checkpoint),
        estimator._options(),
    )  # fmt: skip
    estimator._finish(result)
    for name in ("coef_", "start_", "stop_"):
        vars(estimator).pop(name, None)
    set_model(estimator, result.model)
    return estimator


def forget_kernel(estimator: Any) -> None:
    """Remove the attributes of an earlier fit with a kernel."""
    for name in FITTED:
        vars(estimator).pop(name, None)


def check_linear(estimator: Any) -> None:
    """Raise a DataError if there is a kernel, and remove the attributes of an earlier one."""
    if not is_linear(estimator.kernel):
        raise DataError(
            "kernel= needs the examples in memory: give X and y in place of mm.Files, or leave "
            "kernel= out"
        )
    forget_kernel(estimator)


def kernel_scores(estimator: Any, X: Any) -> np.ndarray:
    """Scores of the rows of X, of shape (n, rows of dual_coef_)."""
    return get_model(estimator).scores(X, n_threads(estimator.n_jobs))


def scored_sequences(estimator: Any, tokens: Sequences) -> tuple[Sequences, np.ndarray]:
    """Unit vectors as tokens, with the scores as their weights."""
    model = get_model(estimator)
    scores = model.scores(tokens.matrix, n_threads(estimator.n_jobs))
    return identity_of(tokens), np.concatenate([scores.ravel(), model.rest])
