"""A visit's small QP: the Gram matrix of an example's planes, and steps of its dual variables."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from .arrays import EMPTY
from .keep import keep
from .linalg import copy_labels, sparse_axpy

#: A pair whose violation is below this part of tau is left alone (0.15 / 0.25 in the paper).
INNER = 0.6


@keep
def ascend_block(alpha, kept, known, i, m, block, C, options, width, w, visits):
    """Solve the dual of one example, or take a step in it; then w follows (line 22).

    It sees no labels, so that it is compiled for problems in plain Python as well.
    """
    set_gram(kept, known, i, m, block, width)
    for r in range(m):
        block.step[r] = 0.0
    if options.frank_wolfe:
        frank_wolfe(alpha, block, m, C)
    else:
        smo(alpha, block, m, C, INNER * options.tau)
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
    """alpha_i moves towards the best output by an exact line search (Lacoste-Julien et al.).

    A gap that is not positive is rounding: alpha_i is the best already, and the quotient of two
    rounding errors would be an arbitrary step.
    """
    p, mean = 0, 0.0
    for r in range(m):
        mean += alpha[r] * block.F[r]
        if block.F[r] > block.F[p]:
            p = r
    gap = block.F[p] - mean
    if gap <= 0:
        return
    for r in range(m):
        block.step[r] = -alpha[r]  # the direction e_p - alpha_i
    block.step[p] += 1.0
    curvature = 0.0
    for r in range(m):
        for s in range(m):
            curvature += C * block.step[r] * block.step[s] * block.K[r, s]
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
