"""A pass of dual ascent in several threads that change the same w at the same time.

Each example has one owner at a time, which alone changes its dual variables, its working set and
its results; w stays w(alpha) up to rounding (``sharing.py``). When a thread hears of a step depends
on how fast the threads are, so that no two runs are equal bit by bit.

A pass is divided into parts, for interruptions. In a part each thread makes one compiled call, in
which it takes the next few visits whenever it is ready: a call from Python takes as long as several
visits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from . import threads
from .arrays import SHORT, Block, PassOptions, Visits
from .copies import Copies
from .plans import SHORTEST, Plan, advanced, divide
from .sharing import Shared, alone, new_counter
from .threads import no_limit

if TYPE_CHECKING:
    from .shard import Shard

#: Maximum duration of a part of a pass in seconds, and the number of its examples for each thread
#: before times are known.
MOST_SECONDS, FIRST_PART = 0.2, 64

#: A thread takes part in a pass if there are this many examples for each. With fewer the threads
#: would often compute steps from the same w, and the sum of these is too long.
PER_THREAD = 16

#: No more threads than this make fast steps in a w that is not short: the others would wait for the
#: lock, and with copies, which take memory, there would be more steps that a thread does not see.
FEW_THREADS, SHORT_W = 4, 4096

#: With visits of at least this many seconds the threads change the same w: waiting takes a small
#: part of the time, and every step sees all earlier ones.
SLOW = 1e-4

#: Otherwise a few passes over known outputs show which way is faster. The same w may take this many
#: times as long as copies, which need more iterations, and a sum of w in each. Shorter parts of
#: passes than TELLING seconds show nothing.
ALIKE, TELLING = 1.25, 2e-3

#: Copies are tried after this many passes without, when all memory has been used before.
SETTLED = 4

#: Visits after which threads exchange changes, without and with the oracle: they matter more in
#: passes that find new outputs, and take a smaller part of their time.
EVERY = 32, 4

#: ``step(part, options, visits, block, work, w)`` visits examples one after the other.
Step = Callable[[np.ndarray, PassOptions, Visits, Block, np.ndarray, np.ndarray], None]


class Together:
    """Runs the passes of a shard in threads that share w."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        self.lock = new_counter()
        dim, n = shard.pack.dim, shard.threads.n
        few = n if dim <= SHORT_W else min(n, FEW_THREADS)
        self.copies = Copies(dim, shard.n, few, shard.threads)
        self.pace = [np.inf, np.inf]  # seconds per example, without and with the oracle
        #: Seconds of all threads per visit to known outputs, with copies of w and without.
        self.tried = {True: np.inf, False: np.inf}
        self.tries = 0  # without copies
        #: Whether w is exchanged with other workers after each part of a pass.
        self.exchanged = False
        self.restart()

    def restart(self) -> None:
        """Forget the dual values of an earlier run."""
        self.highest = -np.inf
        self.rest = 0
        self.next_rest = 1
        self.copies.forget()

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
        if changes(options):
            self.copies.forget()
        return options._replace(shared=alone(self.copies.touched[0], self.copies.next[0]))

    def needs_whole(self, w: np.ndarray, order: np.ndarray, options: PassOptions) -> bool:
        """Whether a pass needs a w with all steps, and it has not."""
        whole = options.call_oracle or not self.divides(order, options)
        return whole and self.copies.lacking is w

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
        start, done = visits.clock.copy(), 0
        memory = self.shard.spare_memory(block, work)
        for part in self.parts(order, options):
            self.shard.check()
            seen = visits._replace(clock=advanced(start, done))
            visits.add(self._run_part(step, w, part, len(order), options, seen, memory))
            done += len(part)
        if changes(options):
            self.copies.add_lags(visits.lag)
        if options.tau < np.inf:
            visits.total[SHORT] = 0.0  # w changes between the oracle and the known outputs
        visits.clock[:] = advanced(start, len(order))
        for _, used in memory:
            self.shard.check_work(used)
        self.shard.n_oracle += len(order) * options.call_oracle
        return True

    def _run_part(
        self,
        step: Step,
        w: np.ndarray,
        part: np.ndarray,
        length: int,
        options: PassOptions,
        visits: Visits,
        memory: list[tuple[Block, np.ndarray]],
    ) -> list[np.ndarray]:
        """A part of a pass of this length; returns the ``Visits.total`` of each thread."""
        copies = self._begin(w, options)
        n = self.shard.threads.n
        if copies is not None or (changes(options) and min(self.pace) <= SLOW):
            n = self.copies.n
        plans, totals = self._plans(part, n, options, copies), np.zeros((n, len(visits.total)))
        lags = [visits.lag] * n if copies is None else copies.all_lags(visits.lag)

        def call(k: int) -> None:
            shared = self._shared(k, n, plans[k], length, options, copies)
            own = visits._replace(total=totals[k], clock=visits.clock.copy(), lag=lags[k])
            own_w = w if copies is None else copies.all(w)[k]
            step(plans[k].order, options._replace(shared=shared), own, *memory[k], own_w)

        begin = time.perf_counter()
        self.shard.threads.each(call, range(n), no_limit)
        took = time.perf_counter() - begin
        self.pace[options.call_oracle] = max(took, 1e-9) * n / len(part)
        moves = options.tau < np.inf and not options.call_oracle
        if moves and took >= TELLING and self.tried[True] == np.inf:
            self.tried[copies is not None] = took / len(part)
            self.tries += copies is None
        if copies is not None and options.sum_planes:
            copies.end_sums(w)
        elif copies is not None:
            copies.exchange_all(w)
            copies.note_owners(plans)
        return list(totals)

    def _begin(self, w: np.ndarray, options: PassOptions) -> Copies | None:
        """Copies of w for the next part of a pass, or None if all threads use w."""
        if not changes(options):
            return None
        copies = self.copies
        if copies.lacking is not w and not self._wants_copies(options):
            copies.forget()
            return None
        copies.begin_sums(w) if options.sum_planes else copies.begin(w)
        return copies

    def _wants_copies(self, options: PassOptions) -> bool:
        """Whether a pass that changes w uses copies: where they are possible, and faster."""
        if self.exchanged and not self.copies.complete:
            return False  # all of w is sent to other workers after each part of a pass
        if options.sum_planes:
            return True
        if min(self.pace) > SLOW:  # of known outputs, if known
            return False
        if self.copies.dim <= SHORT_W:
            return True
        if self.tried[True] == np.inf:  # a pass over known outputs tries them
            return self.tries >= SETTLED and not options.call_oracle
        return self.tried[False] > ALIKE * self.tried[True]

    def _plans(
        self, part: np.ndarray, n: int, options: PassOptions, copies: Copies | None
    ) -> list[Plan]:
        """The visits of each of n threads in a part of a pass."""
        own = None
        if copies is not None and not options.sum_planes:
            own = copies.owned(part)
        if own is None and len(part) and np.bincount(part).max() > 1:
            # Drawn with repetition: all visits of an example are made by one thread.
            own = [part[part % n == k] for k in range(n)]
        if own is not None:
            return [divide(order, 1, len(order)) for order in own]
        return [divide(part, n, int(SHORTEST / self.pace[options.call_oracle]))] * n

    def _shared(
        self,
        k: int,
        n: int,
        plan: Plan,
        length: int,
        options: PassOptions,
        copies: Copies | None,
    ) -> Shared:
        """What thread k of n shares with the others in a pass of this length."""
        all_copies = self.copies
        shared = alone(all_copies.touched[k], all_copies.next[k])._replace(
            turn=plan.turn, ends=plan.ends, taken=plan.taken, me=k, threads=n,
            same=copies is None and changes(options), lock=self.lock,
        )  # fmt: skip
        if copies is None or options.sum_planes:
            return shared
        every, dim = EVERY[options.call_oracle], copies.dim
        if dim <= SHORT_W:
            every = max(min(dim // 2, length // (PER_THREAD * n)), 1)
        return shared._replace(
            places=copies.places, always=copies.always, every=every, common=copies.common,
            base=copies.base[k],
        )  # fmt: skip

    def parts(self, order: np.ndarray, options: PassOptions) -> Iterator[np.ndarray]:
        """Parts of the order that take at most MOST_SECONDS, as far as times are known."""
        n, done = self.shard.threads.n, 0
        while done < len(order):
            pace = self.pace[options.call_oracle]
            size = FIRST_PART if pace == np.inf else int(MOST_SECONDS / pace)
            part = order[done : done + n * max(size, 1)]
            yield part
            done += len(part)


def changes(options: PassOptions) -> bool:
    """Whether a pass changes w."""
    return options.tau < np.inf or options.sum_planes
