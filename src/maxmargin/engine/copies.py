"""Copies of w for the threads of a pass, and which weights they exchange how often.

What a step changes is of two kinds. A few thousand weights, those of labels and frequent features,
are changed by most steps: other threads must hear of them soon, or the sum of all steps is too
long. The others belong to few examples. Exchanging them takes longer than the visits themselves,
because they are not in the caches of the other threads, and it is rarely needed: the same thread
visits an example from one exchange to the next, and sees its own steps. All changes come together
when w is computed from its definition, before every pass that calls the oracle.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .long_vectors import clear, copy_to, move_sum, sum_in_all
from .plans import Plan
from .sharing import add_changes, new_counter
from .sparse import sparse_set
from .threads import Threads, no_limit

#: Number of weights that are exchanged in each pass, and of those that are exchanged most often.
PLACES, ALWAYS = 1 << 16, 6144

#: Number of indices touched by steps from which the places are chosen.
SAMPLE = 1 << 19

#: Places in a slice of the work at the end of a pass.
SLICE = 1 << 13


class Copies:
    """The copies of w in n - 1 threads; the first one uses w itself.

    Parameters
    ----------
    dim, n_examples : int
    n : int
        Number of threads with a copy.
    threads : Threads
    """

    def __init__(self, dim: int, n_examples: int, n: int, threads: Threads) -> None:
        self.dim, self.n, self.threads = dim, n, threads
        # Kept between passes, because new memory is slow.
        self.copies: list[np.ndarray] = []
        self.lags: list[np.ndarray] = []
        few = dim <= PLACES
        self.places = np.arange(dim if few else 0, dtype=np.uint64)
        self.always = dim if dim <= ALWAYS else 0
        # Of all threads, also of those without a copy.
        self.next = [new_counter() for _ in range(threads.n)]
        size = 0 if few else SAMPLE // threads.n
        self.touched = [np.empty(size, np.uint64) for _ in range(threads.n)]
        self.sampled = 0  # the number of indices from which the places were chosen
        self.owner = np.empty(n_examples, np.int8)
        self.exact: np.ndarray | None = None
        self.forget()

    def all(self, w: np.ndarray) -> list[np.ndarray]:
        """The w of each thread."""
        return [w, *self.copies]

    @property
    def complete(self) -> bool:
        """Whether all weights are exchanged in each pass."""
        return len(self.places) == self.dim

    def forget(self) -> None:
        """The copies are no longer equal to w."""
        self.of: np.ndarray | None = None
        self.lacking: np.ndarray | None = None
        self.exact = None

    def begin(self, w: np.ndarray) -> None:
        """Make the copies equal to w, unless they have been since the last exchange."""
        if self.of is not w:
            self._allocate()
            copy_to(self.copies, w, self.threads)
            self._start(w)

    def begin_sums(self, w: np.ndarray) -> None:
        """Let every thread have a sum of its own, beside the one in w."""
        self._allocate()
        clear(self.copies, self.threads)
        self.of = None

    def end_sums(self, w: np.ndarray) -> None:
        """Add the sums of all threads to w, which is w(alpha) now."""
        sum_in_all(self.all(w), self.threads)
        self._start(w)
        self.exact = w
        if self.lacking is w:
            self.lacking = None

    def _allocate(self) -> None:
        if not self.copies:
            self.copies = [np.zeros(self.dim) for _ in range(self.n - 1)]

    def _start(self, w: np.ndarray) -> None:
        """All copies are equal to w: a moment at which places and owners can change."""
        self._choose_places()
        self.of = w
        self.common = w[self.places]
        self.base = [self.common.copy() for _ in range(self.n)]
        self.owner[:] = -1

    def _choose_places(self) -> None:
        """Choose the weights that most steps touch, if many more have been seen than last time."""
        seen = sum(int(counter[1]) for counter in self.next)
        if seen <= 2 * self.sampled:
            return
        self.sampled = seen
        found = [part[: counter[1]] for part, counter in zip(self.touched, self.next, strict=True)]
        index, count = np.unique(np.concatenate(found), return_counts=True)
        best = index[np.argsort(-count, kind="stable")[:PLACES]]
        self.always = min(ALWAYS, len(best))
        # Sorted, because neighbours share a line of the caches.
        first, others = np.sort(best[: self.always]), np.sort(best[self.always :])
        self.places = np.concatenate([first, others])
        for counter in self.next:
            counter[0] = self.always
        if seen == sum(len(part) for part in self.touched):
            self.touched = [np.empty(0, np.uint64) for _ in self.touched]

    def exchange_all(self, w: np.ndarray) -> None:
        """After the threads have stopped: exchange the changes of all places."""
        all_copies = self.all(w)

        def exchange(first: int) -> None:
            end = min(first + SLICE, len(self.places))
            for own, base in zip(all_copies, self.base, strict=True):
                add_changes(own, self.places, base, self.common, first, end)
            for own, base in zip(all_copies[:-1], self.base[:-1], strict=True):
                sparse_set(self.places[first:end], self.common[first:end], own)
                base[first:end] = self.common[first:end]

        starts = range(0, len(self.places), SLICE)
        self.threads.each(exchange, starts, no_limit, expected=1e-8 * len(self.places))
        self.exact = None
        if not self.complete:
            self.lacking = w

    def all_lags(self, lag: np.ndarray) -> list[np.ndarray]:
        """What each thread adds to the lag of the average (see ``arrays.Visits``)."""
        if not len(lag):
            return [lag] * self.n
        if not self.lags:
            self.lags = [np.zeros(self.dim) for _ in range(self.n - 1)]
        return [lag, *self.lags]

    def add_lags(self, lag: np.ndarray) -> None:
        """Add what the other threads have added."""
        if len(lag):
            move_sum(self.lags, lag, self.threads)

    def note_owners(self, plans: list[Plan]) -> None:
        """Which threads have made the visits of these plans."""
        if self.complete:
            return
        for plan in plans[:1] if plans[0] is plans[-1] else plans:
            for piece, (first, end) in enumerate(pairwise(plan.ends)):
                self.owner[plan.order[first:end]] = plan.taken[piece]

    def owned(self, part: np.ndarray) -> list[np.ndarray] | None:
        """The examples of each thread, which are theirs until the copies are equal again.

        None if these examples are nobody's, or may be anybody's.
        """
        owner = self.owner[part]
        if self.complete or (owner < 0).all():
            return None
        new = owner < 0
        owner[new] = part[new] % self.n  # an example that occurs twice still has one owner
        self.owner[part] = owner
        return [part[owner == k] for k in range(self.n)]
