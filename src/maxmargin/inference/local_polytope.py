"""The relaxation of a labelling to the local polytope, solved to optimality.

A node v has shares x_v(k) >= 0 of its labels, which sum to 1; an edge (a, b) has shares z_e(j, k)
of its pairs of labels, whose sums are x_a and x_b. Messages ``lam`` are the multipliers of these
sums, one vector per arc (``plan.py``), and whatever they are,

    bound = sum over v of max_k (unary_v + sum of the messages of its arcs)_k
          + sum over e of max_jk (pair_e(j, k) - lam_a(j) - lam_b(k))

is at least the optimum. Sweeps of TRW-S lower it fast and end near the optimum. The primal-dual
hybrid gradient method then converges to it: T(lam, x, z) is a step against the violation of the
sums, followed by a projected step of the shares. The Halpern iteration moves from the reflection
of the last point in T to the starting point by 1 / (k + 2), and starts again wherever the step
became much shorter, which makes it converge linearly on linear programs (Lu and Yang 2024,
Restarted Halpern PDHG for linear programming).
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from .plan import edge_count, sections
from .tables import highest, maximise_out

#: Start again when the step is shorter than at the last start by the first factor, or by the
#: second one and growing.
SUFFICIENT, NECESSARY = 0.2, 0.8


#: Sums in any order, so that they use vector instructions: 2 times faster with 11 labels.
FAST = {"reassoc", "nsz", "nnan", "ninf"}


@register_jitable
def point_size(n: int, m: int, K: int) -> int:
    """The numbers of a point: messages, shares of nodes and of edges."""
    return 2 * m * K + n * K + m * K * K


@register_jitable
def point_parts(point, n, m, K):
    """The messages, the shares of the nodes and those of the edges."""
    a, b = 2 * m * K, 2 * m * K + n * K
    return point[:a], point[a:b], point[b : b + m * K * K]


@register_jitable
def sweep(plan, n, K, unary, pair, lam, belief, source, forward):
    """One pass of TRW-S over the nodes; the bound never rises."""
    _, start, arcs, order, split = sections(plan, n)
    for p in range(n):
        v = np.int64(order[p if forward else n - 1 - p])
        lo, middle, hi = start[v], start[v] + split[v], start[v + 1]
        for k in range(K):
            belief[k] = unary[v * K + k]
        for j in range(lo, hi):
            arc = np.int64(arcs[j])
            back, mine = arc ^ 1, lam[arc * K : arc * K + K]
            for k in range(K):
                source[k] = -lam[back * K + k]
            table = pair[(arc >> 1) * K * K : ((arc >> 1) + 1) * K * K]
            maximise_out(source, table, K, back & 1, mine)
            for k in range(K):
                belief[k] += mine[k]
        share = 1.0 / max(middle - lo, hi - middle, 1)
        first, last = (middle, hi) if forward else (lo, middle)
        for j in range(first, last):
            mine = lam[np.int64(arcs[j]) * K : (np.int64(arcs[j]) + 1) * K]
            for k in range(K):
                mine[k] -= share * belief[k]


@register_jitable
def dual_bound(plan, n, K, unary, pair, lam, belief):
    """The bound of these messages."""
    _, start, arcs, _, _ = sections(plan, n)
    total = 0.0
    for v in range(n):
        for k in range(K):
            belief[k] = unary[v * K + k]
        for j in range(start[v], start[v + 1]):
            mine = lam[np.int64(arcs[j]) * K : (np.int64(arcs[j]) + 1) * K]
            for k in range(K):
                belief[k] += mine[k]
        total += belief[highest(belief, K)]
    for e in range(len(pair) // (K * K)):
        first, second = lam[2 * e * K : (2 * e + 1) * K], lam[(2 * e + 1) * K : (2 * e + 2) * K]
        best = -np.inf
        for a in range(K):
            row = pair[(e * K + a) * K : (e * K + a + 1) * K]
            top = -np.inf
            for b in range(K):
                top = max(top, row[b] - second[b])
            best = max(best, top - first[a])
        total += best
    return total


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
def halpern(now, new, anchor, weight, size):
    """now = weight (2 new - now) + (1 - weight) anchor; returns the squared distance to ``new``."""
    total = 0.0
    for j in range(size):
        step = new[j] - now[j]
        total += step * step
        now[j] = weight * (now[j] + 2.0 * step) + (1.0 - weight) * anchor[j]
    return total


@register_jitable
def advance(plan, n, K, unary, pair, now, anchor, new, omega, weight):
    """One step of ``now``; ``new`` = T(now). Returns the squared step lengths (messages, shares).

    ``omega`` is the ratio of the steps of messages and shares.
    """
    ends, start, _, _, _ = sections(plan, n)
    m = len(pair) // (K * K)
    lam, x, z = point_parts(now, n, m, K)
    lam0, x0, z0 = point_parts(anchor, n, m, K)
    lam1, x1, z1 = point_parts(new, n, m, K)
    sigma, tau = omega / (1.0 + K), 1.0 / omega
    dual, primal = 0.0, 0.0
    for j in range(n * K):
        x1[j] = unary[j]
    for e in range(m):
        shares, moved = z[e * K * K : (e + 1) * K * K], z1[e * K * K : (e + 1) * K * K]
        table = pair[e * K * K : (e + 1) * K * K]
        mine, target = lam[2 * e * K : (2 * e + 2) * K], lam1[2 * e * K : (2 * e + 2) * K]
        a, b = np.int64(ends[2 * e]), np.int64(ends[2 * e + 1])
        violation(K, shares, x[a * K : a * K + K], x[b * K : b * K + K], target)
        for k in range(2 * K):
            target[k] = mine[k] - sigma * target[k]
        for k in range(K):
            x1[a * K + k] += 2.0 * target[k] - mine[k]
            x1[b * K + k] += 2.0 * target[K + k] - mine[K + k]
        for j in range(K):
            left = 2.0 * target[j] - mine[j]
            for k in range(K):
                right = 2.0 * target[K + k] - mine[K + k]
                moved[j * K + k] = shares[j * K + k] + 0.5 * tau * (table[j * K + k] - left - right)
        project(moved, K * K)
        primal += 2.0 * halpern(shares, moved, z0[e * K * K : (e + 1) * K * K], weight, K * K)
        dual += halpern(mine, target, lam0[2 * e * K : (2 * e + 2) * K], weight, 2 * K)
    for v in range(n):
        degree = max(start[v + 1] - start[v], 1)
        shares, moved = x[v * K : v * K + K], x1[v * K : v * K + K]
        for k in range(K):
            moved[k] = shares[k] + tau / degree * moved[k]
        project(moved, K)
        primal += degree * halpern(shares, moved, x0[v * K : v * K + K], weight, K)
    return dual * (1.0 + K) / omega, primal * omega


@register_jitable(fastmath=FAST)
def violation(K, shares, first, second, target):
    """target = shares of the ends of an edge minus the sums of its own shares (2 K)."""
    for k in range(K):
        target[k], target[K + k] = first[k], second[k]
    for j in range(K):
        for k in range(K):
            target[j] -= shares[j * K + k]
            target[K + k] -= shares[j * K + k]


@register_jitable
def start_shares(plan, n, K, unary, point, belief):
    """Give each node the label that is best under the messages, and each edge those of its ends."""
    ends, start, arcs, _, _ = sections(plan, n)
    m = edge_count(plan, n)
    lam, x, z = point_parts(point, n, m, K)
    for v in range(n):
        for k in range(K):
            belief[k] = unary[v * K + k]
        for j in range(start[v], start[v + 1]):
            arc = np.int64(arcs[j])
            for k in range(K):
                belief[k] += lam[arc * K + k]
        best = highest(belief, K)
        for k in range(K):
            x[v * K + k] = 1.0 if k == best else 0.0
    for e in range(m):
        a, b = np.int64(ends[2 * e]), np.int64(ends[2 * e + 1])
        for j in range(K):
            for k in range(K):
                z[(e * K + j) * K + k] = x[a * K + j] * x[b * K + k]


@register_jitable
def mean_range(K, pair):
    """The average range of the scores of an edge: the unit of messages. 1 if all are equal."""
    total, m = 0.0, len(pair) // (K * K)
    for e in range(m):
        low = high = pair[e * K * K]
        for p in range(e * K * K, (e + 1) * K * K):
            low, high = min(low, pair[p]), max(high, pair[p])
        total += high - low
    return total / m if total > 0.0 else 1.0


@register_jitable
def squared_distances(plan, n, K, point, other):
    """The squared distances of messages and of shares, in the norms of the steps."""
    start = sections(plan, n)[1]
    m = edge_count(plan, n)
    lam, x, z = point_parts(point, n, m, K)
    lam0, x0, z0 = point_parts(other, n, m, K)
    dual, primal = 0.0, 0.0
    for j in range(len(lam)):
        dual += (lam[j] - lam0[j]) ** 2
    for v in range(n):
        degree = max(start[v + 1] - start[v], 1)
        for k in range(K):
            primal += degree * (x[v * K + k] - x0[v * K + k]) ** 2
    for j in range(len(z)):
        primal += 2.0 * (z[j] - z0[j]) ** 2
    return (1.0 + K) * dual, primal
