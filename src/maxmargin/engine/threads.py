"""Threads that stay alive between passes, and the division of a pass into pieces.

Compiled passes run without the GIL. If sums are computed from pieces, the pieces depend on the
examples only, never on the number of threads, so that the result is the same for any number.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from threading import Event, Lock
from typing import Any

import numpy as np

from ..objective import check_integer

#: More threads or processes than this are refused, unless there are as many cores.
MOST_THREADS = 1024

#: Target duration of a chunk of examples, in seconds.
CHUNK_TIME = 0.05

#: The number of examples in a chunk grows or shrinks at most by this factor.
MOST_CHANGE = 16

#: No chunk needs more examples than this.
MOST_EXAMPLES = 2**40

#: Use other threads if the work takes at least this many seconds.
WORTH = 0.004

#: Minimum number of pieces of a pass that are summed separately, if they are not too small.
PIECES = 16

#: Minimum and maximum number of examples in a piece, and their number for a problem in plain
#: Python, which is slow.
SMALLEST, LARGEST, INTERPRETED = 32, 512, 8


def no_limit() -> None:
    """The check between pieces of work if nothing can end it."""


class Threads:
    """Runs work on pieces, in ``n`` threads, or in the calling thread if ``n`` is 1.

    The calling thread is one of the ``n``. If it only waited, there would be one thread more than
    cores, and the system would often put two that work on the same core.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self._pool: ThreadPoolExecutor | None = None

    def each(
        self,
        work: Callable[[Any], Any],
        pieces: Iterable[Any],
        check: Callable[[], None],
        expected: float = np.inf,
    ) -> list[Any]:
        """``[work(piece) for piece in pieces]``, with a check between pieces.

        If the check or the work raises an exception, all work ends. Work that is ``expected`` to
        take little time (seconds) is done in the calling thread.
        """
        if self.n == 1 or expected < WORTH:
            found = []
            for piece in pieces:
                check()
                found.append(work(piece))
            return found
        answers: dict[int, Any] = {}
        todo, lock, ended = enumerate(pieces), Lock(), Event()

        def take_pieces(check: Callable[[], None]) -> None:
            try:
                while not ended.is_set():
                    check()
                    with lock:
                        number, piece = next(todo, (-1, None))
                    if number < 0:
                        return
                    answers[number] = work(piece)
            except BaseException:
                ended.set()
                raise

        pool = self._threads(self.n - 1)
        others = [pool.submit(take_pieces, no_limit) for _ in range(self.n - 1)]
        try:
            take_pieces(check)
            wait(others)
        except BaseException:
            ended.set()
            wait(others)
            raise
        for other in others:
            other.result()
        return [answers[number] for number in range(len(answers))]

    def watch(
        self,
        work: Callable[[Any], Any],
        pieces: Iterable[Any],
        check: Callable[[], None],
        abort: Callable[[], None],
    ) -> list[Any]:
        """The same for work that waits for other processes: the calling thread makes checks only.

        If the check or the work raises an exception, ``abort`` is called.
        """
        pool, todo = self._threads(self.n), iter(pieces)
        futures = [pool.submit(work, piece) for piece in islice(todo, 2 * self.n)]
        running: set[Future[Any]] = set(futures)
        try:
            while running:
                done, running = wait(running, timeout=CHUNK_TIME, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                check()
                more = [pool.submit(work, piece) for piece in islice(todo, len(done))]
                futures += more
                running |= set(more)
        except BaseException:
            for future in futures:
                future.cancel()
            abort()
            wait(futures)
            raise
        return [future.result() for future in futures]

    def _threads(self, n: int) -> ThreadPoolExecutor:
        """The other threads, n at most; they start when they are first needed."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(n)
        return self._pool

    def close(self) -> None:
        """End the threads; the next call of ``each`` starts new ones."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


class Chunks:
    """Parts of an order that take about CHUNK_TIME each.

    Their size depends on measured times, so the result of the work must not depend on it.
    """

    def __init__(self) -> None:
        self.size = 64

    def __call__(self, order: np.ndarray, n: int = 1) -> Iterator[np.ndarray]:
        """The parts, each to be worked on by ``n`` threads.

        With several threads the parts are longer, because all threads wait at the end of each part,
        and checks are made in the meantime.
        """
        limit = CHUNK_TIME if n == 1 else 4 * CHUNK_TIME
        done = 0
        while done < len(order):
            start = time.perf_counter()
            part = order[done : done + self.size * n]
            yield part
            done += len(part)
            change = limit / max(time.perf_counter() - start, 1e-9)
            size = self.size * min(max(change, 1 / MOST_CHANGE), MOST_CHANGE)
            self.size = int(min(max(size, 1), MOST_EXAMPLES))


def split_by_effort(order: np.ndarray, effort: np.ndarray, n: int) -> list[np.ndarray]:
    """At most ``n`` non-empty parts of about the same total effort."""
    if n == 1 or len(order) <= 1:
        return [order] if len(order) else []
    total = np.cumsum(effort[order])
    ends = np.searchsorted(total, total[-1] * np.arange(1, n) / n)
    return [part for part in np.split(order, np.unique(ends)) if len(part)]


def fixed_pieces(order: np.ndarray, compiled: bool, slow: bool = False) -> list[np.ndarray]:
    """Pieces that depend on counts only, for sums that must not depend on the number of threads.

    They are small if the oracle is slow, so that no thread waits long for the last piece.
    """
    size = max(-(-len(order) // PIECES), SMALLEST)
    if slow:
        size = max(-(-len(order) // (2 * PIECES)), 1)
    size = min(size, LARGEST) if compiled else INTERPRETED
    return [order[start : start + size] for start in range(0, len(order), size)]


def n_threads(n_jobs: int | None) -> int:
    """``n_jobs`` as in scikit-learn: -1 is all cores, -2 all but one, None is 1."""
    if n_jobs is None:
        return 1
    cores = os.cpu_count() or 1
    most = max(MOST_THREADS, cores)
    jobs = check_integer("n_jobs", n_jobs, -most, most, " (-1 for all cores)")
    return max(1, cores + 1 + jobs) if jobs < 0 else max(1, jobs)
