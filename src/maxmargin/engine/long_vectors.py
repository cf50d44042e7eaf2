"""Operations on dense vectors as long as w, in slices and in threads.

The slices depend on the length only, so that results are the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .sparse import blend, copy_nonzeros, count_nonzeros, set_to_sum
from .threads import Threads, no_limit
from .vectors import Vector, index_type

#: Number of entries per slice, and the seconds that an entry takes, about.
SLICE, SECONDS = 1 << 20, 1e-9

#: The same, if a slice is used more than once: a few of them fit into a core's caches.
CACHED = 1 << 14


def square(w: np.ndarray, threads: Threads) -> float:
    """The inner product with itself."""
    if len(w) <= SLICE:
        return float(w @ w)
    # Not by BLAS, which may have threads of its own.
    return float(sum(_each(lambda s: float(np.einsum("i,i->", w[s], w[s])), len(w), threads)))


def move_towards(average: np.ndarray, w: np.ndarray, part: float, threads: Threads) -> None:
    """average += part * (w - average)."""
    _each(lambda s: blend(average[s], w[s], part), len(w), threads)


def move_sum(sums: list[np.ndarray], w: np.ndarray, threads: Threads) -> None:
    """Add vectors to w; they are zero afterwards."""

    def move(s: slice) -> None:
        for v in sums:
            w[s] += v[s]
            v[s] = 0.0

    _each(move, len(w), threads)


def sum_in_all(vectors: list[np.ndarray], threads: Threads) -> None:
    """Set all vectors to their sum."""
    first, *others, last = vectors

    def add_up(s: slice) -> None:
        for v in others:
            first[s] += v[s]
        set_to_sum(first[s], last[s])
        for v in others:
            v[s] = last[s]

    _each(add_up, len(first), threads, CACHED if others else SLICE)


def copy_to(vectors: list[np.ndarray], w: np.ndarray, threads: Threads) -> None:
    """Set the vectors to w."""

    def copy(s: slice) -> None:
        for v in vectors:
            v[s] = w[s]

    _each(copy, len(w), threads)


def clear(vectors: list[np.ndarray], threads: Threads) -> None:
    """Set all entries to zero."""

    def clear_part(s: slice) -> None:
        for v in vectors:
            v[s] = 0.0

    _each(clear_part, len(vectors[0]), threads)


def sparse_copy(v: np.ndarray, most: int, threads: Threads) -> Vector | None:
    """A copy by its non-zeros; None if there are more than ``most``."""
    ends = np.cumsum([0, *_each(lambda s: count_nonzeros(v[s]), len(v), threads)])
    if ends[-1] > most:
        return None
    where, value = np.empty(ends[-1], index_type(len(v))), np.empty(ends[-1])

    def copy(s: slice) -> None:
        k = s.start // SLICE
        own = slice(ends[k], ends[k + 1])
        copy_nonzeros(v[s], where[own], value[own])
        where[own] += s.start

    _each(copy, len(v), threads)
    return Vector(where, value)


def _each(
    work: Callable[[slice], Any], length: int, threads: Threads, size: int = SLICE
) -> list[Any]:
    """Do work on slices of a vector of this length, with ``size`` entries each."""
    starts = range(0, length, size)
    parts = [slice(start, min(start + size, length)) for start in starts]
    return threads.each(work, parts, no_limit, expected=SECONDS * length)
