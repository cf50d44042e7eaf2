"""A pass of dual ascent in several threads that change the same w at the same time.

Each example has one owner at a time, which alone changes its dual variables, its working set and
its results; w stays w(alpha) up to rounding (``sharing.py``). A step meets w at a moment that
depends on the other threads, so that no two runs are equal bit by bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from . import threads
from .arrays import SHORT as SHORTFALL
from .arrays import Block, PassOptions, Visits
from .sharing import ATOMIC, LOCK_SIZE, Shared

if TYPE_CHECKING:
    from .shard import Shard

#: A thread takes this fraction of its share of what is left as its next piece: the pieces become
#: smaller, so that no thread waits long for the last one, and there are few calls from Python.
PART = 4

#: Maximum duration of a piece in seconds, for interruptions, and its length before times are known.
MOST_SECONDS, FIRST_PIECE = 0.1, 64

#: A thread takes part in a pass if there are this many examples for each. With fewer the threads
#: would often compute steps from the same w, and the sum of these is too long.
PER_THREAD = 16

#: More threads than this would often wait for each other's lock: they use atomic additions.
FEW_THREADS = 4

#: Minimum number of examples in a piece, unless they are slow.
SMALLEST = 4

#: Each thread has a copy of w if w has at most this many weights.
SHORT = 4096

#: ``step(part, options, visits, block, work, w)`` visits examples one after the other.
Step = Callable[[np.ndarray, PassOptions, Visits, Block, np.ndarray, np.ndarray], None]


class Together:
    """Runs the passes of a shard in threads that share w."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        self.lock = np.zeros(LOCK_SIZE, np.int64)
        self.lock[ATOMIC] = shard.threads.n > FEW_THREADS
        self.pace = np.inf  # seconds per example
        self.restart()

    def restart(self) -> None:
        """Forget the dual values of an earlier run."""
        self.highest = -np.inf
        self.rest = 0
        self.next_rest = 1

    def note(self, dual: float) -> None:
        """The dual value after an iteration; if it has fallen, iterations in one thread follow.

        One thread never makes it fall. How many iterations doubles each time, so that training ends
        even where the steps of several threads always disturb each other.
        """
        if dual < self.highest - 1e-9 * abs(self.highest):
            self.rest, self.next_rest = self.next_rest, 2 * self.next_rest
        else:
            self.rest = max(self.rest - 1, 0)
        self.highest = dual

    def options(self, options: PassOptions, w: np.ndarray) -> PassOptions:
        """The options of a pass of one thread, which is compiled for several."""
        return options._replace(shared=Shared(self.lock, w, np.empty(0), 0))

    def divides(self, order: np.ndarray, options: PassOptions) -> bool:
        """Whether a pass changes w, and has enough examples for all threads."""
        if options.sum_planes:
            return True
        enough = len(order) >= PER_THREAD * self.shard.threads.n
        worth = self.pace * len(order) >= threads.WORTH
        return options.tau < np.inf and enough and worth and self.rest == 0

    def run(
        self,
        step: Step,
        w: np.ndarray,
        order: np.ndarray,
        options: PassOptions,
        visits: Visits,
        block: Block,
        work: np.ndarray,
    ) -> bool:
        """A pass over ``order`` in which each thread takes the next piece when it is ready.

        Returns whether the pass was made: not if it is one for a single thread.
        """
        if not self.divides(order, options):
            return False
        spare = self.shard.spare_memory(block, work)
        start = visits.clock.copy()
        options = self.options(options, w)
        short = len(w) <= SHORT
        every = max(1, min(len(w) // 2, len(order) // (PER_THREAD * self.shard.threads.n)))

        def visit(piece: tuple[int, np.ndarray]) -> Visits:
            before, part = piece
            own = visits._replace(total=np.zeros_like(visits.total), clock=advanced(start, before))
            mine, here = w, options
            if short:
                mine, own = w.copy(), own._replace(lag=np.zeros_like(visits.lag))
                here = options._replace(shared=Shared(self.lock, w, mine.copy(), every))
            memory = spare.pop()
            begin = time.perf_counter()
            try:
                step(part, here, own, *memory, mine)
            finally:
                spare.append(memory)
            self.pace = max(time.perf_counter() - begin, 1e-9) / len(part)
            return own

        found = self.shard.threads.each(visit, self.pieces(order), self.shard.check)
        visits.add([own.total for own in found])
        visits.total[SHORTFALL] = 0.0  # w has changed between the oracle and the known outputs
        visits.clock[:] = advanced(start, len(order))
        if short:
            for own in found:
                visits.lag[:] += own.lag
        for _, memory in spare:
            self.shard.check_work(memory)
        self.shard.n_oracle += len(order) * options.call_oracle
        return True

    def pieces(self, order: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Pieces of the order, and how many examples are before each.

        All visits of an example are in the same piece.
        """
        n = self.shard.threads.n
        if len(order) and np.bincount(order).max() > 1:  # drawn with repetition
            parts = 2 * n
            for k in range(parts):
                part = order[order % parts == k]
                if len(part):
                    yield len(order) * k // parts, part
            return
        done = 0
        while done < len(order):
            most = FIRST_PIECE if self.pace == np.inf else int(MOST_SECONDS / self.pace)
            size = min(most, (len(order) - done) // (PART * n))
            part = order[done : done + max(size, min(most, SMALLEST), 1)]
            yield done, part
            done += len(part)


def advanced(clock: np.ndarray, visits: int) -> np.ndarray:
    """The clock of the average (see ``Visits``) after this many more visits."""
    t, weight, power = clock
    return np.array([t + visits, weight + sum_powers(t, t + visits, power), power])


def sum_powers(a: float, b: float, p: float) -> float:
    """About the sum of t ** p for t = a + 1, ..., b, by the midpoint rule.

    The average of w needs no more: any weights of the visits give a point to certify.
    """
    return ((b + 0.5) ** (p + 1) - (a + 0.5) ** (p + 1)) / (p + 1)
