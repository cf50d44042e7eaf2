"""Instructions for memory that several threads write: locks and counters.

They are for compiled code, as is everything that several threads do at the same time.
"""

from __future__ import annotations

import sys

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import lower_builtin, register_jitable, type_callable

#: An array of this many 8-byte numbers has a line of the processor's caches alone.
PADDING = 32

#: Give way after looking this many times for what another thread has not done yet.
PATIENCE = 1000


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
