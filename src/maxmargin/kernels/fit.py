"""Training with a kernel: exactly, on basis functions, or by sampled cuts."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.threads import n_threads
from ..errors import DataError
from ..objective import check_factor
from ..problem import CompiledProblem
from ..result import Audit, Result
from ..saving.checkpoint import Checkpoint
from ..training import check_rescaling, check_stop, random, train_shard
from .adapt import find_basis
from .audit import exact_dual, exact_primal
from .basis import Basis, FeatureMap, as_basis, choose_basis, exact_map
from .definite import check_symmetric, describe, is_complete, is_definite, no_certificate
from .functions import Kernel
from .model import KernelModel
from .rows import KernelRows
from .scores import matrix_of
from .task import Training, duals_of, fit_features

#: "auto" uses the whole kernel matrix up to this many rows.
EXACT_ROWS = 1500

#: Largest exact problem: with more rows the kernel matrix and its factor take more than 3 GB.
MOST_EXACT_ROWS = 14_000


@dataclass(repr=False)
class KernelResult(Result):
    """A result of training with a kernel.

    Attributes
    ----------
    model : KernelModel
        The support vectors and their coefficients.
    method : {"exact", "basis", "sampled"}
        How the model was trained.
    """

    model: Any = None
    method: str = "exact"
    auditor: Callable[[], Audit] | None = None

    def audit(self) -> Audit:
        """P(w) and a feasible dual in the whole space of the kernel; see `Result.audit`."""
        return super().audit() if self.auditor is None else self.auditor()

    def __getstate__(self) -> dict[str, Any]:
        """Pickles contain no training data, so a copy cannot be audited, like a loaded model."""
        return {**self.__dict__, "auditor": None}


def train_kernel(
    problem: CompiledProblem,
    X: Any,
    Y: Any,
    sample_weight: Any,
    kernel: Kernel,
    n_basis: Any,
    checkpoint: Checkpoint | None,
    given: dict[str, Any],
) -> KernelResult:
    """Minimise 1/2 |w|^2 + C sum_i weight_i H_i(w) over all w in the feature space of a kernel.

    ``given`` has the other parameters of ``train``, as ``_SVC._options`` returns them; ``n_basis``
    is None, a number, "auto" or a ``Basis``. The certificate of the result holds in the whole
    space if the method is exact, and in the subspace with basis functions. Sampled cuts give no
    certificate: see ``result.audit()``.
    """
    start = time.perf_counter()
    solver, rescaling = given["solver"], check_rescaling(given["rescaling"])
    stop = check_stop(given["tol"], given["max_iter"], given["max_time"])
    rows = KernelRows(kernel, matrix_of(X))
    check_precomputed(rows)
    check_symmetric(rows)
    training = Training(
        problem, X, Y, sample_weight, rows, check_factor("C", given["C"]), rescaling,
        {"stop": stop} | {name: given[name] for name in ("random_state", "verbose")},
        n_threads(given["n_jobs"]), checkpoint,
    )  # fmt: skip
    method, basis, training.options["solver"] = choose_method(len(rows), n_basis, solver)
    sampled = method == "sampled"
    if sampled and not is_definite(rows):
        raise no_certificate(rows)
    result = _train_sampled(training) if sampled else _train_mapped(training, basis)
    result.method = "basis" if method == "exact" and result.bounds else method
    solving = result.time - result.earlier_time
    result.prepare_time = time.perf_counter() - start - solving - result.compile_time
    return result


def choose_method(n: int, n_basis: Any, solver: Any) -> tuple[str, Basis | None, Any]:
    """``(method, basis, solver)``, chosen from sizes alone so that runs are reproducible."""
    from ..solvers import solver_names
    from ..solvers.sampled_cuts import SampledCuts

    sampled = isinstance(solver, SampledCuts) or (
        isinstance(solver, str) and solver in solver_names(for_kernels=True)
    )
    if sampled:
        if n_basis is not None:
            raise DataError("sampled cuts need no basis functions: leave n_basis out")
        return "sampled", None, solver
    if n_basis is not None:
        return "basis", as_basis(n_basis), solver
    auto = isinstance(solver, str) and solver == "auto"
    if auto and n > EXACT_ROWS:
        basis = Basis()
        few = n * 64 * 4 > basis.max_bytes  # not even 64 functions fit into memory
        return ("sampled", None, "sampled-constant") if few else ("basis", basis, solver)
    if n > MOST_EXACT_ROWS:
        raise DataError(
            f"the kernel matrix of {n:,} rows would take {n * n * 8 / 2**30:.1f} GB: use "
            "n_basis=500 (or 'auto') for basis functions, or solver='sampled-linear'"
        )
    return "exact", None, solver


def check_precomputed(rows: KernelRows) -> None:
    """Check that a precomputed kernel has one row and one column per training row."""
    if rows.kernel.name == "precomputed" and rows.X.shape[0] != rows.X.shape[1]:
        raise DataError(
            f"Precomputed matrix must be a square matrix. Input is a {rows.X.shape[0]}x"
            f"{rows.X.shape[1]} matrix."
        )


def _train_mapped(training: Training, basis: Basis | None) -> KernelResult:
    """Train a linear model on the features of a map, exact or of basis functions."""
    compile_time, bounds = 0.0, ""
    definite = is_definite(training.rows)
    if basis is None:
        features, Z = exact_map(training.rows)
        definite = definite and is_complete(training.rows, Z)
        if not definite:
            warnings.warn(
                f"{describe(training.rows)}: the model is made of the {len(features):,} basis "
                "functions that are, and its certificate is for these",
                stacklevel=5,
            )
    else:
        features, Z, compile_time = make_features(training, basis)
    if basis is not None or not definite:
        functions = "function" if len(features) == 1 else "functions"
        bounds = f"among models with these {len(features):,} basis {functions}"
    result, state = fit_features(
        training, Z, features.pivots, bounds, checkpoint=training.checkpoint
    )
    result.compile_time += compile_time
    weights, intercept, rest = _take_apart(training, result.w, len(features))
    model = KernelModel.of(
        training.rows, features.pivots, features.coefficients(weights), intercept, rest
    )
    duals = getattr(state, "duals", None)
    primal = result.primal

    def audit() -> Audit:
        if not definite:
            raise no_certificate(training.rows)
        point = duals_of(training, duals, Z)
        # w lies in the subspace, so P in the subspace is P in the whole space.
        dual = exact_dual(training.whole_rows(), point, training.C, training.n_jobs)
        return checked_audit(training.rows, primal, dual)

    return as_kernel_result(result, model, audit)


def make_features(training: Training, basis: Basis) -> tuple[FeatureMap, np.ndarray, float]:
    """The map of basis functions and the features of all rows, if these fit into memory.

    Also returns the time of compiling in seconds, because "auto" trains to choose the number of
    functions.
    """
    n, compile_time = len(training.rows), 0.0
    if basis.k == "auto":
        features, compile_time = find_basis(training, basis)
        return features, features.transform(training.rows, n_jobs=training.n_jobs), compile_time
    k = int(basis.k)
    if 4 * n * min(k, n) > basis.max_bytes:
        raise DataError(
            f"the features of {n:,} rows by {k:,} basis functions would take "
            f"{4 * n * k / 2**30:.1f} GB: use fewer, or raise max_bytes of "
            "mm.Basis(k, max_bytes=...)"
        )
    seed = random(copy.deepcopy(training.options["random_state"]))
    features = choose_basis(training.rows, k, basis.choice, seed)
    return features, features.transform(training.rows, n_jobs=training.n_jobs), compile_time


def _take_apart(
    training: Training, w: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Split w into weights (k, labels) of the features, the intercept and the other weights."""
    labels = getattr(training.problem, "n_classes", 1)
    weights, rest = w[: k * labels].reshape(k, labels), w[k * labels :]
    if training.bias:
        return weights, rest * training.bias, rest[:0]
    return weights, np.zeros(labels), rest


def _train_sampled(training: Training) -> KernelResult:
    """Train with sampled cuts on the coefficients of the rows."""
    shard = training.scored()
    result = train_shard(
        shard, training.C, rescaling=training.rescaling, checkpoint=training.checkpoint,
        **training.options,
    )  # fmt: skip
    coef = shard.table(result.w)
    intercept = training.bias**2 * coef.sum(axis=0)
    support = shard.support(result.w)
    rest = result.w[shard.emissions :].copy()
    model = KernelModel.of(shard.rows, support, coef[support], intercept, rest)

    def audit() -> Audit:
        found = exact_primal(shard, model, training.C, training.mode)
        k = min(len(training.rows), AUDIT_FUNCTIONS)
        _, Z, _ = make_features(training, Basis(k))
        point = duals_of(training, None, Z)
        dual = exact_dual(shard.rows, point, training.C, training.n_jobs)
        return checked_audit(training.rows, found, dual)

    return as_kernel_result(result, model, None if result.converged else audit)


def checked_audit(rows: KernelRows, primal: float, dual: float) -> Audit:
    """The values of an audit; an inner product cannot have a dual above the primal."""
    if dual > primal + 1e-6 * abs(primal):
        raise no_certificate(rows)
    return Audit(primal, dual)


#: Number of basis functions of the problem that gives the dual variables for an audit of sampled
#: cuts.
AUDIT_FUNCTIONS = 1000


def as_kernel_result(result: Result, model: KernelModel, audit: Any) -> KernelResult:
    """The result with the coefficients of the model as w."""
    values: dict[str, Any] = {name: getattr(result, name) for name in Result.__dataclass_fields__}
    values["w"] = np.concatenate([model.coef.ravel(), model.rest])
    return KernelResult(**values, model=model, auditor=audit)
