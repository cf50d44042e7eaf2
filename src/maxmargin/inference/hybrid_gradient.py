"""The primal-dual hybrid gradient method for the core of a relaxation.

T(lam, x, z) is a step of the messages against the violation of the sums, followed by a projected
step of the shares. The Halpern iteration moves from the reflection of the last point in T to the
starting point by 1 / (k + 2), and starts again wherever the step became much shorter, which makes
it converge linearly on linear programs (Lu and Yang 2024, Restarted Halpern PDHG for linear
programming). Steps are those of Pock and Chambolle (2011): one by the number of terms of each sum.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

#: Start again when the step is shorter than at the last start by the first factor, or by the
#: second one and growing.
SUFFICIENT, NECESSARY = 0.2, 0.8

#: Sums in any order, so that they use vector instructions.
FAST = {"reassoc", "nsz", "nnan", "ninf"}


@register_jitable
def core_parts(core, point):
    """The messages, the shares of labels and those of pairs of labels."""
    a = core.arc[core.m]
    b = a + core.start[core.n]
    return point[:a], point[a:b], point[b : b + core.at[core.m]]


@register_jitable
def core_length(core):
    """The numbers of messages and shares of a core."""
    return core.arc[core.m] + core.start[core.n] + core.at[core.m]


@register_jitable(fastmath=FAST)
def project(values, start, size):
    """Replace the values by the nearest ones that are >= 0 and sum to 1, by Newton's method."""
    top = values[start]
    for j in range(start + 1, start + size):
        top = max(top, values[j])
    level = top - 1.0
    for _ in range(size):
        total, count = 0.0, 0.0
        for j in range(start, start + size):
            above = values[j] - level
            total += above if above > 0.0 else 0.0
            count += 1.0 if above > 0.0 else 0.0
        step = (total - 1.0) / count
        level += step
        if step <= 1e-14:
            break
    for j in range(start, start + size):
        above = values[j] - level
        values[j] = above if above > 0.0 else 0.0


@register_jitable(fastmath=FAST)
def halpern(now, new, anchor, weight, start, size):
    """now = weight (2 new - now) + (1 - weight) anchor; returns the squared distance to ``new``."""
    total = 0.0
    for j in range(start, start + size):
        step = new[j] - now[j]
        total += step * step
        now[j] = weight * (now[j] + 2.0 * step) + (1.0 - weight) * anchor[j]
    return total


@register_jitable
def advance(core, now, anchor, new, omega, weight):
    """One step of ``now``; ``new`` = T(now). Returns the squared step lengths (messages, shares).

    ``omega`` is the ratio of the steps of messages and shares.
    """
    lam, x, z = core_parts(core, now)
    lam0, x0, z0 = core_parts(core, anchor)
    lam1, x1, z1 = core_parts(core, new)
    unary, pair, start = core.unary, core.pair, core.start
    tau, dual, primal = 1.0 / omega, 0.0, 0.0
    for j in range(len(x)):
        x1[j] = unary[j]
    for q in range(core.m):
        a, b = start[core.first[q]], start[core.second[q]]
        J, K = start[core.first[q] + 1] - a, start[core.second[q] + 1] - b
        r, s = core.arc[q], core.at[q]
        violation(J, K, z, s, x, a, b, lam1, r)
        first, second = omega / (1.0 + K), omega / (1.0 + J)
        for j in range(r, r + J):
            lam1[j] = lam[j] - first * lam1[j]
            x1[a + j - r] += 2.0 * lam1[j] - lam[j]
        for k in range(r + J, r + J + K):
            lam1[k] = lam[k] - second * lam1[k]
            x1[b + k - r - J] += 2.0 * lam1[k] - lam[k]
        for j in range(J):
            left, row = 2.0 * lam1[r + j] - lam[r + j], s + j * K
            for k in range(K):
                right = 2.0 * lam1[r + J + k] - lam[r + J + k]
                z1[row + k] = z[row + k] + 0.5 * tau * (pair[row + k] - left - right)
        project(z1, s, J * K)
        primal += 2.0 * halpern(z, z1, z0, weight, s, J * K)
        dual += (1.0 + K) * halpern(lam, lam1, lam0, weight, r, J)
        dual += (1.0 + J) * halpern(lam, lam1, lam0, weight, r + J, K)
    for p in range(core.n):
        a, degree = start[p], max(core.degree[p], 1)
        for j in range(a, start[p + 1]):
            x1[j] = x[j] + tau / degree * x1[j]
        project(x1, a, start[p + 1] - a)
        primal += degree * halpern(x, x1, x0, weight, a, start[p + 1] - a)
    return dual / omega, primal * omega


@register_jitable
def violation(J, K, z, s, x, a, b, target, r):
    """target = shares of the ends of an edge minus the sums of its own shares (J + K)."""
    for j in range(J):
        target[r + j] = x[a + j]
    for k in range(K):
        target[r + J + k] = x[b + k]
    for j in range(J):
        row, total = s + j * K, 0.0
        for k in range(K):
            total += z[row + k]
            target[r + J + k] -= z[row + k]
        target[r + j] -= total


@register_jitable
def squared_distances(core, point, other):
    """The squared distances of messages and of shares, in the norms of the steps."""
    lam, x, z = core_parts(core, point)
    lam0, x0, z0 = core_parts(core, other)
    dual, primal, start = 0.0, 0.0, core.start
    for p in range(core.n):
        degree = max(core.degree[p], 1)
        for j in range(start[p], start[p + 1]):
            primal += degree * (x[j] - x0[j]) ** 2
    for j in range(len(z)):
        primal += 2.0 * (z[j] - z0[j]) ** 2
    for q in range(core.m):
        a, b = core.first[q], core.second[q]
        J, K, r = start[a + 1] - start[a], start[b + 1] - start[b], core.arc[q]
        for j in range(r, r + J + K):
            terms = 1.0 + (K if j < r + J else J)
            dual += terms * (lam[j] - lam0[j]) ** 2
    return dual, primal


@register_jitable
def core_bound(core, lam, belief):
    """An upper bound on the scores of all points of the core."""
    start, total = core.start, core.constant
    for j in range(start[core.n]):
        belief[j] = core.unary[j]
    for q in range(core.m):
        a, b = start[core.first[q]], start[core.second[q]]
        J, K = start[core.first[q] + 1] - a, start[core.second[q] + 1] - b
        r, s, top = core.arc[q], core.at[q], -np.inf
        for j in range(J):
            belief[a + j] += lam[r + j]
            for k in range(K):
                top = max(top, core.pair[s + j * K + k] - lam[r + j] - lam[r + J + k])
        for k in range(K):
            belief[b + k] += lam[r + J + k]
        total += top
    for p in range(core.n):
        top = -np.inf
        for j in range(start[p], start[p + 1]):
            top = max(top, belief[j])
        total += top
    return total
