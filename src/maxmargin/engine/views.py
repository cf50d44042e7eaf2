"""Views of arrays without reference counts, and prefetching, for the inner loops.

In compiled code numba counts references to every array that a function takes out of a tuple, with
atomic instructions that cost more than a small oracle. The caller of a pass owns all arrays while
the pass runs, so the pass can use views that own nothing.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import lower_builtin, type_callable


def borrow(value):
    """The same arrays, or (nested named) tuples of arrays, without ownership.

    In interpreted code it does nothing. Two rules: the result must not outlive the function that
    called ``borrow``, and this function must not assign to items of the result (functions that it
    calls may). numba does not know that the caller owns the arrays, and removes such assignments.
    """
    return value


@type_callable(borrow)
def _type_borrow(_context):
    return lambda value: value


@lower_builtin(borrow, types.Any)
def _lower_borrow(context, builder, signature, args):
    return _strip(context, builder, signature.return_type, args[0])


def _strip(context, builder, kind, value):
    """Set the owner of each array to null; LLVM then removes the reference counts."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        parts = cgutils.unpack_tuple(builder, value, len(kind.types))
        stripped = [
            _strip(context, builder, part_kind, part)
            for part_kind, part in zip(kind.types, parts, strict=True)
        ]
        return context.make_tuple(builder, kind, stripped)
    return value


def frozen(labels):
    """The same array as read-only type, so that functions are compiled for one type only.

    In interpreted code it does nothing.
    """
    return labels


@type_callable(frozen)
def _type_frozen(_context):
    return lambda labels: labels.copy(readonly=True)


@lower_builtin(frozen, types.Array)
def _lower_frozen(context, builder, signature, args):
    return impl_ret_borrowed(context, builder, signature.return_type, args[0])


def prefetch(array, i):
    """Fetch ``array[i]`` into the processor's caches; does nothing in interpreted code."""


@type_callable(prefetch)
def _type_prefetch(_context):
    return lambda array, i: types.void


@lower_builtin(prefetch, types.Array, types.Integer)
def _lower_prefetch(context, builder, signature, args):
    fetch(builder, context.make_array(signature.args[0])(context, builder, args[0]).data, args[1])
    return context.get_dummy_value()


def fetch(builder, data, i):
    """The instruction that fetches ``data[i]`` into the processor's caches."""
    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    place = builder.bitcast(builder.gep(data, [i]), byte)
    builder.call(function, [place, number(0), number(3), number(1)])  # read, keep, data
