"""The solvers, one file each, and how they are named."""

from __future__ import annotations

from typing import Any

from ..errors import DataError
from .base import Solver, solve
from .bcfw import BCFW
from .n_slack import NSlack
from .one_slack import OneSlack
from .sdm import SDM
from .subgradient import Subgradient
from .task import Task

SOLVERS: dict[str, Any] = {
    "one-slack": OneSlack,
    "n-slack": NSlack,
    "sdm": SDM,
    "bcfw": BCFW,
    "subgradient": Subgradient,
}


#: From so many examples on, SDM's shorter training outweighs its longer first compilation.
MANY_EXAMPLES = 10_000


def get_solver(solver: Any, n: int) -> Solver:
    """A solver object from its name, for n examples; objects stay as they are.

    "auto" looks at counts only, so that runs repeat exactly. With few examples everything is fast,
    one-slack compiles in half the time, and it has no randomness: a weight of 2 is exactly an
    example given twice. With many, SDM is faster: to tol = 1e-2 it took between 0.14 and 0.63 of
    one-slack's time on digits, usps, letter and news20 (C = 0.01 and 1, one run each).
    """
    if solver == "auto":
        return SDM() if n >= MANY_EXAMPLES else OneSlack()
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


__all__ = [
    "BCFW", "SDM", "SOLVERS", "NSlack", "OneSlack", "Solver", "Subgradient", "Task", "get_solver",
    "solve",
]  # fmt: skip
