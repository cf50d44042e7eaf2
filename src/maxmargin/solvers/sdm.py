"""The sequential dual method: Algorithms 1 to 3 of Balamurugan et al. (2011).

Passes over the examples optimise the dual variables of one example at a time. A type-I pass calls
the oracle for new outputs; the type-II passes between them use only the known outputs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..engine.arrays import PassOptions
from ..errors import DataError
from . import free_duals
from . import working_sets as sets
from .base import Step
from .dual import DualSolver
from .task import Task
from .warm import WarmStart, rescale_duals, take_over
from .working_sets import Passes, WorkingSets

#: Skip examples whose KKT violation is below this fraction of the average gap.
IGNORED = 0.1

#: Type-II passes end when the gap of the known outputs is below this fraction of the last gap.
ENOUGH = 0.2

#: The same for more than FEW_SHARDS shards: what the others change after a visit makes the gap
#: larger. Chunking, 0.2 instead of 0.1: one iteration more with 8 shards, five with 16.
ENOUGH_SHARED, FEW_SHARDS = 0.1, 8

#: Maximum number of type-II passes in early iterations.
EARLY = 5

#: No Newton step if the gap is below this many times tol: a few passes will do.
FEW_PASSES = 1.5

#: Visit t has the weight t ** POWER in the average. With 2 the average is worse than the last point
#: once convergence is fast (chunking, below a gap of 5 %); 6 is worse in the first passes.
POWER = 4.0

#: The average over the visits of more weights than this costs more than it saves: they do not fit
#: into the caches, and every step writes to both. Chunking, 7.4 million weights: 1.3 times the time
#: per iteration. An average over the iterations costs 1 % there.
LONG = 2**20


@dataclass(frozen=True)
class SDM(DualSolver):
    """Sequential dual method, for every problem and both rescalings.

    ``SDM.from_paper()`` has the settings of the paper.

    Parameters
    ----------
    first : int
        Number of type-I passes before the first type-II pass (kappa_1).
    inner : int
        Maximum number of type-II passes after each type-I pass (kappa_2). In the first iterations
        there are at most 5, because the important outputs are not yet known.
    tau : float, optional
        Skip examples whose KKT violation is at most this. If it is given, the rules of the paper
        are used: every pass visits single examples in random order, type-II passes visit every
        example until the largest violation has halved, and training ends after a type-I pass
        without a violation above tau. By default tau is set from the gap and tol, passes visit
        examples in an order that keeps neighbours close, type-II passes skip examples with a small
        gap (shrinking), and only the certificate ends training.
    change : float
        End training after an iteration that changes the dual value by at most this fraction of it;
        0 for never. The status says that the solver's own rule ended the run, unless the gap is
        within tol. Not used in training on several shards.
    average : bool, optional
        Certify in turn the last w and the average of w over all visits, in which visit t has the
        weight t ** 4. The average is better in early iterations, but takes time if w is long. By
        default there is one if w has at most about a million weights, and otherwise an average of w
        after each iteration is certified, in which older iterations fade. With False it is always
        the last w.
    """

    first: int = 2
    inner: int = 20
    tau: float | None = None
    average: bool | None = None
    change: float = 0.0

    name = "sdm"
    in_step = True

    @classmethod
    def from_paper(cls) -> SDM:
        """The constants of the paper; tau = 0.25 guarantees no more than tol = 0.25.

        The paper also recommends to stop when the relative change of the dual value is small, but
        does not say how small; here it is 1e-5.
        """
        return cls(first=10, inner=5, tau=0.25, average=False, change=1e-5)

    def __post_init__(self) -> None:
        if self.inner < 0 or self.first < 0:
            raise DataError(f"inner and first must be >= 0, got {self.inner} and {self.first}")
        if self.tau is not None and not self.tau >= 0:
            raise DataError(f"tau must be a KKT violation >= 0, got {self.tau}")
        if not 0 <= self.change < 1:
            raise DataError(f"change must be a fraction >= 0 and < 1, got {self.change}")

    def loops(self, task: Task) -> tuple[str, ...]:
        """The compiled passes it calls."""
        return (*super().loops(task), *(("planes",) if self._jumps(task) else ()))

    def init(self, task: Task) -> WorkingSets:
        """Line 2: alpha is 1 at the truth, w = 0."""
        return sets.begin(task, self.average_power(task), self.smooths(task))

    def average_power(self, task: Task) -> float | None:
        """4, if there is an average."""
        return POWER if self._averages(task) else None

    def smooths(self, task: Task) -> bool:
        """Whether w is too long for the other average."""
        return self.average is None and not self._averages(task)

    def without_average(self) -> SDM:
        """The same method without an average."""
        return replace(self, average=False)

    def _averages(self, task: Task) -> bool:
        return task.shard.pack.dim <= LONG if self.average is None else self.average

    def restart(self, task: Task, state: WorkingSets, C: float) -> WorkingSets:
        """From a run with another C; type-II passes use its outputs from the first iteration on."""
        rescale_duals(task, state, C)
        sets.smooth_out(task, state, 1.0)
        state.iterations, state.next_look = self.first, self.first + 1
        state.settled, state.dual = False, -np.inf
        return state

    def extend(
        self, task: Task, state: WorkingSets, kept: WarmStart, relabel: np.ndarray | None
    ) -> WorkingSets:
        """From a run on the first of these examples."""
        fresh = self.init(task)
        take_over(task, fresh, state.duals, relabel)
        sets.smooth_out(task, fresh, 1.0)
        fresh.iterations, fresh.next_look = self.first, self.first + 1
        return fresh

    def step_once(self, task: Task, state: WorkingSets) -> Step:
        """A type-I pass, type-II passes, and in some iterations a certificate."""
        for _ in self.ascend(task, state):
            pass
        if self.change:
            self._compare(task, state)
        sets.smooth_out(task, state, 1.0 if state.jumped else sets.SHARE)
        which = self.wanted(task, state)
        return sets.certify(task, state, sets.LAST if state.jumped else which)

    def _compare(self, task: Task, state: WorkingSets) -> None:
        """The additional check of section 4.1: finish if the dual value has hardly changed."""
        value = sets.dual_value(task, state)
        state.finished |= value - state.dual <= self.change * abs(value)
        state.dual = value

    def ascend(self, task: Task, state: WorkingSets) -> Passes[None]:
        """A type-I pass, followed by type-II passes; near the end, a Newton step before these."""
        tau, state.jumped = self._tau(task, state), False
        if not state.settled:
            with task.share("inner"):
                yield from self._settle(task, state)
        with task.share("oracle"):
            order = self._order(task, task.shard.everyone)
            state.gap = yield from sets.sweep(task, state, order, PassOptions(True, tau=tau))
        violation = state.seen.violation
        state.finished = self.tau is not None and violation <= tau  # lines 28 and 29
        state.iterations += 1
        if state.iterations > self.first and not state.finished:
            state.jumped = self._take_newton_step(task, state)
            with task.share("inner"):
                yield from self._work_on_known(task, state, violation)

    def _take_newton_step(self, task: Task, state: WorkingSets) -> bool:
        """A Newton step on the free dual variables, if it pays and they are settled."""
        if not self._jumps(task) or state.gap <= FEW_PASSES * task.tol:
            return False
        with task.share("newton"):
            return free_duals.newton_step(task, state)

    def _jumps(self, task: Task) -> bool:
        return self.tau is None and free_duals.may_help(task)

    def _order(self, task: Task, examples: np.ndarray) -> np.ndarray:
        """The examples in the order of a pass; with tau as in the paper, a permutation."""
        return sets.shuffled(task, examples, run=sets.RUN if self.tau is None else 1)

    def _tau(self, task: Task, state: WorkingSets) -> float:
        if self.tau is not None:
            return self.tau
        return IGNORED * max(task.tol, state.gap) if np.isfinite(state.gap) else 0.0

    def _work_on_known(self, task: Task, state: WorkingSets, violation: float) -> Passes[None]:
        """Type-II passes until the gap (or, with tau, the violation) of known outputs is small."""
        tau = self._tau(task, state)
        enough = ENOUGH if task.shards <= FEW_SHARDS else ENOUGH_SHARED
        for _ in range(min(self.inner, max(EARLY, state.iterations - 2))):
            worth = state.duals.count > 1
            if self.tau is None:  # shrinking
                worth &= state.visits.gap > tau
            order = self._order(task, np.flatnonzero(worth))
            gap = yield from sets.sweep(task, state, order, PassOptions(False, tau=tau))
            if self.tau is None and gap < enough * state.gap:
                break
            if self.tau is not None and state.seen.violation < violation / 2:  # line 37
                break

    def _settle(self, task: Task, state: WorkingSets) -> Passes[None]:
        """Type-II passes on the outputs of a run with another C, before the first type-I pass."""
        begun = 0.0
        for _ in range(min(self.inner, EARLY)):
            order = self._order(task, np.flatnonzero(state.duals.count > 1))
            gap = yield from sets.sweep(task, state, order, PassOptions(False, tau=0.0))
            begun = begun or gap
            if gap < ENOUGH * begun:
                break
        state.settled = True

    def wanted(self, task: Task, state: WorkingSets) -> str | None:
        """The point to certify after this iteration, if any."""
        close = state.gap <= 2 * task.tol or state.finished or task.last
        if state.iterations < state.next_look and not close:
            return None
        state.next_look = int(1.1 * state.iterations) + 1
        # The average is better at first, the last point near the end.
        often = 2 if close else 8
        averaged = self._averages(task) and state.looks % often != often - 1
        if averaged and not state.finished:
            return sets.AVERAGE
        return sets.SMOOTH if len(state.smooth) and not state.finished else sets.LAST
