"""Choose the number of basis functions from the duality gap they leave."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace

import numpy as np

from ..data.sequences import Sequences, tokens_of
from ..data.source import take
from ..result import Status
from ..training import random
from .audit import DualPoint, dual_point, left_out
from .basis import Basis, FeatureMap, choose_basis
from .rows import KernelRows
from .scores import matrix_of
from .task import Training, fit_features

#: The number is chosen on a sample of at most this many rows.
SAMPLE_ROWS = 8000

#: The smallest and the largest number that is tried.
FIRST, LAST = 64, 4096

#: From this many functions on, the number needed is estimated from the dual point found, because
#: training again takes long. With fewer functions the dual point is too far from the final one: on
#: Checkers the estimate made at 64 functions is twice too large.
GUESS = 512

#: Maximum number of iterations of a training run on the sample.
MAX_ITER = 1000

#: The subspace may leave a gap of this many times ``tol``. The gap bounds the error of the
#: objective, which was a fifth of the gap on Adult and half of it on Checkers.
PART = 2.0


def find_basis(training: Training, basis: Basis) -> tuple[FeatureMap, float]:
    """Try 64, 128, 256, ... basis functions until the estimated gap is small.

    The gap is measured on a sample of the examples, with C raised so that C n stays the same. The
    basis functions are rows of that sample. Also returns the time of compiling, in seconds.
    """
    most = max(1, min(LAST, basis.max_bytes // (4 * len(training.rows))))
    part, index = sample(training)
    tol = part.options["stop"].tol
    part.options["stop"] = part.options["stop"]._replace(tol=max(tol, 1e-2), max_iter=MAX_ITER)
    total = len(part.Y) if part.weight is None else float(part.weight.sum())
    allowed = PART * tol * part.C * total
    compile_time, k, left = 0.0, min(FIRST, most), 0.0
    features = _choose(part, k, basis)
    while not _last(k, most, features, basis):
        Z = features.transform(part.rows, n_jobs=part.n_jobs)
        result, state = fit_features(part, Z, solver="sdm", verbose=0)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        compile_time += result.compile_time
        point = dual_point(part.scored(), state.duals, part.C, part.mode)
        left = left_out(part.rows, Z, point, _seed(part))
        if left <= allowed:
            break
        k, features, left = _next(part, k, most, basis, point, allowed)
    if left > allowed:
        _warn(len(features), most, PART * left / allowed)
    return features.of_rows(training.rows, index), compile_time


def _warn(k: int, most: int, gap: float) -> None:
    limit = "max_bytes of mm.Basis" if most < LAST else "n_basis"
    warnings.warn(
        f"{k:,} basis functions leave a gap of about {gap:.3g} times tol to the whole space of the "
        f"kernel: raise {limit}, or use solver='sampled-linear', which leaves none",
        stacklevel=2,
    )


def _last(k: int, most: int, features: FeatureMap, basis: Basis) -> bool:
    """Whether no more functions are possible.

    With random rows a small rank does not show this, because some of the rows may be equal.
    """
    return k >= most or (len(features) < k and basis.choice == "cholesky")


def _next(
    part: Training, k: int, most: int, basis: Basis, point: DualPoint, allowed: float
) -> tuple[int, FeatureMap, float]:
    """Estimate the number of functions needed from w(alpha), without training again.

    The result is at least twice the current number, and exactly twice while training is fast.
    Also returns the gap that w(alpha) would leave, if it was computed.
    """
    used = np.flatnonzero(point.coef.any(axis=1))
    rows, there = part.rows.take(used), point._replace(coef=point.coef[used])
    fast = k < GUESS
    while True:
        k = min(2 * k, most)
        features = _choose(part, k, basis)
        last = _last(k, most, features, basis)
        if fast and not last:
            return k, features, np.inf
        Z = features.transform(rows, n_jobs=part.n_jobs)
        left = left_out(rows, Z, there, _seed(part))
        if last or left <= allowed:
            return k, features, left


def _choose(part: Training, k: int, basis: Basis) -> FeatureMap:
    return choose_basis(part.rows, k, basis.choice, _seed(part))


def _seed(part: Training) -> np.random.RandomState:
    return random(copy.deepcopy(part.options["random_state"]))


def sample(training: Training) -> tuple[Training, np.ndarray]:
    """A sample of the examples, with C raised so that C n stays the same, and their rows."""
    X, n = training.X, len(training.Y)
    rows = np.diff(X.offsets) if isinstance(X, Sequences) else np.ones(n, int)
    options = dict(training.options)
    if rows.sum() <= SAMPLE_ROWS:
        return replace(training, options=options), np.arange(rows.sum())
    order = random(copy.deepcopy(options["random_state"])).permutation(n)
    fits = np.cumsum(rows[order]) <= SAMPLE_ROWS
    fits[0] = True
    chosen = np.sort(order[fits])
    weight = training.weight
    whole, part = (n, len(chosen)) if weight is None else (weight.sum(), weight[chosen].sum())
    kernel = training.rows.kernel
    some = X[chosen]
    matrix = matrix_of(some)
    index = tokens_of(X.offsets, chosen) if isinstance(X, Sequences) else chosen
    if kernel.name == "precomputed":
        matrix = matrix[:, index]
    part_of_all = replace(
        training,
        X=some,
        Y=take(training.Y, chosen),
        weight=None if weight is None else weight[chosen],
        rows=KernelRows(kernel, matrix),
        C=training.C * float(whole) / max(float(part), 1e-300),
        options=options,
    )
    return part_of_all, index
