"""A Newton step on the free dual variables: the end game of SDM.

Close to the optimum it is known which outputs of an example have positive dual variables. If there
are several, their values are equal at the optimum. The changes of the dual variables that make them
equal solve a system of linear equations, damped as in the method of Levenberg and Marquardt.
Variables that would become negative are set to zero, and the system is solved again for the others.
Passes of dual ascent change one example at a time, and need many rounds for the same digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..engine.guard import with_guard
from ..engine.shard import Shard
from ..engine.sparse import spread_rows
from ..problem import SLACK
from .task import Task, is_tiny
from .working_sets import WorkingSets

#: For a ``tol`` above this, passes of dual ascent alone are as fast.
FINE = 5e-4

#: Maximum number of free variables, and of the entries of their planes.
MOST_FREE, MOST_ENTRIES = 2048, 2**22

#: The free variables are settled if a pass finds at most this many new outputs for each of them.
SETTLED = 0.01

#: The damping: the part of its range that a variable may move if the equations do not determine it
#: is about 1 / DAMPING. It is MORE times larger if more than LEAVING of the variables become zero.
DAMPING, MORE, LEAVING = 1.0, 4.0, 0.3

#: Maximum number of systems of equations in a step.
SYSTEMS = 10

#: Maximum number of groups of columns that are multiplied one after the other.
MOST_GROUPS = 64

#: Dual variables below this are the rounding error of zero.
ROUNDING = 1e-14


class Free(NamedTuple):
    """The free variables: pairs of outputs of an example, both with positive dual variables.

    A step moves weight from the output with the largest dual variable, in the slot ``base``
    (len(examples),), to the one in ``slot`` (m,) of the example with the position ``at`` (m,).
    """

    examples: np.ndarray
    base: np.ndarray
    at: np.ndarray
    slot: np.ndarray


class Differences(NamedTuple):
    """Differences of planes (m, columns), the columns' indices in w, and a key of each column."""

    rows: np.ndarray
    columns: np.ndarray
    key: np.ndarray


def may_help(task: Task) -> bool:
    """Whether Newton steps are possible, and ``tol`` asks for digits for which they pay."""
    shard = task.shard
    if task.tol > FINE or task.moves is not None or not isinstance(shard, Shard):
        return False
    if shard.for_kernels or shard.bounded or len(shard.positive) or shard.together is not None:
        return False
    return shard.loops.compiled and not is_tiny(shard)


def newton_step(task: Task, state: WorkingSets) -> bool:
    """Change the free dual variables and w; returns False if nothing was changed.

    The dual value never falls, because the length of the step is the best one.
    """
    if state.seen.added > SETTLED * MOST_FREE:  # it takes less time to see this first
        return False
    free = free_variables(task, state)
    if not 0 < len(free.at) <= MOST_FREE or state.seen.added > SETTLED * len(free.at):
        return False
    found = differences(task, state, free)
    if found is None:
        return False
    rows, columns, key = found
    loss, alpha = state.duals.loss[free.examples], state.duals.alpha[free.examples]
    first, at = np.arange(len(free.examples)), free.at
    residual = loss[at, free.slot] - loss[first, free.base][at] - rows @ state.w[columns]
    factor = task.C * task.shard.pack.weight[free.examples][at]
    system = System(rows, key, residual, factor)
    alpha, base = alpha[at, free.slot], alpha[first, free.base]
    step = solve_free(system, alpha, base, at)
    change = step @ rows
    slope, curvature = float(step @ residual), float(change @ change)
    if not (slope > 0 and curvature > 0):  # also if a number is not finite
        return False
    length = min(1.0, slope / curvature, longest(step / factor, alpha, base, at))
    move(state, free, length * step / factor)
    state.w[columns] += length * change
    if len(state.visits.lag):  # the average of w over all visits does not change
        state.visits.lag[columns] += state.visits.clock[1] * length * change
    return True


def free_variables(task: Task, state: WorkingSets) -> Free:
    """All pairs of positive dual variables of an example with its largest one."""
    alpha = state.duals.alpha
    several = (alpha > 0).sum(axis=1) > 1
    examples = np.flatnonzero(several & (task.shard.pack.weight > 0))
    own = alpha[examples]
    base = own.argmax(axis=1)
    own[np.arange(len(examples)), base] = 0.0
    return Free(examples, base, *np.nonzero(own))


def differences(task: Task, state: WorkingSets, free: Free) -> Differences | None:
    """The differences of the planes of all pairs; None if they need too much memory."""
    pack, (examples, base, at, slot) = task.shard.pack, free
    where, slots = np.append(examples, examples[at]), np.append(base, slot)
    count, m, width = len(where), len(at), pack.width
    if count * width > MOST_ENTRIES:
        return None
    idx, val = with_guard(count * width, np.uint64), with_guard(count * width)
    nnz = np.zeros(count, np.int64)
    task.shard.loops.planes(pack, where, slots, state.duals, idx, val, nnz)
    used = np.zeros(pack.dim, bool)
    used[idx[(np.arange(width) < nnz[:, None]).ravel()]] = True
    columns, place = np.flatnonzero(used), np.cumsum(used) - 1
    if m * len(columns) > MOST_ENTRIES:
        return None
    scale = state.duals.loss[where, slots] if task.mode == SLACK else np.ones(count)
    plane = np.append(np.arange(count - m, count), at)
    factor = scale[plane] * np.repeat([1.0, -1.0], m)
    rows, key = np.zeros((m, len(columns))), np.zeros(len(columns))
    mark = np.random.RandomState(0).rand(m)  # different sets of rows have different sums
    row = np.tile(np.arange(m), 2)
    spread_rows(idx, val, nnz, width, plane, factor, row, place, rows, key, mark)
    return Differences(rows, columns, key)


def gram_of(rows: np.ndarray, key: np.ndarray) -> np.ndarray:
    """rows @ rows.T; columns with the same key have their entries in the same rows.

    In multi-class problems, with a block of columns for each class, a row uses two of the blocks.
    """
    order = np.argsort(key, kind="stable")
    bounds = np.flatnonzero(np.diff(key[order])) + 1
    if len(bounds) >= MOST_GROUPS:
        return rows @ rows.T
    gram = np.zeros((len(rows), len(rows)))
    for part in np.split(rows.take(order, axis=1), bounds, axis=1):
        own = np.flatnonzero(part.any(axis=1))
        few = part[own]
        gram[np.ix_(own, own)] += few @ few.T
    return gram


class System:
    """The equations (rows @ rows.T + damping) step = residual.

    ``step`` are changes of dual variables times ``factor``. The damping is proportional to the
    residual: where the equations determine little, steps are short, and close to the optimum
    convergence is fast.
    """

    def __init__(
        self, rows: np.ndarray, key: np.ndarray, residual: np.ndarray, factor: np.ndarray
    ) -> None:
        self.rows, self.residual, self.factor = rows, residual, factor
        self.gram = gram_of(rows, key) if rows.shape[0] <= rows.shape[1] else None
        self.damping = DAMPING * float(np.sqrt((residual**2).mean())) / factor

    def solve(self, rest: np.ndarray, step: np.ndarray) -> np.ndarray:
        """The part ``rest`` of the solution, if the other entries are those of ``step``."""
        given = step.copy()
        given[rest] = 0.0
        damping = self.damping[rest]
        if self.gram is not None:
            target = (self.residual - self.gram @ given)[rest]
            return _solve(self.gram[np.ix_(rest, rest)], damping, target)
        target = (self.residual - self.rows @ (given @ self.rows))[rest]
        rows = self.rows[rest]  # more rows than columns: solve in the space of w
        scaled = rows / damping[:, None]
        return (target - rows @ _solve(scaled.T @ rows, 1.0, target @ scaled)) / damping


def _solve(matrix: np.ndarray, damping: np.ndarray | float, target: np.ndarray) -> np.ndarray:
    """(matrix + damping)^-1 target; zeros if that is singular."""
    matrix[np.diag_indices(len(matrix))] += damping
    try:
        return cho_solve(cho_factor(matrix, check_finite=False), target, check_finite=False)
    except LinAlgError:
        return np.zeros_like(target)


def solve_free(system: System, alpha: np.ndarray, base: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The step (m,) of the free variables, of which those that become negative are set to zero.

    ``alpha`` (m,) are the variables, ``base`` the largest ones of their examples, which lose what
    the others get.
    """
    alone, factor = np.bincount(at)[at] == 1, system.factor
    step, fixed = np.zeros(len(at)), np.zeros(len(at), bool)
    for _ in range(SYSTEMS):
        rest = np.flatnonzero(~fixed)
        step[rest] = system.solve(rest, step)
        change = step / factor
        low = ~fixed & (alpha + change < 0)
        over = ~fixed & ~low & (np.bincount(at, change) > base)[at]
        leaving = low | over
        if not leaving.any():
            break
        if not fixed.any() and leaving.sum() > LEAVING * len(at):
            system.damping *= MORE
            continue
        step[low] = -factor[low] * alpha[low]
        # An example with one pair gives all to its variable; one with more pairs stays as it is.
        step[over] = np.where(alone[over], factor[over] * base[at][over], 0.0)
        fixed |= leaving
        if fixed.all():
            break
    return step


def longest(change: np.ndarray, alpha: np.ndarray, base: np.ndarray, at: np.ndarray) -> float:
    """The largest multiple of a change that leaves no dual variable negative, up to rounding."""
    loss = np.append(-change, np.bincount(at, change))
    have = np.append(alpha, base)
    falls = loss > have
    return float((have[falls] / loss[falls]).min(initial=1.0))


def move(state: WorkingSets, free: Free, change: np.ndarray) -> None:
    """Add ``change`` (m,) to the free variables, and take it from the largest ones."""
    before = state.duals.alpha[free.examples]
    alpha = before.copy()
    alpha[free.at, free.slot] += change
    alpha[np.arange(len(alpha)), free.base] -= np.bincount(free.at, change)
    alpha[alpha < ROUNDING * before] = 0.0  # where features are large, all of them are small
    state.duals.alpha[free.examples] = alpha
