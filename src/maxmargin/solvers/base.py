"""The training loop, the only one: stopping, clock, history, callbacks, interruption.

A solver is a frozen dataclass of options with three methods:

``init(task) -> state``
    Everything that changes during training lives in the state. A true ``state.finished`` ends
    training by a rule of the solver's own.
``step_once(task, state) -> (w, primal, dual)``
    One iteration. ``w`` is a point whose primal a complete oracle pass has just told, or None
    (it is copied where it is kept); ``dual`` is the value of a feasible dual point.
``planes(state) -> int``
    The size of its working set.
``loops(task) -> tuple of str``
    The loops it calls, by their names in ``bind.Loops``: these are compiled before the clock runs.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

from ..objective import gap_target
from ..result import Callback, Record, Result, Status, Stop
from .task import Clock, Task, TimeUp

#: So many iterations without any progress at all are rounding errors.
STALLED_AFTER = 30


class Solver(Protocol):
    """What the loop needs of a solver."""

    name: str

    def loops(self, task: Task) -> tuple[str, ...]:
        """The loops it calls."""
        ...

    def init(self, task: Task) -> Any:
        """The state before the first iteration."""
        ...

    def step_once(self, task: Task, state: Any) -> tuple[np.ndarray | None, float, float]:
        """One iteration: ``(w, primal, dual)``."""
        ...

    def planes(self, state: Any) -> int:
        """The size of the working set."""
        ...


class Certificate:
    """The best primal point and the best dual value seen: the optimum lies between them."""

    def __init__(self) -> None:
        self.w: np.ndarray | None = None
        self.primal = np.inf
        self.dual = -np.inf
        self.idle = 0

    def update(self, w: np.ndarray | None, primal: float, dual: float) -> None:
        """Keep what is better; count the iterations in which nothing was."""
        self.idle += 1
        if w is not None and primal < self.primal:
            if self.w is None:
                self.w = np.empty_like(w)
            np.copyto(self.w, w)
            self.primal, self.idle = primal, 0
        if dual > self.dual:
            self.dual, self.idle = dual, 0

    @property
    def gap(self) -> float:
        """P - D of the best points; rounding may not make it negative."""
        return max(self.primal - self.dual, 0.0)


def solve(solver: Solver, task: Task, stop: Stop, callbacks: Iterable[Callback] = ()) -> Result:
    """Train until the certificate meets ``tol``, or one of the limits is reached.

    Ctrl-C and the time limit end training at once, between two chunks of examples, and the last
    certified point is returned. Before the first pass there is none: a time limit waits for it,
    and Ctrl-C is passed on.
    """
    clock = Clock(stop.max_time)
    best = Certificate()
    history: list[Record] = []
    state = solver.init(task)
    try:
        with clock.noting_interrupts():
            status = _iterate(solver, task, state, stop, clock, best, history, list(callbacks))
    except TimeUp:
        status = Status.MAX_TIME
    except KeyboardInterrupt:
        if best.w is None or threading.current_thread() is not threading.main_thread():
            raise
        status = Status.INTERRUPTED
    assert best.w is not None
    return Result(
        w=best.w,
        primal=best.primal,
        dual=best.dual,
        gap=best.gap,
        status=status,
        n_iter=len(history),
        n_oracle=task.shard.n_oracle,
        time=clock.time(),
        history=history,
        shares=dict(task.shares),
        solver=solver.name,
        target=gap_target(stop.tol, task.C, task.n),
    )


def _iterate(
    solver: Solver,
    task: Task,
    state: Any,
    stop: Stop,
    clock: Clock,
    best: Certificate,
    history: list[Record],
    callbacks: list[Callback],
) -> Status:
    """Iterations until one of the rules ends them; returns which."""
    target = gap_target(stop.tol, task.C, task.n)
    for iteration in range(1, stop.max_iter + 1):
        # Whatever ends training, there must be a certified point by then.
        task.last = iteration == stop.max_iter or clock.over()
        best.update(*solver.step_once(task, state))
        history.append(_record(iteration, clock, task, best, solver.planes(state)))
        with clock.pause():
            wants_stop = [callback(history[-1], state) for callback in callbacks]
        if best.gap <= target:
            return Status.CONVERGED
        if getattr(state, "finished", False):
            return Status.OWN_RULE
        if best.idle >= STALLED_AFTER:
            return Status.STALLED
        if any(wants_stop) and best.w is not None:
            return Status.CALLBACK
        if best.w is not None:
            task.shard.check = clock.check
            clock.check()
    return Status.MAX_ITER


def _record(iteration: int, clock: Clock, task: Task, best: Certificate, planes: int) -> Record:
    return Record(
        iteration, clock.time(), task.shard.n_oracle, best.primal, best.dual, best.gap, planes
    )
