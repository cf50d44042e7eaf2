"""What the dual methods share beyond working sets: the hooks that let them run over shards."""

from __future__ import annotations

from typing import Any, ClassVar

from . import working_sets as sets
from .base import Solver
from .task import Task
from .working_sets import Passes


class DualSolver(Solver):
    """A schedule of passes over examples, each moving the dual variables of one example at a time.

    Its state is a ``working_sets.WorkingSets``. With these hooks it also runs over several shards
    (``backends/cocoa.py``).
    """

    #: Attributes of the state that each shard takes from the state of all.
    controls: ClassVar[tuple[str, ...]] = ()

    #: Whether the QP over the known outputs is solved after each certificate, by ``settle``.
    settles: ClassVar[bool] = False

    def loops(self, task: Task) -> tuple[str, ...]:
        """Dual ascent, and w from its dual variables."""
        return ("ascend", "sum")

    def ascend(self, task: Task, state: Any) -> Passes[None]:
        """One iteration, as a generator that stops where w may be exchanged with other shards."""
        raise NotImplementedError

    def wanted(self, task: Task, state: Any) -> str | None:
        """The point to certify after this iteration: LAST, AVERAGE, SEEN, or None for no point."""
        raise NotImplementedError

    def refine(self, task: Task, state: Any, gap: float) -> None:
        """Learn the gap of a certificate, if the solver ``settles``."""

    def settle(self, task: Task, state: Any) -> Passes[float]:
        """Solve the QP over the known outputs; returns their gap at the beginning, over C n."""
        raise NotImplementedError

    def planes(self, state: Any) -> int:
        """Dual variables that are not zero, those of the truth aside."""
        return int((state.duals.alpha[:, 1:] > 0).sum())

    def exact_dual(self, task: Task, state: Any) -> float:
        """D(alpha), with w(alpha) from its definition."""
        return sets.exact_dual(task, state)
