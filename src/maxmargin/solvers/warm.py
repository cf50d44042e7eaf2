"""Warm starts: a run starts from the result of another one, with another C or fewer examples.

Planes do not depend on C, and the dual variables of an example stay feasible if examples are added.
So the new run starts with a valid lower bound, and ends with a certificate like any other run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.checked import check_codes
from ..engine.arrays import Duals
from ..engine.guard import check_loss
from . import working_sets as sets
from .slots import copy_slots
from .task import Task
from .working_sets import WorkingSets


@dataclass
class WarmStart:
    """The last state of a run, from which another run can start. It can be used once.

    Attributes
    ----------
    solver, state, C, mode
        Solver, last state and settings of the run.
    n, total_weight, dim, offsets, truth
        Its examples: their number, sum of weights, length of w, and true labels.
    fingerprint : str
        A hash of its examples.
    trusted : bool
        Whether the caller guarantees that the new run starts with the same examples.
    """

    solver: Any
    state: Any
    C: float
    mode: int
    n: int
    total_weight: float
    dim: int
    offsets: np.ndarray
    truth: np.ndarray
    fingerprint: str
    trusted: bool = False

    @classmethod
    def of(cls, solver: Any, task: Task, state: Any) -> WarmStart:
        """Keep the last state of ``solver``."""
        shard, pack = task.shard, task.shard.pack
        return cls(
            solver, state, task.C, task.mode, shard.n, shard.total_weight, pack.dim, pack.offsets,
            pack.truth, shard.fingerprint(),
        )  # fmt: skip

    def begin(self, solver: Any, task: Task, relabel: np.ndarray | None = None) -> Any:
        """An initial state for ``solver``, or None if this one is of no use.

        The examples of the task are those of the old run, possibly followed by more. If the numbers
        of the classes have changed, ``relabel[old] = new``.
        """
        state, self.state = self.state, None
        if state is None or solver != self.solver or task.mode != self.mode:
            return None
        if task.shard.n == self.n and task.shard.fingerprint() == self.fingerprint:
            return solver.restart(task, state, self.C)
        return solver.extend(task, state, self, relabel) if self._begins(task, relabel) else None

    def _begins(self, task: Task, relabel: np.ndarray | None) -> bool:
        """Whether the task starts with the old examples, judged by their true outputs."""
        pack = task.shard.pack
        old = self.truth if relabel is None else relabel[self.truth]
        return (
            task.shard.n >= self.n
            and np.array_equal(pack.offsets[: self.n + 1], self.offsets)
            and (old.dtype == object or np.array_equal(pack.truth[: len(old)], old))
        )


def rescale_duals(task: Task, state: WorkingSets, C: float) -> None:
    """Adapt the dual variables of a run with ``C`` to the C of this task, and reset counters.

    The dual variables are multiplied by the factor s that maximises the dual,
    D(s) = s C sum alpha loss - 1/2 s^2 |w|^2, for 0 <= s <= 1.
    """
    alpha, w = state.duals.alpha, state.w
    scale_w(task, state, task.C / C)
    norm = float(w @ w)
    loss = float(task.shard.pack.weight @ (alpha * state.duals.loss).sum(axis=1))
    part = min(task.C * loss / norm, 1.0) if norm > 0 else 1.0
    alpha[:, 1:] *= part
    alpha[:, 0] = np.maximum(1.0 - alpha[:, 1:].sum(axis=1), 0.0)
    scale_w(task, state, part)
    forget_counts(state)


def scale_w(task: Task, state: WorkingSets, factor: float) -> None:
    """Multiply w, and what sign constraints have clipped of it."""
    state.w *= factor
    if state.visits.below is not None:
        state.visits.below[task.shard.positive] *= factor


def forget_counts(state: WorkingSets) -> None:
    """Reset the counters, as in a run without iterations."""
    state.visits.gap[:] = 0.0
    state.visits.clock[:2] = 0.0
    state.visits.lag[:] = 0.0
    state.iterations, state.looks, state.next_look = 0, 0, 1
    state.gap, state.finished, state.seen = np.inf, False, sets.Seen()


def take_over(task: Task, state: WorkingSets, old: Duals, relabel: np.ndarray | None) -> None:
    """Copy the dual variables of the first examples to a new state."""
    shard, pack = task.shard, task.shard.pack
    n, slots = len(old.count), old.loss.shape[1]
    if state.duals.loss.shape[1] < slots:
        state.duals = shard.new_duals(slots)
    new = state.duals
    new.alpha[:n, :slots] = old.alpha
    new.count[:n] = old.count
    labels = old.labels
    if relabel is not None:
        labels = check_codes(relabel, len(relabel), pack.low, pack.high, "the new number of class")
        labels = labels[old.labels].astype(old.labels.dtype)
    copy_slots(labels, slots, new, pack.offsets[: n + 1])
    for i in range(n):  # the loss may have changed, because class weights can depend on the data
        length = pack.offsets[i + 1] - pack.offsets[i]
        start = new.loss.shape[1] * pack.offsets[i]
        for r in range(1, new.count[i]):
            y = new.labels[start + r * length : start + (r + 1) * length]
            new.loss[i, r] = check_loss(shard.problem.functions.loss(pack.data, i, y), i)
    sets.recompute_w(task, state)
    forget_counts(state)
