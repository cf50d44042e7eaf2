"""Working sets of sampled cuts in the space of a kernel.

As in ``bundle.py``, everything is divided by n. A vector is represented by its coefficients of rows
(and plain weights of transitions). A second vector holds its scores, computed with the kernel, so
that ``<a, b> = a . scores(b)``. See ``kernels/scores.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..engine.vectors import Vector
from ..errors import MaxMarginError
from .bundle import Cuts
from .checking import check_plane, require
from .task import Task

if TYPE_CHECKING:
    from ..kernels.scores import ScoreShard


class Point(NamedTuple):
    """A point in the space of the kernel.

    ``w`` holds its coefficients, as an array or (constant time) a Vector; ``square`` is |w|^2;
    ``along`` holds its inner products with the cuts of the working set, and ``scored`` its scores,
    if these are kept.
    """

    w: Any
    scored: np.ndarray
    square: float
    along: np.ndarray

    #: Arrays that may be larger in a checkpoint than in a new run.
    grows = ("along",)

    def check_restored(self, task: Task) -> None:
        """Check the coefficients after a checkpoint was read."""
        dim = task.shard.pack.dim
        if isinstance(self.w, Vector):
            check_plane(self.w, dim)
        else:
            fits = isinstance(self.w, np.ndarray) and self.w.shape == (dim,)
            require(fits, "a point is not a vector of weights")


class KernelCuts(Cuts):
    """Cuts that are removed after ``idle`` QPs in which their dual variable was zero."""

    #: Not part of a checkpoint.
    scratch: tuple[str, ...] = ("shard",)

    def __init__(self, shard: ScoreShard, N: float, idle: int, dim: int):
        super().__init__(dim, N)
        self.shard = shard
        self.max_idle = idle

    def _between(self, centre: Point, s: float) -> tuple[float, np.ndarray]:
        """|w|^2 and <w, cut> of all cuts, at position ``s`` between a centre and the solution."""
        along = self.N * (self.gram @ self.beta)
        square = (1 - s) ** 2 * centre.square + s**2 * self.square()
        square += 2 * s * (1 - s) * self.N * float(self.beta @ centre.along)
        return max(square, 0.0), (1 - s) * centre.along + s * along

    def drop_idle(self) -> np.ndarray:
        """Remove cuts that have been idle for long; returns the indices of the others."""
        keep = (self.idle <= self.max_idle) | (np.arange(len(self.idle)) == 0)
        kept = np.flatnonzero(keep)
        if len(kept) < len(keep):
            self._keep(kept)
        return kept


class TableBundle(KernelCuts):
    """Cuts with the scores of all rows (the table A of Yu and Joachims, 2008, section 4.2.1).

    Parameters
    ----------
    shard : ScoreShard
    N : float
        C n.
    idle : int
        Number of idle QPs after which cuts are removed.
    max_bytes : int
        Maximum memory for the tables, in bytes.
    """

    scratch = ("shard", "max_bytes")

    def __init__(self, shard: ScoreShard, N: float, idle: int, max_bytes: int):
        super().__init__(shard, N, idle, shard.pack.dim)
        self.max_bytes = max_bytes
        self.tables: list[np.ndarray] = [np.zeros(0, np.float32)]

    def start(self) -> Point:
        """w = 0."""
        return Point(self.w, np.zeros_like(self.w), 0.0, np.zeros(1))

    def add(self, g: np.ndarray, loss: float) -> None:
        """Add a cut to the working set."""
        self._make_room()
        scored = self.shard.lift(g)
        self.tables.append(scored.astype(self.shard.rows.dtype))
        row = np.array([plane.dot(scored) for plane in self.planes] + [float(g @ scored)])
        index = np.flatnonzero(g)
        self._append(Vector(index, g[index]), loss, row)

    def solve(self, tol: float) -> None:
        """Solve the QP (OP2) to the precision ``tol``, starting from the last solution."""
        self._solve_dual(tol)
        self.w = np.zeros_like(self.w)  # a new array, because points refer to the old one
        self._sum_planes()

    def between(self, centre: Point, step: float) -> Point:
        """The point at ``step`` between a centre (0) and the solution of the QP (1)."""
        square, along = self._between(centre, step)
        scored = np.zeros_like(self.w)
        for table, beta in zip(self.tables, self.beta, strict=True):
            if beta > 0 and len(table):
                scored += (self.N * beta) * table
        w = self.w
        if step < 1:
            w = centre.w + step * (w - centre.w)
            scored = centre.scored + step * (scored - centre.scored)
        return Point(w, scored, square, along)

    def _keep(self, kept: np.ndarray) -> None:
        super()._keep(kept)
        self.tables = [self.tables[t] for t in kept]

    def check_restored(self, task: Task) -> None:
        """Check the scores of all rows for each cut except that of the true outputs."""
        super().check_restored(task)
        require(len(self.tables) == len(self.planes), "the tables do not agree with the cuts")
        for table in self.tables[1:]:
            fits = isinstance(table, np.ndarray) and table.shape == self.w.shape
            valid = fits and table.dtype.kind == "f" and np.isfinite(table).all()
            require(valid, "a table of scores is invalid")

    def _make_room(self) -> None:
        """Raise an error if the tables would need more than ``max_bytes``."""
        size = self.shard.rows.dtype.itemsize * len(self.w)
        if (len(self.planes) + 1) * size > self.max_bytes:
            raise MaxMarginError(
                f"the score tables of {len(self.planes)} cuts over {len(self.shard.rows):,} rows "
                f"would take {len(self.planes) * size / 2**30:.2f} GB, more than "
                f"max_bytes={self.max_bytes}: increase mm.SampledCuts(max_bytes=...), or use "
                "kind='constant' or n_basis"
            )


class SparseBundle(KernelCuts):
    """Cuts represented by their rows; no operation here depends on n.

    Parameters
    ----------
    shard : ScoreShard
    N : float
        C n.
    idle : int
        Number of idle QPs after which cuts are removed.
    """

    scratch = ("shard", "_spread")
    grows = ("loss", "gram", "beta", "idle", "used")

    def __init__(self, shard: ScoreShard, N: float, idle: int):
        super().__init__(shard, N, idle, 0)
        self.point = Vector.zero()  # w of the solution
        self.users = np.zeros(
            len(shard.rows), np.int32
        )  # number of cuts in which a row has a coefficient
        self.used = np.empty(0, np.int64)  # the rows with at least one such cut
        self._spread = np.zeros(shard.pack.dim)  # zero between calls

    def start(self) -> Point:
        """w = 0."""
        return Point(self.point, np.empty(0), 0.0, np.zeros(1))

    def add(self, g: Vector, loss: float) -> None:
        """Add a cut to the working set."""
        rows = self.shard.rows_in(g)
        self.used = np.concatenate([self.used, rows[self.users[rows] == 0]])
        self.users[rows] += 1
        with self.scored(g, self.used) as scored:
            row = np.array([plane.dot(scored) for plane in (*self.planes, g)])
        self._append(g, loss, row)

    @contextmanager
    def scored(self, w: Vector, at: np.ndarray) -> Iterator[np.ndarray]:
        """A temporary vector with the scores of the rows ``at`` and zeros elsewhere."""
        written = self.shard.scores_at(w, at, self._spread)
        try:
            yield self._spread
        finally:
            written.wipe(self._spread)

    def solve(self, tol: float) -> None:
        """Solve the QP (OP2) to the precision ``tol``, starting from the last solution."""
        self._solve_dual(tol)
        places = self.shard.places_of(self.used)
        self.point = self._sum([*zip(self.planes, self.N * self.beta, strict=True)], places)
        self._evaluate()

    def between(self, centre: Point, step: float) -> Point:
        """The point at position ``step`` between a centre (0) and the solution of the QP (1)."""
        square, along = self._between(centre, step)
        w = self.point
        if step < 1:
            assert w.where is not None
            places = np.union1d(centre.w.where, w.where)
            w = self._sum([(centre.w, 1 - step), (w, step)], places)
        return Point(w, centre.scored, square, along)

    def _sum(self, parts: list[tuple[Vector, float]], places: np.ndarray) -> Vector:
        """The sum of vectors with these weights, which are zero outside ``places``."""
        for plane, weight in parts:
            if weight != 0:
                plane.add_to(self._spread, weight)
        value = self._spread[places]
        self._spread[places] = 0.0
        used = value != 0
        return Vector(places[used], value[used])

    def _keep(self, kept: np.ndarray) -> None:
        for t in set(range(len(self.planes))) - set(kept.tolist()):
            self.users[self.shard.rows_in(self.planes[t])] -= 1
        self.used = self.used[self.users[self.used] > 0]
        super()._keep(kept)

    def check_restored(self, task: Task) -> None:
        """Check the rows that cuts use."""
        super().check_restored(task)
        check_plane(self.point, task.shard.pack.dim)
        used = self.used
        inside = len(used) == 0 or (used.min() >= 0 and used.max() < len(self.users))
        require(inside, "rows out of range")
