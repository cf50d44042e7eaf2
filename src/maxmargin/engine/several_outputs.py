"""Several outputs per example of a shard: find them, measure them, sum their planes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DataError
from ..problem import PREDICT
from .guard import guarded_work
from .passes import Cache
from .several_bind import MBestLoops, bind_m_best
from .shard import NO_BOUNDS, Shard


class SeveralOutputs:
    """Finds up to m outputs per example of a shard.

    Parameters
    ----------
    shard : Shard
    m : int

    Attributes
    ----------
    outputs : Cache
        The outputs of each example, best first; ``count`` holds their number.
    score : array (n, m)
        ``<w, phi_i(y)>`` of each output, set by predictions of problems with a function ``m_best``.
    """

    def __init__(self, shard: Shard, m: int):
        self.shard = shard
        self.m = m
        self.loops: MBestLoops = bind_m_best(
            shard.problem.functions, type(shard.problem).__name__, shard.loops.compiled
        )
        self.outputs: Cache = shard.new_cache(m)
        self.score = np.zeros((shard.n, m))
        self.exact = shard.problem.functions.m_best is not None

    def warm_up(self, mode: int) -> None:
        """Compile (or load) the passes by calls without examples."""
        shard, no_examples, nothing = self.shard, self.shard.everyone[:0], np.zeros(1)
        self.ask(nothing, mode, 0.0, no_examples)
        margin, cache = np.zeros((0, self.m)), shard.new_cache(0)
        args = (shard.pack, nothing, self.m, no_examples, self.outputs, margin, shard.scratch)
        self.loops.measure(*args)
        self.loops.sum(
            shard.pack, mode, self.m, no_examples, self.outputs, margin, nothing, shard.scratch
        )
        self.loops.keep(shard.pack, self.m, no_examples, self.outputs, cache, 0)

    def ask(
        self,
        w: np.ndarray,
        mode: int,
        diversity: float,
        order: np.ndarray,
        bound: np.ndarray = NO_BOUNDS,
    ) -> None:
        """Fill ``outputs`` for the examples of ``order``, and ``bound`` if ``decode`` is used."""
        shard, m = self.shard, self.m
        work, ask = shard.problem.m_best_work(shard.pack, mode, m), self.loops.ask
        width = 0 if self.exact else m * shard.pack.width

        def some(part: np.ndarray) -> None:
            own = w if self.exact else w.copy()
            trail = (np.empty(width, np.uint64), np.empty(width), np.zeros(1, np.int64))
            scratch = shard.new_scratch()
            memory = guarded_work(work)
            ask(
                shard.pack, own, mode, diversity, m, part, self.outputs, self.score, trail,
                scratch, memory, bound,
            )  # fmt: skip
            shard.check_work(memory)

        if len(order) == 0:
            some(order)  # only to compile
        shard.each(some, order)
        if mode != PREDICT:
            shard.n_oracle += int(self.outputs.count[order].sum())

    def take(
        self, slot: np.ndarray | int, labels: np.ndarray, order: np.ndarray | None = None
    ) -> None:
        """labels_i = output number ``slot`` of example i, or its first output if it has fewer."""
        pack, counts = self.shard.pack, self.outputs.count
        order = self.shard.everyone if order is None else order
        slot = np.broadcast_to(slot, (pack.n,))[order]
        slot = np.where(slot < counts[order], slot, 0)
        first, lengths = pack.offsets[order], np.diff(pack.offsets)[order]
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        source = np.repeat(self.m * first + slot * lengths, lengths) + within
        labels[np.repeat(first, lengths) + within] = self.outputs.labels[source]

    def measure(self, v: np.ndarray) -> np.ndarray:
        """<v, psi_i(y)> (n, m) of all outputs, 0 in free slots; also sets their losses."""
        shard, margin = self.shard, np.zeros((self.shard.n, self.m))
        shard.each_in_turn(
            lambda part: self.loops.measure(
                shard.pack, v, self.m, part, self.outputs, margin, shard.scratch
            ),
            shard.everyone,
        )
        return margin

    def sum(self, mode: int, share: np.ndarray) -> np.ndarray:
        """sum_ir weight_i share[i, r] plane_i(r), of outputs for which ``measure`` was called."""
        shard, g = self.shard, np.zeros(self.shard.pack.dim)
        shard.each_in_turn(
            lambda part: self.loops.sum(
                shard.pack, mode, self.m, part, self.outputs, share, g, shard.scratch
            ),
            shard.everyone,
        )
        return g

    def keep(self, cache: Cache, now: int, order: np.ndarray) -> None:
        """Put all outputs into the caches, except the first, which is already there."""
        self.loops.keep(self.shard.pack, self.m, order, self.outputs, cache, now)


def check_m(m: int) -> None:
    """Raise a DataError unless m is a number of outputs."""
    if isinstance(m, bool) or not isinstance(m, int | np.integer) or m < 1:
        raise DataError(f"m must be a number of outputs >= 1, got {m!r}")


def check_diversity(diversity: Any) -> None:
    """Raise a DataError unless ``diversity`` is a finite number >= 0."""
    number = isinstance(diversity, int | float | np.number) and not isinstance(diversity, bool)
    if not (number and 0 <= diversity < np.inf):
        raise DataError(f"diversity must be a finite number >= 0, got {diversity!r}")
