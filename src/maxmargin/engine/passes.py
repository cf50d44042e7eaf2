"""Passes over examples: the inner loops of the solvers, written once for all problems.

Each pass takes the functions of a problem as arguments. With plain Python functions it runs
interpreted. ``bind.py`` binds it to numba functions; numba then compiles pass and functions into a
single function, which is kept on disk. Everything here that takes a function of the problem is
inlined (``@njit(inline="always")``), because numba would otherwise pass the function by address and
sometimes refuse to cache the result.

Common arguments: ``pack`` holds the examples, ``order`` the indices of the examples to visit,
``labels`` is a flat label array (see ``problem.Pack``), ``scratch`` two arrays for a sparse vector.
Arrays that a pass only reads, or hands to functions, are borrowed (``views.py``); arrays that it
writes itself are not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ..problem import SLACK
from .guard import check_labels, check_loss, check_plane, note_bound, plane_dot
from .sparse import copy_labels, sparse_axpy
from .views import borrow, frozen


class Cache(NamedTuple):
    """Up to ``loss.shape[1]`` outputs per example, and when each was last the best one.

    The labels in slot r of example i start at ``slots * offsets[i] + r * length``.
    """

    labels: np.ndarray
    loss: np.ndarray
    count: np.ndarray
    used: np.ndarray


@njit(inline="always")
def decode_examples(decode, pack, w, mode, order, labels, bound, work):
    """The oracle: labels_i = argmax_y of the mode's value, and bound_i, an upper bound on it.

    ``bound`` is empty if it is not needed or if the oracle is exact.
    """
    pack, w, order, labels, work = borrow((pack, w, order, labels, work))
    bound = borrow(bound)
    for t in range(len(order)):
        i = order[t]
        y = labels[pack.offsets[i] : pack.offsets[i + 1]]
        note_bound(decode(pack.data, w, i, mode, y, work), bound, i)
        check_labels(y, pack.low, pack.high, i)


@njit(inline="always")
def collect_planes(loss, delta, pack, w, mode, order, labels, g, value, scratch):
    """Sum the planes of the outputs in ``labels`` into a cut.

    g += weight_i plane_i, unless g is empty, and value_i = loss_i - <w, plane_i>; returns
    sum_i weight_i loss_i.
    An output with a lower value than the truth (from an inexact oracle) is replaced by the truth.
    """
    pack, w, order = borrow((pack, w, order))
    idx, val = borrow(scratch)
    total = 0.0
    for t in range(len(order)):
        i = order[t]
        lo, hi = pack.offsets[i], pack.offsets[i + 1]
        y = frozen(labels[lo:hi])
        loss_i = check_loss(loss(pack.data, i, y), i)
        nnz = delta(pack.data, i, pack.truth[lo:hi], y, idx, val)
        scale = loss_i if mode == SLACK else 1.0
        value_i = loss_i - scale * plane_dot(idx, val, nnz, w, pack.width, i)
        if value_i > 0:
            value[i] = value_i
            total += pack.weight[i] * loss_i
            if len(g) > 0:
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
            truth = pack.truth[lo:hi]
            margin, _ = margin_of(pack.data, w, i, truth, y, idx, val, pack.width, work)
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
    """Put each output with a higher value than the best recalled one into its example's cache.

    Such an output is not in the cache yet. If the cache is full, it replaces the output that was
    the best least recently.
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


@njit(inline="always")
def write_planes(delta, pack, examples, slots, duals, idx, val, nnz):
    """Write the planes of outputs of working sets one after the other, ``pack.width`` places each.

    Plane t belongs to the output in slot ``slots[t]`` of example ``examples[t]``; ``nnz[t]`` is its
    number of entries, none for the truth in slot 0.
    """
    pack, examples, slots, duals = borrow(pack), borrow(examples), borrow(slots), borrow(duals)
    idx, val = borrow((idx, val))
    width, room = pack.width, duals.loss.shape[1]
    for t in range(len(examples)):
        i = examples[t]
        nnz[t] = 0
        if slots[t] == 0:
            continue
        lo = pack.offsets[i]
        length = pack.offsets[i + 1] - lo
        start = room * lo + slots[t] * length
        y = frozen(duals.labels[start : start + length])
        where, value = idx[t * width :], val[t * width :]
        entries = delta(pack.data, i, pack.truth[lo : lo + length], y, where, value)
        nnz[t] = check_plane(where, value, entries, pack.dim, width, i)
