"""Examples, their caches and the bound loops: all that a solver asks about the training data.

A pass over the examples is cut into chunks, between which Ctrl-C and time limits are obeyed.
Passes at one w run in several threads. So does the oracle of the dual methods, for blocks of
examples, where it is worth it. Sums are made in an order that depends on the examples only, so that
the number of threads changes nothing in the result, not a bit.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from .ascent import CHANGED, EMPTY, VIOLATION, Block, Duals, Rule, Visits, ascend_block
from .bind import Loops, bind
from .linalg import blend, go_towards
from .loops import Cache
from .parallel import FEW, SMALLEST, Chunks, Threads, fixed_pieces, n_threads, split_by_effort
from .planes import Plane, warm_up_planes
from .problem import PREDICT, KernelProblem, Pack

#: Multiplier of the hash of indices: the golden ratio of 2^32, odd.
SPREAD = 2654435769

#: Planes with so many non-zeros are worth a Gram matrix that is kept for each example.
LONG = 64

#: Planes are summed in up to so many parts, each as long as w: where w is short against them.
PARTIAL_SUMS = 8

#: Examples of a block that is decoded at the same w, before their dual steps; and a block is at
#: most this part of all examples, so that the w of the last one is not too old.
BLOCK, BLOCK_PART = 64, 16

#: Operations of the oracle, for each number that a plane can have, from which on blocks pay.
HEAVY = 50


def _nothing() -> None:
    """The check between chunks when nobody wants to stop."""


class Shard:
    """Packed examples of one problem.

    Parameters
    ----------
    problem : KernelProblem
    pack : Pack
    n_jobs : int
        Threads for a compiled problem, or processes for the oracle of one in plain Python; -1 for
        all cores.
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
        self.n_jobs = n_threads(n_jobs)
        self.threads = Threads(self.n_jobs if self.loops.compiled else 1)
        self.processes = self._new_processes() if self.n_jobs > 1 else None
        self.chunks = Chunks()
        self.block_size = self._block_size()
        self.everyone = np.arange(self.n)
        self.scratch = self._new_scratch()
        self._sum: np.ndarray | None = None
        self.n_oracle = 0
        self.check: Callable[[], None] = _nothing

    def fingerprint(self) -> str:
        """A hash of the problem and its packed examples: other data have another one."""
        from .checkpoint import fingerprint

        kind = type(self.problem).__name__
        return fingerprint(kind, *(v for k, v in self.pack._asdict().items() if k != "work"))

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

    def oracle(self, w: np.ndarray, mode: int, labels: np.ndarray, order: np.ndarray) -> None:
        """Decode the examples of ``order`` into ``labels``."""
        decode, pack, work = self.loops.decode, self.pack, self.problem.work(self.pack, mode)

        def decode_part(part: np.ndarray) -> None:
            decode(pack, w, mode, part, labels, np.empty(work))

        if self.processes is not None:
            self.processes.new_weights()
        for parts in self._parallel(order):
            if self.processes is not None:
                self.processes.decode(w, mode, labels, parts, self.check)
            else:
                self.threads.each(decode_part, parts, self.check)
        if mode != PREDICT:
            self.n_oracle += len(order)

    def each(self, work: Callable[[np.ndarray], Any], order: np.ndarray) -> None:
        """Call ``work`` on parts of ``order``, in threads, with checks in between."""
        for parts in self._parallel(order):
            self.threads.each(work, parts, self.check)

    def each_in_turn(self, work: Callable[[np.ndarray], Any], order: np.ndarray) -> None:
        """Call ``work`` on parts of ``order``, one after the other, with checks in between."""
        for part in self.chunks(order):
            self.check()
            work(part)

    def _parallel(self, order: np.ndarray) -> Iterator[list[np.ndarray]]:
        """Chunks of ``order``, each in parts of about the same effort for all jobs."""
        for chunk in self.chunks(order, self.n_jobs):
            if self.n_jobs > 1:
                yield split_by_effort(chunk, self.effort, 2 * self.n_jobs)
            else:
                yield [chunk]

    def close(self) -> None:
        """End the threads and worker processes, if there are any."""
        self.threads.close()
        if self.processes is not None:
            self.processes.close()

    def _new_processes(self) -> Any:
        """Workers for an interpreted oracle; none for a compiled one, for which threads do."""
        if self.loops.compiled:
            return None
        from .processes import Processes

        return Processes(self.problem, self.pack, self.n_jobs)

    @cached_property
    def effort(self) -> np.ndarray:
        """About how much work each example is (n,)."""
        return self.problem.effort(self.pack)

    def collect(
        self, w: np.ndarray, mode: int, labels: np.ndarray, order: np.ndarray | None = None
    ) -> tuple[np.ndarray, float, np.ndarray]:
        """The cut of ``labels`` at w: ``(g, l, value)`` with value_i = loss_i - <w, plane_i>.

        All examples by default; of others than those of ``order`` the value is not set.
        """
        g = np.zeros(self.pack.dim)
        loss, value = self._collect(w, mode, labels, self.everyone if order is None else order, g)
        return g, loss, value

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

    def _collect(
        self, w: np.ndarray, mode: int, labels: np.ndarray, order: np.ndarray, g: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Add the planes of ``order`` to g, as partial sums whose number n_jobs does not change."""
        value = np.empty(self.n)
        many = len(order) * self.pack.width // (16 * max(self.pack.dim, 1))
        groups = split_by_effort(order, self.effort, min(max(many, 1), PARTIAL_SUMS))

        def sum_group(number: int) -> tuple[np.ndarray, float]:
            own, scratch = np.zeros(self.pack.dim) if number else g, self._new_scratch()
            loss = 0.0
            for part in fixed_pieces(groups[number], self.loops.compiled):
                self.check()
                loss += self.loops.collect(self.pack, w, mode, part, labels, own, value, scratch)
            return own, loss

        sums = self.threads.each(sum_group, range(len(groups)), self.check)
        for more, _ in sums[1:]:
            g += more
        return float(sum(loss for _, loss in sums)), value

    def recall(
        self, w: np.ndarray, mode: int, cache: Cache, now: int, labels: np.ndarray
    ) -> np.ndarray:
        """Write the best cached outputs into ``labels``; returns their values at w."""
        value, size = np.empty(self.n), self.problem.work(self.pack, mode)
        self.threads.each(
            lambda part: self.loops.recall(
                self.pack, w, mode, part, cache, now, labels, value, self._new_scratch(),
                np.empty(size),
            ),
            fixed_pieces(self.everyone, self.loops.compiled),
            self.check,
        )  # fmt: skip
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
        size: int = 0,
    ) -> None:
        """A pass of dual ascent over ``order``; w, duals and visits change in place.

        Where the oracle is asked, ``size`` examples are decoded at the same w, in threads, and
        then take their dual steps, one after the other, over the outputs that are now known: a
        plane found at a slightly old w is still a plane, and its value is that at the new w. Where
        the oracle is cheap each example is decoded at the w of its own step.
        """
        work = np.empty(self.problem.work(self.pack, mode))

        def step(part: np.ndarray, rule: Rule, visits: Visits, block: Block, work: Any) -> None:
            self.loops.ascend(self.pack, w, C, mode, part, duals, rule, labels, visits, block, work)

        size = len(order) if rule.tau == np.inf else min(size, self.block_size)
        if not rule.ask or size == 0:
            for part in self.chunks(order):
                self.check()
                step(part, rule, visits, block, work)
            self.n_oracle += len(order) * rule.ask
            return
        still = rule._replace(tau=np.inf)
        own = visits._replace(total=np.zeros_like(visits.total))  # examples are counted once
        for start in range(0, len(order), size):
            part = order[start : start + size]
            found = part if size == self.n else np.unique(part)
            if not self.loops.compiled:  # in worker processes, if there are any
                self.oracle(w, mode, labels, found)
                self.n_oracle -= len(found)  # counted below
                still = still._replace(found=True)
            self._look(step, found, still, visits, block, work)
            self.n_oracle += len(found)
            if rule.tau < np.inf:
                worth = part[visits.gap[part] > rule.tau]
                step(worth, rule._replace(ask=False), own, block, work)
        visits.total[CHANGED] += own.total[CHANGED]

    def _look(
        self,
        step: Callable[..., None],
        order: np.ndarray,
        rule: Rule,
        visits: Visits,
        block: Block,
        work: np.ndarray,
    ) -> None:
        """Visit examples that do not move: in any number of threads, with sums piece by piece."""
        alone = self.threads.n == 1

        def look(part: np.ndarray) -> np.ndarray:
            mine = visits._replace(total=np.zeros_like(visits.total), clock=visits.clock.copy())
            own = block if alone else self.new_block(len(block.nnz) - 1)
            step(part, rule, mine, own, work if alone else np.empty_like(work))
            return mine.total

        pieces = fixed_pieces(order, self.loops.compiled, FEW if self.block_size else SMALLEST)
        for total in self.threads.each(look, pieces, self.check):
            largest = max(visits.total[VIOLATION], total[VIOLATION])
            visits.total[:] += total
            visits.total[VIOLATION] = largest

    def _block_size(self) -> int:
        """The most examples that are decoded at once in the dual methods; 0 for one by one.

        Counts decide, never n_jobs, for it changes the iterates: with a slightly old w the same
        gap takes one or two iterations more (16 and 18 passes on chunking). Two threads win that
        back where the oracle is most of the work, and not where its scores serve the step as well.
        """
        operations = self.problem.operations(self.pack)
        known = self.problem.kernels.margin is not None
        light = known and operations is not None and operations < HEAVY * self.pack.width * self.n
        return 0 if light else min(max(self.n // BLOCK_PART, 1), BLOCK)

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
            warm_up_vectors(names)
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

    def _new_scratch(self) -> tuple[np.ndarray, np.ndarray]:
        """Room for a sparse vector."""
        return np.empty(self.pack.width, np.uint64), np.empty(self.pack.width)


def warm_up_vectors(names: tuple[str, ...]) -> None:
    """Compile (or load) what solvers that call these loops do with w and with planes."""
    blend(np.zeros(1), np.zeros(1), 0.0)
    if "collect" in names:
        go_towards(np.zeros(1), np.zeros(1), 0.0, np.zeros(1))
        warm_up_planes()


def predict_labels(
    problem: KernelProblem, pack: Pack, w: np.ndarray, n_jobs: int = 1
) -> np.ndarray:
    """The flat labels that maximise <w, phi> for each example."""
    shard = Shard(problem, pack, n_jobs)
    labels = np.empty(len(pack.truth), pack.truth.dtype)
    try:
        shard.oracle(w, PREDICT, labels, shard.everyone)
    finally:
        shard.close()
    return labels


def _say_compiling() -> None:
    """One line, when compiling takes long enough for a user to wonder."""
    print("maxmargin: compiling (once on this machine, a few seconds)", file=sys.stderr, flush=True)
