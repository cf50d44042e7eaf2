"""Block-coordinate Frank-Wolfe: Lacoste-Julien, Jaggi, Schmidt and Pletscher (2013).

A visit moves the dual variables of one example towards its most violated output, by an exact line
search. With cached planes (Shah, Kolmogorov and Lampert, 2015) there are passes over the known
outputs between those that call the oracle. With gap sampling (Osokin et al., 2016) examples with a
large gap are visited more often.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..engine.arrays import PassOptions
from ..errors import DataError
from . import working_sets as sets
from .base import Step
from .dual import DualSolver
from .task import Task
from .warm import WarmStart, rescale_duals, take_over
from .working_sets import Passes, WorkingSets

#: With gap sampling: number of passes after which the gaps of all examples are computed again.
REFRESH = 10


@dataclass(frozen=True)
class BCFW(DualSolver):
    """Block-coordinate Frank-Wolfe, for every problem and both rescalings.

    Parameters
    ----------
    inner : int
        Number of passes over the known outputs after each pass that calls the oracle; 0 for the
        algorithm without cached planes.
    sampling : {"permutation", "gap"}
        Visit all examples in random order, or sample them in proportion to their last known gap.
    average : bool
        Certify in turn the last w and the average of w over all visits, in which visit t has the
        weight t.
    """

    inner: int = 5
    sampling: str = "permutation"
    average: bool = True

    name = "bcfw"

    def __post_init__(self) -> None:
        if self.inner < 0:
            raise DataError(f"inner must be a number of passes >= 0, got {self.inner}")
        if self.sampling not in ("permutation", "gap"):
            raise DataError(f"sampling must be 'permutation' or 'gap', got {self.sampling!r}")

    def loops(self, task: Task) -> tuple[str, ...]:
        """The compiled passes it calls."""
        return ("ascend frank-wolfe",)

    def init(self, task: Task) -> WorkingSets:
        """alpha is 1 at the truth, w = 0."""
        task.frank_wolfe = True
        return sets.begin(task, power=self.average_power(task))

    def average_power(self, task: Task) -> float | None:
        """1, if there is an average."""
        return 1.0 if self.average else None

    def without_average(self) -> BCFW:
        """The same method without an average."""
        return replace(self, average=False)

    def restart(self, task: Task, state: WorkingSets, C: float) -> WorkingSets:
        """From a run with another C."""
        task.frank_wolfe = True
        rescale_duals(task, state, C)
        return state

    def extend(
        self, task: Task, state: WorkingSets, kept: WarmStart, relabel: np.ndarray | None
    ) -> WorkingSets:
        """From a run on the first of these examples."""
        fresh = self.init(task)
        take_over(task, fresh, state.duals, relabel)
        return fresh

    def step_once(self, task: Task, state: WorkingSets) -> Step:
        """Passes with and without the oracle, and in some iterations a certificate."""
        for _ in self.ascend(task, state):
            pass
        return sets.certify(task, state, self.wanted(task, state))

    def ascend(self, task: Task, state: WorkingSets) -> Passes[None]:
        """A pass that calls the oracle, followed by passes over the known outputs."""
        with task.share("oracle"):
            order, everyone = self._order(task, state)
            gap = yield from sets.sweep(task, state, order, PassOptions(True, frank_wolfe=True))
            if everyone:
                state.gap = gap
        state.iterations += 1
        with task.share("inner"):
            for _ in range(self.inner):
                known = sets.shuffled(task, np.flatnonzero(state.duals.count > 1))
                gap = yield from sets.sweep(
                    task, state, known, PassOptions(False, frank_wolfe=True)
                )
                if gap < 0.1 * state.gap:
                    break

    def _order(self, task: Task, state: WorkingSets) -> tuple[np.ndarray, bool]:
        """The examples of a pass, and whether these are all examples."""
        gap = np.maximum(state.visits.gap, 0.0) * task.shard.pack.weight  # rounding may be negative
        if self.sampling == "permutation" or state.iterations % REFRESH == 0 or gap.sum() <= 0:
            return sets.shuffled(task, task.shard.everyone), True
        order = task.random.choice(task.shard.n, task.shard.n, p=gap / gap.sum())
        return order, False

    def wanted(self, task: Task, state: WorkingSets) -> str | None:
        """The point to certify after this iteration, if any."""
        close = state.gap <= 2 * task.tol or task.last
        if state.iterations < state.next_look and not close:
            return None
        state.next_look = int(1.2 * state.iterations) + 1
        return sets.AVERAGE if self.average and state.looks % 2 == 0 else sets.LAST
