"""Vectors as long as w: dense, or by their non-zeros.

w may have tens of millions of weights, of which a cut or a step changes few, and a pass over all of
them takes longer than the oracle. So the non-zeros of a sum are taken out of its array in a single
pass, and everything afterwards uses the non-zeros only. Vectors are also sent between processes in
this form.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .sparse import (
    count_nonzeros,
    differences,
    sparse_axpy,
    sparse_dot,
    sparse_fill,
    sparse_set,
    take_nonzeros,
)

#: A vector is stored sparse if fewer than one in this number of its entries are non-zero.
SPARSE_BELOW = 3

#: An entry of a sparse vector takes an index of 4 bytes (8 beyond 2^31) and a value of 8.
DENSE_BYTES, SPARSE_BYTES, LONG_BYTES = 8, 12, 16


class Vector(NamedTuple):
    """A vector, dense (``where`` is None) or by its non-zeros."""

    where: np.ndarray | None
    value: np.ndarray

    @classmethod
    def zero(cls) -> Vector:
        """The plane of the truth."""
        return cls(np.empty(0, np.int32), np.empty(0))

    @classmethod
    def take(cls, g: np.ndarray, scale: float = 1.0) -> Vector:
        """``scale * g`` in whichever form is faster; g is zero afterwards."""
        nnz = count_nonzeros(g)
        if SPARSE_BELOW * nnz >= len(g):
            value = scale * g
            g.fill(0.0)
            return cls(None, value)
        where, value = np.empty(nnz, index_type(len(g))), np.empty(nnz)
        take_nonzeros(g, scale, where, value)
        return cls(where, value)

    @classmethod
    def of(cls, v: np.ndarray, where: np.ndarray | None = None) -> Vector:
        """Whichever form is smaller; ``where`` are the places of the non-zeros, if known."""
        where = np.flatnonzero(v) if where is None else where
        if not _smaller(len(where), len(v)):
            return cls(None, v)
        return cls(where.astype(index_type(len(v)), copy=False), v[where])

    @property
    def nbytes(self) -> int:
        """Number of bytes that are sent."""
        return self.value.nbytes + (0 if self.where is None else self.where.nbytes)

    def dot(self, v: np.ndarray) -> float:
        """The inner product with a dense v."""
        if self.where is None:
            return float(self.value @ v)
        return sparse_dot(self.where, self.value, len(self.where), v)

    def norm2(self) -> float:
        """The inner product with itself."""
        return float(self.value @ self.value)

    def add_to(self, out: np.ndarray, scale: float = 1.0) -> None:
        """out += scale * self."""
        if self.where is None:
            out += self.value if scale == 1.0 else scale * self.value
        else:
            sparse_axpy(scale, self.where, self.value, len(self.where), out)

    def set_in(self, out: np.ndarray) -> None:
        """out = self at the entries that are given."""
        if self.where is None:
            np.copyto(out, self.value)
        else:
            sparse_set(self.where, self.value, out)

    def wipe(self, out: np.ndarray) -> None:
        """Set ``out`` to zero at the non-zeros of the vector."""
        if self.where is None:
            out.fill(0.0)
        else:
            sparse_fill(self.where, 0.0, out)

    def listed(self) -> tuple[np.ndarray, np.ndarray]:
        """Places and values, also of a dense vector."""
        if self.where is None:
            return np.arange(len(self.value), dtype=index_type(len(self.value))), self.value
        return self.where, self.value

    def dense(self, dim: int) -> np.ndarray:
        """All entries (dim,)."""
        out = np.zeros(dim)
        self.add_to(out)
        return out


def changed(new: np.ndarray, old: np.ndarray) -> Vector:
    """The entries of ``new`` that differ from ``old``, or all of it."""
    dim = len(new)
    where, value = np.empty(dim + 1, index_type(dim)), np.empty(dim + 1)
    count = differences(new, old, where, value)
    if not _smaller(count, dim):
        return Vector(None, new)
    return Vector(where[:count], value[:count])


def total(vectors: Iterable[Vector], dim: int) -> np.ndarray:
    """The sum, in the order given: it does not depend on which worker was ready first."""
    out = np.zeros(dim)
    for vector in vectors:
        vector.add_to(out)
    return out


def _smaller(count: int, dim: int) -> bool:
    """Whether this number of entries takes fewer bytes than all."""
    return (SPARSE_BYTES if dim < 2**31 else LONG_BYTES) * count < DENSE_BYTES * dim


def index_type(dim: int) -> type:
    """The type of places in a vector."""
    return np.int32 if dim < 2**31 else np.int64


def warm_up_vectors() -> None:
    """Compile (or load) what vectors need, before times are measured."""
    for vector in (Vector.take(np.zeros(4)), Vector.take(np.ones(4))):
        g = np.zeros(4)
        vector.add_to(g, vector.dot(g))
        vector.wipe(g)


def warm_up_exchange() -> None:
    """Compile (or load) what processes do to send each other vectors."""
    where, value = np.zeros(2, np.int32), np.zeros(2)
    differences(np.zeros(1), np.zeros(1), where, value)
    for writeable in (True, False):  # what comes from another process is not writeable
        where.flags.writeable = value.flags.writeable = writeable
        Vector(where, value).set_in(np.zeros(1))
        Vector(where, value).add_to(np.zeros(1))
