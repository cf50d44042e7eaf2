"""Block dual ascent: the inner loop of SDM, n-slack and BCFW, written once for all problems.

The dual variables of example i belong to a small working set V_i of outputs. A visit may call the
oracle, computes the planes of V_i and their Gram matrix, and solves the dual restricted to alpha_i
by SMO (Algorithm 2 of Balamurugan et al., 2011). As in ``passes.py``, functions that take functions
of the problem are inlined; they leave assignments to borrowed arrays to the functions below.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

from ..problem import SLACK
from .arrays import ADDED, BOUND, FULL, GAP, HINGE, SHORT, UNWRITTEN, VIOLATION, WORST
from .guard import bound_of, check_labels, check_loss, check_plane, note_bound, plane_dot
from .sharing import begin_writing, end_writing, exchange, take_visits, tick
from .smo import ascend_block, drop_zeros
from .sparse import copy_labels, sparse_axpy
from .views import borrow, frozen, prefetch

#: Fetch the dual variables of the example that is visited this many visits later.
AHEAD = 4


@njit(inline="always")
def ascend_examples(
    decode,
    loss,
    delta,
    margin_of,
    pack,
    w,
    C,
    mode,
    order,
    duals,
    options,
    labels,
    visits,
    block,
    work,
):
    """One pass of dual ascent over ``order`` (Algorithm 3, lines 7 to 24); updates w."""
    pack, w, order, labels = borrow(pack), borrow(w), borrow(order), borrow(labels)
    duals, block, visits, work = borrow(duals), borrow(block), borrow(visits), borrow(work)
    options = borrow(options)
    slots, width, ask = duals.loss.shape[1], pack.width, options.call_oracle
    data, known, scored = pack.data, duals.labels, options.call_oracle and not options.decoded
    t, stop = take_visits(options.shared, 0, len(order))
    while t < stop:
        i = order[t]
        if t + AHEAD < len(order):
            fetch_duals(duals, order[t + AHEAD], slots)
        lo = pack.offsets[i]
        length = pack.offsets[i + 1] - lo
        truth, found = pack.truth[lo : lo + length], labels[lo : lo + length]
        m, base = duals.count[i], slots * lo
        if scored:
            note_bound(decode(data, w, i, mode, found, work), visits.bound, i)  # line 9
            check_labels(found, pack.low, pack.high, i)
        for r in range(1, m + ask):
            if options.sum_planes and duals.alpha[i, r] == 0.0:
                continue
            y = frozen(known[base + r * length : base + (r + 1) * length] if r < m else found)
            loss_r = duals.loss[i, r] if r < m else check_loss(loss(data, i, y), i)
            idx, val = block.idx[r * width :], block.val[r * width :]
            if scored:
                value, nnz = margin_of(data, w, i, truth, y, idx, val, width, work)
            elif options.sum_planes:
                nnz, value = delta(data, i, truth, y, idx, val), 0.0
                check_plane(idx, val, nnz, pack.dim, width, i)
            else:
                nnz = delta(data, i, truth, y, idx, val)
                value = plane_dot(idx, val, nnz, w, width, i)
            set_plane(block, r, nnz, loss_r, mode == SLACK, value)
            if options.sum_planes:
                share = C * pack.weight[i] * duals.alpha[i, r] * block.scale[r]
                begin_writing(options.shared)
                sparse_axpy(share, idx, val, nnz, w)
                end_writing(options.shared)
        if ask:  # lines 11 to 14
            m = add_output(duals, block, visits, i, m, base, found, options.min_gain)
        if note_gap(duals.alpha[i], block.F, visits, i, m, pack.weight[i], ask) > options.tau:
            for r in range(1, m):
                if block.nnz[r] == UNWRITTEN:
                    y = frozen(known[base + r * length : base + (r + 1) * length])
                    idx, val = block.idx[r * width :], block.val[r * width :]
                    nnz = delta(data, i, truth, y, idx, val)
                    write_nnz(block.nnz, r, check_plane(idx, val, nnz, pack.dim, width, i))
            ascend_block(
                duals.alpha[i], duals.gram, duals.known, i, m, block, C * pack.weight[i], options,
                width, w, visits,
            )  # fmt: skip
            if not options.keep_zeros:
                drop_zeros(duals, i, base, length)  # line 23
        tick(visits.clock, options.shared)
        t += 1
        exchange(options.shared, w, t)
        if t == stop:
            t, stop = take_visits(options.shared, t, len(order))


@register_jitable
def fetch_duals(duals, i, slots):
    """Fetch the dual variables of example i, which may be anywhere in memory, into the caches."""
    prefetch(duals.alpha, i * slots)
    prefetch(duals.loss, i * slots)
    prefetch(duals.count, i)
    prefetch(duals.gram, i * slots * slots)


@register_jitable
def set_plane(block, r, nnz, loss, slack, margin):
    """Store plane r of the block and its gradient F_r = loss_r - <w, plane_r>."""
    scale = loss if slack else 1.0
    block.nnz[r] = nnz
    block.loss[r] = loss
    block.scale[r] = scale
    block.F[r] = loss - scale * margin


@register_jitable
def write_nnz(written, r, nnz):
    """Store the number of non-zeros of plane r, whose vector has been written."""
    written[r] = nnz


@register_jitable
def add_output(duals, block, visits, i, m, base, y, min_gain):
    """Add the oracle's output to V_i if it is better than all of V_i; returns the size of V_i."""
    F, total, losses = block.F, visits.total, duals.loss
    best = 0.0  # the value of the truth
    for r in range(1, m):
        best = max(best, F[r])
    bound = bound_of(visits.bound, i)
    if bound == -np.inf:
        note_shortfall(total, i, best - F[m], block.loss[m] + abs(best) + abs(F[m]))
    else:  # the oracle may miss the best output, but no output is above its bound
        highest = max(best, F[m])
        note_shortfall(total, i, highest - bound, block.loss[m] + abs(highest) + abs(bound))
    if F[m] <= best + min_gain:
        return m
    if m == losses.shape[1]:
        total[FULL] += 1  # the caller makes room before the next pass
        return m
    copy_labels(y, 0, duals.labels, base + m * len(y), len(y))
    losses[i, m] = block.loss[m]
    duals.alpha[i, m] = 0.0
    duals.count[i] = m + 1
    total[ADDED] += 1
    F[m + 1] = 0.0  # the oracle found nothing outside of V_i
    return m + 1


@register_jitable
def note_shortfall(total, i, shortfall, size):
    """Record the largest amount by which a known output contradicts the oracle, above rounding."""
    if shortfall > 1e-9 * size and shortfall > total[SHORT]:
        total[SHORT] = shortfall
        total[WORST] = i


@register_jitable
def note_gap(alpha, F, visits, i, m, weight, asked):
    """Record the gap of example i, H_i - sum_r alpha_ir F_ir; returns its KKT violation (2.4)."""
    F[0] = 0.0
    highest, lowest, mean = 0.0, np.inf, 0.0
    for r in range(m):
        highest = max(highest, F[r])
        if alpha[r] > 0:
            lowest = min(lowest, F[r])
            mean += alpha[r] * F[r]
    if asked:
        highest = max(highest, F[m])  # the output of the oracle, added or not
        visits.total[BOUND] += weight * max(highest, bound_of(visits.bound, i))
    violation, gap, total = highest - lowest, highest - mean, visits.total
    visits.gap[i] = gap
    total[HINGE] += weight * highest
    total[GAP] += weight * gap
    total[VIOLATION] = max(total[VIOLATION], violation)
    return violation
