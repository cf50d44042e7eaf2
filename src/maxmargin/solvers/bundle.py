"""The cutting-plane model of the risk: planes, their Gram matrix and the dual solution.

Everything here is divided by n, the sum of the weights: a cut is ``(g/n, l/n)``, ``N = C n``,

    w = N sum_t beta_t g_t,    D = N sum_t beta_t l_t - 1/2 |w|^2,    xi = max_t l_t - <w, g_t>

so that losses, violations and tolerances are in units of the loss of one example.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.many_vectors import add_all, dots
from ..engine.threads import Threads
from ..engine.vectors import Vector
from .checking import check_plane, close, require
from .contradiction import check_finite
from .qp import solve_simplex_qp
from .task import Task

#: Remove a cut after this many QPs in which its dual variable was zero (Joachims et al., 2009,
#: section 4).
IDLE_QPS = 50


class Cuts:
    """The cuts of the working set W, with the dual solution ``beta`` of the QP over them.

    The first cut is that of the truth, ``(0, 0)``; with it the dual variables sum to one.
    Subclasses compute the inner products and decide when cuts are removed.
    """

    #: Arrays that may be larger in a checkpoint than in a new run.
    grows: tuple[str, ...] = ("loss", "gram", "beta", "idle", "number")

    #: Threads of the sums over long vectors.
    threads = Threads(1)

    def __init__(self, dim: int, N: float):
        self.N = N
        self.planes = [Vector.zero()]
        self.loss = np.zeros(1)
        self.gram = np.zeros((1, 1))
        self.beta = np.ones(1)
        self.idle = np.zeros(1, np.int64)
        self.w = np.zeros(dim)
        self.dual = 0.0

    def __len__(self) -> int:
        return len(self.planes) - 1

    def square(self) -> float:
        """|w|^2 of the solution."""
        return self.N**2 * float(self.beta @ self.gram @ self.beta)

    def _append(self, plane: Vector, loss: float, row: np.ndarray) -> None:
        """Add a cut; ``row`` (m + 1,) are its inner products with all cuts and, last, itself."""
        check_finite(row, self.N * float(np.trace(self.gram) + row[-1]), self.dual, every=True)
        m = len(self.planes)
        gram = np.empty((m + 1, m + 1))
        gram[:m, :m] = self.gram
        gram[m] = gram[:, m] = row
        self.gram = gram
        self.planes.append(plane)
        self.loss = np.append(self.loss, loss)
        self.beta = np.append(self.beta, 0.0)
        self.idle = np.append(self.idle, 0)

    def _solve_dual(self, tol: float) -> None:
        """Solve the QP to the precision ``tol``, starting from the last solution."""
        self.beta = solve_simplex_qp(self.gram, self.loss, self.N, self.beta, tol)
        self.idle = np.where(self.beta > 0, 0, self.idle + 1)

    def _sum_planes(self) -> None:
        """Compute w, which must be zero before, and D from the dual solution."""
        used = np.flatnonzero(self.beta > 0)
        planes = [self.planes[t] for t in used]
        add_all(planes, self.N * self.beta[used], self.w, self.threads)
        self._evaluate()

    def _evaluate(self) -> None:
        """D of the dual solution."""
        self.dual = self.N * float(self.beta @ self.loss) - 0.5 * self.square()

    def _keep(self, kept: np.ndarray) -> None:
        """Keep only these cuts; the others should have zero dual variables."""
        self.planes = [self.planes[t] for t in kept]
        self.gram = self.gram[np.ix_(kept, kept)]
        self.loss, self.beta, self.idle = self.loss[kept], self.beta[kept], self.idle[kept]

    def check_restored(self, task: Task) -> None:
        """Check cuts and the dual solution over them, after a checkpoint was read."""
        m, dim = len(self.planes), task.shard.pack.dim
        require(m >= 1, "the cut of the truth is missing")
        for plane in self.planes:
            require(isinstance(plane, Vector), "a cut is not a plane")
            check_plane(plane, dim)
        require(len(self.planes[0].value) == 0, "the cut of the truth is not zero")
        sizes = self.loss.shape, self.beta.shape, self.idle.shape, self.gram.shape
        require(sizes == ((m,), (m,), (m,), (m, m)), "the arrays of the cuts differ in size")
        feasible = (self.beta >= 0).all() and close(self.beta.sum(), 1.0)
        require(feasible, "beta is not in the simplex")
        require(self.loss[0] == 0, "the truth has a loss")
        require(close(self.gram, self.gram.T), "the Gram matrix is not symmetric")
        value, square = self.N * float(self.beta @ self.loss), self.square()
        require(close(self.dual, value - 0.5 * square, value), "D does not agree with the cuts")


class Bundle(Cuts):
    """Cuts over all examples, as vectors of the length of w."""

    #: Not part of a checkpoint; ``_spread`` is zero between calls.
    scratch = ("_spread", "threads")

    def __init__(self, dim: int, N: float):
        super().__init__(dim, N)
        self.number = np.zeros(
            1, np.int64
        )  # cuts are numbered in the order in which they were added
        self._spread = np.zeros(dim)

    def __getstate__(self) -> dict[str, Any]:
        """Everything except the threads, which belong to a run."""
        return {name: value for name, value in vars(self).items() if name != "threads"}

    def violation(self, plane: Vector, loss: float) -> float:
        """By how much the cut exceeds the model at w, the solution of the QP."""
        return loss - plane.dot(self.w) - self.slack()

    def slack(self) -> float:
        """xi: the value of the model at w."""
        return float(self.values().max())

    def values(self) -> np.ndarray:
        """The values of all cuts at w."""
        return self.loss - self.N * (self.gram @ self.beta)

    def project(self, w: np.ndarray) -> None:
        """Turn the sum of the planes into w: nothing to do without sign constraints."""

    def highest(self, w: np.ndarray) -> float:
        """The largest value of a cut at w."""
        return float((self.loss - dots(self.planes, w, self.threads)).max())

    def add(self, plane: Vector, loss: float) -> None:
        """Add a cut to the working set."""
        plane.add_to(self._spread, 1.0)
        row = np.append(dots(self.planes, self._spread, self.threads), plane.norm2())
        plane.wipe(self._spread)
        self._append(plane, loss, row)
        self.number = np.append(self.number, self.number.max() + 1)

    def solve(self, tol: float) -> None:
        """Solve the QP to the precision ``tol``, and remove cuts that have been idle for long.

        ``w`` changes in place.
        """
        self._solve_dual(tol)
        out = (self.idle > IDLE_QPS) & (np.arange(len(self.beta)) > 0)
        if out.any():
            self._keep(np.flatnonzero(~out))
        self.w.fill(0.0)
        self._sum_planes()

    def _evaluate(self) -> None:
        """D with |w|^2 computed from w, because sums over the Gram matrix lose digits."""
        self.project(self.w)
        self.dual = self.N * float(self.beta @ self.loss) - 0.5 * float(self.w @ self.w)

    def adapt(self, N: float, part: float, tol: float) -> None:
        """Adapt the cuts to another N = C n; ``part`` is the old n divided by the new one."""
        self.N = N
        if part != 1:
            self.planes = [Vector(plane.where, part * plane.value) for plane in self.planes]
            self.gram = part**2 * self.gram
            self.loss = part * self.loss
        self.idle[:] = 0
        self.solve(tol)

    def _keep(self, kept: np.ndarray) -> None:
        super()._keep(kept)
        self.number = self.number[kept]

    def check_restored(self, task: Task) -> None:
        """w and the Gram matrix agree with the cuts."""
        super().check_restored(task)
        m, w = len(self.planes), np.zeros_like(self.w)
        require(self.N == task.N and self.number.shape == (m,), "the cuts belong to another run")
        add_all(self.planes, self.N * self.beta, w, self.threads)
        self.project(w)
        along = dots(self.planes, w, self.threads)
        squares = np.array([plane.norm2() for plane in self.planes])
        # The summands of w: near w = 0 they cancel, and rounding is relative to them.
        summands = self.N * float(self.beta @ np.sqrt(squares))
        require(close(w, self.w, summands), "w does not agree with the cuts")
        require(close(squares, np.diag(self.gram)), "the Gram matrix does not agree with the cuts")
        size = np.sqrt(squares.max()) * summands
        require(close(along, self.loss - self.values(), size), "the Gram matrix is wrong")

    def check_violations(self, most: float) -> None:
        """No cut exceeds the model at the QP's solution by more than ``most``."""
        value = self.values()
        require(float(value.max() - self.beta @ value) <= most, "a cut is above the model")


class LineSearch:
    """The variant without a QP (Joachims et al., 2009, remark after theorem 5): one aggregated cut.

    Each new cut moves w on the segment towards it, by an exact line search on the dual.
    """

    def __init__(self, dim: int, N: float):
        self.N = N
        self.w = np.zeros(dim)
        self.loss = 0.0
        self.dual = 0.0
        self._new: tuple[Vector, float] | None = None

    def __len__(self) -> int:
        return 1

    def violation(self, plane: Vector, loss: float) -> float:
        """By how much the cut exceeds the aggregated one at w."""
        return loss - plane.dot(self.w) - self.slack()

    def slack(self) -> float:
        """The value of the aggregated cut at w."""
        return self.loss - float(self.w @ self.w) / self.N

    def highest(self, w: np.ndarray) -> float:
        """The value of the aggregated cut at w."""
        return self.loss - float(self.w @ w) / self.N

    def add(self, plane: Vector, loss: float) -> None:
        """Set the cut towards which the next ``solve`` moves."""
        self._new = (plane, loss)

    def solve(self, tol: float) -> None:
        """w = (1 - step) w + step N g with the step that maximises the dual."""
        if self._new is None:
            return
        plane, loss = self._new
        move = -self.w
        plane.add_to(move, self.N)
        slope = self.N * (loss - self.loss) - float(self.w @ move)
        curvature = float(move @ move)
        # Without curvature, as with planes that are zero, the dual increases along the whole way.
        step = 0.0 if slope <= 0 else 1.0 if slope >= curvature else slope / curvature
        self.w += step * move
        self.loss += step * (loss - self.loss)
        self.dual = self.N * self.loss - 0.5 * float(self.w @ self.w)

    def adapt(self, N: float, part: float, tol: float) -> None:
        """Adapt the cut to another N = C n; ``part`` is the old n divided by the new one."""
        self.w = self.w * (part * N / self.N)
        self.loss *= part
        self.N = N
        # An exact line search on the segment from the truth (w = 0) to the cut.
        norm = float(self.w @ self.w)
        step = min(self.N * self.loss / norm, 1.0) if norm > 0 else 1.0
        self.w = step * self.w
        self.loss *= step
        self.dual = self.N * self.loss - 0.5 * float(self.w @ self.w)

    def check_restored(self, task: Task) -> None:
        """D agrees with w; the last cut, if there is one, is a plane."""
        require(self.N == task.N, "the cut belongs to another run")
        value, square = self.N * self.loss, float(self.w @ self.w)
        require(close(self.dual, value - 0.5 * square, value), "D does not agree with w")
        if self._new is not None:
            plane, loss = self._new
            require(isinstance(plane, Vector) and isinstance(loss, float), "a cut is not a plane")
            check_plane(plane, task.shard.pack.dim)
