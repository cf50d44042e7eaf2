"""The arrays that solvers use for the examples of a pack."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.checked import check_pack
from ..problem import Pack
from .arrays import EMPTY, Block, Duals, Visits
from .guard import with_guard
from .passes import Cache

#: Multiplier of the hash of indices: the golden ratio of 2^32, odd.
SPREAD = 2654435769

#: Store the Gram matrix of each example if planes can have at least this many non-zeros.
LONG = 64


class ShardArrays:
    """Creates arrays of the sizes that a pack needs."""

    #: Whether the oracle gives upper bounds (``Functions.bounded``).
    bounded: bool = False

    #: The indices of the weights that must be >= 0.
    positive: np.ndarray = np.empty(0, np.int64)

    #: Runs passes in threads that share w (``together.Together``); None in deterministic training.
    together: Any = None

    def __init__(self, pack: Pack):
        check_pack(pack)
        self.pack = pack
        self.n = pack.n

    def new_labels(self) -> np.ndarray:
        """A flat label array that holds the truth."""
        labels = with_guard(len(self.pack.truth), self.pack.truth.dtype)
        labels[:] = self.pack.truth
        return labels

    def new_cache(self, slots: int) -> Cache:
        """Empty caches for ``slots`` outputs per example."""
        truth = self.pack.truth
        return Cache(
            np.zeros(slots * len(truth), truth.dtype),
            np.zeros((self.n, slots)),
            np.zeros(self.n, np.int32),
            np.zeros((self.n, slots), np.int32),
        )

    def new_duals(self, slots: int) -> Duals:
        """Working sets for ``slots`` outputs per example; alpha_i is 1 at the truth."""
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
        """Scratch memory for the planes of a working set and of one more output."""
        m, width = slots + 1, self.pack.width
        # A table that is at most half full, or has a place for every weight if w is short.
        table = 1 << (min(2 * width, self.pack.dim) - 1).bit_length()
        return Block(
            with_guard(m * width, np.uint64), with_guard(m * width), np.zeros(m, np.int64),
            np.zeros(m), np.zeros(m), np.zeros(m), np.zeros((m, m)), np.zeros(m),
            np.full(table, EMPTY), np.zeros(table), np.empty(width, np.int64),
            1 if table >= self.pack.dim else SPREAD,
        )  # fmt: skip

    def new_visits(self, dim: int, power: float = 0.0) -> Visits:
        """Results of no visits; ``dim`` is the length of w, or 0 if its average is not needed."""
        return Visits(
            np.zeros(9), np.zeros(self.n), np.array([0.0, 0.0, power]), np.zeros(dim),
            self.new_bounds() if self.bounded else None, self.new_below(),
        )  # fmt: skip

    def new_below(self) -> np.ndarray | None:
        """``Visits.below`` of w = 0."""
        if len(self.positive) == 0:
            return None
        below = np.ones(self.pack.dim)
        below[self.positive] = 0.0
        return below

    def new_bounds(self) -> np.ndarray:
        """Upper bounds of the examples, -inf for none; empty if the oracle is exact."""
        return np.full(self.n if self.bounded else 0, -np.inf)

    def new_scratch(self) -> tuple[np.ndarray, np.ndarray]:
        """Scratch memory for a sparse vector: indices and values."""
        return with_guard(self.pack.width, np.uint64), with_guard(self.pack.width)
