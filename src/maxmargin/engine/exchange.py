"""What shards exchange: the places where their steps have changed w, found and added sparsely.

w may have tens of millions of weights, of which a pass changes few. So nothing here reads all of w:
a pass over the planes that have moved marks places, and lists of places are added by links.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .guard import check_plane
from .keep import leaf
from .smo import drop_zeros
from .views import borrow, frozen

#: One mark stands for ``2 ** SHIFT`` neighbouring weights.
SHIFT = 3

#: All of w is compared if it is not longer than this: that takes less than a millisecond. It is
#: also if there are at most DENSE weights per label: to mark the planes that have moved would take
#: longer, because they reach memory in any order.
SHORT, DENSE = 2**18, 100


@njit(inline="always")
def mark_planes(delta, pack, examples, duals, before, marks, scratch):
    """Mark the weights of all planes whose dual variables differ from ``before``.

    ``before`` (len(examples), slots) holds the earlier dual variables of these examples.
    """
    pack, examples, duals, before = borrow(pack), borrow(examples), borrow(duals), borrow(before)
    idx, val = borrow(scratch)
    slots = duals.loss.shape[1]
    for t in range(len(examples)):
        i = examples[t]
        lo = pack.offsets[i]
        length = pack.offsets[i + 1] - lo
        truth, base = pack.truth[lo : lo + length], slots * lo
        for r in range(1, duals.count[i]):
            if duals.alpha[i, r] != before[t, r]:
                y = frozen(duals.labels[base + r * length : base + (r + 1) * length])
                nnz = delta(pack.data, i, truth, y, idx, val)
                nnz = check_plane(idx, val, nnz, pack.dim, pack.width, i)
                for e in range(nnz):
                    marks[idx[e] >> SHIFT] = 1


@leaf
def take_changes(new, old, blocks, scale, where, value):
    """Move the changes in marked blocks of w to lists; ``new`` is equal to ``old`` afterwards.

    Returns the number of changes; ``value`` holds them times ``scale``.
    """
    count, size = 0, 1 << SHIFT
    for b in range(len(blocks)):
        start = blocks[b] * size
        for j in range(start, min(start + size, len(new))):
            if new[j] != old[j]:
                where[count], value[count] = j, scale * (new[j] - old[j])
                count += 1
                new[j] = old[j]
    return count


@leaf
def take_all_changes(new, old, scale, where, value):
    """The same for changes anywhere in w; ``where`` and ``value`` have room for as many."""
    count = 0
    for j in range(len(new)):
        if new[j] != old[j]:
            where[count], value[count] = j, scale * (new[j] - old[j])
            count += 1
            new[j] = old[j]
    return count


@leaf
def merge_changes(where, value, other_where, other_value, both, total):
    """The sum of two lists of changes, whose places are sorted; returns its length."""
    a, b, count = 0, 0, 0
    while a < len(where) or b < len(other_where):
        first = b == len(other_where) or (a < len(where) and where[a] <= other_where[b])
        second = a == len(where) or (b < len(other_where) and other_where[b] <= where[a])
        both[count] = where[a] if first else other_where[b]
        total[count] = 0.0
        if first:
            total[count] += value[a]
            a += 1
        if second:
            total[count] += other_value[b]
            b += 1
        count += 1
    return count


@leaf
def link_changes(where, value, starts, head, spot, link, last, places, gram):
    """The union of K lists of changes, and the inner products of all pairs of lists.

    List k has the entries ``starts[k] : starts[k + 1]``. ``head`` (dim,) is -1 everywhere, before
    and after. ``spot`` is the position of each entry in the union ``places``; entries of the same
    place are linked. Returns the number of places.
    """
    count = 0
    for k in range(len(starts) - 1):
        for e in range(starts[k], starts[k + 1]):
            j = where[e]
            p = head[j]
            if p < 0:
                p = count
                head[j] = p
                places[p] = j
                last[p] = -1
                count += 1
            spot[e] = p
            link[e] = last[p]
            last[p] = e
            gram[k, k] += value[e] * value[e]
            q, other = link[e], k
            while q >= 0:
                while starts[other] > q:
                    other -= 1
                gram[k, other] += value[e] * value[q]
                q = link[q]
    for p in range(count):
        head[places[p]] = -1
    for k in range(len(gram)):
        for other in range(k):
            gram[other, k] = gram[k, other]
    return count


@leaf
def add_parts(value, starts, spot, parts, places, w, step):
    """w += the sum of the lists of ``link_changes`` times their parts; ``step`` is this sum."""
    for p in range(len(step)):
        step[p] = 0.0
    for k in range(len(parts)):
        if parts[k] != 0:
            for e in range(starts[k], starts[k + 1]):
                step[spot[e]] += parts[k] * value[e]
    for p in range(len(step)):
        w[places[p]] += step[p]


@leaf
def say_changes(now, places, picture, model, said):
    """said = (model - picture) at the places whose numbers are ``now``."""
    for e in range(len(now)):
        p = now[e]
        said[e] = model[places[p]] - picture[p]


@leaf
def hear_changes(now, places, base, heard, said, total, part, picture, model):
    """Move ``heard`` towards total - said by a part; the picture is base + heard.

    The model moves with the picture.
    """
    for e in range(len(now)):
        p = now[e]
        heard[p] += part * (total[e] - said[e] - heard[p])
        change = base[p] + heard[p] - picture[p]
        picture[p] += change
        model[places[p]] += change


@leaf
def set_both(where, value, first, second):
    """first[where] = second[where] = value."""
    for e in range(len(where)):
        j = where[e]
        first[j] = value[e]
        second[j] = value[e]


@leaf
def drop_all_zeros(duals, offsets, examples):
    """Remove the outputs of these examples whose dual variable is zero; the truth stays."""
    slots = duals.loss.shape[1]
    for t in range(len(examples)):
        i = examples[t]
        drop_zeros(duals, i, slots * offsets[i], offsets[i + 1] - offsets[i])


def marks_for(dim: int, n_labels: int) -> np.ndarray:
    """Marks for this many weights; none if all of w is compared.

    ``n_labels`` is the number of labels of all examples.
    """
    return np.zeros(0 if dim <= max(SHORT, DENSE * n_labels) else (dim >> SHIFT) + 1, np.uint8)
