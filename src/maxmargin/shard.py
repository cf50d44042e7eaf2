"""Examples, their caches and the bound loops: all that a solver asks about the training data.

A pass over the examples is cut into chunks, between which Ctrl-C and time limits are obeyed.
The oracle may run in several threads; planes are always summed in the order of the examples, so
that the number of threads changes nothing in the result.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from .ascent import EMPTY, Block, Duals, Rule, Visits, ascend_block
from .bind import Loops, bind
from .linalg import blend, go_towards
from .loops import Cache
from .planes import Plane, warm_up_planes
from .problem import PREDICT, KernelProblem, Pack

#: Multiplier of the hash of indices: the golden ratio of 2^32, odd.
SPREAD = 2654435769

#: Planes with so many non-zeros are worth a Gram matrix that is kept for each example.
LONG = 64

#: A chunk of examples is sized to take about this long, in seconds.
CHUNK_TIME = 0.05


def _nothing() -> None:
    """The check between chunks when nobody wants to stop."""


class Shard:
    """Packed examples of one problem.

    Parameters
    ----------
    problem : KernelProblem
    pack : Pack
    n_jobs : int
        Threads for the oracle of a compiled problem; -1 for all cores.
    loops : Loops, optional
        The bound loops; found from the problem's kernels by default.
    """

    def __init__(
        self, problem: KernelProblem, pack: Pack, n_jobs: int = 1, loops: Loops | None = None
    ):
        self.problem = problem
        self.pack = pack
        self.loops = bind(problem.kernels) if loops is None else loops
        self.n = pack.n
        self.total_weight = float(pack.weight.sum())
        self.n_jobs = n_threads(n_jobs) if self.loops.compiled else 1
        self.everyone = np.arange(self.n)
        self.scratch = (np.empty(pack.width, np.uint64), np.empty(pack.width))
        self._sum: np.ndarray | None = None
        self.n_oracle = 0
        self.check: Callable[[], None] = _nothing
        self._chunk = 64

    def operations(self) -> float | None:
        """About how many operations a pass of the oracle takes; None where that is unknown."""
        return self.problem.operations(self.pack)

    def new_labels(self) -> np.ndarray:
        """A flat label array that holds the truth."""
        return self.pack.truth.copy()

    def new_cache(self, slots: int) -> Cache:
        """Empty caches of ``slots`` outputs for each example."""
        truth = self.pack.truth
        return Cache(
            np.empty(slots * len(truth), truth.dtype),
            np.zeros((self.n, slots)),
            np.zeros(self.n, np.int32),
            np.zeros((self.n, slots), np.int32),
        )

    def new_duals(self, slots: int) -> Duals:
        """Working sets with room for ``slots`` outputs; alpha_i is 1 at the truth."""
        truth = self.pack.truth
        kept = self.n if self.pack.width >= LONG else 0
        duals = Duals(
            np.empty(slots * len(truth), truth.dtype),
            np.zeros((self.n, slots)),
            np.zeros((self.n, slots)),
            np.ones(self.n, np.int64),
            np.empty((kept, slots, slots), np.float32),
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

    def oracle(self, w: np.ndarray, mode: int, labels: np.ndarray, order: np.ndarray) -> None:
        """Decode the examples of ``order`` into ``labels``."""
        decode, pack, work = self.loops.decode, self.pack, self.problem.work(self.pack, mode)
        self._run(
            lambda part: decode(pack, w, mode, part, labels, np.empty(work)),
            order,
            self.n_jobs,
        )
        if mode != PREDICT:
            self.n_oracle += len(order)

    def collect(
        self, w: np.ndarray, mode: int, labels: np.ndarray, order: np.ndarray | None = None
    ) -> tuple[np.ndarray, float, np.ndarray]:
        """The cut of ``labels`` at w: ``(g, l, value)`` with value_i = loss_i - <w, plane_i>.

        All examples by default; of others than those of ``order`` the value is not set.
        """
        g = np.zeros(self.pack.dim)
        loss, value = self._collect(w, mode, labels, self.everyone if order is None else order, g)
        return g, loss, value

    def _collect(
        self, w: np.ndarray, mode: int, labels: np.ndarray, order: np.ndarray, g: np.ndarray
    ) -> tuple[float, np.ndarray]:
        collect, value = self.loops.collect, np.empty(self.n)
        parts: list[float] = []
        self._run(
            lambda part: parts.append(
                collect(self.pack, w, mode, part, labels, g, value, self.scratch)
            ),
            order,
        )
        return float(sum(parts)), value

    def cut(
        self, w: np.ndarray, mode: int, labels: np.ndarray, scale: float
    ) -> tuple[Plane, float, np.ndarray]:
        """As ``collect`` of all examples, but g as a plane, times ``scale``."""
        # Until it is empty again nobody else may have it: an interruption leaves it half full.
        g, self._sum = self._sum, None
        if g is None:
            g = np.zeros(self.pack.dim)
        loss, value = self._collect(w, mode, labels, self.everyone, g)
        plane = Plane.take(g, scale)
        self._sum = g
        return plane, loss, value

    def recall(
        self, w: np.ndarray, mode: int, cache: Cache, now: int, labels: np.ndarray
    ) -> np.ndarray:
        """Write the best cached outputs into ``labels``; returns their values at w."""
        value = np.empty(self.n)
        recall, work = self.loops.recall, np.empty(self.problem.work(self.pack, mode))
        self._run(
            lambda part: recall(
                self.pack, w, mode, part, cache, now, labels, value, self.scratch, work
            ),
            self.everyone,
        )
        return value

    def remember(
        self,
        labels: np.ndarray,
        value: np.ndarray,
        recalled: np.ndarray,
        cache: Cache,
        now: int,
        order: np.ndarray,
    ) -> None:
        """Keep the outputs of ``order`` that are better than all cached ones."""
        self.loops.remember(self.pack, order, labels, value, recalled, cache, now)

    def ascend(
        self,
        w: np.ndarray,
        C: float,
        mode: int,
        order: np.ndarray,
        duals: Duals,
        rule: Rule,
        labels: np.ndarray,
        visits: Visits,
        block: Block,
    ) -> None:
        """A pass of block dual ascent over ``order``; w, duals and visits change in place."""
        work = np.empty(self.problem.work(self.pack, mode))
        self._run(
            lambda part: self.loops.ascend(
                self.pack, w, C, mode, part, duals, rule, labels, visits, block, work
            ),
            order,
        )
        self.n_oracle += len(order) * rule.ask

    def sum_duals(self, C: float, mode: int, duals: Duals, w: np.ndarray) -> None:
        """w += C sum_ir weight_i alpha_ir plane_ir."""
        self.loops.sum(self.pack, C, mode, self.everyone, duals, w, self.scratch)

    def warm_up(self, mode: int, names: tuple[str, ...]) -> float:
        """Compile (or load) these loops by treating no example; returns the seconds it took."""
        start = time.perf_counter()
        late = threading.Timer(1.0, _say_compiling)
        late.daemon = True
        late.start()
        try:
            for name in names:
                getattr(self.loops, name)(*self._nothing_to_do(name, mode))
            if "ascend" in names and not self.loops.compiled:
                self._warm_up_block()
            warm_up_vectors()
        finally:
            late.cancel()
        return time.perf_counter() - start

    def _warm_up_block(self) -> None:
        """Compile the part of dual ascent that problems in plain Python share."""
        duals, block, visits = self.new_duals(1), self.new_block(1), self.new_visits(0)
        ascend_block(
            duals.alpha[0], duals.gram, duals.known, 0, 1, block, 1.0, Rule(True), self.pack.width,
            np.zeros(1), visits,
        )  # fmt: skip

    def new_visits(self, dim: int, power: float = 0.0) -> Visits:
        """Nothing seen so far; ``dim`` is that of w if its average is wanted, else 0."""
        return Visits(np.zeros(6), np.zeros(self.n), np.array([0.0, 0.0, power]), np.zeros(dim))

    def _nothing_to_do(self, name: str, mode: int) -> tuple[Any, ...]:
        """Arguments for a loop that name no example."""
        pack, scratch, nobody = self.pack, self.scratch, self.everyone[:0]
        w, labels, value, work = np.zeros(1), pack.truth[:0].copy(), np.zeros(0), np.zeros(0)
        cache, duals = self.new_cache(0), self.new_duals(1)
        visits, block = self.new_visits(0), self.new_block(0)
        return {
            "decode": (pack, w, mode, nobody, labels, work),
            "collect": (pack, w, mode, nobody, labels, w, value, scratch),
            "recall": (pack, w, mode, nobody, cache, 0, labels, value, scratch, work),
            "remember": (pack, nobody, labels, value, value, cache, 0),
            "ascend": (
                pack, w, 1.0, mode, nobody, duals, Rule(True), labels, visits, block, work,
            ),
            "sum": (pack, 1.0, mode, nobody, duals, w, scratch),
        }[name]  # fmt: skip

    def _run(self, work: Callable[[np.ndarray], Any], order: np.ndarray, n_jobs: int = 1) -> None:
        """Call ``work`` on chunks of ``order``, with a check between chunks.

        The size of a chunk follows the clock, which changes nothing in the result.
        """
        done = 0
        pool = ThreadPoolExecutor(n_jobs) if n_jobs > 1 else None
        try:
            while done < len(order):
                self.check()
                start = time.perf_counter()
                part = order[done : done + self._chunk * n_jobs]
                if pool is None:
                    work(part)
                else:
                    list(pool.map(work, np.array_split(part, n_jobs)))
                done += len(part)
                if time.perf_counter() - start < CHUNK_TIME:
                    self._chunk *= 2
                elif self._chunk > 1:
                    self._chunk //= 2
        finally:
            if pool is not None:
                pool.shutdown()


def warm_up_vectors() -> None:
    """Compile (or load) what solvers themselves do with w and with planes."""
    blend(np.zeros(1), np.zeros(1), 0.0)
    go_towards(np.zeros(1), np.zeros(1), 0.0, np.zeros(1))
    warm_up_planes()


def predict_labels(
    problem: KernelProblem, pack: Pack, w: np.ndarray, n_jobs: int = 1
) -> np.ndarray:
    """The flat labels that maximise <w, phi> for each example."""
    shard = Shard(problem, pack, n_jobs)
    labels = np.empty(len(pack.truth), pack.truth.dtype)
    shard.oracle(w, PREDICT, labels, shard.everyone)
    return labels


def n_threads(n_jobs: int | None) -> int:
    """``n_jobs`` as scikit-learn reads it: -1 is all cores, -2 all but one, None is 1."""
    if n_jobs is None:
        return 1
    cores = os.cpu_count() or 1
    return max(1, cores + 1 + n_jobs) if n_jobs < 0 else max(1, n_jobs)


def _say_compiling() -> None:
    """One line, when compiling takes long enough for a user to wonder."""
    print("maxmargin: compiling (once on this machine, a few seconds)", file=sys.stderr, flush=True)
