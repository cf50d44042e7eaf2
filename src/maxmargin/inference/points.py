"""Points of the local polytope as integers, so that they can be stored like labels.

Shares are multiples of 1 / ``units``, and exactly consistent: those of an edge sum to those of its
ends. A point of a graph with n nodes, m edges and K labels is the vector of

    count of label k at node v               at  v (K - 1) + k - 1
    count of labels j, k at the ends of e    at  n (K - 1) + (e (K - 1) + j - 1) (K - 1) + k - 1

for j, k >= 1; label 0 has the rest. With two labels the corners of the polytope are multiples of
1/2, so that 2 units are enough; an edge between two halves then says how they are paired: 1 if its
ends are equal, 0 if they differ. With more labels the corners can have any denominator; 27720 units
are a multiple of 1 to 12. They are coarse on purpose: shares near a corner are rounded to it, so
that training does not fill up with outputs that are nearly the same.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from .binary import HALF
from .plan import edge_count

#: The units of a share with two labels, and with more.
HALVES, FINE = 2, 27720


def units_of(K: int) -> int:
    """The number of units of 1 for K labels."""
    return HALVES if K == 2 else FINE


@register_jitable
def point_length(n, m, K):
    """The length of a point as integers."""
    return n * (K - 1) + m * (K - 1) * (K - 1)


@register_jitable
def write_counts(plan, n, K, x, z, y):
    """y = the point with these counts of all labels (n K) and pairs of labels (m K K)."""
    L = K - 1
    for v in range(n):
        for k in range(L):
            y[v * L + k] = np.int64(x[v * K + k + 1])
    for e in range(edge_count(plan, n)):
        for j in range(L):
            to, row = n * L + (e * L + j) * L, (e * K + j + 1) * K + 1
            for k in range(L):
                y[to + k] = np.int64(z[row + k])


@register_jitable
def is_consistent(plan, n, K, units, x, z):
    """Whether these are the counts of a point, which are whole."""
    for v in range(n):
        total = 0.0
        for k in range(K):
            total += x[v * K + k]
        if total != units:
            return False
    for j in range(n * K):
        if not (x[j] >= 0.0 and x[j] == np.floor(x[j])):
            return False
    for e in range(edge_count(plan, n)):
        a, b = np.int64(plan[2 * e]), np.int64(plan[2 * e + 1])
        table, least = z[e * K * K : (e + 1) * K * K], 0.0
        for j in range(K * K):
            least = min(least, table[j] if table[j] == np.floor(table[j]) else -1.0)
        for j in range(K):
            rows = columns = 0.0
            for k in range(K):
                rows += table[j * K + k]
                columns += table[k * K + j]
            if rows != x[a * K + j] or columns != x[b * K + j]:
                return False
        if least < 0.0:
            return False
    return True


@register_jitable
def write_labels(plan, n, K, units, labels, y):
    """y = the point of a labelling."""
    L = K - 1
    for p in range(len(y)):
        y[p] = 0
    for v in range(n):
        if labels[v] > 0:
            y[v * L + np.int64(labels[v]) - 1] = units
    for e in range(edge_count(plan, n)):
        j, k = np.int64(labels[plan[2 * e]]), np.int64(labels[plan[2 * e + 1]])
        if j > 0 and k > 0:
            y[n * L + (e * L + j - 1) * L + k - 1] = units


@register_jitable
def write_halves(plan, n, pair, state, y):
    """y = the best point with these states 0, 1 or HALF of the nodes, for two labels."""
    for v in range(n):
        y[v] = 1 if state[v] == HALF else 2 * np.int64(state[v])
    for e in range(edge_count(plan, n)):
        a, b = np.int64(y[plan[2 * e]]), np.int64(y[plan[2 * e + 1]])
        both = a * b // 2
        if a == 1 and b == 1:
            table = pair[4 * e : 4 * e + 4]
            both = np.int64(table[0] + table[3] >= table[1] + table[2])
        y[n + e] = both


@register_jitable
def quantise(core, units, lam, x, z, count, table, left):
    """count, table = a point near the shares x, z of a core, in units; returns its value.

    Shares of edges that do not fit those of their ends are cut, and the rest goes where the scores
    minus the messages ``lam`` are highest. ``left`` holds as many numbers as two nodes have labels.
    """
    total, start = 0.0, core.start
    for p in range(core.n):
        lo, hi = start[p], start[p + 1]
        round_node(hi - lo, units, x[lo:hi], count[lo:hi])
        total += dot(core.unary[lo:hi], count[lo:hi])
    for q in range(core.m):
        a, b = start[core.first[q]], start[core.second[q]]
        J, K = start[core.first[q] + 1] - a, start[core.second[q] + 1] - b
        for j in range(J):
            left[j] = count[a + j]
        for k in range(K):
            left[J + k] = count[b + k]
        lo, hi = core.at[q], core.at[q + 1]
        scores, mine = core.pair[lo:hi], table[lo:hi]
        cut_shares(J, K, units, z[lo:hi], left, mine)
        fill_rest(J, K, scores, lam[core.arc[q] : core.arc[q + 1]], left, mine)
        total += dot(scores, mine)
    return total / units + core.constant


@register_jitable
def dot(a, b):
    """The sum of products."""
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@register_jitable
def round_node(K, units, shares, count):
    """Counts that sum to ``units``; those with the largest fractions are rounded up."""
    left = np.int64(units)
    for k in range(K):
        count[k] = np.floor(units * shares[k])
        left -= np.int64(count[k])
    while left != 0:
        step = 1.0 if left > 0 else -1.0
        best = -1
        for k in range(K):
            if step < 0.0 and count[k] == 0.0:
                continue
            if best < 0 or step * (units * (shares[k] - shares[best])) > step * (
                count[k] - count[best]
            ):
                best = k
        count[best] += step
        left -= np.int64(step)


@register_jitable
def cut_shares(J, K, units, shares, left, table):
    """table = counts of pairs, at most ``left`` in each row and column; lowers ``left`` by them."""
    for j in range(J):
        total = 0.0
        for k in range(K):
            table[j * K + k] = np.floor(units * shares[j * K + k] + 0.5)
            total += table[j * K + k]
        if total > left[j]:
            for k in range(K):
                table[j * K + k] = np.floor(table[j * K + k] * left[j] / total)
    for k in range(K):
        total = 0.0
        for j in range(J):
            total += table[j * K + k]
        if total > left[J + k]:
            for j in range(J):
                table[j * K + k] = np.floor(table[j * K + k] * left[J + k] / total)
    for j in range(J):
        for k in range(K):
            left[j] -= table[j * K + k]
            left[J + k] -= table[j * K + k]


@register_jitable
def fill_rest(J, K, scores, lam, left, table):
    """Add what is left of rows and columns to the pairs with the highest scores minus messages."""
    for _ in range(J + K):
        best, top = -1, -np.inf
        for j in range(J):
            if left[j] <= 0.0:
                continue
            for k in range(K):
                value = scores[j * K + k] - lam[j] - lam[J + k]
                if left[J + k] > 0.0 and (best < 0 or value > top):
                    best, top = j * K + k, value
        if best < 0:
            break
        j, k = best // K, best % K
        amount = min(left[j], left[J + k])
        table[best] += amount
        left[j] -= amount
        left[J + k] -= amount
