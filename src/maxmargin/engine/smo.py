"""A visit's small QP: the Gram matrix of an example's planes, and steps of its dual variables."""

from __future__ import annotations

import numpy as np
from numba.core import types
from numba.extending import overload, register_jitable

from .arrays import CHANGED, EMPTY
from .keep import leaf
from .linalg import copy_labels, sparse_axpy

#: A pair whose violation is below this part of tau is left alone (0.15 / 0.25 in the paper).
INNER = 0.6


@leaf
def ascend_block(alpha, kept, known, i, m, block, C, options, width, w, visits):
    """Solve the dual of one example, or take a step in it; then w follows (line 22).

    It sees no labels, so that it is compiled for problems in plain Python as well.
    """
    F, K, steps, scale, nnz = block.F, block.K, block.step, block.scale, block.nnz
    set_gram(kept, known, i, m, block, K, nnz, scale, width)
    for r in range(m):
        steps[r] = 0.0
    move_duals(options.frank_wolfe, alpha, F, K, steps, m, C, INNER * options.tau)
    visits.total[CHANGED] += 1
    lag, past = visits.lag, visits.clock[1]
    for r in range(1, m):
        if steps[r] != 0:
            idx, val = block.idx[r * width :], block.val[r * width :]
            step = C * steps[r] * scale[r]
            sparse_axpy(step, idx, val, nnz[r], w)
            if len(lag) > 0:
                sparse_axpy(step * past, idx, val, nnz[r], lag)


def move_duals(whole, alpha, F, K, steps, m, C, tau):
    """By one of the two methods below."""
    return (frank_wolfe if whole else smo)(whole, alpha, F, K, steps, m, C, tau)


@overload(move_duals)
def _overload_move_duals(whole, alpha, F, K, steps, m, C, tau):
    return smo if isinstance(whole, types.NoneType) else frank_wolfe


def smo(whole, alpha, F, K, steps, m, C, tau):
    """Algorithm 2: the most violating pair, until its violation is small."""
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


def frank_wolfe(whole, alpha, F, K, steps, m, C, tau):
    """alpha_i moves towards the best output by an exact line search (Lacoste-Julien et al.).

    A gap that is not positive is rounding: alpha_i is the best already, and the quotient of two
    rounding errors would be an arbitrary step.
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
    """The Gram matrix of V_i: K[r, s] = <plane_r, plane_s>; what is kept of it is not computed.

    An index may repeat in a plane, so one of the two is spread.
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
    """Write a plane into the table."""
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
    """The place of an index in the table, or the free one where it belongs."""
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
    """Row and column r of the kept Gram matrix become those of an output before it."""
    if len(gram) > 0:
        for s in range(count):
            gram[i, to, s] = gram[i, r, s]
        for s in range(count):
            gram[i, s, to] = gram[i, s, r]
