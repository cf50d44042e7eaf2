"""How several threads add to the same w at the same time, in compiled passes.

A sum must not lose an addition: with lost ones w drifts away from w(alpha), and the gap does not
close. Three ways, chosen by counts (``together.py``):

- a lock: one thread writes a plane, the others read w or wait. Plain additions run at full speed,
  and few threads seldom meet.
- atomic additions, if there are many threads. An atomic addition waits for all earlier ones.
- a copy of w for each thread, if w is short: every example reads and writes all of it, and every
  write takes it out of the caches of the other cores. The changes are exchanged now and then.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import lower_builtin, overload, register_jitable, type_callable

from .keep import leaf
from .sparse import sparse_axpy

#: The entries of ``Shared.lock``: whether it is taken, and whether additions are atomic instead.
#: An array of LOCK_SIZE numbers has a line of the processor's caches alone.
TAKEN, ATOMIC, LOCK_SIZE = 0, 1, 32


#: Give way after reading a lock this many times.
PATIENCE = 1000


class Shared(NamedTuple):
    """What the threads of a pass share.

    ``lock`` (LOCK_SIZE,) is held to write to w. The threads take pieces of the order in turn:
    piece k is ``order[ends[k] : ends[k + 1]]``, and ``turn`` (LOCK_SIZE,) begins with the first
    piece that no thread has taken. If ``threads`` is 1, a single thread makes all visits. If
    ``base`` is not empty, the w of the pass is a copy, whose changes are exchanged with the common
    ``w`` after ``every`` visits and after each piece; ``base`` is the copy at the last exchange.
    """

    lock: np.ndarray
    turn: np.ndarray
    ends: np.ndarray
    threads: int
    w: np.ndarray
    base: np.ndarray
    every: int


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
    return (shared.ends[k], shared.ends[k + 1]) if k + 1 < len(shared.ends) else (n, n)


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
    if shared.threads > 1 and len(shared.base) == 0 and shared.lock[ATOMIC] == 0:
        acquire(shared.lock)


def unlock_weights(shared):
    """``end_writing`` for several threads."""
    if shared.threads > 1 and len(shared.base) == 0 and shared.lock[ATOMIC] == 0:
        release(shared.lock)


def shared_axpy(scale, idx, val, nnz, w, shared):
    """w += scale * v of a sparse v, between ``begin_writing`` and ``end_writing``."""
    sparse_axpy(scale, idx, val, nnz, w)


@overload(shared_axpy)
def _overload_shared_axpy(scale, idx, val, nnz, w, shared):
    if isinstance(shared, types.NoneType):
        return lambda scale, idx, val, nnz, w, shared: sparse_axpy(scale, idx, val, nnz, w)
    return axpy_together


def axpy_together(scale, idx, val, nnz, w, shared):
    """``shared_axpy`` for several threads."""
    if shared.lock[ATOMIC] and shared.threads > 1 and len(shared.base) == 0:
        for p in range(nnz):
            add_atomically(w, idx[p], scale * val[p])
    else:
        sparse_axpy(scale, idx, val, nnz, w)


def clipped_axpy(scale, idx, val, nnz, w, below, shared):
    """The same for v = w + below, where w is v clipped at zero; None for ``below``: no clipping."""
    raise NotImplementedError("it is called by compiled code only")


@overload(clipped_axpy)
def _overload_clipped_axpy(scale, idx, val, nnz, w, below, shared):
    if isinstance(below, types.Array):  # by one thread only
        return axpy_with_signs
    return lambda scale, idx, val, nnz, w, below, shared: shared_axpy(
        scale, idx, val, nnz, w, shared
    )


def axpy_with_signs(scale, idx, val, nnz, w, below, shared):
    """``clipped_axpy`` for weights of which some must be >= 0 (see ``arrays.Visits``)."""
    for p in range(nnz):
        j, step = idx[p], scale * val[p]
        if below[j] > 0:  # no constraint
            w[j] += step
        else:
            v = w[j] + below[j] + step
            w[j], below[j] = max(v, 0.0), min(v, 0.0)


def exchange(shared, w, t, stop):
    """Before visit t: exchange the changes of a thread's copy if it is time to."""


@overload(exchange)
def _overload_exchange(shared, w, t, stop):
    if isinstance(shared, types.NoneType):
        return lambda shared, w, t, stop: None
    return exchange_changes


def exchange_changes(shared, w, t, stop):
    """``exchange`` for several threads."""
    if len(shared.base) > 0 and (t % shared.every == 0 or t == stop):
        acquire(shared.lock)
        add_changes(w, shared.base, shared.w)
        release(shared.lock)


@leaf
def add_changes(own, base, common):
    """common += own - base; then own = base = common."""
    for j in range(len(common)):
        common[j] += own[j] - base[j]
        own[j] = base[j] = common[j]


@register_jitable
def acquire(lock):
    """Wait until the lock is free, and take it."""
    while swap_lock(lock) != 0:
        spins = 0
        while read_lock(lock) != 0:
            spins += 1
            if spins % PATIENCE == 0:  # the owner may wait for this core
                give_way()


def take_turn(turn):
    """Add 1 to the first number; returns what it was."""
    raise NotImplementedError("it is called by compiled code only")


def add_atomically(array, i, value):
    """``array[i] += value``, which is not lost if other threads do the same."""
    array[i] += value


def swap_lock(lock):
    """Set the lock; returns what it was."""
    raise NotImplementedError("it is called by compiled code only")


def read_lock(lock):
    """Whether the lock is taken."""
    raise NotImplementedError("it is called by compiled code only")


def give_way():
    """Let another thread use this core."""
    raise NotImplementedError("it is called by compiled code only")


def release(lock):
    """Set the lock free, after all earlier writes."""
    raise NotImplementedError("it is called by compiled code only")


@type_callable(add_atomically)
def _type_add(_context):
    return lambda array, i, value: types.void


@type_callable(swap_lock)
@type_callable(read_lock)
def _type_lock(_context):
    return lambda lock: types.int64


@type_callable(take_turn)
def _type_turn(_context):
    return lambda turn: types.int64


@type_callable(give_way)
def _type_give_way(_context):
    return lambda: types.void


@type_callable(release)
def _type_release(_context):
    return lambda lock: types.void


def _data(context, builder, signature, args):
    return context.make_array(signature.args[0])(context, builder, args[0]).data


@lower_builtin(add_atomically, types.Array, types.Integer, types.Float)
def _lower_add(context, builder, signature, args):
    place = builder.gep(_data(context, builder, signature, args), [args[1]])
    builder.atomic_rmw("fadd", place, args[2], "monotonic")
    return context.get_dummy_value()


@lower_builtin(take_turn, types.Array)
def _lower_turn(context, builder, signature, args):
    place, one = _data(context, builder, signature, args), ir.IntType(64)(1)
    return builder.atomic_rmw("add", place, one, "monotonic")


@lower_builtin(swap_lock, types.Array)
def _lower_swap(context, builder, signature, args):
    taken = ir.IntType(64)(1)
    return builder.atomic_rmw("xchg", _data(context, builder, signature, args), taken, "acquire")


@lower_builtin(read_lock, types.Array)
def _lower_read(context, builder, signature, args):
    return builder.load_atomic(_data(context, builder, signature, args), "monotonic", 8)


@lower_builtin(release, types.Array)
def _lower_release(context, builder, signature, args):
    free = ir.IntType(64)(0)
    builder.store_atomic(free, _data(context, builder, signature, args), "release", 8)
    return context.get_dummy_value()


@lower_builtin(give_way)
def _lower_give_way(context, builder, signature, args):
    if sys.platform != "win32":
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "sched_yield"), [])
    return context.get_dummy_value()
