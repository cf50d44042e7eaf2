"""Passes over all outputs of every example, for problems with few of them: ``solvers/newton.py``.

The maximum over outputs is replaced by its soft version, t log sum_k exp(value_k / t). Its
gradient is the mean of the planes with weights ``share``, which are dual variables, and its second
derivative the variance of the planes, which is a sum over pairs of outputs.
"""

from __future__ import annotations

import math

from numba import njit

from ..problem import SLACK
from .guard import check_loss, check_plane
from .keep import leaf
from .sparse import sparse_axpy
from .views import borrow, frozen

#: exp(-FAR) counts as 0.
FAR = 30.0

#: Pairs of outputs whose shares have a smaller product than this add nothing to the curvature.
RARE = 1e-10


@njit(inline="always")
def value_outputs(
    loss, score, margin_of, pack, w, mode, order, outputs, part, value, scratch, work
):
    """value[i, k] = part * loss - <w, plane> of every output k of the examples of ``order``."""
    pack, w, order, outputs, work = borrow((pack, w, order, outputs, work))
    idx, val = borrow(scratch)
    for t in range(len(order)):
        i = order[t]
        lo, hi = pack.offsets[i], pack.offsets[i + 1]
        truth = pack.truth[lo:hi]
        score(pack.data, w, i, work)
        for k in range(len(outputs)):
            y = frozen(outputs[k : k + 1])
            loss_k = check_loss(loss(pack.data, i, y), i)
            margin, _ = margin_of(pack.data, w, i, truth, y, idx, val, pack.width, work)
            value[i, k] = part * loss_k - (loss_k if mode == SLACK else 1.0) * margin


@njit(inline="always")
def curve_outputs(loss, delta, pack, mode, order, outputs, share, g, H, scratch, more):
    """Add the mean of the planes to g, and half of their variance to H; returns the mean loss.

    The mean is sum_ik weight_i share_ik plane_ik. The variance is the sum over pairs of outputs of
    share_k share_l d d' with d = plane_k - plane_l. H + H' - diag(H) is the whole matrix.
    """
    pack, order, outputs, share = borrow((pack, order, outputs, share))
    idx, val = borrow(scratch)
    other_idx, other_val = borrow(more)
    total, K, width = 0.0, len(outputs), pack.width
    for t in range(len(order)):
        i = order[t]
        lo, hi = pack.offsets[i], pack.offsets[i + 1]
        truth, weight = pack.truth[lo:hi], pack.weight[i]
        for k in range(K):
            if share[i, k] == 0.0:
                continue
            y = frozen(outputs[k : k + 1])
            loss_k = check_loss(loss(pack.data, i, y), i)
            total += weight * share[i, k] * loss_k
            nnz = delta(pack.data, i, truth, y, idx, val)
            check_plane(idx, val, nnz, len(g), width, i)
            scale = loss_k if mode == SLACK else 1.0
            sparse_axpy(weight * share[i, k] * scale, idx, val, nnz, g)
            for r in range(k):
                product = weight * share[i, k] * share[i, r]
                if product <= RARE * weight:
                    continue
                z = frozen(outputs[r : r + 1])
                loss_r = check_loss(loss(pack.data, i, z), i)
                if mode != SLACK or loss_k == loss_r:
                    nnz = delta(pack.data, i, y, z, idx, val)
                    check_plane(idx, val, nnz, len(g), width, i)
                    add_square(product * scale * scale, idx, val, nnz, H)
                else:
                    nnz = delta(pack.data, i, truth, y, idx, val)
                    check_plane(idx, val, nnz, len(g), width, i)
                    scale_by(loss_k, val, nnz)
                    n_other = delta(pack.data, i, truth, z, other_idx, other_val)
                    check_plane(other_idx, other_val, n_other, len(g), width, i)
                    append(other_idx, other_val, n_other, -loss_r, idx, val, nnz)
                    add_square(product, idx, val, nnz + n_other, H)
    return total


@leaf
def scale_by(factor, val, nnz):
    """val *= factor."""
    for p in range(nnz):
        val[p] *= factor


@leaf
def append(source_idx, source_val, n_source, factor, idx, val, nnz):
    """Write ``factor`` times a sparse vector after the entries of another one."""
    for p in range(n_source):
        idx[nnz + p], val[nnz + p] = source_idx[p], factor * source_val[p]


@leaf
def add_square(scale, idx, val, nnz, H):
    """H += scale v v' of a sparse v, half of it: see ``curve_outputs``. Indices may occur twice."""
    for a in range(nnz):
        row, factor = idx[a], scale * val[a]
        for b in range(a):
            step = factor * val[b]
            H[row, idx[b]] += 2.0 * step if idx[b] == row else step
        H[row, row] += factor * val[a]


@leaf
def soften(value, weight, order, t, share, sums):
    """share_i = the weights of a soft maximum of value_i, which add up to 1.

    ``sums`` get sum_i weight_i times the maximum, the soft maximum minus the mean value, and the
    number of outputs with a share.
    """
    K = value.shape[1]
    for r in range(len(order)):
        i = order[r]
        top = value[i, 0]
        for k in range(1, K):
            top = max(top, value[i, k])
        total, mean = 0.0, 0.0
        for k in range(K):
            below = (value[i, k] - top) / t
            share[i, k] = math.exp(below) if below > -FAR else 0.0
            total += share[i, k]
            mean += share[i, k] * below
            sums[2] += share[i, k] > 0.0
        if not total > 0.0:  # values that are not finite
            sums[0] = math.nan
            return
        for k in range(K):
            share[i, k] /= total
        sums[0] += weight[i] * top
        sums[1] += weight[i] * t * (math.log(total) - mean / total)


@leaf
def soft_slope(value, direction, weight, order, t, step):
    """The derivative by ``step`` of sum_i weight_i softmax(value_i + step * direction_i)."""
    K, slope = value.shape[1], 0.0
    for r in range(len(order)):
        i = order[r]
        top = value[i, 0] + step * direction[i, 0]
        for k in range(1, K):
            top = max(top, value[i, k] + step * direction[i, k])
        total, mean = 0.0, 0.0
        for k in range(K):
            below = (value[i, k] + step * direction[i, k] - top) / t
            if below > -FAR:
                part = math.exp(below)
                total += part
                mean += part * direction[i, k]
        if not total > 0.0:  # values that are not finite: the step is far too long
            return math.inf
        slope += weight[i] * mean / total
    return slope
