"""The training loop of all solvers: stopping, clock, history, callbacks, interruption."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..engine.bounds import Hinge
from ..engine.shard import Shard
from ..engine.threads import no_limit
from ..engine.vectors import Vector
from ..objective import gap_target
from ..result import RELAXED, Callback, Record, Result, Status, Stop
from .base import Solver
from .certificate import Certificate
from .contradiction import check_bounds, check_bounds_read, check_finite
from .task import Clock, Task, TimeUp

#: Stop after this many iterations without any progress: only rounding errors are left.
STALLED_AFTER = 30

#: The bounds of relaxed problems come closer during training. So training goes on until the
#: optimisation part is below this fraction of the target, as long as the whole gap is above it.
PATIENCE = 0.5


@dataclass
class Run:
    """Everything that changes during training, as saved in a checkpoint."""

    state: Any
    clock: Clock
    best: Certificate = field(default_factory=Certificate)
    history: list[Record] = field(default_factory=list)
    at_rest: bool = True  # between iterations that do not depend on limits: it can be saved


def solve(
    solver: Solver,
    task: Task,
    stop: Stop,
    callbacks: Iterable[Callback] = (),
    saver: Any = None,
    start: Any = None,
) -> Result:
    """Train until the certificate meets ``tol``, or one of the limits is reached.

    Ctrl-C and the time limit end training between two chunks of examples, and the best certified
    weights are returned. Before the end of the first pass there are none: the time limit waits for
    it, and Ctrl-C raises KeyboardInterrupt. With a ``saver`` the iteration is completed first, and
    saved; so it is after an exception in a callback.

    Parameters
    ----------
    solver, task, stop, callbacks
    saver : saving.checkpoint.Saver, optional
        Saves the run to a file, and continues from it if the file exists.
    start : state, optional
        The initial state of this solver for this task; by default that of ``init``.
    """
    task.shard.check = no_limit  # remove the limits of an earlier run
    if task.shard.together is not None:
        task.shard.together.restart()
    run = Run(
        solver.init(task) if start is None else start,
        Clock(stop.max_time, patient=saver is not None),
        # If the values of a solver are estimates, its last point is kept.
        Certificate(solver.estimates, task.shard.threads),
    )
    try:
        with run.clock.noting_signals():
            if saver is not None and saver.restore(run) and run.best.w is not None:
                task.shard.check = run.clock.check
            status = _iterate(solver, task, run, stop, list(callbacks), saver)
    except TimeUp:
        status = Status.MAX_TIME
    except KeyboardInterrupt:
        if run.best.w is None or threading.current_thread() is not threading.main_thread():
            raise
        status = Status.INTERRUPTED
    best, target = run.best, gap_target(stop.tol, task.C, task.n)
    check_finite(best.w, best.primal, best.dual, every=True)
    trivial = not best.newest and _compare_with_zero(solver, task, run, stop)
    return Result(
        w=best.weights(
            task.shard.pack.dim, *(getattr(run.state, name, None) for name in ("w", "smooth"))
        ),
        primal=best.primal,
        dual=best.dual,
        gap=best.gap,
        gap_inference=best.gap_inference,
        status=Status.CONVERGED if trivial and best.gap <= target else status,
        n_iter=len(run.history),
        n_oracle=task.shard.n_oracle,
        time=run.clock.time(),
        earlier_time=run.clock.earlier,
        history=run.history,
        shares=dict(task.shares),
        state=run.state,
        solver=solver.name,
        target=target,
        bounds=task.shard.bounds,
        trivial=bool(trivial),
        deterministic=run.state.deterministic,
    )


def _iterate(
    solver: Solver,
    task: Task,
    run: Run,
    stop: Stop,
    callbacks: list[Callback],
    saver: Any,
) -> Status:
    """Iterate until a stopping rule applies; returns its status."""
    clock, best, history = run.clock, run.best, run.history
    wants_stop = False
    try:
        while (status := _ending(task, run, stop, wants_stop)) is None:
            # At the end of training there must be certified weights.
            task.last = len(history) + 1 >= stop.max_iter or clock.over()
            if saver is not None and task.last and run.at_rest:
                _save(saver, run)  # before an iteration that depends on the limit
            if best.w is not None:
                task.shard.check = clock.check
            if best.w is not None or clock.signals:
                clock.check_between_iterations()
            run.at_rest = False
            found: Any = solver.step_once(task, run.state)
            best.update(*found)
            check_bounds_read(solver, task)
            _check(solver, task, run, stop)
            history.append(_record(len(history) + 1, clock, task, best, solver.planes(run.state)))
            run.at_rest = not task.last
            with clock.pause():
                wants_stop = any([callback(history[-1], run.state) for callback in callbacks])
                if saver is not None and not task.last:
                    saver.save_if_due(run)
    finally:
        if saver is not None and run.at_rest:
            _save(saver, run)
    return status


def _save(saver: Any, run: Run) -> None:
    with run.clock.pause():
        saver.save(run)


def _check(solver: Solver, task: Task, run: Run, stop: Stop) -> None:
    """Check that D <= P; before the gap is small enough, compute D from its definition."""
    best = run.best
    if best.newest:  # estimates may violate D <= P
        return
    check_bounds(task, best.w, best.primal, best.dual)
    if best.gap_optimisation <= gap_target(stop.tol, task.C, task.n):
        exact = solver.exact_dual(task, run.state)
        best.dual = best.dual if exact is None else exact
        check_bounds(task, best.w, best.primal, best.dual)


def _compare_with_zero(solver: Solver, task: Task, run: Run, stop: Stop) -> bool:
    """Keep w = 0 if training has found nothing better; returns whether it is within tol.

    Most solvers start with P(0). For the others the oracle is called at w = 0, if that may be
    better than the best point or within the tolerance, until the sum shows that it is not.
    """
    best, target = run.best, gap_target(stop.tol, task.C, task.n)
    enough, unknown = max(best.found, best.dual + target), best.at_zero == np.inf
    if unknown and task.C * solver.least_at_zero(task, run.state) > enough:
        return False
    if unknown and _zero_may_do(best, target):
        task.shard.check = no_limit  # the limits may have passed
        # Zeros that are not written take no memory.
        zero = np.zeros(task.shard.pack.dim if isinstance(best.w, Vector) else best.w.shape)
        hinge = Hinge(0.0, 0.0)
        try:
            with task.share("certificate"):
                for part in _growing_parts(task.shard):
                    hinge = Hinge.sum([hinge, solver.hinge_at(task, run.state, zero, part)])
                    if task.C * hinge.found > enough:
                        return False
        except KeyboardInterrupt:
            return False
        best.update(zero, task.C * hinge.found, -np.inf, task.C * hinge.bound)
        _check(solver, task, run, stop)
    return best.at_zero - best.dual <= target


def _growing_parts(shard: Any) -> Iterator[np.ndarray | None]:
    """All examples in parts, each as large as all before it; None for examples elsewhere."""
    if not isinstance(shard, Shard):
        yield None
        return
    start, stop = 0, 16
    while start < shard.n:
        yield shard.everyone[start:stop]
        start, stop = stop, 2 * stop


def _zero_may_do(best: Certificate, target: float) -> bool:
    """Whether P(0) may be below P of the best point, or within the target of D.

    P is strongly convex: P(0) >= P(w*) + 1/2 |w*|^2 and |w - w*| <= sqrt(2 gap).
    """
    values = best.w.value if isinstance(best.w, Vector) else best.w
    length = max(float(np.linalg.norm(values)) - np.sqrt(2 * best.gap), 0.0)
    return 0.5 * length**2 <= max(best.gap, target)


def _ending(task: Task, run: Run, stop: Stop, wants_stop: bool) -> Status | None:
    """The status of the stopping rule that applies now, or None."""
    best = run.best
    target = gap_target(stop.tol, task.C, task.n)
    if best.gap <= target:
        return Status.CONVERGED
    if best.gap_optimisation <= (PATIENCE if task.shard.bounds == RELAXED else 1.0) * target:
        return Status.INFERENCE_LIMITED
    if run.state.finished:
        return run.state.status
    if best.w is None and len(run.history) >= stop.max_iter + STALLED_AFTER:
        check_finite(None, best.primal, best.dual, every=True)  # raises
    if best.idle >= STALLED_AFTER and not run.state.recovering:
        return Status.STALLED
    if wants_stop and best.w is not None:
        return Status.CALLBACK
    return Status.MAX_ITER if len(run.history) >= stop.max_iter and best.w is not None else None


def _record(iteration: int, clock: Clock, task: Task, best: Certificate, planes: int) -> Record:
    return Record(
        iteration, clock.time(), task.shard.n_oracle, best.primal, best.dual, best.gap, planes,
        best.gap_inference,
    )  # fmt: skip
