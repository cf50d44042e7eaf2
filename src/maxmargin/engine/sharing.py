"""How several threads add to the same w at the same time, in compiled passes.

A sum must not lose an addition: with lost ones w drifts away from w(alpha), and the gap does not
close. There are two ways (``together.py`` chooses):

- A copy of w for each thread. A thread that writes to memory that another one has just read waits
  until it is taken out of the other's caches, so it is better if threads share little. They
  exchange the changes of the weights that most examples touch, every few visits; the others at
  the end of a pass or of an iteration (``copies.py``).
- The same w: one thread writes the steps of a visit, the others read w or wait. Every step sees all
  earlier ones, so that fewer passes are needed. How fast it is depends on how close the cores are
  to each other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.core import types
from numba.extending import overload, register_jitable

from .atomics import PADDING, acquire, release, take_turn
from .keep import leaf
from .sparse import sparse_axpy

#: Number of places that are exchanged in turn, each time that those of ``Shared.always`` are.
IN_TURN = 128

#: One of this many indices that steps touch is noted.
SAMPLED = 8


class Shared(NamedTuple):
    """What the threads of a pass share.

    The threads take pieces of the order in turn: piece k is ``order[ends[k] : ends[k + 1]]``, and
    ``turn`` (PADDING,) begins with the first piece that no thread has taken; ``taken`` (pieces,)
    says which thread has taken each piece, and ``me`` is this thread. If ``threads`` is 1, a single
    thread makes all visits.

    With ``same`` all threads have the same w, and hold ``lock`` (PADDING,) to write. Otherwise each
    has a copy, and changes of the weights at ``places`` are exchanged after ``every`` visits:
    always those of the first ``always`` places, and IN_TURN others, which begin at ``next[0]``.
    ``common`` are these weights with all changes that were exchanged, ``base`` those of the copy at
    the last exchange, and ``lock`` is held meanwhile.

    Some of the first indices that this thread changes are written to ``touched``; ``next[1]`` is
    their number. ``next`` has PADDING entries.
    """

    turn: np.ndarray
    ends: np.ndarray
    taken: np.ndarray
    me: int
    threads: int
    same: bool
    lock: np.ndarray
    places: np.ndarray
    always: int
    every: int
    common: np.ndarray
    base: np.ndarray
    next: np.ndarray
    touched: np.ndarray


def alone(touched: np.ndarray, next: np.ndarray) -> Shared:
    """For a pass of one thread, which is compiled for several."""
    none, ends, places = np.empty(0), np.empty(0, np.int64), np.empty(0, np.uint64)
    return Shared(
        new_counter(), ends, ends, 0, 1, False, new_counter(), places, 0, 1, none, none, next,
        touched,
    )  # fmt: skip


def new_counter() -> np.ndarray:
    """Zeros that share no line of the caches with other memory."""
    return np.zeros(PADDING, np.int64)


def take_visits(shared, t, n):
    """The next visits of this thread, ``(first, stop)``, if t of the n have been made or taken.

    ``shared`` is a ``Shared``, or None for a single thread.
    """
    return t, n


@overload(take_visits)
def _overload_take_visits(shared, t, n):
    if isinstance(shared, types.NoneType):
        return lambda shared, t, n: (t, n)
    return take_piece


def take_piece(shared, t, n):
    """``take_visits`` for several threads."""
    if shared.threads == 1:
        return t, n
    k = take_turn(shared.turn)
    if k + 1 >= len(shared.ends):
        return n, n
    shared.taken[k] = shared.me
    return shared.ends[k], shared.ends[k + 1]


def tick(clock, shared):
    """Count a visit for the average of w, and those of the other threads in the meantime."""
    count_visits(clock, 1)


@overload(tick)
def _overload_tick(clock, shared):
    if isinstance(shared, types.NoneType):
        return lambda clock, shared: count_visits(clock, 1)
    return lambda clock, shared: count_visits(clock, shared.threads)


@register_jitable
def count_visits(clock, n):
    """Count n visits."""
    clock[0] += n
    clock[1] += n * clock[0] ** clock[2]


def begin_writing(shared):
    """Before a visit writes to w: wait until no other thread does."""


def end_writing(shared):
    """After a visit has written to w."""


@overload(begin_writing)
def _overload_begin_writing(shared):
    if isinstance(shared, types.NoneType):
        return lambda shared: None
    return lock_weights


@overload(end_writing)
def _overload_end_writing(shared):
    if isinstance(shared, types.NoneType):
        return lambda shared: None
    return unlock_weights


def lock_weights(shared):
    """``begin_writing`` for several threads."""
    if shared.same:
        acquire(shared.lock)


def unlock_weights(shared):
    """``end_writing`` for several threads."""
    if shared.same:
        release(shared.lock)


def clipped_axpy(scale, idx, val, nnz, w, below, shared):
    """The same for v = w + below, where w is v clipped at zero; None for ``below``: no clipping."""
    raise NotImplementedError("it is called by compiled code only")


@overload(clipped_axpy)
def _overload_clipped_axpy(scale, idx, val, nnz, w, below, shared):
    if isinstance(below, types.Array):  # by one thread only
        return axpy_with_signs
    if isinstance(shared, types.NoneType):
        return lambda scale, idx, val, nnz, w, below, shared: sparse_axpy(scale, idx, val, nnz, w)
    return step_together


def step_together(scale, idx, val, nnz, w, below, shared):
    """``clipped_axpy`` for several threads: some of the weights it touches are noted at first."""
    sparse_axpy(scale, idx, val, nnz, w)
    count = shared.next[1]
    if count < len(shared.touched):
        for p in range(count % SAMPLED, nnz, SAMPLED):
            if count < len(shared.touched):
                shared.touched[count] = idx[p]
                count += 1
        shared.next[1] = count


def axpy_with_signs(scale, idx, val, nnz, w, below, shared):
    """``clipped_axpy`` for weights of which some must be >= 0 (see ``arrays.Visits``)."""
    for p in range(nnz):
        j, step = idx[p], scale * val[p]
        if below[j] > 0:  # no constraint
            w[j] += step
        else:
            v = w[j] + below[j] + step
            w[j], below[j] = max(v, 0.0), min(v, 0.0)


def exchange(shared, w, t):
    """After t visits: exchange the changes of a thread's copy with the others, if it is time to."""


@overload(exchange)
def _overload_exchange(shared, w, t):
    if isinstance(shared, types.NoneType):
        return lambda shared, w, t: None
    return exchange_changes


def exchange_changes(shared, w, t):
    """``exchange`` for several threads."""
    places = shared.places
    if len(places) > 0 and t % shared.every == 0:
        first = shared.next[0]
        end = min(first + IN_TURN, len(places))
        acquire(shared.lock)
        add_changes(w, places, shared.base, shared.common, 0, shared.always)
        add_changes(w, places, shared.base, shared.common, first, end)
        release(shared.lock)
        shared.next[0] = end if end < len(places) else shared.always


@leaf
def add_changes(own, places, base, common, first, end):
    """common += own - base at the places from ``first`` to ``end``; then own = base = common."""
    for p in range(first, end):
        j = places[p]
        common[p] += own[j] - base[p]
        own[j] = base[p] = common[p]
