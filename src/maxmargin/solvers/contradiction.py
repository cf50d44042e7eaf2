"""Detection of wrong problems: a primal value below the dual, or an oracle that is not optimal.

P(w) >= D(alpha) for all w and alpha, and no output of an example is better than that of the oracle,
or than its upper bound if the oracle gives one (``Functions.bounded``).
If this is violated by more than rounding, a function of the problem is wrong or the data were
changed during training, and no certificate is valid.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.checked import first_not_finite
from ..engine.bounds import ROUNDING, refuse_bound, value_of
from ..engine.shard import Shard
from ..engine.vectors import Vector
from ..errors import DataError, ProblemError
from .task import Task

#: The same as ``ROUNDING`` if these numbers are in other processes and only their sums are known.
ROUNDING_OF_SUMS = 1e-6

#: Rounding error of w per number added to it, in units of the machine precision.
STEPS = 1e3

#: Number of examples used to estimate the norm of planes.
SAMPLE = 200

ADVICE = (
    "decode must return the most violated output, delta and features must agree with it, and "
    "the data must not change during training; mm.check_problem(problem, X, Y) tests the problem"
)


def check_finite(w: Any, primal: float, dual: float, every: bool = False) -> None:
    """Raise a DataError if P, D or w is not finite.

    P contains |w|^2, so a finite P suffices for w; ``every`` requires w and checks all its entries.
    Without w, P is infinite, and without a bound D is minus infinity.
    """
    values = w.value if isinstance(w, Vector) else w
    right = not (np.isnan(dual) or dual == np.inf)
    right &= w is None or bool(np.isfinite(primal))
    if right and (not every or (w is not None and first_not_finite(values) is None)):
        return
    raise DataError(
        f"the objective is not finite (P = {primal:g}, D = {dual:g}): the entries of X, the sample "
        "weights, C or the losses are too large, or features or losses are not finite; scale X to "
        "entries of about 1"
    )


def check_bounds(task: Task, w: Any, primal: float, dual: float) -> None:
    """Raise a ProblemError if P(w) is below D by more than rounding."""
    if dual <= primal:
        return
    if isinstance(w, Vector):
        w = w.dense(task.shard.pack.dim)
    local = isinstance(task.shard, Shard) and isinstance(w, np.ndarray)
    size = abs(primal) + abs(dual) + task.N
    if dual - primal <= (ROUNDING if local else ROUNDING_OF_SUMS) * size:
        return
    if local and dual - primal <= _rounding_of(task, w):
        return
    i = _worst_example(task, w) if local else None
    where = "" if i is None else f" The oracle of example {i} misses a better output."
    raise ProblemError(
        f"the primal objective {primal:.6g} is below the dual {dual:.6g}, which is impossible."
        f"{where} {ADVICE[0].upper()}{ADVICE[1:]}"
    )


def check_bounds_read(solver: Any, task: Task) -> None:
    """Raise a DataError if the oracle has given upper bounds to a solver that ignores them."""
    if (
        solver.for_bounds
        or not task.shard.bounded
        or task.shard.unread.max(initial=-np.inf) == -np.inf
    ):
        return
    raise DataError(
        f"decode of {type(task.shard.problem).__name__} gives upper bounds, which the solver "
        f"{solver.name!r} does not use: use 'sdm', 'bcfw', 'n-slack', 'one-slack' or 'subgradient'"
    )


def check_oracle(task: Task, known: Any, first: int, w: np.ndarray, i: int) -> None:
    """Raise a ProblemError if a known output is better at w than the oracle's answer or bound.

    Parameters
    ----------
    task : Task
    known : Duals or Cache
        Known outputs of the examples.
    first : int
        The first slot that holds an output.
    w : array (dim,)
    i : int
        The example.
    """
    shard, pack = task.shard, task.shard.pack
    lo, length = pack.offsets[i], pack.offsets[i + 1] - pack.offsets[i]
    answer, bound = shard.new_labels(), shard.new_bounds()
    shard.oracle(w, task.mode, answer, np.array([i]), bound)
    shard.n_oracle -= 1  # not counted as training
    best, error = value_of(shard, w, task.mode, i, answer[lo : lo + length])
    highest, above, bounded = best, error, shard.bounded and bound[i] > -np.inf
    start = known.loss.shape[1] * lo
    outputs = [known.labels[start + r * length :][:length] for r in range(first, known.count[i])]
    truth = (0.0, 0.0)
    for value, more in [truth, *(value_of(shard, w, task.mode, i, y) for y in outputs)]:
        highest, above = max((highest, above), (value, more))
    if bounded and highest - bound[i] > error + above + _size_of_scores(task, w, i):
        refuse_bound(i, float(bound[i]), highest)
    if not bounded and highest - best > error + above:
        raise ProblemError(
            f"the oracle's output for example {i} has the value {best:.6g}, but an earlier "
            f"output or the true one has {highest:.6g}: {ADVICE}"
        )


def _size_of_scores(task: Task, w: np.ndarray, i: int) -> float:
    """The rounding error of an output far from the truth: a bound is a sum of such numbers."""
    shard, far = task.shard, task.shard.new_labels()
    shard.oracle(np.zeros_like(w), task.mode, far, np.array([i]), shard.new_bounds())
    shard.n_oracle -= 1
    return value_of(shard, w, task.mode, i, far[shard.pack.offsets[i] : shard.pack.offsets[i + 1]])[
        1
    ]


def _rounding_of(task: Task, w: np.ndarray) -> float:
    """Bound on the rounding error of P - D if planes are long or C is large."""
    shard = task.shard
    labels = shard.new_labels()
    some = shard.everyone[:: max(shard.n // SAMPLE, 1)]
    shard.oracle(np.zeros_like(w), task.mode, labels, some)
    shard.n_oracle -= len(some)
    cuts = [shard.collect(np.zeros_like(w), task.mode, labels, np.array([i]))[0] for i in some]
    longest = max(float(np.linalg.norm(g)) for g in cuts)
    length = max(float(np.linalg.norm(w)), np.sqrt(2 * task.N))
    return STEPS * np.finfo(float).eps * task.C * shard.n * longest * length


def _worst_example(task: Task, w: np.ndarray) -> int | None:
    """The example whose output at w is worst compared with its outputs at other points."""
    shard, labels, bound = task.shard, task.shard.new_labels(), task.shard.new_bounds()
    before = shard.n_oracle

    def values(point: np.ndarray) -> np.ndarray:
        shard.oracle(point, task.mode, labels, shard.everyone, bound)
        return shard.collect(w, task.mode, labels)[2]

    answered = values(w)
    answered = np.maximum(answered, bound) if shard.bounded else answered
    others = np.max([values(part * w) for part in (0.0, 0.5, 2.0, -1.0)], axis=0)
    shard.n_oracle = before
    i = int(np.argmax(others - answered))
    return i if others[i] - answered[i] > ROUNDING_OF_SUMS * (1 + abs(others[i])) else None
