"""The base class of the dual methods, with the hooks for training on several shards."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from ..engine.bounds import Hinge
from . import working_sets as sets
from .base import Solver
from .task import Task
from .working_sets import Passes


class DualSolver(Solver):
    """A solver that changes the dual variables of one example at a time, in passes over examples.

    Its state is a ``working_sets.WorkingSets``. With these hooks it can also train on several
    shards (``backends/master.py``).
    """

    #: Attributes that the state of each shard takes from the global state.
    controls: ClassVar[tuple[str, ...]] = ()

    #: Whether the QP over the known outputs is solved after each certificate, by ``settle``.
    settles: ClassVar[bool] = False

    #: Whether several shards make the same passes at the same time, so that they can tell each
    #: other what they change (``backends/hearsay.py``); outputs are dropped by passes only.
    in_step: ClassVar[bool] = False

    for_bounds = True
    for_signs = True

    def loops(self, task: Task) -> tuple[str, ...]:
        """The compiled passes it calls: dual ascent, and w from the dual variables."""
        return ("ascend",)

    def average_power(self, task: Task) -> float | None:
        """In the average of w over all visits, visit t has the weight t ** power; None for none."""
        return None

    def smooths(self, task: Task) -> bool:
        """Whether there is an average of w over the iterations."""
        return False

    def without_average(self) -> Self:
        """The same method without an average, for shards whose driver has the average."""
        return self

    def ascend(self, task: Task, state: Any) -> Passes[None]:
        """One iteration, as a generator that pauses where w may be exchanged with other shards."""
        raise NotImplementedError

    def wanted(self, task: Task, state: Any) -> str | None:
        """The point to certify after this iteration: LAST, AVERAGE, SMOOTH, SEEN, or None."""
        raise NotImplementedError

    def refine(self, task: Task, state: Any, gap: float) -> None:
        """Called with the gap of a certificate, if the solver ``settles``."""

    def settle(self, task: Task, state: Any) -> Passes[float]:
        """Solve the QP over the known outputs; returns their initial gap, divided by C n."""
        raise NotImplementedError

    def planes(self, state: Any) -> int:
        """Number of non-zero dual variables, except those of the truth."""
        return int((state.duals.alpha[:, 1:] > 0).sum())

    def exact_dual(self, task: Task, state: Any) -> float:
        """D(alpha), with w(alpha) from its definition."""
        return sets.exact_dual(task, state)

    def least_at_zero(self, task: Task, state: Any) -> float:
        """The largest loss of a known output of each example."""
        duals = state.duals
        known = np.arange(duals.loss.shape[1]) < duals.count[:, None]
        return float(task.shard.pack.weight @ np.where(known, duals.loss, 0.0).max(axis=1))

    def hinge_at(
        self, task: Task, state: Any, w: np.ndarray, order: np.ndarray | None = None
    ) -> Hinge:
        """sum_i weight_i H_i(w), by the pass of dual ascent, which is compiled anyway."""
        return sets.hinge_at(task, state, w, add=False, order=order)
