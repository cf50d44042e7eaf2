"""Views without reference counts, for the hot loops.

Inside compiled code numba counts references to every array that a function takes out of a tuple,
with atomic instructions that cost more than a small oracle. The caller of a loop owns all arrays
for as long as the loop runs, so the loop may work on views that own nothing.
"""

from __future__ import annotations

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
