"""The optimum of tiny problems from the definitions, by enumerating all outputs.

Nothing here uses the package, so that tests can trust it. An example is a pair of arrays: its
planes (m, d), one row for each output, and their losses (m,). The truth is an output as well, a
row of zeros with loss 0.
"""

from __future__ import annotations

import itertools
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


def chain_features(x: np.ndarray, y: Sequence[int], K: int, ends: bool = False) -> np.ndarray:
    """phi of a sequence with rows x: emissions (d, K), transitions (K, K), first and last (K)."""
    d = x.shape[1]
    emission, transition, edge = np.zeros((d, K)), np.zeros((K, K)), np.zeros((2, K))
    for t, k in enumerate(y):
        emission[:, k] += x[t]
        if t > 0:
            transition[y[t - 1], k] += 1
    if ends and len(y):
        edge[0, y[0]] = edge[1, y[-1]] = 1
    return np.concatenate([emission.ravel(), transition.ravel(), edge.ravel() if ends else []])


def chain_outputs(L: int, K: int, allowed: np.ndarray | None = None) -> list[tuple[int, ...]]:
    """All sequences of L labels that the mask (K + 2, K) allows."""
    mask = np.ones((K + 2, K), bool) if allowed is None else allowed

    def possible(y: tuple[int, ...]) -> bool:
        inner = all(mask[a, b] for a, b in itertools.pairwise(y))
        return not y or bool(inner and mask[K, y[0]] and mask[K + 1, y[-1]])

    return [y for y in itertools.product(range(K), repeat=L) if possible(y)]


def chain_loss(
    truth: Sequence[int],
    y: Sequence[int],
    cost: np.ndarray,
    weight: Sequence[float] | None = None,
    zero_one: bool = False,
) -> float:
    """The sum of what the labels cost, times the weights of the tokens; or whether it is > 0."""
    costs = np.array([cost[t, k] for t, k in zip(truth, y, strict=True)], float)
    total = float(_or_ones(weight, len(costs)) @ costs)
    return float(total > 0) if zero_one else total


def chain_planes(
    X: Sequence[np.ndarray],
    Y: Sequence[Sequence[int]],
    cost: np.ndarray,
    slack: bool,
    weights: Sequence[Sequence[float]] | None = None,
    zero_one: bool = False,
    allowed: np.ndarray | None = None,
    ends: bool = False,
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """``(planes, losses)`` of chains over the sequences that the mask allows."""
    K = len(cost)
    planes, losses = [], []
    for i, (x, y_true) in enumerate(zip(X, Y, strict=True)):
        weight = None if weights is None else weights[i]
        rows, loss = enumerate_planes(
            lambda x, y: chain_features(x, y, K, ends),
            lambda truth, y, weight=weight: chain_loss(truth, y, cost, weight, zero_one),
            [x], [tuple(y_true)], lambda x: chain_outputs(len(x), K, allowed),
            "slack" if slack else "margin",
        )  # fmt: skip
        planes += rows
        losses += loss
    return planes, losses


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
    step = 1.0 / (np.linalg.norm(A, 2) ** 2 or 1.0)
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


def assert_same_optimum(a: Any, b: Any) -> None:
    """Two results with ``w``, ``primal`` and ``dual`` are of one problem, as far as they certify.

    The optimum lies between D and P of each. P is strongly convex: w is within sqrt(2 gap) of the
    point that is optimal.
    """
    assert max(a.dual, b.dual) <= min(a.primal, b.primal) * (1 + 1e-9) + 1e-12
    reach = sum(np.sqrt(2 * max(r.primal - r.dual, 1e-9 * abs(r.primal))) for r in (a, b))
    assert np.linalg.norm(a.w - b.w) <= reach
