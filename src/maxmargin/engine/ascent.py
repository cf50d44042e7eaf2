"""Block dual ascent: the inner loop of SDM and its relatives, written once for every problem.

The dual variables of example i belong to a small working set V_i of outputs. A visit asks the
oracle (or not), computes the planes of V_i and their Gram matrix, and solves the dual restricted to
alpha_i by SMO (Algorithm 2 of Balamurugan et al., 2011). As in ``loops.py`` the functions that take
kernels are inlined; what they assign to is done by the leaf functions below.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

from ..problem import SLACK
from .arrays import ADDED, CHANGED, FULL, GAP, HINGE, SHORT, UNWRITTEN, VIOLATION, WORST
from .linalg import copy_labels, sparse_axpy, sparse_dot
from .smo import ascend_block, drop_zeros
from .views import borrow


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
    """One pass of dual ascent over ``order`` (Algorithm 3, lines 7 to 24); w moves along."""
    pack, w, order, labels = borrow(pack), borrow(w), borrow(order), borrow(labels)
    duals, block, visits, work = borrow(duals), borrow(block), borrow(visits), borrow(work)
    slots, width = duals.loss.shape[1], pack.width
    for t in range(len(order)):
        i = order[t]
        lo, hi = pack.offsets[i], pack.offsets[i + 1]
        truth = pack.truth[lo:hi]
        m = duals.count[i]
        if options.call_oracle and not options.decoded:
            decode(pack.data, w, i, mode, labels[lo:hi], work)  # line 9
        for r in range(1, m + options.call_oracle):
            start = slots * lo + r * (hi - lo)
            y = duals.labels[start : start + hi - lo] if r < m else labels[lo:hi]
            loss_r = duals.loss[i, r] if r < m else loss(pack.data, i, y)
            idx, val = block.idx[r * width :], block.val[r * width :]
            if options.call_oracle and not options.decoded:
                value, nnz = margin_of(pack.data, w, i, truth, y, idx, val, work)
            else:
                nnz = delta(pack.data, i, truth, y, idx, val)
                value = sparse_dot(idx, val, nnz, w)
            set_plane(block, r, nnz, loss_r, mode == SLACK, value)
        if options.call_oracle:  # lines 11 to 14
            m = add_output(duals, block, visits, i, m, slots * lo, labels[lo:hi], options.min_gain)
        if note_gap(duals, block, visits, i, m, pack.weight[i], options.call_oracle) > options.tau:
            for r in range(1, m):
                if block.nnz[r] == UNWRITTEN:
                    start = slots * lo + r * (hi - lo)
                    y = duals.labels[start : start + hi - lo]
                    idx, val = block.idx[r * width :], block.val[r * width :]
                    write_nnz(block, r, delta(pack.data, i, truth, y, idx, val))
            ascend_block(
                duals.alpha[i], duals.gram, duals.known, i, m, block, C * pack.weight[i], options,
                width, w, visits,
            )  # fmt: skip
            note_change(visits)
            if not options.keep_zeros:
                drop_zeros(duals, i, slots * lo, hi - lo)  # line 23
        tick(visits)


@njit(inline="always")
def sum_duals(delta, pack, C, mode, order, duals, w, scratch):
    """w += C sum_ir weight_i alpha_ir plane_ir: w(alpha) from its definition."""
    pack, w, order, duals = borrow((pack, w, order, duals))
    idx, val = borrow(scratch)
    slots = duals.loss.shape[1]
    for t in range(len(order)):
        i = order[t]
        lo, hi = pack.offsets[i], pack.offsets[i + 1]
        for r in range(1, duals.count[i]):
            start = slots * lo + r * (hi - lo)
            y = duals.labels[start : start + hi - lo]
            nnz = delta(pack.data, i, pack.truth[lo:hi], y, idx, val)
            scale = duals.loss[i, r] if mode == SLACK else 1.0
            sparse_axpy(C * pack.weight[i] * duals.alpha[i, r] * scale, idx, val, nnz, w)


@register_jitable
def set_plane(block, r, nnz, loss, slack, margin):
    """Note plane r of the block and its gradient F_r = loss_r - <w, plane_r>."""
    block.nnz[r] = nnz
    block.loss[r] = loss
    block.scale[r] = loss if slack else 1.0
    block.F[r] = loss - block.scale[r] * margin


@register_jitable
def write_nnz(block, r, nnz):
    """Note that the vector of plane r has been written."""
    block.nnz[r] = nnz


@register_jitable
def add_output(duals, block, visits, i, m, base, y, least):
    """Take the oracle's output into V_i if it beats all of V_i; returns the new size of V_i."""
    best = 0.0  # the truth's
    for r in range(1, m):
        best = max(best, block.F[r])
    note_shortfall(visits, i, best - block.F[m], block.loss[m] + abs(best) + abs(block.F[m]))
    if block.F[m] <= best + least:
        return m
    if m == duals.loss.shape[1]:
        visits.total[FULL] += 1  # the caller makes room before the next pass
        return m
    copy_labels(y, 0, duals.labels, base + m * len(y), len(y))
    duals.loss[i, m] = block.loss[m]
    duals.alpha[i, m] = 0.0
    duals.count[i] = m + 1
    visits.total[ADDED] += 1
    block.F[m + 1] = 0.0  # the oracle has said nothing beyond V_i
    return m + 1


@register_jitable
def note_shortfall(visits, i, shortfall, size):
    """Note where a known output beats the oracle's answer most, if not by rounding alone."""
    if shortfall > 1e-9 * size and shortfall > visits.total[SHORT]:
        visits.total[SHORT] = shortfall
        visits.total[WORST] = i


@register_jitable
def note_gap(duals, block, visits, i, m, weight, asked):
    """Note the gap of example i, H_i - sum_r alpha_ir F_ir; returns its KKT violation (2.4)."""
    block.F[0] = 0.0
    highest, lowest, mean = 0.0, np.inf, 0.0
    for r in range(m):
        highest = max(highest, block.F[r])
        if duals.alpha[i, r] > 0:
            lowest = min(lowest, block.F[r])
            mean += duals.alpha[i, r] * block.F[r]
    if asked:
        highest = max(highest, block.F[m])  # what the oracle said, added or not
    violation = highest - lowest
    visits.gap[i] = highest - mean
    visits.total[HINGE] += weight * highest
    visits.total[GAP] += weight * (highest - mean)
    visits.total[VIOLATION] = max(visits.total[VIOLATION], violation)
    return violation


@register_jitable
def tick(visits):
    """One visit more for the average of w."""
    visits.clock[0] += 1.0
    visits.clock[1] += visits.clock[0] ** visits.clock[2]


@register_jitable
def note_change(visits):
    """One example more has changed."""
    visits.total[CHANGED] += 1
