"""The optimum of tiny problems from the definitions, by enumerating all outputs.

Nothing here uses the package, so that tests can trust it. An example is a pair of arrays: its
planes (m, d), one row for each output, and their losses (m,). The truth is an output as well, a
row of zeros with loss 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np


class Optimum(NamedTuple):
    """A point whose ``primal - dual`` certifies that it is optimal."""

    w: np.ndarray
    primal: float
    dual: float
    alpha: list[np.ndarray]


def enumerate_planes(
    features: Callable[[Any, Any], np.ndarray],
    loss: Callable[[Any, Any], float],
    X: Iterable[Any],
    Y: Iterable[Any],
    outputs: Callable[[Any], Sequence[Any]],
    rescaling: str = "margin",
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """``(planes, losses)`` of each example over all ``outputs(x)``; features are dense."""
    planes, losses = [], []
    for x, y_true in zip(X, Y, strict=True):
        loss_i = np.array([loss(y_true, y) for y in outputs(x)], float)
        psi = np.array([features(x, y_true) - features(x, y) for y in outputs(x)], float)
        planes.append(psi if rescaling == "margin" else loss_i[:, None] * psi)
        losses.append(loss_i)
    return planes, losses


def multiclass_planes(
    X: np.ndarray, y: np.ndarray, cost: np.ndarray, slack: bool
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """``(planes, losses)`` of multi-class examples; weights are feature-major."""

    def features(x: np.ndarray, k: int) -> np.ndarray:
        return np.outer(x, np.arange(len(cost)) == k).ravel()

    return enumerate_planes(
        features, lambda t, k: cost[t, k], X, y, lambda x: range(len(cost)),
        "slack" if slack else "margin",
    )  # fmt: skip


def primal(
    w: np.ndarray,
    planes: Sequence[np.ndarray],
    losses: Sequence[np.ndarray],
    C: float,
    weights: Sequence[float] | None = None,
) -> float:
    """P(w) = 1/2 |w|^2 + C sum_i weight_i max_r (loss_ir - <w, plane_ir>)."""
    hinges = [(loss - A @ w).max() for A, loss in zip(planes, losses, strict=True)]
    return 0.5 * float(w @ w) + C * float(_or_ones(weights, len(hinges)) @ hinges)


def weights_of(
    alpha: Sequence[np.ndarray],
    planes: Sequence[np.ndarray],
    C: float,
    weights: Sequence[float] | None = None,
) -> np.ndarray:
    """w(alpha) = C sum_ir weight_i alpha_ir plane_ir."""
    costs = C * _or_ones(weights, len(planes))
    return np.sum([c * (a @ A) for c, a, A in zip(costs, alpha, planes, strict=True)], axis=0)


def dual(
    alpha: Sequence[np.ndarray],
    planes: Sequence[np.ndarray],
    losses: Sequence[np.ndarray],
    C: float,
    weights: Sequence[float] | None = None,
) -> float:
    """D(alpha) = C sum_ir weight_i alpha_ir loss_ir - 1/2 |w(alpha)|^2."""
    w = weights_of(alpha, planes, C, weights)
    mean = [float(a @ loss) for a, loss in zip(alpha, losses, strict=True)]
    return C * float(_or_ones(weights, len(mean)) @ mean) - 0.5 * float(w @ w)


def enumerate_optimum(
    planes_per_example: Sequence[np.ndarray],
    losses: Sequence[np.ndarray],
    C: float,
    weights: Sequence[float] | None = None,
    tol: float = 1e-9,
    max_iter: int = 200_000,
) -> Optimum:
    """Maximise the n-slack dual over the product of simplices, to a relative gap of ``tol``.

    Accelerated projected gradient (FISTA) that restarts whenever momentum points downhill.
    """
    costs = C * _or_ones(weights, len(losses))
    A = np.concatenate([c * rows for c, rows in zip(costs, planes_per_example, strict=True)])
    b = np.concatenate([c * loss for c, loss in zip(costs, losses, strict=True)])
    cuts = np.cumsum([len(loss) for loss in losses])[:-1]
    step = 1.0 / max(np.linalg.norm(A, 2) ** 2, np.finfo(float).tiny)
    x = z = np.concatenate([np.full(len(loss), 1.0 / len(loss)) for loss in losses])
    momentum = 1.0
    for iteration in range(max_iter):
        if iteration % 50 == 0:
            optimum = _certify(np.split(x, cuts), planes_per_example, losses, C, weights)
            if optimum.primal - optimum.dual <= tol * max(abs(optimum.primal), 1e-12):
                return optimum
        ascended = z + step * (b - A @ (A.T @ z))
        new = np.concatenate([project_to_simplex(part) for part in np.split(ascended, cuts)])
        if (z - new) @ (new - x) > 0:
            momentum = 1.0
        faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        z = new + (momentum - 1) / faster * (new - x)
        x, momentum = new, faster
    raise RuntimeError(f"the reference did not reach {tol}: {optimum.primal - optimum.dual}")


def _certify(
    alpha: list[np.ndarray],
    planes: Sequence[np.ndarray],
    losses: Sequence[np.ndarray],
    C: float,
    weights: Sequence[float] | None,
) -> Optimum:
    """P and D of a feasible alpha, from their definitions."""
    w = weights_of(alpha, planes, C, weights)
    args = (planes, losses, C, weights)
    return Optimum(w, primal(w, *args), dual(alpha, *args), alpha)


def _or_ones(weights: Sequence[float] | None, n: int) -> np.ndarray:
    """The weights of the examples; 1 by default."""
    return np.ones(n) if weights is None else np.asarray(weights, float)


def project_to_simplex(v: np.ndarray) -> np.ndarray:
    """The nearest point with v >= 0 and sum(v) = 1 (Held, Wolfe and Crowder, by sorting)."""
    u = np.sort(v)[::-1]
    excess = (np.cumsum(u) - 1) / np.arange(1, len(v) + 1)
    return np.maximum(v - excess[u > excess][-1], 0.0)
