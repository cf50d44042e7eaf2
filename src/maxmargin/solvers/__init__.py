"""The solvers, one file each, and how they are named."""

from __future__ import annotations

from typing import Any

from ..engine.shard import Shard
from ..errors import DataError
from .base import Solver, solve
from .bcfw import BCFW
from .n_slack import NSlack
from .one_slack import OneSlack
from .sampled_cuts import SampledCuts
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

#: Those that work in the space of a kernel.
KERNEL_SOLVERS: dict[str, Any] = {
    "sampled-linear": SampledCuts,
    "sampled-constant": lambda: SampledCuts(kind="constant"),
}

#: Below so many operations in a pass of the oracle, training is over in an instant with any solver.
FEW_OPERATIONS = 1e5

#: The same as a number of examples, for problems whose operations nobody has counted.
FEW_EXAMPLES = 500


def choose(shard: Shard) -> Solver:
    """What "auto" means: it looks at counts only, so that runs repeat exactly.

    SDM, for it was the fastest on all sets of data that we have tried (``maxmargin bench
    auto-choice``). Where the data are tiny, one-slack: it compiles in half of the time, and it has
    no randomness, so that a weight of 2 is exactly an example given twice. It is also taken for
    problems in plain Python, where every visit of an example is interpreted: with its caches it
    needs the fewest of them.
    """
    if not shard.loops.compiled:
        return OneSlack()
    operations = shard.operations()
    tiny = shard.n < FEW_EXAMPLES if operations is None else operations < FEW_OPERATIONS
    return OneSlack() if tiny else SDM()


def get_solver(solver: Any, shard: Shard | None = None) -> Solver:
    """A solver object from its name; objects stay as they are.

    Without a shard there is nothing to choose by: "auto" is then only known to be a valid name.
    """
    if solver == "auto":
        return SDM() if shard is None else choose(shard)
    if isinstance(solver, str):
        known = SOLVERS | KERNEL_SOLVERS
        if solver not in known:
            raise DataError(
                f"solver {solver!r} is not one of 'auto', {', '.join(map(repr, known))}"
            )
        return known[solver]()
    if not callable(getattr(solver, "step_once", None)):
        raise DataError(
            f"solver is a name or a solver object such as mm.OneSlack(), got {solver!r}"
        )
    return solver


__all__ = [
    "BCFW", "KERNEL_SOLVERS", "SDM", "SOLVERS", "NSlack", "OneSlack", "SampledCuts", "Solver",
    "Subgradient", "Task", "get_solver", "solve",
]  # fmt: skip
