"""The inner loops of the solvers, written once for every problem and every speed.

Each takes the kernels of a problem as arguments. Called with Python functions it runs interpreted;
``compiled.py`` binds it to the kernels of the built-in problems, and numba then compiles loop and
kernels into one function that it keeps on disk. Every function here that takes a kernel is inlined
(``register_jitable(inline="always")``): otherwise numba passes the kernel by address, and then
sometimes refuses to cache.

Common arguments: ``pack`` holds the examples, ``order`` the numbers of those to treat, ``labels``
is a flat label array (see ``problem.Pack``), ``scratch`` two arrays for sparse vectors. What a
loop only reads, or hands to kernels, it borrows (``borrow.py``); what it writes itself it does not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ..problem import SLACK
from .linalg import copy_labels, sparse_axpy, sparse_dot
from .views import borrow, frozen


class Cache(NamedTuple):
    """For each example the labels of up to ``loss.shape[1]`` outputs, and when each was last best.

    Slot r of example i holds its labels from ``slots * offsets[i] + r * length`` on.
    """

    labels: np.ndarray
    loss: np.ndarray
    count: np.ndarray
    used: np.ndarray


@njit(inline="always")
def decode_examples(decode, pack, w, mode, order, labels, work):
    """The oracle: labels_i = argmax_y of the mode's value."""
    pack, w, order, labels, work = borrow((pack, w, order, labels, work))
    for t in range(len(order)):
        i = order[t]
        decode(pack.data, w, i, mode, labels[pack.offsets[i] : pack.offsets[i + 1]], work)


@njit(inline="always")
def collect_planes(loss, delta, pack, w, mode, order, labels, g, value, scratch):
    """Sum the planes named by ``labels`` into a cut.

    g += weight_i plane_i and value_i = loss_i - <w, plane_i>; returns sum_i weight_i loss_i.
    Where the named output is worse than the truth (an inexact oracle) the truth takes its place.
    """
    pack, w, order = borrow((pack, w, order))
    idx, val = borrow(scratch)
    total = 0.0
    for t in range(len(order)):
        i = order[t]
        lo, hi = pack.offsets[i], pack.offsets[i + 1]
        y = frozen(labels[lo:hi])
        loss_i = loss(pack.data, i, y)
        nnz = delta(pack.data, i, pack.truth[lo:hi], y, idx, val)
        scale = loss_i if mode == SLACK else 1.0
        value_i = loss_i - scale * sparse_dot(idx, val, nnz, w)
        if value_i > 0:
            value[i] = value_i
            total += pack.weight[i] * loss_i
            sparse_axpy(pack.weight[i] * scale, idx, val, nnz, g)
        else:
            value[i] = 0.0
            copy_labels(pack.truth, lo, labels, lo, hi - lo)
    return total


@njit(inline="always")
def recall_planes(score, margin_of, pack, w, mode, order, cache, now, labels, value, scratch, work):
    """labels_i = the best cached output of example i at w, or the truth if none is better."""
    pack, w, order, work = borrow((pack, w, order, work))
    idx, val = borrow(scratch)
    slots = cache.loss.shape[1]
    for t in range(len(order)):
        i = order[t]
        lo, hi = pack.offsets[i], pack.offsets[i + 1]
        best, best_slot = 0.0, -1
        score(pack.data, w, i, work)
        for r in range(cache.count[i]):
            start = slots * lo + r * (hi - lo)
            y = frozen(cache.labels[start : start + hi - lo])
            margin, _ = margin_of(pack.data, w, i, pack.truth[lo:hi], y, idx, val, work)
            scale = cache.loss[i, r] if mode == SLACK else 1.0
            value_r = cache.loss[i, r] - scale * margin
            if value_r > best:
                best, best_slot = value_r, r
        value[i] = best
        if best_slot >= 0:
            cache.used[i, best_slot] = now
            start = slots * lo + best_slot * (hi - lo)
            copy_labels(cache.labels, start, labels, lo, hi - lo)
        else:
            copy_labels(pack.truth, lo, labels, lo, hi - lo)


@njit(inline="always")
def remember_planes(loss, pack, order, labels, value, recalled, cache, now):
    """Put each output that beats the best recalled one into its example's cache.

    Such an output is not in the cache yet. A full cache gives up the slot that has been the best
    least recently.
    """
    pack, order = borrow((pack, order))
    slots = cache.loss.shape[1]
    for t in range(len(order)):
        i = order[t]
        if value[i] <= recalled[i]:
            continue
        lo, hi = pack.offsets[i], pack.offsets[i + 1]
        slot = cache.count[i]
        if slot < slots:
            cache.count[i] += 1
        else:
            slot = 0
            for r in range(1, slots):
                if cache.used[i, r] < cache.used[i, slot]:
                    slot = r
        start = slots * lo + slot * (hi - lo)
        copy_labels(labels, lo, cache.labels, start, hi - lo)
        cache.loss[i, slot] = loss(pack.data, i, frozen(labels[lo:hi]))
        cache.used[i, slot] = now
