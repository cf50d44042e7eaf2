"""A Newton step on the free dual variables: the end game of SDM.

Close to the optimum it is known which outputs of an example have positive dual variables. If there
are two or more of them, their values are equal at the optimum, and the dual variables that make
them equal solve a system of linear equations. Variables that would become negative are set to zero,
and the system is solved again without them. Passes of dual ascent, which need many rounds for these
digits, only find out which outputs count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..engine.guard import with_guard
from ..engine.sparse import spread_rows
from ..problem import SLACK
from .task import Task, is_tiny
from .working_sets import WorkingSets

#: Maximum number of free variables, and of the entries of the matrix of their planes.
MOST_FREE, MOST_ENTRIES = 2048, 2**23

#: Passes of dual ascent are as fast for a ``tol`` above this.
FINE = 5e-4

#: The free variables are settled if a pass finds at most this many new outputs for each of them.
SETTLED = 0.015

#: Maximum number of systems in a step. If more than this part of the variables leaves at first, the
#: equations say little about the optimum.
SYSTEMS, LEAVING = 10, 0.4

#: After a step that was not taken, wait for this many iterations.
PATIENCE = 3

#: Maximum number of groups of columns that are multiplied one after the other.
MOST_GROUPS = 64

#: What is added to the diagonal of the system, relative to its mean, if it is singular.
RIDGES = (1e-12, 1e-10, 1e-8)


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


def free_variables(state: WorkingSets) -> Free:
    """All pairs of positive dual variables of an example with its largest one."""
    alpha = state.duals.alpha
    examples = np.flatnonzero((alpha > 0).sum(axis=1) > 1)
    own = alpha[examples]
    base = own.argmax(axis=1)
    own[np.arange(len(examples)), base] = 0.0
    return Free(examples, base, *np.nonzero(own))


def may_help(task: Task) -> bool:
    """Whether Newton steps are possible, and ``tol`` asks for digits for which they pay."""
    shard = task.shard
    if task.tol > FINE or is_tiny(shard):
        return False
    alone = task.moves is None and shard.together is None and not shard.for_kernels
    return alone and shard.loops.compiled and not len(shard.positive) and not shard.bounded


def newton_step(task: Task, state: WorkingSets) -> bool:
    """Change the free dual variables and w; returns False if nothing was changed.

    The dual value never falls, because the length of the step is optimal.
    """
    free = free_variables(state)
    m = len(free.at)
    if not 0 < m <= min(MOST_FREE, task.shard.pack.dim) or state.seen.added > SETTLED * m:
        return False
    state.next_newton = state.iterations + PATIENCE
    found = differences(task, state, free)
    if found is None:
        return False
    rows, columns, key = found
    loss, alpha = state.duals.loss[free.examples], state.duals.alpha[free.examples]
    first, at = np.arange(len(free.examples)), free.at
    residual = loss[at, free.slot] - loss[first, free.base][at] - rows @ state.w[columns]
    factor = task.C * task.shard.pack.weight[free.examples][at]
    gram = gram_of(rows, key)
    step = solve_free(gram, residual, factor, alpha[at, free.slot], alpha[first, free.base], at)
    if step is None:
        return False
    change = step @ rows
    slope, curvature = float(step @ residual), float(change @ change)
    if not slope > 0:
        return False
    length = min(1.0, slope / curvature)
    move(state, free, length * step / factor)
    change *= length
    state.w[columns] += change
    if len(state.visits.lag):  # the average of w over all visits does not change
        state.visits.lag[columns] += state.visits.clock[1] * change
    state.next_newton = state.iterations + 1
    return True


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

    In multi-class problems, with a block of columns for each class, a row has two of many blocks.
    """
    order = np.argsort(key, kind="stable")
    bounds = np.flatnonzero(np.diff(key[order])) + 1
    if len(bounds) >= MOST_GROUPS:
        return rows @ rows.T
    gram = np.zeros((len(rows), len(rows)))
    for part in np.split(rows.take(order, axis=1), bounds, axis=1):
        own = np.flatnonzero(part.any(axis=1))
        part = part[own]
        gram[np.ix_(own, own)] += part @ part.T
    return gram


def solve_free(
    gram: np.ndarray, residual: np.ndarray, factor: np.ndarray, alpha: np.ndarray,
    base: np.ndarray, at: np.ndarray,
) -> np.ndarray | None:  # fmt: skip
    """The changes of the free variables times ``factor`` (m,); None if too many would be negative.

    ``alpha`` (m,) are the variables, ``base`` the largest ones of their examples, which lose what
    the others get.
    """
    m, alone = len(at), np.bincount(at)[at] == 1
    step, fixed = np.zeros(m), np.zeros(m, bool)
    for system in range(SYSTEMS):
        rest = np.flatnonzero(~fixed)
        target = (residual - gram @ np.where(fixed, step, 0.0))[rest]
        found = _solve(gram[np.ix_(rest, rest)], target)
        if found is None:
            return None
        step[rest] = found
        change = step / factor
        low = ~fixed & (alpha + change < 0)
        over = (base - np.bincount(at, change) < 0)[at] & ~fixed & ~low
        if not low.any() and not over.any():
            return step
        if system == 0 and low.sum() + over.sum() > LEAVING * m:
            return None
        step[low] = -factor[low] * alpha[low]
        step[over] = np.where(alone[over], factor[over] * base[at][over], 0.0)
        fixed |= low | over
    return step


def _solve(gram: np.ndarray, target: np.ndarray) -> np.ndarray | None:
    """gram^-1 target; None if the matrix is singular."""
    if not len(target):
        return target
    diagonal = np.diag_indices(len(target))
    mean = float(gram[diagonal].mean())
    for ridge in RIDGES:
        gram[diagonal] += ridge * mean
        try:
            return cho_solve(cho_factor(gram, check_finite=False), target, check_finite=False)
        except LinAlgError:
            continue
    return None


def move(state: WorkingSets, free: Free, change: np.ndarray) -> None:
    """Add ``change`` (m,) to the free variables, and take it from the largest ones."""
    alpha = state.duals.alpha
    alpha[free.examples[free.at], free.slot] += change
    alpha[free.examples, free.base] -= np.bincount(free.at, change)
