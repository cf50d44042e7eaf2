"""A pass of dual ascent in several threads that change the same w at the same time.

Each example has one owner at a time, which alone changes its dual variables, its working set and
its results; w stays w(alpha) up to rounding (``sharing.py``). A step meets w at a moment that
depends on the other threads, so that no two runs are equal bit by bit.

A pass is divided into parts, for interruptions. In a part each thread makes one compiled call, in
which it takes the next few visits whenever it is ready: a call from Python takes as long as several
visits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import threads
from .arrays import SHORT as SHORTFALL
from .arrays import Block, PassOptions, Visits
from .long_vectors import move_sum
from .sharing import ATOMIC, LOCK_SIZE, Shared

if TYPE_CHECKING:
    from .shard import Shard

#: Maximum duration of a part of a pass in seconds, and the number of its examples for each thread
#: before times are known.
MOST_SECONDS, FIRST_PART = 0.2, 64

#: The next piece of a pass is this part of what is left, divided by the number of threads: pieces
#: become smaller, so that no thread waits long for the last one. They take at least about SHORTEST
#: seconds, and have at most as many visits as there are examples in a window of ``shuffled``
#: passes, which are neighbours in memory.
PART, SHORTEST, LARGEST = 4, 5e-5, 2048

#: A thread takes part in a pass if there are this many examples for each. With fewer the threads
#: would often compute steps from the same w, and the sum of these is too long.
PER_THREAD = 16

#: More threads than this would often wait for each other's lock: they use atomic additions.
FEW_THREADS = 4

#: Each thread has a copy of w if w has at most this many weights.
SHORT = 4096

#: ``step(part, options, visits, block, work, w)`` visits examples one after the other.
Step = Callable[[np.ndarray, PassOptions, Visits, Block, np.ndarray, np.ndarray], None]


class Own(NamedTuple):
    """What one thread has of its own in a pass: see ``Shared`` for ``lock`` and ``base``."""

    w: np.ndarray
    base: np.ndarray
    lock: np.ndarray
    visits: Visits


class Together:
    """Runs the passes of a shard in threads that share w."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        self.lock = np.zeros(LOCK_SIZE, np.int64)
        self.lock[ATOMIC] = shard.threads.n > FEW_THREADS
        self.sums: list[np.ndarray] = []  # kept, because new memory is slow at first
        self.pace = [np.inf, np.inf]  # seconds per example, without and with the oracle
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
        none = np.empty(0)
        shared = Shared(self.lock, new_turn(), np.empty(0, np.int64), 1, w, none, 1)
        return options._replace(shared=shared)

    def divides(self, order: np.ndarray, options: PassOptions) -> bool:
        """Whether a pass has enough examples for all threads."""
        if options.sum_planes:
            return True
        enough = len(order) >= PER_THREAD * self.shard.threads.n
        worth = self.pace[options.call_oracle] * len(order) >= threads.WORTH
        return enough and worth and self.rest == 0

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
        """A pass over ``order`` in which each thread takes the next visits when it is ready.

        Returns whether the pass was made: not if it is one for a single thread.
        """
        if not self.divides(order, options):
            return False
        n, start, done = self.shard.threads.n, visits.clock.copy(), 0
        memory = self.shard.spare_memory(block, work)
        mine = [self._own(k, w, options, visits) for k in range(n)]
        every = max(min(len(w) // 2, len(order) // (PER_THREAD * n)), 1)
        for part in self.parts(order, options):
            smallest = int(SHORTEST / self.pace[options.call_oracle])
            clock, calls = advanced(start, done), []
            for own, ready, plan in zip(mine, memory, divide(part, n, smallest), strict=True):
                visited, turn, ends = plan
                shared = Shared(own.lock, turn, ends, n, w, own.base, every)
                seen = own.visits._replace(clock=clock.copy())
                calls.append(
                    partial(step, visited, options._replace(shared=shared), seen, *ready, own.w)
                )
            begin = time.perf_counter()
            self.shard.threads.each(lambda call: call(), calls, self.shard.check)
            took, done = time.perf_counter() - begin, done + len(part)
            self.pace[options.call_oracle] = max(took, 1e-9) * n / len(part)
        self._add_up(w, options, visits, mine)
        visits.clock[:] = advanced(start, len(order))
        for _, used in memory:
            self.shard.check_work(used)
        self.shard.n_oracle += len(order) * options.call_oracle
        return True

    def parts(self, order: np.ndarray, options: PassOptions) -> Iterator[np.ndarray]:
        """Parts of the order that take at most MOST_SECONDS, as far as times are known."""
        n, done = self.shard.threads.n, 0
        while done < len(order):
            pace = self.pace[options.call_oracle]
            size = FIRST_PART if pace == np.inf else int(MOST_SECONDS / pace)
            part = order[done : done + n * max(size, 1)]
            yield part
            done += len(part)

    def _own(self, k: int, w: np.ndarray, options: PassOptions, visits: Visits) -> Own:
        """What thread k has of its own."""
        none = np.empty(0)
        visits = visits._replace(total=np.zeros_like(visits.total))
        if len(w) <= SHORT:
            visits = visits._replace(lag=np.zeros_like(visits.lag))
            return Own(w.copy(), w.copy(), self.lock, visits)
        if self._sums_apart(w, options):  # no step reads w
            own = self._sum(k, len(w)) if k else w
            return Own(own, none, np.zeros_like(self.lock), visits)
        return Own(w, none, self.lock, visits)

    def _sum(self, k: int, dim: int) -> np.ndarray:
        """The memory of thread k > 0 for sums: zeros."""
        if len(self.sums) < k:
            self.sums.append(np.zeros(dim))
        return self.sums[k - 1]

    def _sums_apart(self, w: np.ndarray, options: PassOptions) -> bool:
        """Whether threads that only sum planes have separate sums."""
        return options.sum_planes and len(w) > SHORT and not self.lock[ATOMIC]

    def _add_up(self, w: np.ndarray, options: PassOptions, visits: Visits, mine: list[Own]) -> None:
        """Add what the threads have found in a pass."""
        visits.add([own.visits.total for own in mine])
        if options.tau < np.inf:
            visits.total[SHORTFALL] = 0.0  # w changes between the oracle and the known outputs
        if len(w) <= SHORT:
            for own in mine:
                visits.lag[:] += own.visits.lag
        elif self._sums_apart(w, options):
            move_sum([own.w for own in mine[1:]], w, self.shard.threads)


def divide(
    part: np.ndarray, n: int, smallest: int
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The order, ``turn`` and ``ends`` (see ``Shared``) of each of n threads.

    They are the same for all, unless examples were drawn with repetition: all visits of an example
    are made by one thread.
    """
    if len(part) and np.bincount(part).max() > 1:
        orders = [part[part % n == k] for k in range(n)]
        return [(own, new_turn(), np.array([0, len(own)])) for own in orders]
    ends = [0]
    while ends[-1] < len(part):
        left = len(part) - ends[-1]
        ends.append(ends[-1] + min(max(left // (PART * n), smallest, 1), LARGEST, left))
    return [(part, new_turn(), np.array(ends))] * n


def new_turn() -> np.ndarray:
    """No piece is taken yet."""
    return np.zeros(LOCK_SIZE, np.int64)


def advanced(clock: np.ndarray, visits: int) -> np.ndarray:
    """The clock of the average (see ``Visits``) after this many more visits."""
    t, weight, power = clock
    return np.array([t + visits, weight + sum_powers(t, t + visits, power), power])


def sum_powers(a: float, b: float, p: float) -> float:
    """About the sum of t ** p for t = a + 1, ..., b, by the midpoint rule.

    The average of w needs no more: any weights of the visits give a point to certify.
    """
    return ((b + 0.5) ** (p + 1) - (a + 0.5) ** (p + 1)) / (p + 1)
