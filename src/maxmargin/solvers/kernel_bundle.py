"""The bundle of sampled cuts in the space of a kernel.

As ``bundle.py``, everything is divided by n. A vector is given by the coefficients of rows (and by
plain weights of transitions); what the kernel makes of it, its scores, is a second vector, so that
``<a, b> = a . scores(b)``. See ``kernels/scores.py``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import MaxMarginError
from ..kernels.scores import ScoreShard
from ..planes import Plane
from .bundle import Cuts


class Point(NamedTuple):
    """A point between the cuts.

    ``w`` are its coefficients, ``square`` is |w|^2, ``along`` its inner products with the cuts of
    the bundle, and ``scored`` its scores, at least where they have been needed.
    """

    w: np.ndarray
    scored: np.ndarray
    square: float
    along: np.ndarray


class KernelBundle(Cuts):
    """Cuts of sampled examples, by the coefficients of rows.

    Parameters
    ----------
    shard : ScoreShard
    N : float
        C n.
    tables : bool
        Keep the scores of all rows for each cut (the table A of paper 001, section 4.2.1).
    max_bytes : int
        Memory for these.
    idle : int
        A cut leaves after so many QPs in which its dual was zero.
    """

    def __init__(self, shard: ScoreShard, N: float, tables: bool, max_bytes: int, idle: int):
        super().__init__(shard.pack.dim, N)
        self.shard = shard
        self.keeps_tables = tables
        self.max_bytes = max_bytes
        self.max_idle = idle
        self.tables: list[np.ndarray] = [np.zeros(0, np.float32)]
        self.users = np.zeros(len(shard.rows), np.int32)  # cuts in which a row has a coefficient

    def start(self) -> Point:
        """w = 0."""
        return Point(self.w, np.zeros_like(self.w), 0.0, np.zeros(1))

    def add(self, g: np.ndarray, loss: float) -> None:
        """Put a cut into the working set; the Gram matrix grows by one row."""
        if self.keeps_tables:
            self._make_room()
            scored = self.shard.lift(g)
            self.tables.append(scored.astype(self.shard.rows.dtype))
        else:
            support = self.shard.support(g)
            scored = self.shard.lift(g, np.union1d(np.flatnonzero(self.users), support))
            self.users[support] += 1
            self.tables.append(self.tables[0])
        row = np.array([plane.dot(scored) for plane in self.planes] + [float(g @ scored)])
        self._append(_sparse(g), loss, row)

    def solve(self, tol: float) -> None:
        """Solve the QP (OP2) to ``tol``, from the last solution."""
        self._solve_dual(tol)
        self.w = np.zeros_like(self.w)  # points refer to the last one
        self._sum_planes()

    def scored(self) -> np.ndarray:
        """The scores of the solution, from the tables."""
        out = np.zeros_like(self.w)
        for table, beta in zip(self.tables, self.beta, strict=True):
            if beta > 0 and len(table):
                out += (self.N * beta) * table
        return out

    def between(self, centre: Point, step: float) -> Point:
        """The point at ``step`` on the way from a centre (0) to the solution of the QP (1)."""
        s, along = step, self.N * (self.gram @ self.beta)
        square = (1 - s) ** 2 * centre.square + s**2 * self.square()
        square += 2 * s * (1 - s) * self.N * float(self.beta @ centre.along)
        w = self.w if s == 1 else centre.w + s * (self.w - centre.w)
        scored = centre.scored
        if self.keeps_tables:
            scored = self.scored() if s == 1 else scored + s * (self.scored() - scored)
        return Point(w, scored, max(square, 0.0), (1 - s) * centre.along + s * along)

    def drop_idle(self) -> np.ndarray:
        """Remove cuts that have long been idle; returns which are kept."""
        keep = (self.idle <= self.max_idle) | (np.arange(len(self.idle)) == 0)
        for t in np.flatnonzero(~keep):
            rows = self.planes[t].where // self.shard.n_labels  # type: ignore[operator]
            self.users[np.unique(rows[rows < len(self.users)])] -= 1
        kept = np.flatnonzero(keep)
        self.tables = [self.tables[t] for t in kept]
        self._keep(kept)
        return kept

    def _make_room(self) -> None:
        """An error before the tables take more memory than they may."""
        size = self.shard.rows.dtype.itemsize * len(self.w)
        if (len(self.planes) + 1) * size > self.max_bytes:
            raise MaxMarginError(
                f"the score tables of {len(self.planes)} cuts over {len(self.shard.rows):,} rows "
                f"would take {len(self.planes) * size / 2**30:.2f} GB, more than "
                f"max_bytes={self.max_bytes}: raise it in mm.SampledCuts(max_bytes=...), or use "
                "kind='constant' or n_basis"
            )


def _sparse(g: np.ndarray) -> Plane:
    """By its non-zeros, however many there are: the rows of a cut must be known."""
    index = np.flatnonzero(g)
    return Plane(index, g[index])
