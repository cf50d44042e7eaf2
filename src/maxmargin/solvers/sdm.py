"""The sequential dual method: Algorithms 1 to 3 of Balamurugan et al. (2011).

Passes over the examples optimise the dual variables of one example at a time. A type-I pass asks
the oracle for new outputs; the type-II passes between them work on the outputs already known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..ascent import Block, Duals, Visits
from ..errors import DataError
from ..objective import dual, primal
from .task import Task

#: A working set begins with room for so many outputs, where the problem does not say how many.
SLOTS = 8

#: Neighbouring examples that are visited one after the other.
RUN = 8

#: Examples are left alone whose KKT violation is below this part of the average gap.
IGNORED = 0.1


@dataclass
class SDMState:
    """Dual variables, w = w(alpha), and its average over the passes."""

    duals: Duals
    visits: Visits
    block: Block
    labels: np.ndarray
    w: np.ndarray
    average: np.ndarray
    passes: int = 0
    looks: int = 0
    next_look: int = 1
    gap: float = np.inf


@dataclass(frozen=True)
class SDM:
    """Sequential dual method, for every problem and both rescalings.

    Parameters
    ----------
    first : int
        Type-I passes before the first type-II pass (kappa_1 of the paper, which says 10).
    inner : int
        Type-II passes, at the most, after each type-I pass (kappa_2, which is 5 in the paper;
        with shrinking they are cheap).
    """

    first: int = 3
    inner: int = 20

    name = "sdm"

    def __post_init__(self) -> None:
        if self.inner < 0 or self.first < 0:
            raise DataError(f"inner and first are >= 0, got {self.inner} and {self.first}")

    def loops(self, task: Task) -> tuple[str, ...]:
        """The loops it calls."""
        return ("ascend", "sum")

    def init(self, task: Task) -> SDMState:
        """Line 2: alpha is 1 at the truth, w = 0."""
        shard = task.shard
        slots = shard.problem.n_outputs or SLOTS
        return SDMState(
            duals=shard.new_duals(slots),
            visits=Visits(np.zeros(4), np.zeros(shard.n)),
            block=shard.new_block(slots),
            labels=shard.new_labels(),
            w=np.zeros(shard.pack.dim),
            average=np.zeros(shard.pack.dim),
        )

    def step_once(self, task: Task, state: SDMState) -> tuple[np.ndarray | None, float, float]:
        """A type-I pass and the type-II passes after it."""
        everyone = shuffled(task, task.shard.everyone)
        tau = IGNORED * max(task.tol, state.gap) if np.isfinite(state.gap) else 0.0
        with task.share("oracle"):
            state.gap = ascend(task, state, everyone, tau, ask=True)
        self._average(state)
        if state.passes >= self.first:
            with task.share("inner"):
                self._work_on_known(task, state)
        make_room(task, state)
        return self._look(task, state)

    def planes(self, state: SDMState) -> int:
        """Dual variables that are not zero, those of the truth aside."""
        return int((state.duals.alpha[:, 1:] > 0).sum())

    def _work_on_known(self, task: Task, state: SDMState) -> None:
        """Type-II passes, until little is left of the gap.

        Shrinking: they visit the examples that have more than the truth in their working set and
        had a gap worth closing when they were visited last.
        """
        for _ in range(self.inner):
            tau = IGNORED * max(task.tol, state.gap)
            worth = np.flatnonzero((state.duals.count > 1) & (state.visits.gap > tau))
            gap = ascend(task, state, shuffled(task, worth), tau, ask=False)
            self._average(state)
            if gap < 0.1 * state.gap:
                break

    def _average(self, state: SDMState) -> None:
        """Average w over the passes, later ones weighing more."""
        state.average += (4.0 / (state.passes + 4)) * (state.w - state.average)
        state.passes += 1

    def _look(self, task: Task, state: SDMState) -> tuple[np.ndarray | None, float, float]:
        """Now and then a complete pass, for the certificate."""
        close = state.gap <= 2 * task.tol
        if state.passes < state.next_look and not close:
            return None, np.inf, dual_value(task, state)
        state.next_look = int(1.3 * state.passes) + 1
        with task.share("certificate"):
            recompute_w(task, state)
            # The average is better early, the last point in the end: look at them in turn.
            w = (state.average if state.looks % 2 == 0 else state.w).copy()
            state.looks += 1
            ascend(task, state, task.shard.everyone, np.inf, ask=True, w=w)
            hinge, complete = state.visits.total[3], not state.visits.total[2]
            make_room(task, state)
        if not complete:  # an output found no room in its working set: H_i may be larger
            return None, np.inf, dual_value(task, state)
        return w, primal(w, hinge, task.C), dual_value(task, state)


def shuffled(task: Task, examples: np.ndarray) -> np.ndarray:
    """The examples in random order, by runs of neighbours.

    A run is read from memory at once: visits in fully random order are three times slower when
    the data are larger than the processor's caches. The runs begin elsewhere in each pass and are
    read forwards or backwards.
    """
    examples = np.roll(examples, task.random.randint(RUN))
    if task.random.randint(2):
        examples = examples[::-1]
    n_runs = -(-len(examples) // RUN)
    order = task.random.permutation(n_runs)[:, None] * RUN + np.arange(RUN)
    return examples[order[order < len(examples)]]


def ascend(
    task: Task,
    state: SDMState,
    order: np.ndarray,
    tau: float,
    ask: bool,
    w: np.ndarray | None = None,
) -> float:
    """A pass of block dual ascent; returns the average gap of the examples, as seen on the way.

    With tau = inf nothing ascends: it is a look at the examples from any w.
    """
    state.visits.total[:] = 0.0
    task.shard.ascend(
        state.w if w is None else w, task.C, task.mode, order, state.duals, tau, ask,
        state.labels, state.visits, state.block,
    )  # fmt: skip
    return state.visits.total[0] / task.n


def dual_value(task: Task, state: SDMState) -> float:
    """D(alpha)."""
    weight = task.shard.pack.weight
    loss = float(weight @ (state.duals.alpha * state.duals.loss).sum(axis=1))
    return dual(state.w, loss, task.C)


def recompute_w(task: Task, state: SDMState) -> None:
    """w(alpha) from its definition: rounding errors of many small steps must not add up."""
    state.w[:] = 0.0
    task.shard.sum_duals(task.C, task.mode, state.duals, state.w)


def make_room(task: Task, state: SDMState) -> None:
    """Double the working sets when one was full."""
    if not state.visits.total[2]:
        return
    shard, old = task.shard, state.duals
    slots = old.loss.shape[1]
    new = shard.new_duals(2 * slots)
    new.loss[:, :slots] = old.loss
    new.alpha[:, :slots] = old.alpha
    new.count[:] = old.count
    offsets = shard.pack.offsets
    for i in range(shard.n):
        size = slots * (offsets[i + 1] - offsets[i])
        start = slots * offsets[i]
        new.labels[2 * start : 2 * start + size] = old.labels[start : start + size]
    state.duals, state.block = new, shard.new_block(2 * slots)
