"""Newton's method on a smooth objective, for problems with few outputs and few weights.

The maximum over the outputs of an example is replaced by the soft maximum
t log sum_k exp(value_k / t). Newton steps minimise this objective while the temperature t falls. At
first a part of the examples is enough. The weights of the soft maximum are dual variables, so that
every point has its certificate: it closes as t falls and the gradient vanishes.

Dual methods need many passes for the last digits if C n is large compared with the number of
weights; here each digit takes a few iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..engine.smooth import curvature_at, outputs_of, values_at
from ..engine.smooth_passes import soft_slope, soften
from ..errors import DataError
from .base import Solver, State, Step
from .checking import require
from .contradiction import check_finite
from .task import Task

#: Maximum number of weights: the matrix of second derivatives has this many rows and columns.
MOST_WEIGHTS = 4096

#: The first temperature, as a fraction of the largest loss, and the factor between temperatures.
HOT, COOLER = 0.5, 0.4

#: t falls when the Newton decrement is below this fraction of the error that smoothing makes.
CENTRED = 0.1

#: At temperatures above each fraction of the largest loss, a part of the examples is enough.
PARTS = ((0.15, 1 / 32), (0.05, 1 / 8), (0.02, 1 / 3))

#: Minimum number of examples in a part, for each weight.
PER_WEIGHT = 20

#: The line search ends when the slope has fallen to this fraction, or after this number of trials.
FLAT, TRIALS = 0.5, 20


@dataclass
class NewtonState(State):
    """w, the temperature t, and the order in which examples join."""

    w: np.ndarray
    order: np.ndarray
    scale: float = 0.0  # the largest loss; 0 before the first iteration
    t: float = 0.0
    planes: int = 0
    recovering: bool = True  # while a part of the examples is used, nothing is certified

    def check_restored(self, task: Task) -> None:
        """The numbers of a checkpoint are possible."""
        n = task.shard.n
        require(np.array_equal(np.sort(self.order), np.arange(n)), "the order is no permutation")
        require(0 <= self.t <= HOT * self.scale < np.inf, "the temperature is wrong")
        require(bool(np.isfinite(self.w).all()), "w is not finite")


@dataclass(frozen=True)
class Newton(Solver):
    """Newton's method on a smooth objective, for binary and multi-class problems with few weights.

    It has no options. It takes a matrix with one row and column per weight, so there may be at most
    4,096 weights.
    """

    name = "newton"
    few_outputs = True

    def loops(self, task: Task) -> tuple[str, ...]:
        """The compiled passes it calls."""
        return ("value", "curve")

    def init(self, task: Task) -> NewtonState:
        """w = 0."""
        shard = task.shard
        if outputs_of(shard) is None:
            raise DataError(
                "solver 'newton' needs few outputs for each example, as binary and multi-class "
                "problems have: use 'sdm'"
            )
        if shard.pack.dim > MOST_WEIGHTS:
            raise DataError(
                f"solver 'newton' can train at most {MOST_WEIGHTS:,} weights, and there are "
                f"{shard.pack.dim:,}: use 'sdm'"
            )
        return NewtonState(np.zeros(shard.pack.dim), task.random.permutation(shard.n))

    def step_once(self, task: Task, state: NewtonState) -> Step:
        """A Newton step; the certificate is that of the point before it."""
        if state.scale == 0.0:
            return self._start(task, state)
        shard, w, mode = task.shard, state.w, task.mode
        order = self._examples(task, state)
        weight, outputs = shard.pack.weight, outputs_of(shard)
        assert outputs is not None
        C = task.C * task.n / weight[order].sum()
        value, share = (np.empty((shard.n, len(outputs))) for _ in range(2))
        with task.share("oracle"):
            values_at(shard, w, mode, order, outputs, value)
        with task.share("curvature"):
            sums = np.zeros(3)
            soften(value, weight, order, state.t, share, sums)
            g, H, loss = curvature_at(shard, mode, order, outputs, share)
            g *= C
            gradient, error = w - g, C * sums[1]
            H *= C / state.t
            direction = -_solve(H, gradient)
        P, D = 0.5 * float(w @ w) + C * sums[0], C * loss - 0.5 * float(g @ g)
        check_finite(direction, P, D, every=True)
        state.planes = int(sums[2]) - len(order)
        decrement = -float(gradient @ direction)
        with task.share("line search"):
            values_at(shard, direction, mode, order, outputs, share, part=0.0)
            slope = partial(soft_slope, value, share, weight, order, state.t)
            step = _search(w, direction, decrement, lambda step: C * slope(step))
        state.w = w + step * direction
        centred = decrement <= CENTRED * error or step == 0.0  # as far as rounding allows
        if centred and not self._cold(task, state, error, order):
            state.t *= COOLER
        state.recovering = len(order) < shard.n
        if state.recovering:
            return None, np.inf, -np.inf
        return w, P, D

    def _start(self, task: Task, state: NewtonState) -> Step:
        """P(0) and the first temperature; alpha at the truth has the dual value 0."""
        shard, outputs = task.shard, outputs_of(task.shard)
        assert outputs is not None
        value = np.empty((shard.n, len(outputs)))
        with task.share("oracle"):
            values_at(shard, state.w, task.mode, shard.everyone, outputs, value)
        top = value.max(axis=1)
        state.scale = max(float(top.max()), np.finfo(float).tiny)
        state.t = HOT * state.scale
        return state.w, task.C * float(shard.pack.weight @ top), 0.0

    def _examples(self, task: Task, state: NewtonState) -> np.ndarray:
        """The examples of this iteration: all of them once t is small."""
        shard = task.shard
        for above, part in PARTS:
            m = max(int(part * shard.n), PER_WEIGHT * shard.pack.dim)
            if state.t > above * state.scale and m < shard.n and not task.last:
                chosen = np.sort(state.order[:m])
                if shard.pack.weight[chosen].sum() > 0:
                    return chosen
        return shard.everyone

    def _cold(self, task: Task, state: NewtonState, error: float, order: np.ndarray) -> bool:
        """Whether smoothing is no longer what keeps the gap from tol."""
        return len(order) == task.shard.n and error <= 0.5 * task.tol * task.C * task.n

    def planes(self, state: NewtonState) -> int:
        """The number of outputs with positive dual variables, less one for each example."""
        return state.planes


def _solve(H: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """(I + H)^-1 gradient; rounding can make a huge H indefinite, which a small ridge repairs."""
    diagonal = np.diag_indices(len(H))
    H[diagonal] += 1.0
    largest = float(H[diagonal].max())
    for ridge in (0.0, 1e-14, 1e-12, 1e-10, 1e-8):
        H[diagonal] += ridge * largest
        try:
            return cho_solve(cho_factor(H, check_finite=False), gradient, check_finite=False)
        except LinAlgError:
            continue
    return gradient / largest


def _search(
    w: np.ndarray, direction: np.ndarray, decrement: float, soft: Callable[[float], float]
) -> float:
    """A step along ``direction`` at which the smooth objective is lower and its slope small.

    ``soft`` is the slope of the sum of soft maxima, as a function of the step. The objective is
    convex, so that slopes alone prove that it is lower: where the slope is still negative, or
    where what was lost since such a point, at most slope * distance, is less than what was gained
    before it. Without this proof a step far beyond the minimum may have a small slope, too.
    """
    inner, square = float(w @ direction), float(direction @ direction)
    low, high, step = (0.0, -decrement), None, 1.0
    weight = 1.0  # of the slope at ``low``: less, the more trials in a row went too far
    for _ in range(TRIALS):
        slope = soft(step) + inner + step * square
        flat = abs(slope) <= FLAT * decrement
        if slope <= 0:
            low, weight = (step, slope), 1.0
        else:
            flat = flat and slope * (step - low[0]) <= -low[1] * low[0]
            high, weight = (step, slope), 0.5 * weight
        if flat:
            return step
        if high is None:
            step *= 2.0
        else:  # where the line through both slopes is zero, but not close to an end
            share = -weight * low[1] / (high[1] - weight * low[1])  # 0 if the slope is infinite
            step = low[0] + (high[0] - low[0]) * min(max(share, 0.1), 0.9)
    return low[0]
