"""The solvers, one file each, and how they are found and chosen.

Every ``base.Solver`` in a file of this folder is found and available by its name. Solvers of other
packages are found through the entry-point group ``maxmargin.solvers``.
"""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from typing import Any

from ..engine.shard import Shard
from ..engine.smooth import outputs_of
from ..errors import DataError
from .base import Solver, State
from .dual import DualSolver
from .loop import solve
from .newton import Newton
from .one_slack import OneSlack
from .sdm import SDM
from .task import Task, is_tiny

#: The entry-point group of solvers in other packages.
GROUP = "maxmargin.solvers"


@cache
def solver_classes() -> tuple[type[Solver], ...]:
    """The classes of all solvers; a warning names plug-ins that cannot be imported."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    found = {
        cls
        for module in modules
        for cls in vars(module).values()
        if _is_solver(cls) and cls.__module__ == module.__name__
    }
    for point in entry_points(group=GROUP):
        try:
            cls = point.load()
        except Exception as error:
            _skip(point.name, f"cannot be imported: {error!r}")
            continue
        if _is_solver(cls):
            found.add(cls)
        else:
            _skip(point.name, "is no solver: its class derives from mm.Solver and has a name")
    return tuple(sorted(found, key=lambda cls: cls.name))


def _skip(name: str, reason: str) -> None:
    warnings.warn(f"the solver {name!r} {reason}; it is skipped", stacklevel=3)


def _is_solver(cls: Any) -> bool:
    """Whether it is a solver that users can name."""
    return isinstance(cls, type) and issubclass(cls, Solver) and bool(cls.name)


@cache
def solver_names(for_kernels: bool | None = None) -> dict[str, tuple[type[Solver], dict[str, Any]]]:
    """By name: the class and the options that the name stands for.

    With ``for_kernels`` only those that work in the space of a kernel, or only the others.
    """
    return {
        name: (cls, options)
        for cls in solver_classes()
        if for_kernels is None or cls.for_kernels == for_kernels
        for name, options in (cls.variants or {cls.name: {}}).items()
    }


#: "auto" chooses one-slack if C |plane|^2 is at least this and there are fewer weights than labels:
#: dual methods then need about as many passes as this product, unless the data are separable.
HARD = 1e3

#: "auto" chooses Newton's method for at most this many weights, at least this many examples, and as
#: many for each weight, if its curvature takes at most this many times as long as an oracle pass.
FEW_WEIGHTS, MANY, MANY_PER_WEIGHT, CURVATURE = 1024, 10_000, 100, 100.0


def choose(shard: Shard, C: float = 1.0) -> Solver:
    """The solver of "auto", chosen from counts and sizes only, so that runs are reproducible.

    The default is SDM, which was the fastest on all data sets that we have tried
    (``python -m benchmarks auto-choice``).
    For tiny data it is one-slack, which compiles in half of the time. It also has no randomness, so
    that an example with weight 2 counts exactly like two examples. For problems in plain Python,
    where every visit of an example is interpreted, it is one-slack too, which needs the fewest
    visits thanks to its caches. If C is large and the data cannot be separated, because they have
    more labels than weights, only one-slack comes close to the optimum. With many examples, few
    weights and few outputs Newton's method is faster than both, and the last digits cost little.
    """
    if not shard.loops.compiled:
        return OneSlack()
    if _suits_newton(shard):
        return Newton()
    return OneSlack() if is_tiny(shard) or _is_hard(shard, C) else SDM()


def _is_hard(shard: Shard, C: float) -> bool:
    """Whether dual methods would need too many passes, as far as the problem knows."""
    if not isinstance(shard, Shard) or shard.pack.dim > len(shard.pack.truth):
        return False
    square = shard.problem.plane_square(shard.pack)
    return square is not None and C * shard.total_weight / shard.n * square >= HARD


def _suits_newton(shard: Shard) -> bool:
    """Whether there are many examples, few weights, and few pairs of outputs with short planes."""
    dim, n, K = shard.pack.dim, shard.n, shard.problem.n_outputs
    if K is None or dim > FEW_WEIGHTS or n < max(MANY, MANY_PER_WEIGHT * dim):
        return False
    if not isinstance(shard, Shard) or shard.for_kernels or outputs_of(shard) is None:
        return False
    operations = shard.operations()
    pairs = n * K * (K - 1) / 2 * shard.pack.width**2 / 2
    return operations is not None and pairs <= CURVATURE * operations and not len(shard.positive)


def get_solver(solver: Any, shard: Shard | None = None, C: float = 1.0) -> Solver:
    """A solver object from its name; objects are returned unchanged.

    "auto" depends on the shard and C. Without a shard it gives SDM; this is only used to check
    names.
    """
    if isinstance(solver, str) and solver == "auto":
        return SDM() if shard is None else choose(shard, C)
    if isinstance(solver, str):
        known = solver_names()
        if solver not in known:
            raise DataError(
                f"solver {solver!r} is not one of 'auto', {', '.join(map(repr, known))}; a solver "
                "of your own is given as an object"
            )
        cls, options = known[solver]
        return cls(**options)
    if not isinstance(solver, Solver):
        raise DataError(
            "solver must be a name or a solver object such as mm.OneSlack() (a subclass of "
            f"mm.Solver), got {solver!r}"
        )
    return solver


__all__ = [
    "DualSolver", "Solver", "State", "Task", "choose", "get_solver", "solve", "solver_classes",
    "solver_names",
]  # fmt: skip
