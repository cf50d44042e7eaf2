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
def project(values, size):
    """Replace the values by the nearest ones that are >= 0 and sum to 1, by Newton's method."""
    top = values[0]
    for j in range(1, size):
        top = max(top, values[j])
    level = top - 1.0
    for _ in range(size):
        total, count = 0.0, 0.0
        for j in range(size):
            above = values[j] - level
            total += above if above > 0.0 else 0.0
            count += 1.0 if above > 0.0 else 0.0
        step = (total - 1.0) / count
        level += step
        if step <= 1e-14:
            break
    for j in range(size):
        above = values[j] - level
        values[j] = above if above > 0.0 else 0.0


@register_jitable(fastmath=FAST)
def halpern(now, new, anchor, weight):
    """now = weight (2 new - now) + (1 - weight) anchor; returns the squared distance to ``new``."""
    total = 0.0
    for j in range(len(now)):
        step = new[j] - now[j]
        total += step * step
        now[j] = weight * (now[j] + 2.0 * step) + (1.0 - weight) * anchor[j]
    return total


@register_jitable
def advance(core, now, anchor, new, ahead, omega, weight):
    """One step of ``now``; ``new`` = T(now). Returns the squared step lengths (messages, shares).

    ``omega`` is the ratio of the steps of messages and shares. ``ahead`` has room for messages.
    """
    lam, x, z = core_parts(core, now)
    lam0, x0, z0 = core_parts(core, anchor)
    lam1, x1, z1 = core_parts(core, new)
    unary, start = core.unary, core.start
    dual, primal = 0.0, 0.0
    for j in range(len(x)):
        x1[j] = unary[j]
    for q in range(core.m):
        a, b = np.uint64(start[core.first[q]]), np.uint64(start[core.second[q]])
        r, s = np.uint64(core.arc[q]), np.uint64(core.at[q])
        J = np.uint64(start[core.first[q] + 1]) - a
        K = np.uint64(start[core.second[q] + 1]) - b
        dual += move_messages(J, K, r, s, a, b, omega, lam, x, z, lam1, ahead)
        move_shares(J, K, r, s, a, b, 0.5 / omega, core.pair, z, ahead, x1, z1)
    for p in range(core.n):
        a, degree = start[p], max(core.degree[p], 1)
        mine, moved = x[a : start[p + 1]], x1[a : start[p + 1]]
        for j in range(len(mine)):
            moved[j] = mine[j] + moved[j] / (omega * degree)
        project(moved, len(moved))
        primal += degree * halpern(mine, moved, x0[a : start[p + 1]], weight)
    primal += 2.0 * halpern(z, z1, z0, weight)
    halpern(lam, lam1, lam0, weight)
    return dual / omega, primal * omega


@register_jitable(fastmath=FAST)
def move_messages(J, K, r, s, a, b, omega, lam, x, z, lam1, ahead):
    """A step of the messages of an edge against the violation of its sums; returns its length.

    ``ahead`` = the messages after two such steps.
    """
    one, total = np.uint64(1), 0.0
    for k in range(K):
        lam1[r + J + k] = x[b + k]
    for j in range(J):
        row, violation = s + j * K, x[a + j]
        for k in range(K):
            violation -= z[row + k]
            lam1[r + J + k] -= z[row + k]
        step = omega / np.float64(one + K) * violation
        total += step * violation
        lam1[r + j] = lam[r + j] - step
        ahead[r + j] = lam[r + j] - 2.0 * step
    for k in range(r + J, r + J + K):
        step = omega / np.float64(one + J) * lam1[k]
        total += step * lam1[k]
        lam1[k] = lam[k] - step
        ahead[k] = lam[k] - 2.0 * step
    return omega * total


@register_jitable(fastmath=FAST)
def move_shares(J, K, r, s, a, b, tau, pair, z, ahead, x1, z1):
    """A step of the shares of an edge, which stay >= 0; adds the messages to those of its ends."""
    for k in range(K):
        x1[b + k] += ahead[r + J + k]
    for j in range(J):
        left, row = ahead[r + j], s + j * K
        x1[a + j] += left
        for k in range(K):
            moved = z[row + k] + tau * (pair[row + k] - left - ahead[r + J + k])
            z1[row + k] = moved if moved > 0.0 else 0.0


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
