"""Operations on dense vectors as long as w, in slices and in threads.

The slices depend on the length only, so that results are the same for any number of threads.
"""

from __future__ import annotations

import numpy as np

from .sparse import blend, copy_nonzeros, count_nonzeros
from .threads import Threads, no_limit
from .vectors import Vector, index_type

#: Number of entries per slice: it takes about a millisecond, long enough for a thread.
SLICE = 1 << 20


def square(w: np.ndarray, threads: Threads) -> float:
    """The inner product with itself."""
    if len(w) <= SLICE:
        return float(w @ w)

    def part(s: slice) -> float:
        return float(np.einsum("i,i->", w[s], w[s]))  # BLAS may have threads of its own

    return float(sum(threads.each(part, slices(len(w)), no_limit)))


def move_towards(average: np.ndarray, w: np.ndarray, part: float, threads: Threads) -> None:
    """average += part * (w - average)."""
    threads.each(lambda s: blend(average[s], w[s], part), slices(len(w)), no_limit)


def move_sum(sums: list[np.ndarray], w: np.ndarray, threads: Threads) -> None:
    """Add vectors to w; they are zero afterwards."""

    def move(s: slice) -> None:
        for v in sums:
            w[s] += v[s]
            v[s] = 0.0

    threads.each(move, slices(len(w)), no_limit)


def sparse_copy(v: np.ndarray, most: int, threads: Threads) -> Vector | None:
    """A copy by its non-zeros; None if there are more than ``most``."""
    parts = slices(len(v))
    ends = np.cumsum([0, *threads.each(lambda s: count_nonzeros(v[s]), parts, no_limit)])
    if ends[-1] > most:
        return None
    where, value = np.empty(ends[-1], index_type(len(v))), np.empty(ends[-1])

    def copy(k: int) -> None:
        own = slice(ends[k], ends[k + 1])
        copy_nonzeros(v[parts[k]], where[own], value[own])
        where[own] += parts[k].start

    threads.each(copy, range(len(parts)), no_limit)
    return Vector(where, value)


def slices(length: int) -> list[slice]:
    """Slices of a vector of this length."""
    return [slice(start, min(start + SLICE, length)) for start in range(0, length, SLICE)]
