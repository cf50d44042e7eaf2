"""The small QP of a visit: Gram matrix of an example's planes, steps of its dual variables."""

from __future__ import annotations

import numpy as np
from numba.core import types
from numba.extending import overload, register_jitable

from .arrays import CHANGED, EMPTY
from .keep import leaf
from .sharing import begin_writing, clipped_axpy, end_writing
from .sparse import copy_labels, sparse_axpy

#: Stop when the violation of the worst pair is below this fraction of tau (0.15 / 0.25 in the
#: paper of Balamurugan et al., 2011).
INNER = 0.6


@leaf
def ascend_block(alpha, kept, known, i, m, block, C, options, width, w, visits):
    """Solve the dual of one example, or take one step in it, and update w (line 22).

    It does not use labels, so it is compiled also for problems in plain Python.
    """
    F, K, steps, scale, nnz = block.F, block.K, block.step, block.scale, block.nnz
    set_gram(kept, known, i, m, block, K, nnz, scale, width)
    for r in range(m):
        steps[r] = 0.0
    move_duals(options.frank_wolfe, alpha, F, K, steps, m, C, INNER * options.tau)
    visits.total[CHANGED] += 1
    lag, past = visits.lag, visits.clock[1]
    begin_writing(options.shared)
    for r in range(1, m):
        if steps[r] != 0:
            idx, val = block.idx[r * width :], block.val[r * width :]
            step = C * steps[r] * scale[r]
            clipped_axpy(step, idx, val, nnz[r], w, visits.below, options.shared)
            if len(lag) > 0:
                sparse_axpy(step * past, idx, val, nnz[r], lag)
    end_writing(options.shared)


def move_duals(towards_best, alpha, F, K, steps, m, C, tau):
    """Move alpha_i by Frank-Wolfe if ``towards_best`` is true, by SMO if it is None."""
    return (frank_wolfe if towards_best else smo)(towards_best, alpha, F, K, steps, m, C, tau)


@overload(move_duals)
def _overload_move_duals(towards_best, alpha, F, K, steps, m, C, tau):
    return smo if isinstance(towards_best, types.NoneType) else frank_wolfe


def smo(towards_best, alpha, F, K, steps, m, C, tau):
    """Algorithm 2: steps on the most violating pair, until its violation is small."""
    for _ in range(100):
        p, q = 0, -1
        for r in range(m):
            if F[r] > F[p]:
                p = r
            if alpha[r] > 0 and (q < 0 or F[r] < F[q]):
                q = r
        violation = F[p] - F[q]
        if violation <= tau or p == q:
            break
        # Equation 4.6 with the factor C, and the bounds on the dual variables themselves.
        K_p, K_q, most = K[p], K[q], alpha[q]
        curvature = C * (K_p[p] - 2 * K_p[q] + K_q[q])
        step = most if violation >= most * curvature else violation / curvature
        alpha[p] += step
        alpha[q] = 0.0 if step == most else most - step
        steps[p] += step
        steps[q] -= step
        for r in range(m):
            F[r] -= C * step * (K_p[r] - K_q[r])


def frank_wolfe(towards_best, alpha, F, K, steps, m, C, tau):
    """Move alpha_i towards the best output by an exact line search (Lacoste-Julien et al., 2013).

    If the gap is not positive, alpha_i is optimal up to rounding, and the step would be the
    quotient of two rounding errors: nothing is done.
    """
    p, mean = 0, 0.0
    for r in range(m):
        mean += alpha[r] * F[r]
        if F[r] > F[p]:
            p = r
    gap = F[p] - mean
    if gap <= 0:
        return
    for r in range(m):
        steps[r] = -alpha[r]  # the direction e_p - alpha_i
    steps[p] += 1.0
    curvature = 0.0
    for r in range(m):
        for s in range(m):
            curvature += C * steps[r] * steps[s] * K[r, s]
    length = 1.0 if gap >= curvature else gap / curvature
    for r in range(m):
        steps[r] *= length
        alpha[r] = max(alpha[r] + steps[r], 0.0)


@register_jitable
def set_gram(kept, known, i, m, block, K, nnz, scale, width):
    """The Gram matrix of V_i: K[r, s] = <plane_r, plane_s>; stored entries are not computed again.

    An index may occur several times in a plane, so one of the two planes is first summed into the
    table of the block.
    """
    keys, sums, places, spread = block.keys, block.sums, block.places, block.spread
    old = known[i] if len(kept) > 0 else 1
    for r in range(m):
        K[0, r] = K[r, 0] = 0.0
    for r in range(1, old):
        for s in range(1, old):
            K[r, s] = kept[i, r, s]
    for r in range(old, m):
        spread_plane(block.idx[r * width :], block.val[r * width :], nnz[r], keys, sums, places,
                     spread)  # fmt: skip
        for s in range(1, r + 1):
            idx, val = block.idx[s * width :], block.val[s * width :]
            dot = scale[r] * scale[s] * dot_spread(idx, val, nnz[s], keys, sums, spread)
            K[r, s] = K[s, r] = dot
            if len(kept) > 0:
                kept[i, r, s] = kept[i, s, r] = dot
        for e in range(nnz[r]):
            place = places[e]
            keys[place] = EMPTY
            sums[place] = 0.0
    if len(kept) > 0:
        known[i] = m


@register_jitable
def spread_plane(idx, val, nnz, keys, sums, places, spread):
    """Add a plane to the table, and write the places used."""
    for e in range(nnz):
        place = idx[e] if spread == 1 else find(keys, spread, idx[e])
        keys[place] = idx[e]
        sums[place] += val[e]
        places[e] = place


@register_jitable
def dot_spread(idx, val, nnz, keys, sums, spread):
    """The inner product of a plane with the one in the table."""
    dot = 0.0
    if spread == 1:  # the table has a place for every index
        for e in range(nnz):
            dot += val[e] * sums[idx[e]]
    else:
        for e in range(nnz):
            dot += val[e] * sums[find(keys, spread, idx[e])]
    return dot


@register_jitable
def find(keys, spread, index):
    """The place of an index in the table, or the free place where it would be stored."""
    mask = np.uint64(len(keys) - 1)
    place = (index * np.uint64(spread)) & mask
    while keys[place] != index and keys[place] != EMPTY:
        place = (place + np.uint64(1)) & mask
    return place


@register_jitable
def drop_zeros(duals, i, base, length):
    """Remove the outputs whose dual variable is zero; the truth stays."""
    alpha, loss, labels, gram = duals.alpha[i], duals.loss[i], duals.labels, duals.gram
    count, kept = duals.count[i], 1
    for r in range(1, count):
        if alpha[r] > 0:
            if kept != r:
                copy_labels(labels, base + r * length, labels, base + kept * length, length)
                loss[kept] = loss[r]
                alpha[kept] = alpha[r]
                move_gram(gram, i, count, r, kept)
            kept += 1
    for r in range(kept, count):
        alpha[r] = 0.0
    duals.count[i] = duals.known[i] = kept


@register_jitable
def move_gram(gram, i, count, r, to):
    """Move row and column r of the stored Gram matrix to position ``to``, which is smaller."""
    if len(gram) > 0:
        for s in range(count):
            gram[i, to, s] = gram[i, r, s]
        for s in range(count):
            gram[i, s, to] = gram[i, s, r]
