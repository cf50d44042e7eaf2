"""Training runs as measurements: the numbers that the experiments keep of a result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..result import Result
from .data import Dataset


def run_values(result: Result) -> dict[str, Any]:
    """What every run records; times are the solver's own, packing and compiling apart."""
    return {
        "time": result.time,
        "prepare_time": result.prepare_time,
        "compile_time": result.compile_time,
        "iterations": result.n_iter,
        "oracle_calls": result.n_oracle,
        "primal": result.primal,
        "dual": result.dual,
        "converged": result.converged,
        "qp_share": result.shares.get("qp", 0.0) / result.time,
    }


def train_multiclass(data: Dataset, **options: Any) -> Result:
    """Multi-class training with 0/1 loss on the training examples."""
    from ..problems.multiclass import Multiclass
    from ..training import train

    return train(Multiclass(data.classes), data.X, data.y, **options)


def stop_at(target: float) -> Callable[[Any, Any], bool]:
    """A callback that ends training once the primal is as low as ``target``."""
    return lambda record, state: record.primal <= target


def time_to(result: Result, target: float) -> float | None:
    """Seconds, packing included, until the certified primal was as low as ``target``."""
    for record in result.history:
        if record.primal <= target:
            return result.prepare_time + record.time
    return None


def curve(result: Result, points: int = 80) -> list[list[float]]:
    """Time and best primal so far, thinned out evenly in the logarithm of the iteration."""
    last = len(result.history) - 1
    chosen = np.unique(np.geomspace(1, last + 1, points).astype(int)) - 1
    return [[result.history[i].time, result.history[i].primal] for i in chosen]


def hinge_primal(coef: np.ndarray, X: Any, y: np.ndarray, C: float) -> float:
    """P = 1/2 |W|^2 + C sum_i max_k [k != y_i] + <w_k - w_{y_i}, x_i> of weights (k, d)."""
    scores = np.asarray(X @ coef.T)
    rows = np.arange(len(y))
    truth = scores[rows, y].copy()
    scores += 1.0
    scores[rows, y] -= 1.0
    return 0.5 * float((coef**2).sum()) + C * float((scores.max(axis=1) - truth).sum())


def accuracy(coef: np.ndarray, data: Dataset) -> float:
    """Part of the test examples that weights (k, d) label correctly."""
    return float((np.asarray(data.X_test @ coef.T).argmax(axis=1) == data.y_test).mean())
