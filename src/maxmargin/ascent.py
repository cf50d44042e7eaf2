"""Block dual ascent: the inner loop of SDM and its relatives, written once for every problem.

The dual variables of example i belong to a small working set V_i of outputs. A visit asks the
oracle (or not), computes the planes of V_i and their Gram matrix, and solves the dual restricted to
alpha_i by SMO (Algorithm 2 of Balamurugan et al., 2011). As in ``loops.py`` the functions that take
kernels are inlined; what they assign to is done by the leaf functions below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from .borrow import borrow
from .linalg import copy_labels, sparse_axpy, sparse_dot
from .problem import SLACK


class Duals(NamedTuple):
    """The working sets: slot r of example i holds its labels, loss and dual variable.

    Slot 0 is the truth, always: its plane is zero. The labels of slot r begin at
    ``slots * offsets[i] + r * length``.
    """

    labels: np.ndarray
    loss: np.ndarray
    alpha: np.ndarray
    count: np.ndarray


class Block(NamedTuple):
    """Working memory of a visit: the planes of V_i one after the other, and the small QP."""

    idx: np.ndarray
    val: np.ndarray
    nnz: np.ndarray
    loss: np.ndarray
    scale: np.ndarray
    F: np.ndarray
    K: np.ndarray
    step: np.ndarray
    dense: np.ndarray


class Visits(NamedTuple):
    """What a pass has seen: sums over the visited examples, and the gap of each.

    ``total`` holds: sum of weight_i gap_i, number of examples changed, number of full V_i, and
    sum of weight_i H_i, which is that of P(w) after a pass that asked for every example and
    changed none (tau = inf).
    """

    total: np.ndarray
    gap: np.ndarray


@register_jitable(inline="always")
def ascend_examples(
    decode, loss, delta, pack, w, C, mode, order, duals, tau, ask, labels, visits, block, work
):
    """One pass of dual ascent over ``order`` (Algorithm 3, lines 7 to 24); w moves along.

    tau : examples whose KKT violation is not larger are left alone.
    ask : whether the oracle may bring new outputs into the working sets (type-I pass).
    """
    pack, w, order, labels = borrow(pack), borrow(w), borrow(order), borrow(labels)
    duals, block, visits, work = borrow(duals), borrow(block), borrow(visits), borrow(work)
    slots, width = duals.loss.shape[1], pack.width
    for t in range(len(order)):
        i = order[t]
        lo, hi = pack.offsets[i], pack.offsets[i + 1]
        m = duals.count[i]
        if ask:
            decode(pack.data, w, i, mode, labels[lo:hi], work)  # line 9
        for r in range(1, m + ask):
            start = slots * lo + r * (hi - lo)
            y = duals.labels[start : start + hi - lo] if r < m else labels[lo:hi]
            loss_r = duals.loss[i, r] if r < m else loss(pack.data, i, y)
            begin = r * width
            idx, val = block.idx[begin : begin + width], block.val[begin : begin + width]
            nnz = delta(pack.data, i, pack.truth[lo:hi], y, idx, val)
            set_plane(block, r, nnz, loss_r, mode == SLACK, idx, val, w)
        if ask:
            m = add_output(duals, block, visits, i, m, slots * lo, labels[lo:hi])  # lines 11 to 14
        if see_gap(duals, block, visits, i, m, pack.weight[i]) > tau:
            ascend_block(duals, block, visits, i, m, C * pack.weight[i], 0.6 * tau, width, w)
            drop_zeros(duals, i, slots * lo, hi - lo)  # line 23


@register_jitable(inline="always")
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
def set_plane(block, r, nnz, loss, slack, idx, val, w):
    """Note plane r of the block and its gradient F_r = loss_r - <w, plane_r>."""
    block.nnz[r] = nnz
    block.loss[r] = loss
    block.scale[r] = loss if slack else 1.0
    block.F[r] = loss - block.scale[r] * sparse_dot(idx, val, nnz, w)


@register_jitable
def add_output(duals, block, visits, i, m, base, y):
    """Take the oracle's output into V_i if it beats all of V_i; returns the new size of V_i."""
    best = 0.0  # the truth's
    for r in range(1, m):
        best = max(best, block.F[r])
    if block.F[m] <= best:
        return m
    if m == duals.loss.shape[1]:
        visits.total[2] += 1  # no room: the caller makes some before the next pass
        return m
    copy_labels(y, 0, duals.labels, base + m * len(y), len(y))
    duals.loss[i, m] = block.loss[m]
    duals.alpha[i, m] = 0.0
    duals.count[i] = m + 1
    return m + 1


@register_jitable
def see_gap(duals, block, visits, i, m, weight):
    """Note the gap of example i, H_i - sum_r alpha_ir F_ir; returns its KKT violation (2.4)."""
    block.F[0] = 0.0
    highest, lowest, mean = 0.0, np.inf, 0.0
    for r in range(m):
        highest = max(highest, block.F[r])
        if duals.alpha[i, r] > 0:
            lowest = min(lowest, block.F[r])
            mean += duals.alpha[i, r] * block.F[r]
    visits.gap[i] = highest - mean
    visits.total[3] += weight * highest
    visits.total[0] += weight * (highest - mean)
    return highest - lowest


@register_jitable
def ascend_block(duals, block, visits, i, m, C, tau, width, w):
    """Algorithm 2: SMO on the dual of one example, then w follows (line 22)."""
    gram(block, m, width)
    alpha = duals.alpha[i]
    for r in range(m):
        block.step[r] = 0.0
    for _ in range(100):
        p, q = 0, -1
        for r in range(m):
            if block.F[r] > block.F[p]:
                p = r
            if alpha[r] > 0 and (q < 0 or block.F[r] < block.F[q]):
                q = r
        violation = block.F[p] - block.F[q]
        if violation <= tau or p == q:
            break
        # Equation 4.6 with the factor C, and the bounds on the dual variables themselves.
        curvature = C * (block.K[p, p] - 2 * block.K[p, q] + block.K[q, q])
        step = alpha[q] if violation >= alpha[q] * curvature else violation / curvature
        alpha[p] += step
        alpha[q] = 0.0 if step == alpha[q] else alpha[q] - step
        block.step[p] += step
        block.step[q] -= step
        for r in range(m):
            block.F[r] -= C * step * (block.K[r, p] - block.K[r, q])
    visits.total[1] += 1
    for r in range(1, m):
        if block.step[r] != 0:
            begin, nnz = r * width, block.nnz[r]
            idx, val = block.idx[begin : begin + nnz], block.val[begin : begin + nnz]
            sparse_axpy(C * block.step[r] * block.scale[r], idx, val, nnz, w)


@register_jitable
def gram(block, m, width):
    """K[r, s] = <plane_r, plane_s>; an index may repeat in a plane, so one of them is spread."""
    for s in range(m):
        block.K[0, s] = block.K[s, 0] = 0.0
    for r in range(1, m):
        begin, nnz = r * width, block.nnz[r]
        idx, val = block.idx[begin : begin + nnz], block.val[begin : begin + nnz]
        sparse_axpy(block.scale[r], idx, val, nnz, block.dense)
        for s in range(1, r + 1):
            first, count = s * width, block.nnz[s]
            other, value = block.idx[first : first + count], block.val[first : first + count]
            dot = block.scale[s] * sparse_dot(other, value, count, block.dense)
            block.K[r, s] = block.K[s, r] = dot
        for e in range(nnz):
            block.dense[idx[e]] = 0.0


@register_jitable
def drop_zeros(duals, i, base, length):
    """Remove the outputs whose dual variable is zero; the truth stays."""
    kept = 1
    for r in range(1, duals.count[i]):
        if duals.alpha[i, r] > 0:
            if kept != r:
                to, start = base + kept * length, base + r * length
                copy_labels(duals.labels, start, duals.labels, to, length)
                duals.loss[i, kept] = duals.loss[i, r]
                duals.alpha[i, kept] = duals.alpha[i, r]
            kept += 1
    for r in range(kept, duals.count[i]):
        duals.alpha[i, r] = 0.0
    duals.count[i] = kept
