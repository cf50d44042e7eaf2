"""Inner products with many vectors as long as w, and their sums, a block of entries at a time.

If w is larger than the processor's caches, the product with one vector reads nearly all of w from
memory. So all vectors are multiplied with one block of w, which stays in the cache, before the
next block is read: three times faster with a hundred cuts of a tagger. The blocks depend on the
length of w only, so that sums are the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .sparse import sparse_axpy, sparse_dot
from .threads import Threads, no_limit
from .vectors import Vector

#: Number of entries per block: 1 MB, about a second-level cache.
BLOCK = 1 << 17


def dots(vectors: Sequence[Vector], v: np.ndarray, threads: Threads) -> np.ndarray:
    """The inner products of the vectors with a dense v."""
    if len(v) <= BLOCK:
        return np.array([vector.dot(v) for vector in vectors])
    parts = [_cut(vector, len(v)) for vector in vectors]

    def block(b: int) -> list[float]:
        inside = v[b * BLOCK : (b + 1) * BLOCK]
        return [
            sparse_dot(where[lo:hi], value[lo:hi], hi - lo, v)
            if where is not None
            else float(value[lo:hi] @ inside)
            for where, value, (lo, hi) in ((w, x, ends[b : b + 2]) for w, x, ends in parts)
        ]

    return np.sum(threads.each(block, range(_count(len(v))), no_limit), axis=0)


def add_all(
    vectors: Sequence[Vector], scales: np.ndarray, out: np.ndarray, threads: Threads
) -> None:
    """out += sum_t scales_t vectors_t."""
    if len(out) <= BLOCK:
        for vector, scale in zip(vectors, scales, strict=True):
            vector.add_to(out, scale)
        return
    parts = [_cut(vector, len(out)) for vector in vectors]

    def block(b: int) -> None:
        inside = out[b * BLOCK : (b + 1) * BLOCK]
        for (where, value, ends), scale in zip(parts, scales, strict=True):
            lo, hi = ends[b : b + 2]
            if where is None:
                inside += scale * value[lo:hi]
            else:
                sparse_axpy(scale, where[lo:hi], value[lo:hi], hi - lo, out)

    threads.each(block, range(_count(len(out))), no_limit)


def _count(dim: int) -> int:
    """The number of blocks."""
    return -(-dim // BLOCK)


def _cut(vector: Vector, dim: int) -> tuple[np.ndarray | None, np.ndarray, list[int]]:
    """A vector, and where each of its blocks begins."""
    starts = np.minimum(np.arange(_count(dim) + 1) * BLOCK, dim)
    ends = starts if vector.where is None else np.searchsorted(vector.where, starts)
    return vector.where, vector.value, ends.tolist()
