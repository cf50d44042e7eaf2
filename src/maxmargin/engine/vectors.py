"""Aggregated planes as vectors: dense, or by their non-zeros.

w may have tens of millions of weights, of which a cut touches few: every pass over all of them
costs more than the oracle. So a plane is taken out of the array it was summed up in with a single
pass, and everything after that looks at its non-zeros only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .linalg import count_nonzeros, sparse_axpy, sparse_dot, sparse_fill, take_nonzeros

#: A plane is stored sparse when fewer of its entries are non-zero than one in so many.
SPARSE_BELOW = 3


class Plane(NamedTuple):
    """A vector of length dim, dense (``where`` is None) or by its non-zeros."""

    where: np.ndarray | None
    value: np.ndarray

    @classmethod
    def nothing(cls) -> Plane:
        """The plane of the truth: zero."""
        return cls(np.empty(0, np.int32), np.empty(0))

    @classmethod
    def take(cls, g: np.ndarray, scale: float = 1.0) -> Plane:
        """``scale * g`` in whichever form is smaller; g is zero afterwards."""
        nnz = count_nonzeros(g)
        if SPARSE_BELOW * nnz >= len(g):
            value = scale * g
            g.fill(0.0)
            return cls(None, value)
        where, value = np.empty(nnz, np.int32 if len(g) < 2**31 else np.int64), np.empty(nnz)
        take_nonzeros(g, scale, where, value)
        return cls(where, value)

    def dot(self, v: np.ndarray) -> float:
        """<plane, v> of a dense v."""
        if self.where is None:
            return float(self.value @ v)
        return sparse_dot(self.where, self.value, len(self.where), v)

    def norm2(self) -> float:
        """<plane, plane>."""
        return float(self.value @ self.value)

    def add_to(self, out: np.ndarray, scale: float) -> None:
        """out += scale * plane."""
        if self.where is None:
            out += scale * self.value
        else:
            sparse_axpy(scale, self.where, self.value, len(self.where), out)

    def wipe(self, out: np.ndarray) -> None:
        """Make ``out`` zero where the plane is not."""
        if self.where is None:
            out.fill(0.0)
        else:
            sparse_fill(self.where, 0.0, out)

    def dense(self, dim: int) -> np.ndarray:
        """All entries."""
        out = np.zeros(dim)
        self.add_to(out, 1.0)
        return out


def warm_up_planes() -> None:
    """Compile (or load) what planes need, before any clock runs."""
    few, many = (Plane.take(g) for g in (np.zeros(4), np.ones(4)))
    for plane in (few, many):
        g = np.zeros(4)
        plane.add_to(g, plane.dot(g))
        plane.wipe(g)
