"""Checks that a state from a checkpoint agrees with the examples and with itself.

``state.Reader`` has checked types and shapes. Here numbers that compiled code uses as indices are
checked, and everything that follows from other parts of the state: w from the dual variables or
from the cuts, losses from labels, P from w. An altered file therefore cannot cause a crash, and is
unlikely to lead to a wrong certificate. Every function raises ValueError.

What all solvers have in common is checked here: history, certificate and random state. The parts
of a solver's state check themselves (``solvers.base.State.check_restored``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.checked import check_like
from ..engine.long_vectors import square
from ..engine.shard import Shard
from ..engine.vectors import Vector
from ..errors import CheckpointError
from ..objective import primal
from ..solvers.checking import check_plane, close, require
from ..solvers.task import Task
from .state import check_scalar, is_tuple, walk


def check_run(task: Task, run: Any) -> None:
    """Check the state and the certificate of a restored run."""
    check_state(task, run.state)
    numbers = all(isinstance(seconds, float) for seconds in task.shares.values())
    require(numbers, "the shares of the time are not numbers")
    check_history(run)
    check_certificate(task, run)
    if isinstance(task.shard, Shard) and hasattr(run.state, "check_restored_run"):
        run.state.check_restored_run(task, run)


def check_state(task: Task, state: Any) -> None:
    """Let all parts of a solver's state check themselves, if they can."""
    for part in walk(state):
        if hasattr(part, "check_restored"):
            part.check_restored(task)


def thaw_working_sets(task: Task, state: Any, kept: dict[str, Any], random: Any) -> None:
    """Fill the new state of a worker with what ``Worker.freeze`` returned."""
    try:
        for name, value in kept.items():
            fresh = getattr(state, name)
            if is_tuple(fresh):
                value = thaw_tuple(fresh, value)
            elif isinstance(fresh, np.ndarray):
                value = check_like(value, fresh, name, name in getattr(state, "grows", ()))
            elif not isinstance(fresh, dict):
                value = check_scalar(value, fresh, name)
            setattr(state, name, value)
        check_state(task, state)
        check_random(random)
        task.random.set_state(random)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise CheckpointError(f"the state of a shard is damaged or was altered: {error}") from error


def thaw_tuple(fresh: Any, fields: dict[str, Any]) -> Any:
    """A NamedTuple whose arrays and numbers have the types and shapes of a new one."""
    grows = getattr(fresh, "grows", ())
    require(set(fields) == set(fresh._fields), f"other fields than {fresh._fields}")

    def checked(name: str, value: Any) -> Any:
        known = getattr(fresh, name)
        if isinstance(known, np.ndarray):
            return check_like(value, known, name, name in grows)
        return check_scalar(value, known, name)

    return type(fresh)(**{name: checked(name, value) for name, value in fields.items()})


def check_random(state: Any) -> None:
    """Check the position of the random generator, which NumPy does not do."""
    place = state["state"].get("pos", 0)
    require(0 <= place <= 624, f"the random generator is at position {place}")


def check_history(run: Any) -> None:
    """The history has one record per iteration, and the last one has the certificate."""
    numbers = [record.iteration for record in run.history]
    require(numbers == list(range(1, len(numbers) + 1)), "the history has other iterations")
    for record in run.history:
        require(record.n_oracle >= 0 and record.planes >= 0, "the history has negative counts")
        require(np.isfinite(record.time), "the history has times that are not finite")
    if run.history:
        last = run.history[-1]
        same = (last.primal, last.dual) == (run.best.primal, run.best.dual)
        require(same, "the history does not end with the certificate")


def check_certificate(task: Task, run: Any) -> None:
    """P of the best weights is not larger than the stored value; this needs an oracle pass."""
    best, shard = run.best, task.shard
    if best.w is None:
        require(np.isinf(best.primal), "there is a primal value without a point")
        return
    if isinstance(best.w, Vector):
        check_plane(best.w, shard.pack.dim)
    else:
        require(
            isinstance(best.w, np.ndarray)
            and best.w.dtype == np.float64
            and best.w.shape == (shard.pack.dim,)
            and np.isfinite(best.w).all(),
            "the best point is not a vector of weights",
        )
    if best.newest or not isinstance(shard, Shard):
        return  # the value is an estimate, or the examples are in other processes
    point = best.weights(shard.pack.dim)
    require(best.dual <= best.primal or close(best.dual, best.primal), "dual exceeds primal")
    require((point[shard.positive] >= 0).all(), "the best point has weights of the wrong sign")
    require(best.found <= best.primal, "an upper bound is below the value found")
    n_oracle = shard.n_oracle
    points = [(point, best.primal, "its best point")]
    if best.at_zero < np.inf:
        points.append((np.zeros_like(point), best.at_zero, "w = 0"))
    for w, stored, name in points:
        hinge = shard.hinge(w, task.mode)
        value = primal(w, hinge.found, task.C, square(w, shard.threads))
        good = value <= stored or close(value, stored)
        require(good, f"{name} has the objective {value:.6g}, not {stored:.6g}")
        if w is point and hinge.found == hinge.bound:  # the oracle is exact
            require(close(best.found, best.primal), "an exact oracle has left a gap")
    shard.n_oracle = n_oracle
