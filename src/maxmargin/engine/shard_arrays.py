"""The arrays that solvers keep about the examples of a pack."""

from __future__ import annotations

import numpy as np

from ..problem import Pack
from .arrays import EMPTY, Block, Duals, Visits
from .passes import Cache

#: Multiplier of the hash of indices: the golden ratio of 2^32, odd.
SPREAD = 2654435769

#: Planes with so many non-zeros are worth a Gram matrix that is kept for each example.
LONG = 64


class ShardArrays:
    """Makes arrays as large as a pack needs them."""

    def __init__(self, pack: Pack):
        self.pack = pack
        self.n = pack.n

    def new_labels(self) -> np.ndarray:
        """A flat label array that holds the truth."""
        return self.pack.truth.copy()

    def new_cache(self, slots: int) -> Cache:
        """Empty caches of ``slots`` outputs for each example."""
        truth = self.pack.truth
        return Cache(
            np.zeros(slots * len(truth), truth.dtype),
            np.zeros((self.n, slots)),
            np.zeros(self.n, np.int32),
            np.zeros((self.n, slots), np.int32),
        )

    def new_duals(self, slots: int) -> Duals:
        """Working sets with room for ``slots`` outputs; alpha_i is 1 at the truth."""
        truth = self.pack.truth
        kept = self.n if self.pack.width >= LONG else 0
        duals = Duals(
            np.zeros(slots * len(truth), truth.dtype),
            np.zeros((self.n, slots)),
            np.zeros((self.n, slots)),
            np.ones(self.n, np.int64),
            np.zeros((kept, slots, slots), np.float32),
            np.ones(self.n, np.int64),
        )
        duals.alpha[:, 0] = 1.0
        return duals

    def new_block(self, slots: int) -> Block:
        """Room for the planes of a working set and of one output more."""
        m, width = slots + 1, self.pack.width
        # A table at most half full, or without collisions when all of w is no larger.
        table = 1 << (min(2 * width, self.pack.dim) - 1).bit_length()
        return Block(
            np.empty(m * width, np.uint64), np.empty(m * width), np.zeros(m, np.int64),
            np.zeros(m), np.zeros(m), np.zeros(m), np.zeros((m, m)), np.zeros(m),
            np.full(table, EMPTY), np.zeros(table), np.empty(width, np.int64),
            1 if table >= self.pack.dim else SPREAD,
        )  # fmt: skip

    def new_visits(self, dim: int, power: float = 0.0) -> Visits:
        """Nothing seen so far; ``dim`` is that of w if its average is wanted, else 0."""
        return Visits(np.zeros(8), np.zeros(self.n), np.array([0.0, 0.0, power]), np.zeros(dim))

    def new_scratch(self) -> tuple[np.ndarray, np.ndarray]:
        """Room for a sparse vector."""
        return np.empty(self.pack.width, np.uint64), np.empty(self.pack.width)
