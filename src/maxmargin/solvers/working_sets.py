"""Working sets of outputs and their dual variables, which SDM, n-slack and BCFW share.

The three solvers differ in their schedules of passes (``arrays.PassOptions``): which examples are
visited, whether the oracle is called, and how alpha_i is changed.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..engine.arrays import (
    ADDED,
    BOUND,
    FULL,
    GAP,
    HINGE,
    SHORT,
    VIOLATION,
    WORST,
    Block,
    Duals,
    PassOptions,
    Visits,
)
from ..engine.bounds import Hinge
from ..engine.long_vectors import clear, move_towards, square
from ..objective import dual
from .base import BoundedStep, State, certified
from .checking import check_duals, check_labels, close, require
from .contradiction import check_oracle
from .signs import check_clipped, clip
from .slots import repair_alpha, with_more_slots
from .task import Task

#: Initial size of a working set, if the problem does not know the number of outputs.
SLOTS = 8

#: The points that can be certified: the last w, the average of w over all visits, that over the
#: iterations, or the last w if the last pass has called all oracles and has not changed w.
LAST, AVERAGE, SMOOTH, SEEN = "last", "average", "smooth", "seen"

#: The share of the last w in the average over the iterations, in which older ones fade. Values from
#: 0.6 to 0.8 are equally good on chunking, where they save one iteration in five to seven.
SHARE = 0.7

#: Number of examples decoded at once in the first iteration; it doubles in each iteration.
FIRST_BLOCK = 16

#: Number of neighbouring examples in a run, and of runs that are visited at the same time.
RUN, WINDOW = 8, 256


T = TypeVar("T")

#: Passes over examples as a generator that pauses where w may be exchanged; it returns a result.
Passes = Generator[None, None, T]


def complete(passes: Passes[T]) -> T:
    """Run the passes without pauses; returns their result."""
    while True:
        try:
            next(passes)
        except StopIteration as end:
            return end.value


class Seen(NamedTuple):
    """Results of the last pass: sum_i weight_i H_i, largest KKT violation, outputs added.

    ``hinge`` is the sum of the outputs found, and ``bound`` its upper bound.
    """

    hinge: float = 0.0
    bound: float = 0.0
    violation: float = 0.0
    added: float = 0.0


@dataclass
class WorkingSets(State):
    """Dual variables, w = w(alpha), and counters of the schedule."""

    #: Not part of a checkpoint.
    scratch = ("block", "average")

    duals: Duals
    visits: Visits
    block: Block
    labels: np.ndarray
    w: np.ndarray
    average: np.ndarray
    smooth: np.ndarray
    iterations: int = 0
    looks: int = 0
    next_look: int = 3
    gap: float = np.inf
    dual: float = -np.inf
    finished: bool = False
    jumped: bool = False
    settled: bool = True
    complete: bool = True
    deterministic: bool = True
    seen: Seen = field(default_factory=Seen)

    def check_restored(self, task: Task) -> None:
        """Check labels, counters and dual variables after a checkpoint was read."""
        check_labels(task, self.labels)
        clock, positive = self.visits.clock, task.shard.positive
        if self.visits.below is not None:
            others = np.delete(self.visits.below, positive)
            require((others == 1).all(), "other weights have constraints")
            check_clipped(self.w, self.visits.below[positive], positive)
        require((clock >= 0).all() and clock[2] <= 16, "the clock of the average is wrong")
        check_duals(task, self.duals)

    def check_restored_run(self, task: Task, run: Any) -> None:
        """w agrees with the dual variables, all of which are in this process."""
        w = np.zeros_like(self.w)
        task.shard.sum_duals(task.C, task.mode, self.duals, w, task.frank_wolfe)
        if self.visits.below is not None:
            positive = task.shard.positive
            same = close(clip(w, positive), self.visits.below[positive], abs(w))
            require(same, "what was clipped of w does not agree with the dual variables")
        require(close(w, self.w), "w does not agree with the dual variables")


def begin(task: Task, power: float | None = None, smooth: bool = False) -> WorkingSets:
    """The initial state: alpha is 1 at the truth, w = 0.

    If ``power`` is given, the average of w over all visits is kept; visit t has the weight
    t ** power. With ``smooth`` an average over the iterations is kept.
    """
    shard = task.shard
    dim = 0 if power is None else shard.pack.dim
    slots = shard.problem.n_outputs or SLOTS
    return WorkingSets(
        duals=shard.new_duals(slots),
        visits=shard.new_visits(dim, power or 0.0),
        block=shard.new_block(slots),
        labels=shard.new_labels(),
        w=np.zeros(shard.pack.dim),
        average=np.zeros(dim),
        smooth=np.zeros(shard.pack.dim if smooth else 0),
    )


def sweep(
    task: Task,
    state: WorkingSets,
    order: np.ndarray,
    options: PassOptions,
    w: np.ndarray | None = None,
) -> Passes[float]:
    """A pass over the examples of ``order``; returns the sum of their gaps, divided by C n.

    The gap of an example is that at its visit. If w is shared with other shards, the pass is
    divided into ``task.blocks``, after each of which it pauses; if shards make their passes
    together, it returns the gap of all. With ``w`` the pass is at another point than that of the
    dual variables.
    """
    w = state.w if w is None else w
    state.deterministic &= task.shard.together is None
    together = task.shard.together
    if together is not None and together.needs_whole(w, order, options):
        recompute_w(task, state)
    state.visits.total[:] = 0.0
    fit_block(task, state)
    moves = task.moves if options.tau < np.inf else None  # otherwise nothing moves
    blocks = 1 if moves is None else task.blocks[0 if options.call_oracle else 1]
    gap = 0.0
    for block in range(1, blocks + 1):
        part = order[(block - 1) * len(order) // blocks : block * len(order) // blocks]
        if len(part):
            task.shard.ascend(
                w, task.C, task.mode, part, state.duals,
                options if moves is None else moves.begin(state.duals, part, options),
                state.labels, state.visits, state.block, block_size(state),
            )  # fmt: skip
        if block == blocks:
            gap = _seen(task, state, w)
        if moves is not None:
            yield
    return gap if moves is None or task.gap is None else task.gap


def fit_block(task: Task, state: WorkingSets) -> None:
    """Allocate scratch memory again if the working sets have grown."""
    slots = state.duals.loss.shape[1]
    if len(state.block.nnz) != slots + 1:
        state.block = task.shard.new_block(slots)


def _seen(task: Task, state: WorkingSets, w: np.ndarray) -> float:
    """Store the results of a pass at w, and enlarge the working sets if one was full."""
    total = state.visits.total
    if total[SHORT] > 0:
        check_oracle(task, state.duals, 1, w, int(total[WORST]))
    gap = total[GAP] / task.n
    state.seen = Seen(total[HINGE], total[BOUND], total[VIOLATION], total[ADDED])
    if total[FULL]:
        state.duals = with_more_slots(task.shard, state.duals)
    return gap


def block_size(state: WorkingSets) -> int:
    """Maximum number of examples decoded at once: few at first, when w changes most, then more."""
    return FIRST_BLOCK << min(state.iterations, 20)


def certify(task: Task, state: WorkingSets, which: str | None, add: bool = True) -> BoundedStep:
    """A certificate at the point ``which``; returns ``(w, P(w), D, upper bound of P(w))``.

    P is computed by a complete pass that changes no dual variable. If ``add`` is true, the outputs
    of the oracle are added to the working sets.
    """
    together = task.shard.together
    looks = which is not None and (which != SEEN or together is not None)
    with task.share("certificate"):
        # Close to the end, rounding errors matter; the order of additions by threads is unknown.
        exact = together is not None or state.gap <= 2 * task.tol
        if repair_alpha(state.duals) or (looks and exact and not is_exact(task, state)):
            recompute_w(task, state)
        make_whole(task, state)
        value = dual_value(task, state)
        if together is not None:
            together.note(value)
        if which is None:
            return None, np.inf, value, np.inf
        if not looks:
            return certified(task, state.w, Hinge(state.seen.hinge, state.seen.bound), value)
        w = average(state) if which == AVERAGE else state.smooth if which == SMOOTH else state.w
        state.looks += 1
        return certified(task, w, hinge_at(task, state, w, add), value)


def hinge_at(
    task: Task, state: WorkingSets, w: np.ndarray, add: bool, order: np.ndarray | None = None
) -> Hinge:
    """sum_i weight_i H_i(w), by a pass that calls the oracles of ``order``, by default all."""
    order = task.shard.everyone if order is None else order
    options = PassOptions(
        True, 0.0 if add else np.inf, tau=np.inf, frank_wolfe=task.frank_wolfe, keep_zeros=True
    )
    clock = state.visits.clock.copy()
    complete(sweep(task, state, order, options, w))
    state.visits.clock[:] = clock  # a certificate has no weight in the average
    return Hinge(float(state.seen.hinge), float(state.seen.bound))


def average(state: WorkingSets) -> np.ndarray:
    """The average of w over all visits."""
    average_minus_w(state)
    state.average += state.w
    below = state.visits.below
    if below is not None:  # that of v, clipped: a point that obeys the constraints
        limited = below <= 0
        state.average[limited] = np.maximum(state.average[limited] + below[limited], 0.0)
    return state.average


def smooth_out(task: Task, state: Any, share: float = SHARE) -> None:
    """Move the average over the iterations, if there is one, towards the present w."""
    make_whole(task, state)
    if len(state.smooth):
        move_towards(state.smooth, state.w, share, task.shard.threads)


def average_minus_w(state: WorkingSets) -> np.ndarray:
    """The average of w over all visits, minus w."""
    visits = state.visits
    np.divide(visits.lag, -max(visits.clock[1], 1.0), out=state.average)
    return state.average


def shuffled(task: Task, examples: np.ndarray, run: int = RUN) -> np.ndarray:
    """The examples in random order, in which neighbours stay close.

    The examples are divided into runs of ``run`` neighbours, and the runs, in random order, into
    windows: a pass visits the first example of every run of a window, then the second of every run,
    and so on. A window fits into the processor's caches; visits in fully random order are a third
    slower if the data do not. Neighbours are not visited one after the other, because in a sorted
    file they are alike: with whole runs Covertype sorted by class has less than half of the dual
    progress after 10 passes. Position and direction of the runs are random too.
    """
    examples = np.roll(examples, task.random.randint(run))
    if task.random.randint(2):
        examples = examples[::-1]
    starts = run * task.random.permutation(-(-len(examples) // run))
    whole = len(starts) // WINDOW * WINDOW
    windows = [starts[:whole].reshape(-1, 1, WINDOW), starts[whole:].reshape(1, 1, -1)]
    order = np.concatenate([(part + np.arange(run)[:, None]).ravel() for part in windows])
    return examples[order[order < len(examples)]]


def dual_value(task: Task, state: WorkingSets) -> float:
    """D(alpha)."""
    size = square(state.w, task.shard.threads)
    return dual(state.w, dual_loss(task, state), task.C, size)


def dual_loss(task: Task, state: WorkingSets) -> float:
    """sum_ir weight_i alpha_ir loss_ir."""
    weight = task.shard.pack.weight
    return float(weight @ np.einsum("ij,ij->i", state.duals.alpha, state.duals.loss))


def recompute_w(task: Task, state: WorkingSets) -> None:
    """Compute w(alpha) from its definition, to remove the rounding errors of many small steps."""
    clear([state.w], task.shard.threads)
    task.shard.sum_duals(task.C, task.mode, state.duals, state.w, task.frank_wolfe)
    if state.visits.below is not None:
        state.visits.below[task.shard.positive] = clip(state.w, task.shard.positive)


def make_whole(task: Task, state: WorkingSets) -> None:
    """Compute w again if it lacks steps of some threads."""
    together = task.shard.together
    if together is not None and together.copies.lacking is state.w:
        recompute_w(task, state)


def is_exact(task: Task, state: WorkingSets) -> bool:
    """Whether w was computed from its definition after the last steps."""
    together = task.shard.together
    return together is not None and together.copies.exact is state.w


def exact_dual(task: Task, state: WorkingSets) -> float:
    """D(alpha) of a feasible alpha, with w(alpha) from its definition."""
    repair_alpha(state.duals)
    recompute_w(task, state)
    return dual_value(task, state)
