"""Warm starts: what one run has found serves the next, for another C or for more examples.

A plane does not depend on C, and the dual variables of an example do not depend on the others:
both stay feasible. So the next run begins with a lower bound that holds, and ends at its own
certificate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.arrays import Duals
from . import working_sets as sets
from .task import Task
from .working_sets import WorkingSets


@dataclass
class WarmStart:
    """The end of a run, for another one to begin from. It is used up by that.

    Attributes
    ----------
    solver, state, C, mode
        Of the run.
    n, total_weight, dim, offsets, truth
        Of its examples.
    fingerprint : str
        Of its examples.
    trusted : bool
        Whether the first examples of the next run are known to be these, in the same form.
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
        """Keep what ``solver`` has reached."""
        shard, pack = task.shard, task.shard.pack
        return cls(
            solver, state, task.C, task.mode, shard.n, shard.total_weight, pack.dim, pack.offsets,
            pack.truth, shard.fingerprint(),
        )  # fmt: skip

    def begin(self, solver: Any, task: Task, relabel: np.ndarray | None = None) -> Any:
        """A state for ``solver`` to begin with, or None if nothing of this one is of use.

        The examples of the task are those of the old run, or these and more after them; if the
        classes have got other numbers, ``relabel[old] = new``.
        """
        state, self.state = self.state, None
        if state is None or solver != self.solver or task.mode != self.mode:
            return None
        if task.shard.n == self.n and task.shard.fingerprint() == self.fingerprint:
            return solver.restart(task, state, self.C)
        return solver.extend(task, state, self, relabel) if self._begins(task, relabel) else None

    def _begins(self, task: Task, relabel: np.ndarray | None) -> bool:
        """Whether the examples of the task begin with the old ones, by their true outputs."""
        pack = task.shard.pack
        old = self.truth if relabel is None else relabel[self.truth]
        return (
            task.shard.n >= self.n
            and np.array_equal(pack.offsets[: self.n + 1], self.offsets)
            and (old.dtype == object or np.array_equal(pack.truth[: len(old)], old))
        )


def rescale_duals(task: Task, state: WorkingSets, C: float) -> None:
    """Dual variables of a run with ``C`` for this task, whose C is another; counters start anew.

    They keep their direction. How long they are, as a part s of what they were, an exact line
    search on the dual says: D(s) = s C sum alpha loss - 1/2 s^2 |w|^2, for 0 <= s <= 1.
    """
    alpha, w = state.duals.alpha, state.w
    w *= task.C / C
    norm = float(w @ w)
    loss = float(task.shard.pack.weight @ (alpha * state.duals.loss).sum(axis=1))
    part = min(task.C * loss / norm, 1.0) if norm > 0 else 1.0
    alpha[:, 1:] *= part
    alpha[:, 0] = np.maximum(1.0 - alpha[:, 1:].sum(axis=1), 0.0)
    w *= part
    forget_counts(state)


def forget_counts(state: WorkingSets) -> None:
    """The state of a run that has made no iteration yet, though its duals are not zero."""
    state.visits.gap[:] = 0.0
    state.visits.clock[:2] = 0.0
    state.visits.lag[:] = 0.0
    state.iterations, state.looks, state.next_look = 0, 0, 1
    state.gap, state.finished, state.seen = np.inf, False, sets.Seen()


def take_over(task: Task, state: WorkingSets, old: Duals, relabel: np.ndarray | None) -> None:
    """Give a fresh state the dual variables of the first examples; the others stay at the truth."""
    shard, pack = task.shard, task.shard.pack
    n, slots = len(old.count), old.loss.shape[1]
    if state.duals.loss.shape[1] < slots:
        state.duals = shard.new_duals(slots)
    new = state.duals
    new.alpha[:n, :slots] = old.alpha
    new.count[:n] = old.count
    labels = old.labels if relabel is None else relabel[old.labels].astype(old.labels.dtype)
    sets.copy_slots(labels, slots, new, pack.offsets[: n + 1])
    for i in range(n):  # the loss may be another one: class weights can follow the data
        length = pack.offsets[i + 1] - pack.offsets[i]
        start = new.loss.shape[1] * pack.offsets[i]
        for r in range(1, new.count[i]):
            y = new.labels[start + r * length : start + (r + 1) * length]
            new.loss[i, r] = shard.problem.functions.loss(pack.data, i, y)
    sets.recompute_w(task, state)
    forget_counts(state)
