"""n-slack cutting planes: Algorithms 1 and 2 of Joachims, Finley and Yu (2009).

Every example has a working set of its own; the QP over all of them is solved by dual ascent, one
example after the other. What SVM-struct adds (its ``-w 0`` and ``-w 1``) is here too: batches of
new constraints, a precision that is refined step by step, removal of idle constraints, and
shrinking.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..engine.arrays import PassOptions
from ..errors import DataError
from . import working_sets as sets
from .checking import require
from .dual import DualSolver
from .task import Task
from .warm import WarmStart, rescale_duals, take_over
from .working_sets import Passes, WorkingSets

#: The QP is solved to this part of the violation that is looked for.
QP_PRECISION = 0.5

#: Passes of dual ascent in one QP, at the most.
QP_PASSES = 200

#: Outputs whose dual variable was zero in so many QPs are dropped.
IDLE = 50


@dataclass
class NSlackState(WorkingSets):
    """Working sets, the precision reached, and the examples that rest (shrinking)."""

    #: Arrays of a checkpoint that may be larger than those of a fresh run.
    grows = ("used",)

    eps: float = np.inf
    wake: bool = False
    complete: bool = False
    resting: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    used: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.int32))
    qps: int = 0

    def check_restored(self, task: Task) -> None:
        """Check also when each output was last used."""
        super().check_restored(task)
        wide = self.used.shape[1] <= self.duals.loss.shape[1]
        require(len(self.used) == task.shard.n and wide, "outputs of another number of slots")


@dataclass(frozen=True)
class NSlack(DualSolver):
    """n-slack cutting planes, for every problem and both rescalings.

    Parameters
    ----------
    batch : int
        The QP is solved again after so many new constraints (SVM-struct's ``-k``).
    shrink : bool
        Leave examples alone that had nothing to add, until all are in that state
        (SVM-struct's ``-w 1``).
    """

    batch: int = 100
    shrink: bool = False

    name = "n-slack"

    #: What the state of each shard takes from that of all.
    controls = ("eps", "wake")

    settles = True

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise DataError(f"batch is a number of constraints >= 1, got {self.batch}")

    def init(self, task: Task) -> NSlackState:
        """Lines 1 and 2: empty working sets."""
        state = NSlackState(**vars(sets.begin(task)))
        state.resting = np.zeros(task.shard.n, bool)
        state.used = np.zeros_like(state.duals.loss, np.int32)
        return state

    def restart(self, task: Task, state: NSlackState, C: float) -> NSlackState:
        """From a run with another C: how far it is from the optimum is to be seen."""
        rescale_duals(task, state, C)
        state.eps = np.inf
        state.resting[:] = False
        return state

    def extend(
        self, task: Task, state: NSlackState, kept: WarmStart, relabel: np.ndarray | None
    ) -> NSlackState:
        """From a run on the first of the examples."""
        fresh = self.init(task)
        take_over(task, fresh, state.duals, relabel)
        fresh.used = np.zeros_like(fresh.duals.loss, np.int32)
        return fresh

    def step_once(self, task: Task, state: NSlackState) -> tuple[np.ndarray | None, float, float]:
        """One pass over the examples (lines 4 to 10) at the present precision."""
        for _ in self.ascend(task, state):
            pass
        w, primal, dual = sets.certify(task, state, self.wanted(task, state), add=False)
        if w is not None:
            w = w.copy()  # the QP moves it
            self.refine(task, state, primal - dual)
            sets.complete(self.settle(task, state))
        return w, primal, dual

    def ascend(self, task: Task, state: NSlackState) -> Passes[None]:
        """Lines 4 to 10, for all examples that do not rest."""
        if not np.isfinite(state.eps):
            return  # how far is w = 0 from the optimum?
        if state.wake:
            state.resting[:] = False
        order = np.flatnonzero(~state.resting)
        state.complete, qps = len(order) == task.shard.n, state.qps
        added, hinge = yield from self._pass(task, state, order)
        self._prune(task, state, max(IDLE, state.qps - qps))
        state.seen = sets.Seen(hinge=hinge, added=added)

    def wanted(self, task: Task, state: NSlackState) -> str | None:
        """The point to certify: when hardly any constraint was new, and nobody rests."""
        if not np.isfinite(state.eps):
            return sets.LAST
        state.wake = few = state.seen.added <= self._tolerance(task, state)
        if not (few and state.complete):
            return None
        # Without a new constraint w has not moved, so that the pass is a certificate itself.
        return sets.LAST if state.seen.added else sets.SEEN

    def refine(self, task: Task, state: NSlackState, gap: float) -> None:
        """The next level of precision, half of the last one or of the gap."""
        state.eps = max(task.tol / 2, min(state.eps, max(gap, 0.0) / task.N) / 2)
        state.wake = True

    def _pass(self, task: Task, state: NSlackState, order: np.ndarray) -> Passes[tuple[int, float]]:
        """Ask for each example; returns the number of new constraints and sum_i weight_i H_i."""
        new, total, hinge = 0, 0, 0.0
        for start in range(0, len(order), self.batch):
            part = order[start : start + self.batch]
            before = state.duals.count[part]
            with task.share("oracle"):
                options = PassOptions(
                    True, min_gain=state.eps, tau=np.inf, keep_zeros=True
                )  # lines 5 to 7
                yield from sets.sweep(task, state, part, options)
            hinge += state.seen.hinge
            new += int(state.seen.added)
            total += int(state.seen.added)
            if self.shrink:
                state.resting[part] = state.duals.count[part] == before
            if new >= self.batch or (new and start + self.batch >= len(order)):
                yield from self.settle(task, state)  # line 8
                new = 0
        return total, hinge

    def settle(self, task: Task, state: NSlackState) -> Passes[float]:
        """Dual ascent over the working sets, from where it stood, as precisely as is useful.

        Returns the gap of the known outputs at the beginning, over C n.
        """
        precision = QP_PRECISION * state.eps
        first: float | None = None
        with task.share("qp"):
            known = np.flatnonzero(state.duals.count > 1)
            order = known
            for _ in range(QP_PASSES):
                options = PassOptions(False, tau=0.1 * precision, keep_zeros=True)
                gap = yield from sets.sweep(task, state, sets.shuffled(task, order), options)
                first = gap if first is None else first
                if gap > precision:
                    order = known[state.visits.gap[known] > 0.1 * precision]
                elif len(order) == len(known):
                    break
                else:
                    order = known  # what was left aside must be looked at before the end
        state.qps += 1
        fresh = self._fresh(state)
        state.used[fresh] = state.qps
        return first or 0.0

    def _fresh(self, state: NSlackState) -> np.ndarray:
        """Slots that are free, or hold an output with a positive dual variable (n, slots)."""
        slots = state.duals.loss.shape[1]
        if state.used.shape[1] < slots:
            wider = np.full((len(state.used), slots), state.qps, np.int32)
            wider[:, : state.used.shape[1]] = state.used
            state.used = wider
        free = np.arange(slots) >= state.duals.count[:, None]
        return free | (state.duals.alpha > 0)

    def _prune(self, task: Task, state: NSlackState, patience: int) -> None:
        """Drop the outputs that no QP has used for long."""
        idle = ~self._fresh(state) & (state.qps - state.used > patience)
        idle[:, 0] = False
        sets.drop_outputs(task, state, idle, state.used)

    def _tolerance(self, task: Task, state: NSlackState) -> float:
        """So few new constraints end a level of precision; at the last level none may be new."""
        n = task.shard.n
        return 0 if state.eps <= task.tol / 2 else min(n / 3, max(n / 100, 5))
