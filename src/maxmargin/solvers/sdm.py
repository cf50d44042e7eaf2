"""The sequential dual method: Algorithms 1 to 3 of Balamurugan et al. (2011).

Passes over the examples optimise the dual variables of one example at a time. A type-I pass asks
the oracle for new outputs; the type-II passes between them work on the outputs already known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..engine.arrays import PassOptions
from ..errors import DataError
from . import working_sets as sets
from .dual import DualSolver
from .task import Task
from .warm import WarmStart, rescale_duals, take_over
from .working_sets import Passes, WorkingSets

#: Examples are left alone whose KKT violation is below this part of the average gap.
IGNORED = 0.1

#: Type-II passes end when the known outputs have this part of the last gap left.
ENOUGH = 0.2

#: The most type-II passes of an early iteration.
EARLY = 5

#: Visit t weighs t to this power in the average: with 2 the average falls behind the last point
#: once convergence is fast (chunking, from 5 % on); 6 is worse in the first passes.
POWER = 4.0


@dataclass(frozen=True)
class SDM(DualSolver):
    """Sequential dual method, for every problem and both rescalings.

    ``SDM.from_paper()`` is the paper's own setting.

    Parameters
    ----------
    first : int
        Type-I passes before the first type-II pass (kappa_1).
    inner : int
        Type-II passes, at the most, after each type-I pass (kappa_2); in the first iterations not
        more than 5, for the known outputs are not yet those that matter.
    tau : float, optional
        The KKT violation that is left alone, fixed as in the paper; with it the paper's own rules
        hold: type-II passes visit every example and go on until the largest violation has halved,
        and training ends after a type-I pass without any violation above tau. By default tau
        follows the gap and tol, type-II passes skip examples whose gap was small (shrinking), and
        training ends by the certificate alone.
    average : bool
        Certify the average of w over all visits, visit t weighing t to the fourth, in turn with
        the last w: it is better early.
    """

    first: int = 2
    inner: int = 20
    tau: float | None = None
    average: bool = True

    name = "sdm"

    @classmethod
    def from_paper(cls) -> SDM:
        """The paper's constants; tau = 0.25 certifies no more than tol = 0.25."""
        return cls(first=10, inner=5, tau=0.25, average=False)

    def __post_init__(self) -> None:
        if self.inner < 0 or self.first < 0:
            raise DataError(f"inner and first are >= 0, got {self.inner} and {self.first}")
        if self.tau is not None and not self.tau >= 0:
            raise DataError(f"tau is a KKT violation >= 0, got {self.tau}")

    def init(self, task: Task) -> WorkingSets:
        """Line 2: alpha is 1 at the truth, w = 0."""
        return sets.begin(task, power=POWER if self.average else None)

    def restart(self, task: Task, state: WorkingSets, C: float) -> WorkingSets:
        """From a run with another C: the known outputs matter from the first iteration on."""
        rescale_duals(task, state, C)
        state.iterations, state.next_look = self.first, self.first + 1
        state.settled = False
        return state

    def extend(
        self, task: Task, state: WorkingSets, kept: WarmStart, relabel: np.ndarray | None
    ) -> WorkingSets:
        """From a run on the first of the examples."""
        fresh = self.init(task)
        take_over(task, fresh, state.duals, relabel)
        fresh.iterations, fresh.next_look = self.first, self.first + 1
        return fresh

    def step_once(self, task: Task, state: WorkingSets) -> tuple[np.ndarray | None, float, float]:
        """A type-I pass and the type-II passes after it; now and then a certificate."""
        for _ in self.ascend(task, state):
            pass
        return sets.certify(task, state, self.wanted(task, state))

    def ascend(self, task: Task, state: WorkingSets) -> Passes[None]:
        """A type-I pass and the type-II passes after it."""
        tau = self._tau(task, state)
        if not state.settled:
            with task.share("inner"):
                yield from self._settle(task, state)
        with task.share("oracle"):
            order = sets.shuffled(task, task.shard.everyone)
            state.gap = yield from sets.sweep(task, state, order, PassOptions(True, tau=tau))
        violation = state.seen.violation
        state.finished = self.tau is not None and violation <= tau  # lines 28 and 29
        state.iterations += 1
        if state.iterations > self.first and not state.finished:
            with task.share("inner"):
                yield from self._work_on_known(task, state, violation)

    def _tau(self, task: Task, state: WorkingSets) -> float:
        if self.tau is not None:
            return self.tau
        return IGNORED * max(task.tol, state.gap) if np.isfinite(state.gap) else 0.0

    def _work_on_known(self, task: Task, state: WorkingSets, violation: float) -> Passes[None]:
        """Type-II passes, until little is left of the gap (or half of the violation: tau_v)."""
        tau = self._tau(task, state)
        for _ in range(min(self.inner, max(EARLY, state.iterations - 2))):
            worth = state.duals.count > 1
            if self.tau is None:  # shrinking
                worth &= state.visits.gap > tau
            order = sets.shuffled(task, np.flatnonzero(worth))
            gap = yield from sets.sweep(task, state, order, PassOptions(False, tau=tau))
            if self.tau is None and gap < ENOUGH * state.gap:
                break
            if self.tau is not None and state.seen.violation < violation / 2:  # line 37
                break

    def _settle(self, task: Task, state: WorkingSets) -> Passes[None]:
        """Known outputs for another C: type-II passes come first, the oracle costs more."""
        begun = 0.0
        for _ in range(min(self.inner, EARLY)):
            order = sets.shuffled(task, np.flatnonzero(state.duals.count > 1))
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
        # The average is better for long, the last point in the end.
        often = 2 if close else 8
        averaged = self.average and not state.finished and state.looks % often != often - 1
        return sets.AVERAGE if averaged else sets.LAST
