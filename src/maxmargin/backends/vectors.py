"""Vectors as long as w on their way between processes: only their non-zeros, if these are few."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..linalg import differences

#: An entry of a sparse vector takes an index of 4 bytes (8 beyond 2^31) and a value of 8.
DENSE_BYTES, SPARSE_BYTES, LONG_BYTES = 8, 12, 16


class Vector(NamedTuple):
    """A vector of length ``dim``: dense (``where`` is None), or zero but for some entries."""

    dim: int
    where: np.ndarray | None
    value: np.ndarray

    @classmethod
    def of(cls, v: np.ndarray, where: np.ndarray | None = None) -> Vector:
        """Whichever form is smaller; ``where`` are the places of the non-zeros, if known."""
        where = np.flatnonzero(v) if where is None else where
        entry = SPARSE_BYTES if len(v) < 2**31 else LONG_BYTES
        if entry * len(where) >= DENSE_BYTES * len(v):
            return cls(len(v), None, v)
        kind = np.int32 if len(v) < 2**31 else np.int64
        return cls(len(v), where.astype(kind, copy=False), v[where])

    @property
    def nbytes(self) -> int:
        """How much travels."""
        return self.value.nbytes + (0 if self.where is None else self.where.nbytes)

    def add_to(self, out: np.ndarray, scale: float = 1.0) -> None:
        """out += scale * v."""
        value = self.value if scale == 1.0 else scale * self.value
        if self.where is None:
            out += value
        else:
            out[self.where] += value

    def set_in(self, out: np.ndarray) -> None:
        """out = v at the entries that are given."""
        if self.where is None:
            np.copyto(out, self.value)
        else:
            out[self.where] = self.value


def changed(new: np.ndarray, old: np.ndarray) -> Vector:
    """The entries of ``new`` that differ from ``old``, or all of it."""
    where = np.empty(len(new) + 1, np.int32 if len(new) < 2**31 else np.int64)
    return Vector.of(new, where[: differences(new, old, where)].copy())


def total(vectors: Iterable[Vector], dim: int) -> np.ndarray:
    """The sum, in the order given: it does not depend on who was ready first."""
    out = np.zeros(dim)
    for vector in vectors:
        vector.add_to(out)
    return out
