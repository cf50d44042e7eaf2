"""Tiny training problems with all of their planes, and an independent QP for their optimum."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import maxmargin as mm
from maxmargin.registry import all_structures
from reference import enumerate_planes
from solver_tables import all_variants

#: Every solver, and the variants of their options.
SOLVERS: dict[str, Any] = all_variants()

#: Rounds in which the independent QP gets more planes.
ROUNDS = 30


@cache
def warm_up() -> None:
    """Compile everything that trials use, in this process: forked ones find it in their memory."""
    for structure in all_structures():
        for tiny in structure.examples():
            for solver in SOLVERS.values():
                trains(solver, tiny)


def trains(solver: Any, tiny: Any, rescaling: str = "margin") -> bool:
    """Whether a solver serves an example: Newton needs few outputs, not every loss has several."""
    try:
        mm.train(
            tiny.problem, tiny.X, tiny.Y, solver=solver, rescaling=rescaling, max_iter=2, tol=1e-3
        )
    except mm.MaxMarginError:
        return False
    return True


class Planes(NamedTuple):
    """Planes and losses of each example, over all outputs, and the weights of the examples."""

    planes: list[np.ndarray]
    losses: list[np.ndarray]
    weight: np.ndarray

    @classmethod
    def of(cls, tiny: Any, X: Any, Y: Any, rescaling: str, weight: np.ndarray) -> Planes:
        """By enumeration, from the definitions that a structure's tiny example has."""
        found = enumerate_planes(tiny.features, tiny.loss, X, Y, tiny.outputs, rescaling)
        return cls(*found, weight)

    def primal(self, w: np.ndarray, C: float) -> float:
        """P(w) in long double."""
        v = np.asarray(w, np.longdouble)
        hinges = [
            (np.asarray(loss, np.longdouble) - A.astype(np.longdouble) @ v).max()
            for A, loss in zip(self.planes, self.losses, strict=True)
        ]
        return float(v @ v / 2 + np.longdouble(C) * (self.weight @ np.array(hinges)))

    def rounding(self, w: np.ndarray, C: float) -> float:
        """How far rounding can move P(w) as it is computed in double precision."""
        terms = [
            np.abs(loss).max() + (np.abs(A) @ np.abs(w)).max(initial=0.0)
            for A, loss in zip(self.planes, self.losses, strict=True)
        ]
        return 1e-14 * float(w @ w + C * (self.weight @ np.array(terms))) * max(len(w), 10)


def optimum(problem: Planes, C: float) -> tuple[float, float]:
    """``(upper, lower)`` bounds of the optimum, by cvxopt's interior points over the dual.

    The QP is solved over a few planes of each example, to which those are added that its solution
    violates most, until there are none. Each bound is computed from its definition over all
    planes, at a feasible point, so that no bound is wrong where the QP is not solved well: it is
    only weak.
    """
    cost = C * problem.weight
    sets = [{int(np.argmax(loss)), int(np.argmin(loss))} for loss in problem.losses]
    upper, lower = problem.primal(np.zeros(problem.planes[0].shape[1]), C), -np.inf
    for _ in range(ROUNDS):
        chosen = [sorted(found) for found in sets]
        pairs = list(zip(cost, chosen, strict=True))
        A = np.concatenate([c * P[k] for P, (c, k) in zip(problem.planes, pairs, strict=True)])
        b = np.concatenate(
            [c * loss[k] for loss, (c, k) in zip(problem.losses, pairs, strict=True)]
        )
        alpha = _solve(A, b, [len(k) for k in chosen]).astype(np.longdouble)
        w = alpha @ A.astype(np.longdouble)
        lower = max(lower, float(alpha @ b.astype(np.longdouble) - w @ w / 2))
        upper = min(upper, problem.primal(w, C))
        if not _add_violated(sets, problem, np.asarray(w, float)):
            break
    return upper, lower


def _add_violated(sets: list[set[int]], problem: Planes, w: np.ndarray) -> bool:
    """Add the plane of each example that w violates most; False if all are known."""
    before = sum(map(len, sets))
    for found, A, loss in zip(sets, problem.planes, problem.losses, strict=True):
        found.add(int(np.argmax(loss - A @ w)))
    return sum(map(len, sets)) > before


def _solve(A: np.ndarray, b: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """A feasible alpha near the maximum of ``b alpha - |A' alpha|^2 / 2`` over the simplices."""
    from cvxopt import matrix, solvers

    m, owner = len(b), np.repeat(np.arange(len(sizes)), sizes)
    scale = max(np.abs(b).max(initial=0.0), np.abs(A).max(initial=0.0) ** 2, 1e-300)
    E = (owner == np.arange(len(sizes))[:, None]).astype(float)
    options = {"show_progress": False, "abstol": 1e-15, "reltol": 1e-13, "feastol": 1e-13,
               "maxiters": 50}  # fmt: skip
    alpha = np.concatenate([np.full(size, 1.0 / size) for size in sizes])
    try:
        found = solvers.qp(
            matrix(A @ A.T / scale), matrix(-b / scale), matrix(-np.eye(m)), matrix(np.zeros(m)),
            matrix(E), matrix(np.ones(len(sizes))), options=options,
        )  # fmt: skip
        alpha = np.array(found["x"]).ravel()
    except (ArithmeticError, ValueError):
        pass  # the matrix is singular in double precision: weak bounds
    alpha = np.maximum(alpha, 0.0)
    return alpha / (E.T @ (E @ alpha))
