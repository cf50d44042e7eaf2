"""The solvers, one file each, and how they are named."""

from __future__ import annotations

from typing import Any

from ..errors import DataError
from .base import Solver, solve
from .one_slack import OneSlack
from .sdm import SDM
from .task import Task

SOLVERS = {"one-slack": OneSlack, "sdm": SDM}


def get_solver(solver: Any) -> Solver:
    """A solver object from its name; objects stay as they are."""
    if solver == "auto":
        return OneSlack()
    if isinstance(solver, str):
        if solver not in SOLVERS:
            raise DataError(
                f"solver {solver!r} is not one of 'auto', {', '.join(map(repr, SOLVERS))}"
            )
        return SOLVERS[solver]()
    if not callable(getattr(solver, "step_once", None)):
        raise DataError(
            f"solver is a name or a solver object such as mm.OneSlack(), got {solver!r}"
        )
    return solver


__all__ = ["SDM", "SOLVERS", "OneSlack", "Solver", "Task", "get_solver", "solve"]
