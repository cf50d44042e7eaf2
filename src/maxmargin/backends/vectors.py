"""Vectors of the length of w that are sent between processes, as sparse vectors if smaller."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..engine.linalg import differences, sparse_set

#: Bytes per entry: a sparse vector has an index of 4 bytes (8 from 2^31 on) and a value of 8.
DENSE_BYTES, SPARSE_BYTES, LONG_BYTES = 8, 12, 16


class Vector(NamedTuple):
    """A vector of length ``dim``: dense (``where`` is None), or sparse with values at ``where``."""

    dim: int
    where: np.ndarray | None
    value: np.ndarray

    @classmethod
    def of(cls, v: np.ndarray, where: np.ndarray | None = None) -> Vector:
        """The smaller of both forms; ``where`` are the places of the non-zeros, if known."""
        where = np.flatnonzero(v) if where is None else where
        if not _smaller(len(where), len(v)):
            return cls(len(v), None, v)
        return cls(len(v), where.astype(_kind(len(v)), copy=False), v[where])

    @property
    def nbytes(self) -> int:
        """Number of bytes to send."""
        return self.value.nbytes + (0 if self.where is None else self.where.nbytes)

    def add_to(self, out: np.ndarray, scale: float = 1.0) -> None:
        """out += scale * v."""
        value = self.value if scale == 1.0 else scale * self.value
        if self.where is None:
            out += value
        else:
            out[self.where] += value

    def set_in(self, out: np.ndarray) -> None:
        """out = v at the given entries."""
        if self.where is None:
            np.copyto(out, self.value)
        else:
            sparse_set(self.where, self.value, out)


def changed(new: np.ndarray, old: np.ndarray) -> Vector:
    """The entries of ``new`` that differ from ``old``, or all entries if that is smaller."""
    dim = len(new)
    where, value = np.empty(dim + 1, _kind(dim)), np.empty(dim + 1)
    count = differences(new, old, where, value)
    if not _smaller(count, dim):
        return Vector(dim, None, new)
    return Vector(dim, where[:count], value[:count])


def _smaller(count: int, dim: int) -> bool:
    """Whether a sparse vector with ``count`` entries is smaller than a dense one."""
    return (SPARSE_BYTES if dim < 2**31 else LONG_BYTES) * count < DENSE_BYTES * dim


def _kind(dim: int) -> type:
    """The integer type of the places in a vector."""
    return np.int32 if dim < 2**31 else np.int64


def total(vectors: Iterable[Vector], dim: int) -> np.ndarray:
    """The sum in the given order, so that it does not depend on which worker finishes first."""
    out = np.zeros(dim)
    for vector in vectors:
        vector.add_to(out)
    return out
