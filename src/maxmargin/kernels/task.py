"""The arguments of training with a kernel, and training on explicit features of a kernel."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..engine.fingerprint import fingerprint
from ..engine.shard import Shard
from ..problem import MODES, CompiledProblem
from ..result import Result
from ..saving.checkpoint import Checkpoint
from ..training import train_shard
from .audit import DualPoint, dual_point
from .rows import KernelRows
from .scores import ScoreShard, score_shard, with_matrix


@dataclass(frozen=True)
class Training:
    """All arguments of training with a kernel."""

    problem: CompiledProblem
    X: Any
    Y: Any
    weight: np.ndarray | None
    rows: KernelRows
    C: float
    rescaling: str
    options: dict[str, Any]  # solver, stop, random_state, verbose
    n_jobs: int
    checkpoint: Checkpoint | None = None

    @property
    def bias(self) -> float:
        """The value of the constant feature, or 0 without one."""
        return float(getattr(self.problem, "bias", 0.0))

    @property
    def mode(self) -> int:
        """The number of the rescaling."""
        return MODES[self.rescaling]

    def whole_rows(self) -> KernelRows:
        """The rows with the kernel of the whole space, including the constant feature."""
        if not self.bias:
            return self.rows
        kernel = replace(self.rows.kernel, offset=self.bias**2)
        return KernelRows(kernel, self.rows.X, self.rows.ids)

    def scored(self) -> ScoreShard:
        """The examples on scores; the constant feature is part of the kernel."""
        problem = copy.copy(self.problem)
        if self.bias:
            problem.bias = 0.0  # type: ignore[attr-defined]
        return score_shard(problem, self.X, self.Y, self.weight, self.whole_rows(), self.n_jobs)


class FeatureShard(Shard):
    """Examples on features of a kernel; its fingerprint does not depend on rounding errors."""

    source: tuple[Training, Any]

    def fingerprint(self) -> str:
        """A hash of the data and the basis that the features are computed from."""
        training, pivots = self.source
        return fingerprint(training.scored().fingerprint(), pivots)


def fit_features(
    training: Training,
    Z: np.ndarray,
    pivots: np.ndarray | None = None,
    bounds: str = "",
    **changes: Any,
) -> tuple[Result, Any]:
    """Train on features Z; returns the result and the last state of the solver.

    ``pivots``, the rows of the basis functions, identify the features in a checkpoint; ``bounds``
    says which models have these features, if not all.
    """
    X = with_matrix(training.X, Z)
    pack = training.problem.pack(X, training.Y, training.weight)
    seen: list[Any] = [None]

    def keep(record: Any, state: Any) -> None:
        seen[0] = state

    shard = FeatureShard(training.problem, pack, training.n_jobs)
    shard.source, shard.bounds = (training, pivots), bounds
    result = train_shard(
        shard, training.C, rescaling=training.rescaling, callbacks=[keep],
        **(training.options | changes),
    )  # fmt: skip
    return result, seen[0]


def duals_of(training: Training, duals: Any, Z: np.ndarray) -> DualPoint:
    """The dual variables of the solver, or those that SDM finds if the solver has none."""
    if duals is None:
        _, state = fit_features(training, Z, solver="sdm", verbose=0)
        duals = state.duals
    return dual_point(training.scored(), duals, training.C, training.mode)
