"""Passes over several outputs per example: find them, measure them, sum their planes.

They are written like those of ``passes.py``. ``outputs`` is a ``passes.Cache``: slot r of example i
holds its r-th output, and ``count`` the number of outputs; m is the number of slots.
"""

from __future__ import annotations

import pickle
from typing import Any

from numba import njit
from numba.extending import overload, register_jitable

from ..problem import SLACK
from .guard import check_found, check_labels, check_loss, check_plane, note_bound, plane_dot
from .sparse import copy_labels, sparse_axpy
from .views import borrow, frozen


def differ(a: Any, b: Any) -> bool:
    """Whether two labels differ; objects that cannot be compared are compared by their pickles."""
    if a is b:
        return False
    try:
        return not bool(a == b)
    except ValueError:  # arrays, or lists of them
        return pickle.dumps(a) != pickle.dumps(b)


@overload(differ)
def _overload_differ(a, b):
    return lambda a, b: a != b


@register_jitable
def same_labels(source, start, target, to, length):
    """Whether two outputs are equal."""
    for j in range(length):  # noqa: SIM110  (numba does not support generators)
        if differ(source[start + j], target[to + j]):
            return False
    return True


@njit(inline="always")
def ask_m_best(
    m_best, pack, w, mode, diversity, m, order, outputs, score, trail, scratch, work, bound
):
    """The m best outputs, from the problem's function ``m_best``, which gives no bound."""
    pack, w, order, work = borrow((pack, w, order, work))
    for t in range(len(order)):
        i = order[t]
        lo, hi = pack.offsets[i], pack.offsets[i + 1]
        Y = outputs.labels[m * lo : m * hi]
        found = m_best(pack.data, w, i, mode, diversity, m, Y, score[i], work)
        outputs.count[i] = check_found(found, m, i)
        check_labels(Y[: found * (hi - lo)], pack.low, pack.high, i)


@njit(inline="always")
def ask_by_steps(
    decode, loss, delta, pack, w, mode, diversity, m, order, outputs, score, trail, scratch, work,
    bound,
):  # fmt: skip
    """Find different outputs with the oracle alone, by a step of w after each output.

    The step reduces the violation of the last output by ``diversity`` times its loss, as training
    does when it adds that plane. The next output is the most violated one after the step. The
    search ends at the truth or at an output found before. ``w`` is restored at the end. ``bound``
    gets the upper bounds of the first outputs (see ``passes.decode_examples``).
    """
    pack, order, work, bound = borrow((pack, order, work, bound))
    for t in range(len(order)):
        i = order[t]
        lo, hi = pack.offsets[i], pack.offsets[i + 1]
        start, found, used = m * lo, 0, 0
        while found < m:
            here = start + found * (hi - lo)
            y = outputs.labels[here : here + hi - lo]
            upper = decode(pack.data, w, i, mode, y, work)
            if found == 0:
                note_bound(upper, bound, i)
            check_labels(y, pack.low, pack.high, i)
            known = False
            for r in range(found):
                old = start + r * (hi - lo)
                known = known or same_labels(outputs.labels, old, outputs.labels, here, hi - lo)
            if known:
                break
            found += 1
            used = step_away(
                loss, delta, pack, i, frozen(y), diversity, w, trail,
                used, scratch,
            )  # fmt: skip
            if used < 0:
                break
        outputs.count[i] = found
        undo_steps(w, trail)


@register_jitable(inline="always")
def step_away(loss, delta, pack, i, y, diversity, w, trail, used, scratch):
    """w += c psi_i(y) with |psi|^2 c = diversity * loss.

    The old values of w are written to ``trail`` from position ``used`` on. Returns the position
    after them, or -1 if no step is possible.
    """
    where, before, end = trail
    idx, val = scratch
    loss_i = check_loss(loss(pack.data, i, y), i)
    nnz = delta(pack.data, i, pack.truth[pack.offsets[i] : pack.offsets[i + 1]], y, idx, val)
    check_plane(idx, val, nnz, len(w), pack.width, i)
    norm = 0.0
    for p in range(nnz):
        norm += val[p] * val[p]
    if loss_i <= 0 or norm == 0:
        return -1
    for p in range(nnz):
        where[used + p], before[used + p] = idx[p], w[idx[p]]
    end[0] = used + nnz
    sparse_axpy(diversity * loss_i / norm, idx, val, nnz, w)
    return used + nnz


@register_jitable
def undo_steps(w, trail):
    """Restore w, in reverse order: the first value of an index that occurs twice is the oldest."""
    where, before, end = trail
    for p in range(end[0] - 1, -1, -1):
        w[where[p]] = before[p]
    end[0] = 0


@njit(inline="always")
def measure_outputs(loss, delta, pack, v, m, order, outputs, margin, scratch):
    """outputs.loss[i, r] and margin[i, r] = <v, psi_i(r)> of every output."""
    pack, v, order = borrow((pack, v, order))
    idx, val = borrow(scratch)
    for t in range(len(order)):
        i = order[t]
        lo, hi = pack.offsets[i], pack.offsets[i + 1]
        for r in range(outputs.count[i]):
            start = m * lo + r * (hi - lo)
            y = frozen(outputs.labels[start : start + hi - lo])
            outputs.loss[i, r] = check_loss(loss(pack.data, i, y), i)
            nnz = delta(pack.data, i, pack.truth[lo:hi], y, idx, val)
            margin[i, r] = plane_dot(idx, val, nnz, v, pack.width, i)


@njit(inline="always")
def sum_outputs(delta, pack, mode, m, order, outputs, share, g, scratch):
    """g += sum_ir weight_i share[i, r] plane_i(r)."""
    pack, order = borrow((pack, order))
    idx, val = borrow(scratch)
    for t in range(len(order)):
        i = order[t]
        lo, hi = pack.offsets[i], pack.offsets[i + 1]
        for r in range(outputs.count[i]):
            if share[i, r] == 0:
                continue
            start = m * lo + r * (hi - lo)
            y = frozen(outputs.labels[start : start + hi - lo])
            nnz = delta(pack.data, i, pack.truth[lo:hi], y, idx, val)
            check_plane(idx, val, nnz, len(g), pack.width, i)
            scale = outputs.loss[i, r] if mode == SLACK else 1.0
            sparse_axpy(pack.weight[i] * share[i, r] * scale, idx, val, nnz, g)


@njit(inline="always")
def keep_outputs(loss, pack, m, order, outputs, cache, now):
    """Put new outputs into the caches, in place of those that were the best least recently."""
    pack, order = borrow((pack, order))
    slots = cache.loss.shape[1]
    for t in range(len(order)):
        i = order[t]
        lo, hi = pack.offsets[i], pack.offsets[i + 1]
        for r in range(1, outputs.count[i]):
            start = m * lo + r * (hi - lo)
            slot, known = 0, False
            for q in range(cache.count[i]):
                place = slots * lo + q * (hi - lo)
                known = known or same_labels(outputs.labels, start, cache.labels, place, hi - lo)
                if cache.used[i, q] < cache.used[i, slot]:
                    slot = q
            if known:
                continue
            if cache.count[i] < slots:
                slot = cache.count[i]
                cache.count[i] += 1
            elif cache.used[i, slot] >= now:
                break  # all outputs in the cache are as recent
            copy_labels(outputs.labels, start, cache.labels, slots * lo + slot * (hi - lo), hi - lo)
            y = frozen(outputs.labels[start : start + hi - lo])
            cache.loss[i, slot] = loss(pack.data, i, y)
            cache.used[i, slot] = now
