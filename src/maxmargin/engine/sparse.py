"""Operations on sparse vectors, ``idx`` and ``val`` with ``nnz`` entries, and on long dense ones.

Python calls them for cuts and weights, and compiled passes call them for planes.
"""

from __future__ import annotations

from numba.extending import register_jitable

from .keep import leaf


@register_jitable
def copy_labels(source, start, target, to, length):
    """target[to : to + length] = source[start : start + length], for labels of any type.

    numba takes seconds to compile a slice assignment.
    """
    for j in range(length):
        target[to + j] = source[start + j]


@leaf
def sparse_dot(idx, val, nnz, w):
    """<w, v> of a sparse v."""
    total = 0.0
    for p in range(nnz):
        total += val[p] * w[idx[p]]
    return total


@leaf
def sparse_axpy(scale, idx, val, nnz, w):
    """w += scale * v of a sparse v."""
    for p in range(nnz):
        w[idx[p]] += scale * val[p]


@leaf
def sparse_fill(idx, value, w):
    """w[idx] = value."""
    for e in range(len(idx)):
        w[idx[e]] = value


@leaf
def count_nonzeros(g):
    """The number of non-zero entries."""
    nnz = 0
    for j in range(len(g)):
        nnz += g[j] != 0.0
    return nnz


@leaf
def sparse_set(idx, val, w):
    """w[idx] = val."""
    for e in range(len(idx)):
        w[idx[e]] = val[e]


@leaf
def differences(new, old, where, value):
    """Write the positions at which two arrays differ and the new values; returns their number.

    It reads memory once; ``where`` and ``value`` have one entry more than the arrays.
    """
    count = 0
    for j in range(len(new)):
        where[count], value[count] = j, new[j]
        count += new[j] != old[j]
    return count


@leaf
def take_nonzeros(g, scale, idx, val):
    """Move the non-zeros of g, times ``scale``, to idx and val; sets g to zero."""
    nnz = 0
    for j in range(len(g)):
        if g[j] != 0.0:
            idx[nnz], val[nnz] = j, scale * g[j]
            nnz += 1
            g[j] = 0.0


@leaf
def copy_nonzeros(v, idx, val):
    """Copy the non-zeros of v to idx and val."""
    nnz = 0
    for j in range(len(v)):
        if v[j] != 0.0:
            idx[nnz], val[nnz] = j, v[j]
            nnz += 1


@leaf
def go_towards(start, end, part, out):
    """out = start + part * (end - start), reading memory once."""
    for j in range(len(out)):
        out[j] = start[j] + part * (end[j] - start[j])


@leaf
def blend(average, w, part):
    """average += part * (w - average), reading memory once."""
    for j in range(len(w)):
        average[j] += part * (w[j] - average[j])


@leaf
def blend_and_square(average, w, part):
    """The same; returns the square of the new average."""
    total = 0.0
    for j in range(len(w)):
        average[j] += part * (w[j] - average[j])
        total += average[j] * average[j]
    return total


@leaf
def set_to_sum(first, second):
    """first = second = first + second, reading memory once."""
    for j in range(len(first)):
        first[j] = second[j] = first[j] + second[j]


@leaf
def spread_rows(idx, val, nnz, width, plane, factor, row, place, rows, key, mark):
    """rows[row[t]] += factor[t] * plane ``plane[t]`` of planes with ``width`` places each.

    The entry with index j goes to column ``place[j]``. ``key`` sums the ``mark`` of the rows with
    an entry in each column, whatever its value.
    """
    for t in range(len(plane)):
        start, out, m = plane[t] * width, rows[row[t]], mark[row[t]]
        for e in range(start, start + nnz[plane[t]]):
            column = place[idx[e]]
            out[column] += factor[t] * val[e]
            key[column] += m
