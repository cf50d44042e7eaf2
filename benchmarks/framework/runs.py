"""Training runs as measurements: the numbers of a result that the experiments keep."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.result import Record, Result

from .data import Dataset
from .sequences import Tagged


def run_values(result: Result) -> dict[str, Any]:
    """What every run records; times are the solver's, without packing and compiling."""
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
    from maxmargin.structures.multiclass.problem import Multiclass
    from maxmargin.training import train

    return train(Multiclass(data.classes), data.X, data.y, **options)


def train_chain(data: Tagged, **options: Any) -> Result:
    """Training of a chain with Hamming loss on the training sequences."""
    from maxmargin.structures.chain.problem import Chain
    from maxmargin.training import train

    return train(Chain(len(data.labels)), data.X, data.Y, **options)


class TokenAccuracy:
    """Test accuracy of the weights of a chain, on the first n test sequences, packed once."""

    def __init__(self, data: Tagged, n: int | None = None):
        from maxmargin.structures.chain.problem import Chain

        self.problem = Chain(len(data.labels))
        self.pack = self.problem.pack(data.X_test[:n])
        self.truth = data.truth[: self.pack.offsets[-1]]

    def __call__(self, w: np.ndarray) -> float:
        """The fraction of the test tokens whose label is right."""
        from maxmargin.engine.shard import predict_labels

        return float((predict_labels(self.problem, self.pack, w) == self.truth).mean())


class Watch:
    """A callback that records time, dual value and test accuracy, and may end training.

    Parameters
    ----------
    measure : TokenAccuracy
    weights : callable
        ``weights(state)`` is the w to test.
    done : callable
        ``done(record, accuracy)`` ends training, but not before the first certified primal:
        without it there is no result. Accuracy is None if it was not tested.
    growth : float
        The accuracy is tested when the time has grown by this factor since the last test.

    Attributes
    ----------
    points : list
        ``[time, dual, accuracy]``
    """

    def __init__(
        self,
        measure: TokenAccuracy,
        weights: Callable[[Any], np.ndarray],
        done: Callable[[Record, float | None], bool],
        growth: float = 1.1,
    ):
        self.measure = measure
        self.weights = weights
        self.done = done
        self.growth = growth
        self.points: list[list[float]] = []

    def __call__(self, record: Record, state: Any) -> bool:
        """Called by the training loop, whose clock is stopped during the call."""
        due = not self.points or record.time >= self.growth * self.points[-1][0]
        accuracy = None
        if due or self.done(record, None):
            accuracy = self.measure(self.weights(state))
            self.points.append([record.time, float(record.dual), accuracy])
        return self.done(record, accuracy) and math.isfinite(record.primal)


def stop_at(target: float) -> Callable[[Any, Any], bool]:
    """A callback that ends training once the primal is as low as ``target``."""
    return lambda record, state: record.primal <= target


def stop_at_dual(target: float) -> Callable[[Any, Any], bool]:
    """A callback that ends training once the dual is ``target`` and a primal is known."""
    return lambda record, state: record.dual >= target and math.isfinite(record.primal)


def time_to_dual(result: Result, target: float) -> float | None:
    """The solver's seconds until the dual value was as high as ``target``."""
    return next((record.time for record in result.history if record.dual >= target), None)


def time_to(result: Result, target: float, packing: bool = True) -> float | None:
    """Seconds, packing included or not, until the certified primal was as low as ``target``."""
    for record in result.history:
        if record.primal <= target:
            return record.time + (result.prepare_time if packing else 0.0)
    return None


def curve(result: Result, points: int = 80, value: str = "primal") -> list[list[float]]:
    """Time and best value so far, thinned out evenly in the logarithm of the iteration.

    ``value`` is "primal" or "dual"; iterations before the first one known are left out.
    """
    last = len(result.history) - 1
    chosen = np.unique(np.geomspace(1, last + 1, points).astype(int)) - 1
    pairs = [[result.history[i].time, float(getattr(result.history[i], value))] for i in chosen]
    return [pair for pair in pairs if np.isfinite(pair[1])]


def hinge_primal(coef: np.ndarray, X: Any, y: np.ndarray, C: float) -> float:
    """P = 1/2 |W|^2 + C sum_i max_k [k != y_i] + <w_k - w_{y_i}, x_i> of weights (k, d)."""
    scores = np.asarray(X @ coef.T)
    rows = np.arange(len(y))
    truth = scores[rows, y].copy()
    scores += 1.0
    scores[rows, y] -= 1.0
    return 0.5 * float((coef**2).sum()) + C * float((scores.max(axis=1) - truth).sum())


def accuracy(coef: np.ndarray, data: Dataset) -> float:
    """Fraction of the test examples that weights of shape (k, d) label correctly."""
    return float((np.asarray(data.X_test @ coef.T).argmax(axis=1) == data.y_test).mean())
