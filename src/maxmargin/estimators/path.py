"""Regularization paths: training for several values of C, each from the result before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..engine.python import as_compiled_problem
from ..engine.shard import Shard
from ..errors import DataError
from ..objective import check_positive
from ..result import Result, Stop
from ..training import check_examples, check_stop, train_shard


@dataclass
class RegularizationPath:
    """The results for all values of C.

    Attributes
    ----------
    Cs : array (n_values,)
        In increasing order.
    results : list of Result
        One for each value of C; its oracle calls are those in addition to the values before it.
    separate : list of Result
        The results of separate runs, if ``compare=True``.
    """

    Cs: np.ndarray
    results: list[Result]
    separate: list[Result] = field(default_factory=list)

    @property
    def n_oracle(self) -> int:
        """Number of oracle calls for all values together."""
        return sum(result.n_oracle for result in self.results)

    @property
    def time(self) -> float:
        """Seconds in the solver for all values together."""
        return sum(result.time for result in self.results)

    @property
    def saved(self) -> float:
        """The fraction of the oracle calls of separate runs that the path saves."""
        if not self.separate:
            raise DataError(
                "there are no separate runs to compare with: use "
                "regularization_path(..., compare=True)"
            )
        return 1.0 - self.n_oracle / max(sum(result.n_oracle for result in self.separate), 1)

    def __repr__(self) -> str:
        lines = [f"Path of {len(self.Cs)} values of C, {self.n_oracle} oracle calls"]
        if self.separate:
            lines[0] += f", {self.saved:.0%} fewer than in separate runs"
        for k, (C, result) in enumerate(zip(self.Cs, self.results, strict=True)):
            more = f" (from scratch {self.separate[k].n_oracle})" if self.separate else ""
            lines.append(
                f"  C={C:<10.4g} {result.status.name}, primal {result.primal:.6g}, gap "
                f"{result.gap:.3g}, {result.n_oracle} oracle calls{more}"
            )
        return "\n".join(lines)


def regularization_path(
    problem: Any,
    X: Any,
    Y: Any,
    Cs: Any = 10,
    *,
    solver: Any = "auto",
    tol: float = 1e-2,
    rescaling: str = "margin",
    sample_weight: Any = None,
    max_iter: int = 10_000,
    max_time: float | None = None,
    n_jobs: int | None = 1,
    random_state: Any = 0,
    compare: bool = False,
) -> RegularizationPath:
    """Train for several values of C, from the smallest to the largest.

    Planes do not depend on C, so the one-slack solver keeps its cuts and caches, and dual methods
    keep their working sets and dual variables. Each result has its own certificate.

    Parameters
    ----------
    problem, X, Y, solver, tol, rescaling, sample_weight, n_jobs, random_state
        As for ``train``.
    Cs : int or array of float
        The values of C, or the number of values between 0.001 and 10, on a logarithmic scale.
    max_iter : int
        Maximum number of iterations for each value.
    max_time : float, optional
        Maximum time for each value, in seconds.
    compare : bool
        Also train each value separately, to see what the path saves.

    Returns
    -------
    RegularizationPath

    Examples
    --------
    >>> import numpy as np, maxmargin as mm
    >>> from maxmargin.structures.multiclass.problem import Multiclass
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> found = mm.regularization_path(Multiclass(3), X, [0, 1, 2], [0.1, 1.0])
    >>> [result.status.name for result in found.results]
    ['CONVERGED', 'CONVERGED']
    """
    values = check_Cs(Cs)
    stop = check_stop(tol, max_iter, max_time)
    compiled_problem = as_compiled_problem(problem)
    pack = compiled_problem.pack(X, Y, check_examples(X, Y, sample_weight))
    options = (solver, stop, rescaling, random_state)
    with closing(Shard(compiled_problem, pack, n_jobs or 1)) as shard:
        results = list(train_path(shard, values, *options))
        separate = [train_shard(shard, C, *options) for C in values] if compare else []
    return RegularizationPath(values, results, separate)


def train_path(
    shard: Shard,
    Cs: Sequence[float] | np.ndarray,
    solver: Any,
    stop: Stop,
    rescaling: str = "margin",
    random_state: Any = 0,
) -> Iterator[Result]:
    """The results for increasing values of C, each trained from the result before it."""
    kept = None
    for C in Cs:
        result = train_shard(
            shard, float(C), solver, stop, rescaling, random_state, start=kept, keep=True
        )
        kept, result.state = result.state, None
        yield result


def check_Cs(Cs: Any) -> np.ndarray:
    """The values of C in increasing order."""
    if isinstance(Cs, int | np.integer) and not isinstance(Cs, bool):
        if Cs < 1:
            raise DataError(f"Cs is a number of values >= 1, or the values, got {Cs}")
        return np.logspace(-3, 1, Cs)
    values = np.unique([check_positive("a value of Cs", C) for C in np.atleast_1d(Cs).tolist()])
    if len(values) == 0:
        raise DataError("Cs is empty: give at least one value of C")
    return values
