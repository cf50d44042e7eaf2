"""The interface of a solver: four required methods, and hooks that do nothing by default.

A solver is a frozen dataclass of options in one file of this folder, where it is found
automatically, or in another package, which names it in the entry-point group ``maxmargin.solvers``.
It is a subclass of ``Solver``, or of ``dual.DualSolver`` if it changes the dual variables of one
example at a time. ``subgradient.py`` is the shortest to read; ``examples/toy_solver.py`` is a
minimal one.

Everything that changes during training is in the state that ``init`` returns. Options never change,
and a checkpoint saves the state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..engine.bounds import Hinge
from ..engine.long_vectors import square
from ..objective import primal
from ..result import Status
from .task import Task

if TYPE_CHECKING:
    from .warm import WarmStart

#: Weights w, P(w) and a lower bound; w is None if no complete pass has computed P. If the oracle is
#: not exact, P(w) is that of the outputs found, and a fourth number is an upper bound of it.
Step = tuple[Any, float, float] | tuple[Any, float, float, float]

#: A step with its upper bound.
BoundedStep = tuple[Any, float, float, float]


def certified(task: Task, w: np.ndarray, hinge: Hinge, dual: float) -> BoundedStep:
    """What ``step_once`` returns for a point with the sum ``hinge`` of its losses."""
    found = primal(w, hinge.found, task.C, square(w, task.shard.threads))
    return w, found, dual, found + task.C * (hinge.bound - hinge.found)


class State:
    """What the training loop reads of a solver's state, which derives from it.

    A state that sets one of these itself declares it as a field: a checkpoint holds the attributes
    that a fresh state has.
    """

    #: Whether a stopping rule of the solver ends training now, and the status that is reported.
    finished: bool = False
    status: Status = Status.OWN_RULE

    #: Whether another run has the same iterates; not if threads have changed w at the same time.
    deterministic: bool = True

    #: Whether progress was lost on purpose, for a while: training is then not considered stalled.
    recovering: bool = False

    #: Attributes that a checkpoint does not store, because they follow from the others.
    scratch: ClassVar[tuple[str, ...]] = ()

    def check_restored(self, task: Task) -> None:
        """Raise a ValueError if numbers from a checkpoint contradict the examples or each other.

        Every part of a state may have this method. Indices that compiled code uses must be checked.
        """

    def check_restored_run(self, task: Task, run: Any) -> None:
        """Like ``check_restored``, for checks that need the best point and history of the run.

        It is called only for the state itself, and if all examples are in this process.
        """


class Solver:
    """A training method, called by the training loop (``loop.py``)."""

    #: The name for users, as in ``solver="sdm"``.
    name: ClassVar[str] = ""

    #: Other names, each with the options that it stands for.
    variants: ClassVar[dict[str, dict[str, Any]]] = {}

    #: Whether it works in the space of a kernel, on a ``kernels.scores.ScoreShard``.
    for_kernels: ClassVar[bool] = False

    #: Whether it needs all outputs of an example, and they are few (``n_outputs``).
    few_outputs: ClassVar[bool] = False

    #: Whether its primal values are estimates; then the last weights are returned, not the best.
    estimates: ClassVar[bool] = False

    #: Whether it returns upper bounds of P for oracles that give them (``Functions.bounded``).
    for_bounds: ClassVar[bool] = False

    #: Whether it obeys sign constraints (``CompiledProblem.positive``).
    for_signs: ClassVar[bool] = False

    #: Whether its state has sums over examples, which hold only as long as none of these changes.
    keeps_sums: ClassVar[bool] = False

    #: Options that change only memory or time, not the iterates; a checkpoint ignores them.
    resources: ClassVar[tuple[str, ...]] = ()

    # Methods that every solver must define.

    def loops(self, task: Task) -> tuple[str, ...]:
        """The compiled passes it calls, by their names in ``engine.bind.Loops``."""
        raise NotImplementedError

    def init(self, task: Task) -> Any:
        """The state before the first iteration, at w = 0: a ``State``."""
        raise NotImplementedError

    def step_once(self, task: Task, state: Any) -> Step:
        """One iteration; returns ``(w, primal, dual)`` or ``(w, primal, dual, upper)``.

        ``primal`` is P(w), computed by a complete oracle pass in this iteration; w is None if there
        was no such pass. The caller copies w if it keeps it. ``dual`` is the value of a feasible
        dual point, or -inf if none is known. If the oracle is not exact, ``primal`` is P(w) of the
        best outputs known, and ``upper`` an upper bound of P(w), from the oracle's bounds.
        """
        raise NotImplementedError

    def planes(self, state: Any) -> int:
        """The size of the working set."""
        raise NotImplementedError

    # Hooks.

    def warm_up(self, task: Task) -> float:
        """Compile what ``loops`` does not name, before the clock starts; returns the seconds."""
        return 0.0

    def restart(self, task: Task, state: Any, C: float) -> Any:
        """An initial state from the last state of a run with another ``C`` on the same examples.

        None if the last state is of no use.
        """
        return None

    def extend(self, task: Task, state: Any, kept: WarmStart, relabel: np.ndarray | None) -> Any:
        """An initial state from the last state of a run on the first of the examples, or None."""
        return None

    def exact_dual(self, task: Task, state: Any) -> float | None:
        """The current dual value, computed from its definition, before a certificate uses it.

        None if the values of ``step_once`` do not accumulate rounding errors.
        """
        return None

    def hinge_at(
        self, task: Task, state: Any, w: np.ndarray, order: np.ndarray | None = None
    ) -> Hinge:
        """sum_i weight_i H_i(w) over the examples of ``order``, by default all.

        It is called after the last iteration.
        """
        return task.shard.hinge(w, task.mode, order)

    def least_at_zero(self, task: Task, state: Any) -> float:
        """A lower bound of sum_i weight_i H_i(0), the sum of the largest losses, that is fast.

        It is called after the last iteration.
        """
        return 0.0

    def freeze(self, task: Task, state: Any) -> None:
        """Called before a checkpoint: copy data from elsewhere, such as workers, into the state."""

    def thaw(self, task: Task, state: Any) -> None:
        """Called after a checkpoint was read into ``state``: send the data back."""
