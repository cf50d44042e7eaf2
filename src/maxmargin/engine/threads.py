"""Threads that stay alive between passes, and how a pass is cut into pieces for them.

Compiled loops run outside the GIL. What a piece is depends on the examples only, never on the
number of threads, wherever sums are made of pieces: so the result is the same for any number.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any

import numpy as np

#: A chunk of examples is sized to take about this long, in seconds.
CHUNK_TIME = 0.05

#: Work of so many seconds is worth waking other threads.
WORTH = 0.004

#: Pieces of a pass whose sums are kept apart: this many at least, if they are not too small.
PIECES = 16

#: The fewest and the most examples of a piece; those of a problem in plain Python are slow.
SMALLEST, LARGEST, INTERPRETED = 32, 512, 8


class Threads:
    """Runs work on pieces, in ``n`` threads or, if that is 1, right here."""

    def __init__(self, n: int) -> None:
        self.n = n
        self._pool: ThreadPoolExecutor | None = None

    def each(
        self,
        work: Callable[[Any], Any],
        pieces: Iterable[Any],
        check: Callable[[], None],
        abort: Callable[[], None] | None = None,
        expected: float = np.inf,
    ) -> list[Any]:
        """``[work(piece) for piece in pieces]``, with a check between pieces.

        When the check or the work raises, ``abort`` is called, and no work is left running. Work
        of which few seconds are ``expected`` is done right here.
        """
        if self.n == 1 or expected < WORTH:
            found = []
            for piece in pieces:
                check()
                found.append(work(piece))
            return found
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.n)
        pool, todo = self._pool, iter(pieces)
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
            if abort is not None:
                abort()
            wait(futures)
            raise
        return [future.result() for future in futures]

    def close(self) -> None:
        """End the threads; the next call starts new ones."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


class Chunks:
    """Parts of an order that take about CHUNK_TIME each, for work whose result they cannot change.

    Their size follows the clock.
    """

    def __init__(self) -> None:
        self.size = 64

    def __call__(self, order: np.ndarray, n: int = 1) -> Iterator[np.ndarray]:
        """The parts; ``n`` of them are worked on at a time.

        With threads they are longer: all wait at the end of each, and checks are made meanwhile.
        """
        limit = CHUNK_TIME if n == 1 else 4 * CHUNK_TIME
        done = 0
        while done < len(order):
            start = time.perf_counter()
            part = order[done : done + self.size * n]
            yield part
            done += len(part)
            if time.perf_counter() - start < limit:
                self.size *= 2
            elif self.size > 1:
                self.size //= 2


def split_by_effort(order: np.ndarray, effort: np.ndarray, n: int) -> list[np.ndarray]:
    """At most ``n`` parts of about the same total effort, none of them empty."""
    if n == 1 or len(order) <= 1:
        return [order] if len(order) else []
    total = np.cumsum(effort[order])
    ends = np.searchsorted(total, total[-1] * np.arange(1, n) / n)
    return [part for part in np.split(order, np.unique(ends)) if len(part)]


def fixed_pieces(order: np.ndarray, compiled: bool, slow: bool = False) -> list[np.ndarray]:
    """Pieces by counts alone, for sums that must not depend on the number of threads.

    Where the oracle is slow they are small: no thread should wait long for the last one.
    """
    size = max(-(-len(order) // PIECES), SMALLEST)
    if slow:
        size = max(-(-len(order) // (2 * PIECES)), 1)
    size = min(size, LARGEST) if compiled else INTERPRETED
    return [order[start : start + size] for start in range(0, len(order), size)]


def n_threads(n_jobs: int | None) -> int:
    """``n_jobs`` as scikit-learn reads it: -1 is all cores, -2 all but one, None is 1."""
    if n_jobs is None:
        return 1
    cores = os.cpu_count() or 1
    return max(1, cores + 1 + n_jobs) if n_jobs < 0 else max(1, n_jobs)
