"""The contract of a solver: four methods that it must have, and hooks that do nothing by default.

A solver is a frozen dataclass of options in one file of this folder, found by itself, or in another
package that names it in the entry-point group ``maxmargin.solvers``. It derives from ``Solver``, or
from ``dual.DualSolver`` if it moves dual variables of single examples. ``subgradient.py`` is the
shortest to read, ``examples/toy_solver.py`` the smallest possible.

Everything that changes during training lives in the state that ``init`` returns: the options never
change, and a checkpoint saves the state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..result import Status
from .task import Task

if TYPE_CHECKING:
    from .warm import WarmStart

#: A point, its primal value and a lower bound; the point is None if no complete pass told P.
Step = tuple[Any, float, float]


class State:
    """What the training loop reads of a solver's state, which derives from it.

    A state that sets one of these itself declares it as a field: a checkpoint holds the attributes
    that a fresh state has.
    """

    #: Whether a rule of the solver itself ends training now, and how that is reported.
    finished: bool = False
    status: Status = Status.OWN_RULE

    #: Whether progress is lost for a while on purpose: the loop then does not call it stalled.
    recovering: bool = False

    #: Attributes that a checkpoint need not hold, because they follow from the rest.
    scratch: ClassVar[tuple[str, ...]] = ()

    def check_restored(self, task: Task) -> None:
        """Raise a ValueError if numbers from a checkpoint contradict the examples or each other.

        Every part of a state may have this method. Indices that compiled code uses must be checked.
        """

    def check_restored_run(self, task: Task, run: Any) -> None:
        """The same for what the best point and the history of the whole run tell.

        It is called on the state itself, if all examples are in this process.
        """


class Solver:
    """A method of training: what the loop in ``loop.py`` calls."""

    #: As users write it: ``solver="sdm"``.
    name: ClassVar[str] = ""

    #: More names, each with the options that it stands for.
    variants: ClassVar[dict[str, dict[str, Any]]] = {}

    #: Whether it works in the space of a kernel, on a ``kernels.scores.ScoreShard``.
    for_kernels: ClassVar[bool] = False

    #: Whether its primal values are estimates: then the last point is returned, not the best one.
    estimates: ClassVar[bool] = False

    #: Options that change only memory or time, not the iterates: a checkpoint ignores them.
    resources: ClassVar[tuple[str, ...]] = ()

    # What every solver must have.

    def loops(self, task: Task) -> tuple[str, ...]:
        """The compiled passes it calls, by their names in ``engine.bind.Loops``."""
        raise NotImplementedError

    def init(self, task: Task) -> Any:
        """The state before the first iteration, at w = 0: a ``State``."""
        raise NotImplementedError

    def step_once(self, task: Task, state: Any) -> Step:
        """One iteration: ``(w, primal, dual)``.

        ``w`` is a point whose primal value a complete pass of the oracle has just told, or None; it
        is copied where it is kept. ``dual`` is the value of a feasible dual point, -inf if none is
        known.
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
        """A first state from the last one of a run with another ``C`` on the same examples.

        None if nothing of it is of use.
        """
        return None

    def extend(self, task: Task, state: Any, kept: WarmStart, relabel: np.ndarray | None) -> Any:
        """A first state from the last one of a run on the first of the examples, or None."""
        return None

    def exact_dual(self, task: Task, state: Any) -> float | None:
        """The dual value of the present point from its definition, before it certifies anything.

        None if the values of ``step_once`` carry no rounding errors along.
        """
        return None

    def freeze(self, task: Task, state: Any) -> None:
        """Before a checkpoint: take what is known elsewhere, such as in workers, into the state."""

    def thaw(self, task: Task, state: Any) -> None:
        """After a checkpoint was read into ``state``: give it back."""
