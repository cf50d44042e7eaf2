"""How many basis functions: as many as the gap asks for that they leave."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np

from ..sequences import Sequences
from ..training import random
from .audit import dual_point, left_out
from .basis import Basis, choose_basis
from .rows import KernelRows
from .scores import matrix_of
from .task import Training, fit_features

#: The number is found on so many rows at most.
SAMPLE_ROWS = 8000

#: The first number that is tried, and the last.
FIRST, LAST = 64, 4096

#: The subspace may leave a gap of so many ``tol``: it bounds the error of the objective, which was
#: a fifth of it on Adult and a half on Checkers.
PART = 2.0


def find_k(training: Training, basis: Basis) -> tuple[int, float]:
    """The first of 64, 128, 256, ... functions whose gap is small enough for ``tol``.

    Also the seconds that compiling took. The gap is measured on a sample of the examples, whose C
    is raised such that C n stays.
    """
    most = min(LAST, basis.max_bytes // (4 * len(training.rows)))
    part = sample(training)
    stop = part.options["stop"]
    part.options["stop"] = stop._replace(tol=max(stop.tol, 1e-2))
    seed = random(copy.copy(training.options["random_state"]))
    total = len(part.Y) if part.weight is None else float(part.weight.sum())
    k, compile_time = FIRST, 0.0
    while k < most:
        gap, rank, compiling = gap_of(part, k, basis, seed)
        compile_time += compiling
        if gap <= PART * stop.tol * part.C * total or rank < k:
            break
        k *= 2
    return max(1, min(k, most)), compile_time


def gap_of(
    part: Training, k: int, basis: Basis, seed: np.random.RandomState
) -> tuple[float, int, float]:
    """The gap that k functions leave, how many of them were independent, seconds of compiling."""
    features = choose_basis(part.rows, k, basis.choice, seed)
    Z = features.transform(part.rows, n_jobs=part.n_jobs)
    result, state = fit_features(part, Z, solver="sdm", verbose=0)
    point = dual_point(part.scored(), state.duals, part.C, part.mode)
    return left_out(part.rows, Z, point, seed), len(features), result.compile_time


def sample(training: Training) -> Training:
    """Some of the examples, with C raised so that C n stays."""
    X, n = training.X, len(training.Y)
    rows = np.diff(X.offsets) if isinstance(X, Sequences) else np.ones(n, int)
    options = dict(training.options)
    if rows.sum() <= SAMPLE_ROWS:
        return replace(training, options=options)
    order = random(copy.copy(options["random_state"])).permutation(n)
    chosen = np.sort(order[np.cumsum(rows[order]) <= SAMPLE_ROWS])
    weight = training.weight
    whole, part = (n, len(chosen)) if weight is None else (weight.sum(), weight[chosen].sum())
    kernel = training.rows.kernel
    some = X[chosen]
    matrix = matrix_of(some)
    if kernel.name == "precomputed":
        matrix = matrix[:, chosen_rows(X, chosen)]
    return replace(
        training,
        X=some,
        Y=[training.Y[i] for i in chosen] if isinstance(training.Y, list) else training.Y[chosen],
        weight=None if weight is None else weight[chosen],
        rows=KernelRows(kernel, matrix),
        C=training.C * float(whole) / max(float(part), 1e-300),
        options=options,
    )


def chosen_rows(X: object, chosen: np.ndarray) -> np.ndarray:
    """The rows of the chosen examples."""
    if not isinstance(X, Sequences):
        return chosen
    bounds = X.offsets.tolist()
    return np.concatenate([np.arange(bounds[i], bounds[i + 1]) for i in chosen.tolist()])
