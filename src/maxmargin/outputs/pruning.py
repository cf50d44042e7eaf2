"""Pruning: small weights are set to zero, and the objective is computed again."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

import numpy as np

from ..engine.shard import Shard
from ..errors import DataError
from ..problem import MODES, CompiledProblem, Pack


@dataclass(frozen=True)
class Pruning:
    """What pruning removed, and what it cost; ``print`` says it in a sentence.

    Attributes
    ----------
    weights, features : (int, int)
        Numbers of non-zero weights, and of features, before and after.
    primal : (float, float)
        The objective P(w) on the training data, before and after.
    dual : float
        The lower bound on the objective of all weights, which pruning does not change.
    """

    weights: tuple[int, int]
    features: tuple[int, int]
    primal: tuple[float, float]
    dual: float

    def __str__(self) -> str:
        (before, after), (all_features, kept) = self.weights, self.features
        (old, new), share = self.primal, 100 * after / max(before, 1)
        change = f"{100 * (new - old) / old:+.3g} %" if old else f"{new - old:+.4g}"
        return (
            f"kept {after:,} of {before:,} weights ({share:.1f} %) and {kept:,} of "
            f"{all_features:,} features; the objective rose from {old:.6g} to {new:.6g} "
            f"({change}); its lower bound is {self.dual:.6g}"
        )


def without_small(w: np.ndarray, below: float) -> np.ndarray:
    """w with zeros for weights smaller than ``below`` times the largest, in absolute value."""
    if not 0 <= below <= 1:
        raise DataError(f"below is a fraction of the largest weight, from 0 to 1; got {below!r}")
    size = np.abs(w)
    return np.where(size < below * size.max(initial=0.0), 0.0, w)


def objective(
    problem: CompiledProblem, pack: Pack, w: np.ndarray, C: float, rescaling: str, n_jobs: int = 1
) -> float:
    """P(w) = 1/2 |w|^2 + C sum_i weight_i H_i(w) of packed examples with their true outputs."""
    with closing(Shard(problem, pack, n_jobs)) as shard:
        w = shard.weights(w)
        return 0.5 * float(w @ w) + C * shard.hinge(w, MODES[rescaling]).bound


def check_same_data(known: float, found: float) -> None:
    """Raise a DataError if the objective of the model is another one on the given data."""
    if np.isfinite(known) and abs(found - known) > 1e-6 * max(abs(known), 1e-9):
        raise DataError(
            f"the objective of the model is {found:.6g} on these examples and was {known:.6g} in "
            "training: pruning needs the training examples, with their weights"
        )
