"""Altered arrays and wild parameters given to ``fit`` and ``predict``: refused, or used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import maxmargin as mm

from ..alter import NUMBERS, Random, alter_array
from ..trial import FALSE, FoundError, Kind, Trial

WILD: list[Any] = [*NUMBERS, 1e308, 1e-308, 10**6, "x", None, True, [1.0], np.float32(2), -0.0]
PARAMETERS = {
    mm.MulticlassSVC: ("C", "tol", "max_iter", "max_time", "n_jobs", "random_state", "loss",
                       "class_weight", "rescaling", "fit_intercept", "intercept_scaling", "kernel",
                       "gamma", "degree", "coef0", "n_basis", "solver"),
    mm.BinarySVC: ("C", "tol", "max_iter", "max_time", "n_jobs", "random_state", "class_weight",
                   "fit_intercept", "intercept_scaling", "kernel", "gamma", "n_basis", "solver"),
    mm.ChainSVC: ("C", "tol", "max_iter", "max_time", "n_jobs", "random_state", "loss",
                  "class_weight", "rescaling", "transitions", "start_stop", "template", "solver"),
}  # fmt: skip


def prepare(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels."""
    X, y = mm.datasets.make_multiclass(12, 4, 3)
    return X * (np.abs(X) > 0.3), y


def trial(trial: Trial) -> None:
    """Fit with something altered; then predict with something altered."""
    random, (X, y) = trial.random, trial.ready
    cls = random.choice(list(PARAMETERS))
    estimator = cls(C=1.0, max_iter=30)
    where = random.choice(("X", "weights", "parameters", "parameters", "new X"))
    trial.count("altered inputs")
    matrix = altered_matrix(random, X) if where == "X" else X
    weight = altered_weight(random, y, cls) if where == "weights" else None
    if where == "parameters":
        known = estimator.get_params()
        names = [name for name in PARAMETERS[cls] if name in known]
        estimator.set_params(**{random.choice(names): random.choice(WILD)})
    labels = y > 0 if cls is mm.BinarySVC else y
    with trial.refusals(MemoryError):
        if cls is mm.ChainSVC:
            estimator.fit([matrix, X[:3]], [list(labels), list(labels[:3])])
        else:
            estimator.fit(matrix, labels, weight)
        result = estimator.result_
        if not np.isfinite([result.primal, result.dual, *result.w]).all():
            raise FoundError(FALSE, f"{estimator}: not finite: {result}")
        new = altered_matrix(random, X) if where == "new X" else X
        estimator.predict([new] if cls is mm.ChainSVC else new)


def altered_matrix(random: Random, X: np.ndarray) -> Any:
    """Rows or a CSR matrix with other numbers, made past scipy's checks."""
    if random.random() < 0.3:
        return alter_array(random, X)
    M = sp.csr_matrix(X)
    name = random.choice(("data", "indices", "indices", "indptr", "indptr", "shape"))
    if name == "shape":
        M._shape = random.choice(((12, 2), (3, 4), (12, 2**31), (2**31, 4), (0, 4), (12, 0)))
        return M
    if random.random() < 0.3:
        M.indices, M.indptr = M.indices.astype(np.int64), M.indptr.astype(np.int64)
    setattr(M, name, alter_array(random, getattr(M, name)))
    return M


def altered_weight(random: Random, y: np.ndarray, cls: Any) -> Any:
    """Weights with other numbers, or of another shape."""
    return None if cls is mm.ChainSVC else alter_array(random, np.ones(len(y)))


KIND = Kind(
    "altered arrays",
    "matrices, CSR matrices with indices out of range, weights and parameters of any value, given "
    "to fit and predict",
    trial, share=1.0, prepare=prepare, batch=200,
)  # fmt: skip
