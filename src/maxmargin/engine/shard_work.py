"""How the passes of a shard are run: bound functions, chunks, threads or processes, and memory.

A pass over the examples is divided into chunks; Ctrl-C and time limits are checked between chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from ..problem import PREDICT, CompiledProblem, Pack
from .arrays import Block
from .bind import Loops, bind
from .guard import check_work, guarded_work
from .shard_arrays import ShardArrays
from .threads import Chunks, Threads, n_threads, no_limit, split_by_effort

#: Parts of a chunk per thread: with several parts the threads finish at about the same time.
PARTS = 8


class ShardWork(ShardArrays):
    """Runs passes over the examples of a pack; the parameters are those of ``Shard``."""

    def __init__(self, problem: CompiledProblem, pack: Pack, n_jobs: int, loops: Loops | None):
        super().__init__(_with_bounds(problem, pack))
        self.problem = problem
        self.bounded = problem.functions.bounded
        self._given_loops = loops
        self.loops = self.loops_for(PREDICT)
        self.n_jobs = n_threads(n_jobs)
        self.threads = Threads(self.n_jobs if self.loops.compiled else 1)
        self.processes = self._new_processes() if self.n_jobs > 1 else None
        self.chunks = Chunks()
        self.check: Callable[[], None] = no_limit
        self._spare: list[tuple[Block, np.ndarray]] = []
        self._work_sizes: dict[int, int] = {}

    def loops_for(self, mode: int) -> Loops:
        """The passes that call the oracle of one mode."""
        if self._given_loops is not None:
            return self._given_loops
        return bind(self.problem.functions_for(mode), type(self.problem).__name__)

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
        """Chunks of ``order``, each divided into parts of about the same effort."""
        for chunk in self.chunks(order, self.n_jobs):
            if self.n_jobs > 1:
                yield split_by_effort(chunk, self.effort, PARTS * self.n_jobs)
            else:
                yield [chunk]

    def close(self) -> None:
        """End the threads and worker processes."""
        self.threads.close()
        if self.processes is not None:
            self.processes.close()

    def _new_processes(self) -> Any:
        """Worker processes for an interpreted oracle; None for a compiled one (threads)."""
        if self.loops.compiled:
            return None
        from .processes import Processes

        return Processes(self.problem, self.pack, self.n_jobs)

    @cached_property
    def effort(self) -> np.ndarray:
        """Approximate work per example (n,), in any unit."""
        return self.problem.effort(self.pack)

    def work_size(self, mode: int) -> int:
        """Scratch memory of ``decode`` in this mode, in floats."""
        if mode not in self._work_sizes:
            self._work_sizes[mode] = self.problem.work(self.pack, mode)
        return self._work_sizes[mode]

    def check_work(self, work: np.ndarray) -> None:
        """Raise an error if ``decode`` has written outside of its scratch memory."""
        check_work(work, type(self.problem).__name__)

    def spare_memory(self, block: Block, work: np.ndarray) -> list[tuple[Block, np.ndarray]]:
        """Scratch memory for each thread, kept between passes because allocating it is slow."""
        if self.threads.n == 1:
            return [(block, work)]
        shape = len(block.nnz), len(work)
        if not self._spare or shape != (len(self._spare[0][0].nnz), len(self._spare[0][1])):
            self._spare = [
                (self.new_block(shape[0] - 1), guarded_work(len(work)))
                for _ in range(self.threads.n)
            ]
        return self._spare


def _with_bounds(problem: CompiledProblem, pack: Pack) -> Pack:
    """The examples with the bounds of labels, if the problem declares them."""
    if type(problem).label_bounds is CompiledProblem.label_bounds:
        return pack
    low, high = problem.label_bounds(pack)
    return pack._replace(low=int(low), high=int(high))
