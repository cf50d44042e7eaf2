"""Block dual ascent: the inner loop of SDM and its relatives, written once for every problem.

The dual variables of example i belong to a small working set V_i of outputs. A visit asks the
oracle (or not), computes the planes of V_i and their Gram matrix, and solves the dual restricted to
alpha_i by SMO (Algorithm 2 of Balamurugan et al., 2011). As in ``loops.py`` the functions that take
kernels are inlined; what they assign to is done by the leaf functions below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from .borrow import borrow
from .linalg import copy_labels, sparse_axpy, sparse_dot
from .problem import SLACK

#: A free place in the table of a Gram matrix.
EMPTY = np.uint64(2**64 - 1)


#: The number of non-zeros of a plane whose vector nobody has needed yet.
UNWRITTEN = -1


#: A pair whose violation is below this part of tau is left alone (0.15 / 0.25 in the paper).
INNER = 0.6


class Duals(NamedTuple):
    """The working sets: slot r of example i holds its labels, loss and dual variable.

    Slot 0 is the truth, always: its plane is zero. The labels of slot r begin at
    ``slots * offsets[i] + r * length``. Where ``gram`` is not empty it keeps <plane_r, plane_s> of
    the first ``known`` outputs of each example.
    """

    labels: np.ndarray
    loss: np.ndarray
    alpha: np.ndarray
    count: np.ndarray
    gram: np.ndarray
    known: np.ndarray


class Block(NamedTuple):
    """Working memory of a visit: the planes of V_i one after the other, and the small QP.

    ``keys`` and ``sums`` are a table from indices to numbers, small enough for the processor's
    caches where w is not; ``places`` are those in use. It is hashed by ``spread``, unless it has
    room for all indices (spread 1).
    """

    idx: np.ndarray
    val: np.ndarray
    nnz: np.ndarray
    loss: np.ndarray
    scale: np.ndarray
    F: np.ndarray
    K: np.ndarray
    step: np.ndarray
    keys: np.ndarray
    sums: np.ndarray
    places: np.ndarray
    spread: int


class Visits(NamedTuple):
    """What a pass has seen: sums over the visited examples, and the gap of each.

    ``total`` holds: sum of weight_i gap_i, number of examples changed, number of full V_i, sum of
    weight_i H_i (which is that of P(w) after a pass that asked for every example and changed
    none), the largest KKT violation, and the number of outputs added.

    For the average of w over all visits, visit t weighing t to some power: ``clock`` holds t, the
    sum of the weights S_t so far and the power, ``lag`` the sum over all steps of S times the step,
    so that the average is ``w - lag / S``. No average is wanted when ``lag`` is empty.
    """

    total: np.ndarray
    gap: np.ndarray
    clock: np.ndarray
    lag: np.ndarray


#: What ``Visits.total`` holds.
GAP, CHANGED, FULL, HINGE, VIOLATION, ADDED = range(6)


class Rule(NamedTuple):
    """What a pass does with the examples: the schedules of the solvers are made of these.

    ask : whether the oracle is asked for a new output of each example (type-I pass).
    least : by how much that must beat the known ones to be added.
    tau : examples whose KKT violation is not larger are left alone.
    whole : move all of alpha_i towards the best output (Frank-Wolfe), not pair by pair (SMO).
    keep : keep outputs whose dual variable is zero.
    found : ``labels`` hold the oracle's answers already, at this w or at a slightly older one.
    """

    ask: bool
    least: float = 0.0
    tau: float = 0.0
    whole: bool = False
    keep: bool = False
    found: bool = False


@njit(inline="always")
def ascend_examples(
    decode, loss, delta, see, pack, w, C, mode, order, duals, rule, labels, visits, block, work
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
        if rule.ask and not rule.found:
            decode(pack.data, w, i, mode, labels[lo:hi], work)  # line 9
        for r in range(1, m + rule.ask):
            start = slots * lo + r * (hi - lo)
            y = duals.labels[start : start + hi - lo] if r < m else labels[lo:hi]
            loss_r = duals.loss[i, r] if r < m else loss(pack.data, i, y)
            idx, val = block.idx[r * width :], block.val[r * width :]
            if rule.ask and not rule.found:
                value, nnz = see(pack.data, w, i, truth, y, idx, val, work)
            else:
                nnz = delta(pack.data, i, truth, y, idx, val)
                value = sparse_dot(idx, val, nnz, w)
            set_plane(block, r, nnz, loss_r, mode == SLACK, value)
        if rule.ask:  # lines 11 to 14
            m = add_output(duals, block, visits, i, m, slots * lo, labels[lo:hi], rule.least)
        if see_gap(duals, block, visits, i, m, pack.weight[i], rule.ask) > rule.tau:
            for r in range(1, m):
                if block.nnz[r] == UNWRITTEN:
                    start = slots * lo + r * (hi - lo)
                    y = duals.labels[start : start + hi - lo]
                    idx, val = block.idx[r * width :], block.val[r * width :]
                    write_nnz(block, r, delta(pack.data, i, truth, y, idx, val))
            ascend_block(
                duals.alpha[i], duals.gram, duals.known, i, m, block, C * pack.weight[i], rule,
                width, w, visits,
            )  # fmt: skip
            note_change(visits)
            if not rule.keep:
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
def see_gap(duals, block, visits, i, m, weight, asked):
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


@njit(cache=True, nogil=True)
def ascend_block(alpha, kept, known, i, m, block, C, rule, width, w, visits):
    """Solve the dual of one example, or take a step in it; then w follows (line 22).

    It sees no labels, so that it is compiled for problems in plain Python as well.
    """
    set_gram(kept, known, i, m, block, width)
    for r in range(m):
        block.step[r] = 0.0
    if rule.whole:
        frank_wolfe(alpha, block, m, C)
    else:
        smo(alpha, block, m, C, INNER * rule.tau)
    for r in range(1, m):
        if block.step[r] != 0:
            begin, nnz = r * width, block.nnz[r]
            idx, val = block.idx[begin : begin + nnz], block.val[begin : begin + nnz]
            step = C * block.step[r] * block.scale[r]
            sparse_axpy(step, idx, val, nnz, w)
            if len(visits.lag) > 0:
                sparse_axpy(step * visits.clock[1], idx, val, nnz, visits.lag)


@register_jitable
def smo(alpha, block, m, C, tau):
    """Algorithm 2: the most violating pair, until its violation is small."""
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


@register_jitable
def frank_wolfe(alpha, block, m, C):
    """alpha_i moves towards the best output by an exact line search (Lacoste-Julien et al.)."""
    p, mean = 0, 0.0
    for r in range(m):
        mean += alpha[r] * block.F[r]
        if block.F[r] > block.F[p]:
            p = r
    for r in range(m):
        block.step[r] = -alpha[r]  # the direction e_p - alpha_i
    block.step[p] += 1.0
    curvature = 0.0
    for r in range(m):
        for s in range(m):
            curvature += C * block.step[r] * block.step[s] * block.K[r, s]
    gap = block.F[p] - mean
    length = 1.0 if gap >= curvature else gap / curvature
    for r in range(m):
        block.step[r] *= length
        alpha[r] = max(alpha[r] + block.step[r], 0.0)


@register_jitable
def set_gram(kept, known, i, m, block, width):
    """The Gram matrix of V_i: what is kept of it, and the rest anew."""
    if len(kept) == 0:
        gram(block, 1, m, width)
        return
    old = known[i]
    for r in range(1, old):
        for s in range(1, old):
            block.K[r, s] = kept[i, r, s]
    gram(block, old, m, width)
    for r in range(old, m):
        for s in range(1, r + 1):
            kept[i, r, s] = kept[i, s, r] = block.K[r, s]
    known[i] = m


@register_jitable
def gram(block, known, m, width):
    """K[r, s] = <plane_r, plane_s>, of all but the first ``known`` planes.

    An index may repeat in a plane, so one of the two is spread.
    """
    for s in range(m):
        block.K[0, s] = block.K[s, 0] = 0.0
    for r in range(known, m):
        begin, nnz = r * width, block.nnz[r]
        idx, val = block.idx[begin : begin + nnz], block.val[begin : begin + nnz]
        spread_plane(block, idx, val)
        for s in range(1, r + 1):
            first, count = s * width, block.nnz[s]
            other, value = block.idx[first : first + count], block.val[first : first + count]
            dot = block.scale[r] * block.scale[s] * dot_spread(block, other, value)
            block.K[r, s] = block.K[s, r] = dot
        for e in range(nnz):
            place = block.places[e]
            block.keys[place] = EMPTY
            block.sums[place] = 0.0


@register_jitable
def spread_plane(block, idx, val):
    """Write a plane into the table."""
    for e in range(len(idx)):
        place = idx[e] if block.spread == 1 else find(block, idx[e])
        block.keys[place] = idx[e]
        block.sums[place] += val[e]
        block.places[e] = place


@register_jitable
def dot_spread(block, idx, val):
    """The inner product of a plane with the one in the table."""
    dot = 0.0
    if block.spread == 1:  # the table has a place for every index
        for e in range(len(idx)):
            dot += val[e] * block.sums[idx[e]]
    else:
        for e in range(len(idx)):
            dot += val[e] * block.sums[find(block, idx[e])]
    return dot


@register_jitable
def find(block, index):
    """The place of an index in the table, or the free one where it belongs."""
    mask = np.uint64(len(block.keys) - 1)
    place = (index * np.uint64(block.spread)) & mask
    while block.keys[place] != index and block.keys[place] != EMPTY:
        place = (place + np.uint64(1)) & mask
    return place


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
                move_gram(duals, i, r, kept)
            kept += 1
    for r in range(kept, duals.count[i]):
        duals.alpha[i, r] = 0.0
    duals.count[i] = duals.known[i] = kept


@register_jitable
def move_gram(duals, i, r, to):
    """Row and column r of the kept Gram matrix become those of an output before it."""
    if len(duals.gram) > 0:
        for s in range(duals.count[i]):
            duals.gram[i, to, s] = duals.gram[i, r, s]
        for s in range(duals.count[i]):
            duals.gram[i, s, to] = duals.gram[i, s, r]
