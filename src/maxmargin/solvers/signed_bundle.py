"""The cutting-plane model with sign constraints, and its QP.

With v = N sum_t beta_t g_t and w = max(v, 0) at the constrained weights, the dual of the model is

    maximise   l.beta - 1/(2 N) |w(beta)|^2      over beta >= 0, sum(beta) = 1

It is concave and piecewise quadratic: weights that are clipped at zero do not count. A Newton step
solves the QP without the curvature of the weights that are clipped now, and a line search towards
its solution makes the dual rise. If steps are short, a part of this curvature is kept. With all of
it the multipliers of the constraints, -min(v, 0), are fixed, and a step cannot fail.
"""

from __future__ import annotations

import numpy as np

from ..engine.vectors import Vector
from .bundle import Bundle
from .checking import close, require
from .qp import solve_simplex_qp
from .signs import clip
from .task import Task

#: Maximum number of QPs for one solution; a few suffice.
MOST_QPS = 100

#: After steps shorter than this a larger fraction of the curvature of clipped weights is kept.
SHORT = 0.5

#: The smallest fraction that is kept, so that rounding does not make the QP nonconvex, and the
#: factor by which it changes.
LEAST_KEPT, FACTOR = 1e-6, 10.0

#: Halvings of an interval until it is as short as rounding.
HALVINGS = 60


class SignedBundle(Bundle):
    """Cuts over all examples, with sign constraints at the weights ``positive``."""

    grows = (*Bundle.grows, "columns")

    #: Not part of a checkpoint: they follow from the problem, or are zero between calls.
    scratch = (*Bundle.scratch, "positive")

    def __init__(self, dim: int, N: float, positive: np.ndarray):
        super().__init__(dim, N)
        self.positive = positive
        self.columns = np.zeros((1, len(positive)))  # of each plane, at the constrained weights

    def add(self, plane: Vector, loss: float) -> None:
        """Add a cut to the working set."""
        column = plane.dense(len(self.w))[self.positive]
        super().add(plane, loss)
        self.columns = np.vstack([self.columns, column])

    def square(self) -> float:
        """|w|^2 of the solution."""
        below = self._below()
        return super().square() - float(below @ below)

    def values(self) -> np.ndarray:
        """The values of all cuts at w."""
        return super().values() + self.columns @ self._below()

    def adapt(self, N: float, part: float, tol: float) -> None:
        """Adapt the cuts to another N = C n; ``part`` is the old n divided by the new one."""
        self.columns = part * self.columns
        super().adapt(N, part, tol)

    def project(self, w: np.ndarray) -> None:
        """Turn the sum of the planes into w."""
        clip(w, self.positive)

    def _below(self) -> np.ndarray:
        """What is clipped of the solution, at the constrained weights."""
        return np.minimum(self.N * (self.beta @ self.columns), 0.0)

    def _solve_dual(self, tol: float) -> None:
        self.beta = solve_signed_qp(self.gram, self.columns, self.loss, self.N, self.beta, tol)
        self.idle = np.where(self.beta > 0, 0, self.idle + 1)

    def _keep(self, kept: np.ndarray) -> None:
        super()._keep(kept)
        self.columns = self.columns[kept]

    def check_restored(self, task: Task) -> None:
        """Also check the columns."""
        shape = (len(self.planes), len(self.positive))
        require(self.columns.shape == shape, "columns of other cuts")
        for plane, column in zip(self.planes, self.columns, strict=True):
            same = close(plane.dense(len(self.w))[self.positive], column)
            require(same, "the columns do not agree with the cuts")
        super().check_restored(task)


def solve_signed_qp(
    G: np.ndarray, A: np.ndarray, loss: np.ndarray, N: float, beta: np.ndarray, tol: float
) -> np.ndarray:
    """Maximise the dual of the model over the simplex.

    Parameters
    ----------
    G : array (m, m)
        Gram matrix of the cuts.
    A : array (m, p)
        The planes of the cuts at the constrained weights.
    loss : array (m,)
    N : float
        C times the number of examples.
    beta : array (m,)
        The initial point, in the simplex.
    tol : float
        Maximum violation of a cut, relative to the mean of the cuts.

    Returns
    -------
    array (m,)
        A point of the simplex whose objective is within ``tol`` of the maximum.
    """
    rounding, kept = 1e-14 * max(1.0, np.abs(loss).max()), LEAST_KEPT
    for _ in range(MOST_QPS):
        v = N * (beta @ A)
        value = loss - N * (G @ beta) + A @ np.minimum(v, 0.0)
        if value.max() - float(value @ beta) <= max(tol, rounding):
            break
        direction = solve_model(G, A, loss, N, beta, 0.1 * tol, kept) - beta
        step = line_search(G, A, loss, N, beta, direction)
        beta = beta + step * direction
        good = step > SHORT and direction.any()
        kept = max(kept / FACTOR, LEAST_KEPT) if good else min(kept * FACTOR, 1.0)
    return beta


def solve_model(
    G: np.ndarray,
    A: np.ndarray,
    loss: np.ndarray,
    N: float,
    beta: np.ndarray,
    tol: float,
    kept: float,
) -> np.ndarray:
    """Maximise a quadratic model that has value and gradient of the dual at ``beta``.

    Its curvature is that of the weights that are not clipped at ``beta``, and the fraction ``kept``
    of that of the clipped ones. With ``kept`` = 1 it is nowhere above the dual.
    """
    v = N * (beta @ A)
    clipped = A[:, v < 0]
    rest = G - (1 - kept) * (clipped @ clipped.T)
    return solve_simplex_qp(rest, loss + kept * (clipped @ v[v < 0]), N, beta, tol)


def line_search(
    G: np.ndarray,
    A: np.ndarray,
    loss: np.ndarray,
    N: float,
    beta: np.ndarray,
    direction: np.ndarray,
) -> float:
    """The step in [0, 1] along ``direction`` that maximises the dual."""
    start, curvature = (
        float(direction @ (loss - N * (G @ beta))),
        N * float(direction @ G @ direction),
    )
    v, along = N * (beta @ A), direction @ A

    def slope(step: float) -> float:
        return start - step * curvature + float(along @ np.minimum(v + step * N * along, 0.0))

    if slope(1.0) >= 0:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return low
