"""Cuts of one-slack iterations: from the caches, from some oracle calls, or from all of them.

Cuts are tried in the order of their cost, and the first one that is violated enough is used. Only
the last one, for which the oracle of every example was called at this w, gives P(w).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..engine.bounds import sum_hinges
from ..engine.passes import Cache
from ..engine.shard import NO_BOUNDS
from ..engine.vectors import Vector
from .checking import check_cache, check_labels, require
from .contradiction import ROUNDING, check_oracle
from .diverse import DiverseCuts
from .task import Task


class Cut(NamedTuple):
    """An aggregated plane ``(g, l)``, divided by n, and its value ``hinge`` at the current w.

    If ``complete`` is true, the plane of every example is its most violated one, so that ``hinge``
    is ``sum_i weight_i H_i(w) / n`` of the outputs found, and ``bound`` its upper bound.
    """

    plane: Vector
    loss: float
    hinge: float
    bound: float
    complete: bool


class CutMaker:
    """Makes cuts for one-slack training; it holds the caches of the examples.

    Parameters
    ----------
    task : Task
    slots : int
        Number of cached outputs per example.
    share : float
        Fraction of the examples whose oracle is called first.
    select : {"cyclic", "gain"}
        Which examples these are: the next ones in a fixed random order, or half of them those for
        which the oracle improved most on the cache at its last call.
    diverse : DiverseCuts, optional
        Finds several outputs per example, for several cuts per iteration.
    """

    scratch = ("task", "bound", "known")

    def __init__(
        self, task: Task, slots: int, share: float, select: str, diverse: DiverseCuts | None = None
    ):
        self.task = task
        self.diverse = diverse
        self.cache: Cache | None = task.shard.new_cache(slots) if slots else None
        self.labels = task.shard.new_labels()
        self.bound = task.shard.new_bounds()
        self.known: np.ndarray | None = None  # the best cached outputs, for an inexact oracle
        self.recalled = np.zeros(task.shard.n)
        self.gain = np.full(task.shard.n, np.inf)
        self.batch = max(1, round(share * task.shard.n))
        self.select = select
        self.cycle = task.random.permutation(task.shard.n)
        self.now = 0

    def attempts(self, w: np.ndarray) -> Iterator[Cut]:
        """Cuts at w, each more accurate and more expensive than the one before."""
        shard, mode = self.task.shard, self.task.mode
        self.now += 1
        if self.cache is not None:
            if self.now > 1:
                with self.task.share("cache"):
                    self.recalled = shard.recall(w, mode, self.cache, self.now, self.labels)
                    self.known = self.labels.copy() if shard.bounded else None
                yield self._collect(w, complete=False)
            if self.batch < shard.n:
                chosen = self._choose()
                self._ask(w, chosen)
                yield self._collect(w, complete=False, asked=chosen)
                self._ask(w, np.setdiff1d(shard.everyone, chosen, assume_unique=True))
                yield self._collect(w, complete=True, asked=shard.everyone)
                return
        self._ask(w, shard.everyone)
        yield self._collect(w, complete=True, asked=shard.everyone)

    def _ask(self, w: np.ndarray, order: np.ndarray) -> None:
        """Call the oracle for the examples of ``order`` (lines 5 to 7 of Algorithms 3 and 4)."""
        with self.task.share("oracle"):
            if self.diverse is not None:
                self.diverse.ask(w, order, self.labels, self.bound)
                return
            self.task.shard.oracle(w, self.task.mode, self.labels, order, self.bound)

    def _collect(self, w: np.ndarray, complete: bool, asked: np.ndarray | None = None) -> Cut:
        """Sum the planes of the current labels; put new outputs into the caches."""
        shard, mode, n = self.task.shard, self.task.mode, self.task.n
        with self.task.share("planes"):
            plane, loss, value = shard.cut(w, mode, self.labels, 1.0 / n)
            if asked is not None and self._take_known(asked, value):
                plane, loss, value = shard.cut(w, mode, self.labels, 1.0 / n)
        if self.cache is not None and asked is not None:
            with self.task.share("cache"):
                shard.remember(self.labels, value, self.recalled, self.cache, self.now, asked)
                self.gain[asked] = value[asked] - self.recalled[asked]
                worst = int(asked[np.argmin(self.gain[asked])])
                if self.gain[worst] < -ROUNDING * abs(self.recalled[worst]):
                    check_oracle(self.task, self.cache, 0, w, worst)
                self.recalled = value
                if self.diverse is not None:
                    self.diverse.several.keep(self.cache, self.now, asked)
        bound = self.bound if complete else NO_BOUNDS
        hinge = sum_hinges(shard, w, mode, self.labels, value, bound)
        return Cut(plane, loss / n, hinge.found / n, hinge.bound / n, complete)

    def _take_known(self, asked: np.ndarray, value: np.ndarray) -> bool:
        """Put back the cached outputs that are better than those of an inexact oracle."""
        if self.known is None:
            return False
        inexact = self.bound[asked] > -np.inf
        better = asked[inexact & (value[asked] < self.recalled[asked])]
        for i in better.tolist():
            lo, hi = self.task.shard.pack.offsets[i : i + 2]
            self.labels[lo:hi] = self.known[lo:hi]
        return len(better) > 0

    def _choose(self) -> np.ndarray:
        """The examples whose oracle is called first."""
        size = self.batch if self.select == "cyclic" else self.batch - self.batch // 2
        chosen = self.cycle[:size]
        self.cycle = np.roll(self.cycle, -size)
        if self.select == "gain":
            rest = self.cycle[: len(self.cycle) - size]
            best = np.argsort(-self.gain[rest], kind="stable")[: self.batch - size]
            chosen = np.concatenate([chosen, rest[best]])
        return chosen

    def check_restored(self, task: Task) -> None:
        """The order of the examples is a permutation; labels and caches are valid."""
        n = task.shard.n
        check_labels(task, self.labels)
        known = self.diverse is None or isinstance(self.diverse, DiverseCuts)
        require(known, "this run makes one cut per iteration")
        permuted = (np.sort(self.cycle) == np.arange(n)).all()
        require(permuted, "the order of the examples is not a permutation")
        require(1 <= self.batch <= n, "the batch is out of range")
        if self.cache is not None:
            check_cache(task, self.cache)
