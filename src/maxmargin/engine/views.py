"""Views without reference counts, and fetching ahead: memory in the hot loops.

Inside compiled code numba counts references to every array that a function takes out of a tuple,
with atomic instructions that cost more than a small oracle. The caller of a loop owns all arrays
for as long as the loop runs, so the loop may work on views that own nothing.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload


def borrow(value):
    """The same arrays, or (nested named) tuples of arrays, without ownership.

    Interpreted it does nothing. Two rules: the result must not outlive the function that called
    this, and that function must not assign to items of it (kernels may): numba does not see that
    the arrays are the caller's, and removes such assignments as useless.
    """
    return value


@overload(borrow)
def _overload_borrow(value):
    return lambda value: _borrow(value)


@intrinsic
def _borrow(_context, value):
    def codegen(context, builder, signature, args):
        return _strip(context, builder, signature.return_type, args[0])

    return value(value), codegen


def _strip(context, builder, kind, value):
    """Set the owner of each array to null; LLVM then drops the counting."""
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


def prefetch(array, i):
    """Have the processor fetch ``array[i]`` into its caches; interpreted it does nothing."""


@overload(prefetch)
def _overload_prefetch(array, i):
    return lambda array, i: _prefetch(array, i)


@intrinsic
def _prefetch(_context, array, i):
    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        place = builder.bitcast(builder.gep(data, [args[1]]), byte)
        builder.call(function, [place, number(0), number(3), number(1)])  # read, keep, data
        return context.get_dummy_value()

    return types.void(array, i), codegen
