"""n-slack cutting planes: Algorithms 1 and 2 of Joachims, Finley and Yu (2009).

Every example has a separate working set; the QP over all of them is solved by dual ascent, one
example after the other. The additions of SVM-struct (its ``-w 0`` and ``-w 1``) are included:
batches of new constraints, a precision that is refined step by step, removal of idle constraints,
and shrinking.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..engine.arrays import PassOptions
from ..errors import DataError
from . import working_sets as sets
from .base import Step
from .checking import require
from .dual import DualSolver
from .slots import drop_outputs
from .task import Task
from .warm import WarmStart, rescale_duals, take_over
from .working_sets import Passes, WorkingSets

#: Solve the QP to this fraction of the violation at which constraints are added.
QP_PRECISION = 0.5

#: Maximum number of passes of dual ascent per QP.
QP_PASSES = 200

#: Remove outputs whose dual variable was zero in this many QPs.
IDLE = 50


@dataclass
class NSlackState(WorkingSets):
    """Working sets, the current precision, and the examples that are skipped (shrinking)."""

    #: Arrays that may be larger in a checkpoint than in a new run.
    grows = ("used",)

    eps: float = np.inf
    wake: bool = False
    complete: bool = False
    resting: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    used: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.int32))
    qps: int = 0

    def check_restored(self, task: Task) -> None:
        """Also check ``used``, the number of the last QP that has used each output."""
        super().check_restored(task)
        wide = self.used.shape[1] <= self.duals.loss.shape[1]
        require(len(self.used) == task.shard.n and wide, "outputs of another number of slots")
        inside = self.used.min(initial=0) >= 0 and self.used.max(initial=0) <= self.qps < 2**30
        require(inside, "the QPs are not numbered as in a run")


@dataclass(frozen=True)
class NSlack(DualSolver):
    """n-slack cutting planes, for every problem and both rescalings.

    Parameters
    ----------
    batch : int
        Number of new constraints after which the QP is solved again (SVM-struct's ``-k``).
    shrink : bool
        Skip examples without new constraints until no example has any (SVM-struct's ``-w 1``).
    """

    batch: int = 100
    shrink: bool = False

    name = "n-slack"

    #: Attributes that the state of each shard takes from the global state.
    controls = ("eps", "wake")

    settles = True

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise DataError(f"batch must be a number of constraints >= 1, got {self.batch}")

    def init(self, task: Task) -> NSlackState:
        """Lines 1 and 2: empty working sets."""
        state = NSlackState(**vars(sets.begin(task)))
        state.resting = np.zeros(task.shard.n, bool)
        state.used = np.zeros_like(state.duals.loss, np.int32)
        return state

    def restart(self, task: Task, state: NSlackState, C: float) -> NSlackState:
        """From a run with another C; the next pass computes its distance from the optimum."""
        rescale_duals(task, state, C)
        state.eps = np.inf
        state.resting[:] = False
        return state

    def extend(
        self, task: Task, state: NSlackState, kept: WarmStart, relabel: np.ndarray | None
    ) -> NSlackState:
        """From a run on the first of these examples."""
        fresh = self.init(task)
        take_over(task, fresh, state.duals, relabel)
        fresh.used = np.zeros_like(fresh.duals.loss, np.int32)
        return fresh

    def step_once(self, task: Task, state: NSlackState) -> Step:
        """One pass over the examples (lines 4 to 10) at the current precision."""
        for _ in self.ascend(task, state):
            pass
        w, primal, dual, upper = sets.certify(task, state, self.wanted(task, state), add=False)
        if w is not None:
            w = w.copy()  # the QP changes it
            self.refine(task, state, primal - dual)
            sets.complete(self.settle(task, state))
        return w, primal, dual, upper

    def ascend(self, task: Task, state: NSlackState) -> Passes[None]:
        """Lines 4 to 10, for all examples that are not skipped."""
        if not np.isfinite(state.eps):
            return  # the first iteration only computes the gap at w = 0
        if state.wake:
            state.resting[:] = False
        order = sets.shuffled(task, np.flatnonzero(~state.resting))
        state.complete, qps = len(order) == task.shard.n, state.qps
        added, hinge, bound = yield from self._pass(task, state, order)
        self._prune(task, state, max(IDLE, state.qps - qps))
        state.seen = sets.Seen(hinge=hinge, bound=bound, added=added)

    def wanted(self, task: Task, state: NSlackState) -> str | None:
        """The point to certify, once few constraints are new and no example is skipped."""
        if not np.isfinite(state.eps):
            return sets.LAST
        state.wake = few = state.seen.added <= self._tolerance(task, state)
        if not (few and state.complete):
            return None
        # Without new constraints w has not changed, so the pass itself is the certificate.
        return sets.LAST if state.seen.added else sets.SEEN

    def refine(self, task: Task, state: NSlackState, gap: float) -> None:
        """The next precision: half of the last one, or of the gap if that is smaller."""
        state.eps = max(task.tol / 2, min(state.eps, max(gap, 0.0) / task.N) / 2)
        state.wake = True

    def _pass(
        self, task: Task, state: NSlackState, order: np.ndarray
    ) -> Passes[tuple[int, float, float]]:
        """Call all oracles; returns the number of new constraints and the hinges, with bounds."""
        new, total, hinge, bound = 0, 0, 0.0, 0.0
        for start in range(0, len(order), self.batch):
            part = order[start : start + self.batch]
            before = state.duals.count[part]
            with task.share("oracle"):
                options = PassOptions(
                    True, min_gain=state.eps, tau=np.inf, keep_zeros=True
                )  # lines 5 to 7
                yield from sets.sweep(task, state, part, options)
            hinge += state.seen.hinge
            bound += state.seen.bound
            new += int(state.seen.added)
            total += int(state.seen.added)
            if self.shrink:
                state.resting[part] = state.duals.count[part] == before
            if new >= self.batch or (new and start + self.batch >= len(order)):
                yield from self.settle(task, state)  # line 8
                new = 0
        return total, hinge, bound

    def settle(self, task: Task, state: NSlackState) -> Passes[float]:
        """Solve the QP over the working sets by dual ascent, starting from the last solution.

        Returns the initial gap of the known outputs, divided by C n.
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
                    order = known  # visit the skipped examples before the end
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
        """Remove outputs that have not been used in the last ``patience`` QPs."""
        idle = ~self._fresh(state) & (state.qps - state.used > patience)
        idle[:, 0] = False
        drop_outputs(state.duals, task.shard.pack.offsets, idle, state.used)

    def _tolerance(self, task: Task, state: NSlackState) -> float:
        """Refine the precision if at most this many constraints are new; 0 at the last level."""
        n = task.shard.n
        return 0 if state.eps <= task.tol / 2 else min(n / 3, max(n / 100, 5))
