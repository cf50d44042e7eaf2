"""Inner loops over the labels of a chain or of a multi-class problem, as vector instructions.

LLVM makes vector instructions of a loop only for whole groups of 16 or 32 rounds, so that for 22
labels most of the work is left to scalar instructions, and sums go through memory. Here up to
four vectors of eight labels are summed in registers. The last vector ends with the last
label and overlaps the one before it, so that there is no remainder. Each number is computed by the
same operations, in the same order, as in plain loops. Decoding of chunking (22 labels) takes 0.6 of
the time of these.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import lower_builtin, type_callable

from .views import fetch

#: Numbers in a vector, those of one line of the processor's caches, and the maximum number of
#: vectors that are computed at the same time.
LANES, GROUP = 8, 4

#: The same for fewer labels than LANES. With fewer than FEWEST, plain loops are as fast.
FEWEST, FEW_GROUP = 4, 2


def sum_rows(values, indices, n, w, K, ahead, s):
    """s[k] = sum_p values[p] * w[indices[p]*K + k], for K >= FEWEST and p = 0 ... n - 1.

    If ``ahead`` is positive, the weights of ``indices[p + ahead]``, which may be those of a later
    row, are fetched into the processor's caches.
    """
    rows = np.asarray(w)[np.asarray(indices[:n], np.int64)[:, None] * K + np.arange(K)]
    s[:K] = np.asarray(values[:n], np.float64) @ rows


def max_plus(before, T, K, score, now):
    """now[b] = score[b] + max_a (before[a] + T[a*K + b]), for K >= FEWEST."""
    now[:K] = (before[:K, None] + T[: K * K].reshape(K, K)).max(axis=0) + score[:K]


def add_scaled(a, scale, b, K, out):
    """out[k] = a[k] + scale * b[k], for K >= FEWEST; ``out`` is neither a nor b."""
    out[:K] = a[:K] + scale * b[:K]


def _floats(*arrays):
    """The type of a function of contiguous arrays of float64; None, an error, if one is not."""
    plain = all(array.layout == "C" and array.dtype == types.float64 for array in arrays)
    return types.void if plain else None


@type_callable(sum_rows)
def _type_sum_rows(_context):
    return lambda values, indices, n, w, K, ahead, s: _floats(w, s)


@type_callable(max_plus)
def _type_max_plus(_context):
    return lambda before, T, K, score, now: _floats(before, T, score, now)


@type_callable(add_scaled)
def _type_add_scaled(_context):
    return lambda a, scale, b, K, out: _floats(a, b, out)


_ARRAY, _INTEGER, _FLOAT = types.Array, types.Integer, types.Float


@lower_builtin(sum_rows, _ARRAY, _ARRAY, _INTEGER, _ARRAY, _INTEGER, _INTEGER, _ARRAY)
def _lower_sum_rows(context, builder, signature, args):
    kinds = signature.args
    values, indices, w, s = (_array(context, builder, kinds, args, at) for at in (0, 1, 3, 6))
    n, K, ahead = (_number(context, builder, kinds, args, at) for at in (2, 4, 5))
    last = builder.sub(indices.nitems, _index(1))
    fetches = builder.icmp_signed(">", ahead, _index(0))

    def row(p):
        feature = builder.load(builder.gep(indices.data, [p]))
        return builder.mul(context.cast(builder, feature, kinds[1].dtype, types.int64), K)

    def group(offsets, lanes):
        sums = [_variable(builder, ir.Constant(_vector(lanes), None)) for _ in offsets]
        with cgutils.for_range(builder, n, intp=n.type) as loop:
            with builder.if_then(fetches):
                later = _smaller(builder, builder.add(loop.index, ahead), last)
                start = row(later)
                for offset in [*offsets, builder.add(offsets[-1], _index(lanes - 1))]:
                    fetch(builder, w.data, builder.add(start, offset))
            value = builder.load(builder.gep(values.data, [loop.index]))
            value = context.cast(builder, value, kinds[0].dtype, types.float64)
            value = _spread(builder, value, lanes)
            base = row(loop.index)
            for total, offset in zip(sums, offsets, strict=True):
                product = builder.fmul(value, _load(builder, w, builder.add(base, offset), lanes))
                builder.store(builder.fadd(builder.load(total), product), total)
        for total, offset in zip(sums, offsets, strict=True):
            _store(builder, builder.load(total), s, offset, lanes)

    _for_groups(builder, K, group)
    return context.get_dummy_value()


@lower_builtin(max_plus, _ARRAY, _ARRAY, _INTEGER, _ARRAY, _ARRAY)
def _lower_max_plus(context, builder, signature, args):
    kinds = signature.args
    before, T, score, now = (_array(context, builder, kinds, args, at) for at in (0, 1, 3, 4))
    K = _number(context, builder, kinds, args, 2)

    def values(a, offset, lanes):
        start = _spread(builder, builder.load(builder.gep(before.data, [a])), lanes)
        return builder.fadd(start, _load(builder, T, builder.add(builder.mul(a, K), offset), lanes))

    def group(offsets, lanes):
        highest = [_variable(builder, values(_index(0), offset, lanes)) for offset in offsets]
        with cgutils.for_range_slice(builder, _index(1), K, _index(1), K.type) as (a, _):
            for best, offset in zip(highest, offsets, strict=True):
                value, known = values(a, offset, lanes), builder.load(best)
                higher = builder.fcmp_ordered(">", value, known)
                builder.store(builder.select(higher, value, known), best)
        for best, offset in zip(highest, offsets, strict=True):
            total = builder.fadd(builder.load(best), _load(builder, score, offset, lanes))
            _store(builder, total, now, offset, lanes)

    _for_groups(builder, K, group)
    return context.get_dummy_value()


@lower_builtin(add_scaled, _ARRAY, _FLOAT, _ARRAY, _INTEGER, _ARRAY)
def _lower_add_scaled(context, builder, signature, args):
    a, b, out = (_array(context, builder, signature.args, args, at) for at in (0, 2, 4))
    scale = context.cast(builder, args[1], signature.args[1], types.float64)

    def group(offsets, lanes):
        for offset in offsets:
            product = builder.fmul(_spread(builder, scale, lanes), _load(builder, b, offset, lanes))
            total = builder.fadd(_load(builder, a, offset, lanes), product)
            _store(builder, total, out, offset, lanes)

    _for_groups(builder, _number(context, builder, signature.args, args, 3), group)
    return context.get_dummy_value()


def _for_groups(builder, K, body):
    """Call ``body(offsets, lanes)`` with the offsets of vectors, until all K labels are covered."""
    with builder.if_else(builder.icmp_signed(">=", K, _index(LANES))) as (many, few):
        with many:
            _for_vectors(builder, K, LANES, GROUP, body)
        with few:
            _for_vectors(builder, K, FEWEST, FEW_GROUP, body)


def _for_vectors(builder, K, lanes, group, body):
    """The same with vectors of ``lanes`` numbers, up to ``group`` of them at a time."""
    end = builder.sub(K, _index(lanes))  # where the last vector begins
    width = _index(group * lanes)
    with cgutils.for_range_slice(builder, _index(0), K, width, K.type) as (start, _):
        rest = builder.sub(K, start)
        done = builder.append_basic_block("done")
        for count in range(1, group + 1):
            chosen, more = builder.append_basic_block("chosen"), done
            if count < group:
                more = builder.append_basic_block("more")
                fits = builder.icmp_signed("<=", rest, _index(count * lanes))
                builder.cbranch(fits, chosen, more)
            else:
                builder.branch(chosen)
            builder.position_at_end(chosen)
            offsets = [builder.add(start, _index(v * lanes)) for v in range(count)]
            offsets[-1] = _smaller(builder, offsets[-1], end)
            body(offsets, lanes)
            builder.branch(done)
            builder.position_at_end(more)


def _array(context, builder, kinds, args, at):
    """An argument that is an array: its ``data`` and ``nitems``."""
    return context.make_array(kinds[at])(context, builder, args[at])


def _number(context, builder, kinds, args, at):
    """An argument that is an integer."""
    return context.cast(builder, args[at], kinds[at], types.int64)


def _index(number):
    return ir.Constant(ir.IntType(64), number)


def _vector(lanes):
    return ir.VectorType(ir.DoubleType(), lanes)


def _smaller(builder, a, b):
    return builder.select(builder.icmp_signed("<", a, b), a, b)


def _variable(builder, value):
    """A variable with an initial value, which LLVM keeps in a register."""
    place = cgutils.alloca_once(builder, value.type)
    builder.store(value, place)
    return place


def _spread(builder, number, lanes):
    """A vector of equal numbers."""
    empty = ir.Constant(_vector(lanes), ir.Undefined)
    single = builder.insert_element(empty, number, _index(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
    return builder.shuffle_vector(single, empty, zeros)


def _place(builder, array, at, lanes):
    return builder.bitcast(builder.gep(array.data, [at]), _vector(lanes).as_pointer())


def _load(builder, array, at, lanes):
    """The vector that begins at item ``at``."""
    return builder.load(_place(builder, array, at, lanes), align=8)


def _store(builder, vector, array, at, lanes):
    """Write a vector to item ``at`` and those after it."""
    builder.store(vector, _place(builder, array, at, lanes), align=8)
