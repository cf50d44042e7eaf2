"""``inference="lp"``: the local polytope to optimality, and labels rounded from its shares."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from ..engine.keep import keep
from .combined import improve
from .core import core_size, load_point, make_core, store_counts, store_messages
from .expansion import expansion_size
from .hybrid_gradient import (
    NECESSARY,
    SUFFICIENT,
    advance,
    core_bound,
    core_length,
    core_parts,
    squared_distances,
)
from .local_polytope import (
    label_costs,
    mean_range,
    point_parts,
    point_size,
    round_labels,
    sweep_both,
)
from .plan import edge_count
from .points import FINE, dot, is_consistent, quantise
from .tables import highest, labelling_value
from .trees import tree_size

#: The relaxation is solved if the bound is this close to the value of a point, relative to it.
TOLERANCE = 1e-6

#: Sweeps of TRW-S before the first core of the first call, of later ones, and after a core.
FIRST_SWEEPS, SWEEPS, SWEEPS_BETWEEN = 10, 2, 1

#: Iterations between two looks at the bound of a core, and the largest number of looks.
ROUND, LOOKS = 20, 40

#: Labels of the first core cost at most this part of the gap; the next one has a larger part.
WIDE, WIDER = 0.1, 2.0

#: A core is solved if its gap is below this part of what is asked for.
ENOUGH = 0.3

#: The ratio of the first steps of messages and shares, in mean ranges of the scores of edges.
#: Large ratios find good points early; restarts change it.
RATIO = 4.0


@register_jitable
def state_size(n: int, m: int, K: int) -> int:
    """What ``solve_relaxation`` keeps: messages, and the counts of a point."""
    return point_size(n, m, K)


def relaxation_size(n: int, m: int, K: int) -> int:
    """The scratch of ``solve_relaxation``."""
    core = core_size(n, m, K) + 4 * point_size(n, m, K) + 2 * m * K + n * K + 2 * K
    return n * K + 2 * K + n + core


def lp_size(n: int, m: int, K: int) -> int:
    """The scratch of ``decode_lp``."""
    return max(expansion_size(n, m, K), tree_size(n, K), relaxation_size(n, m, K))


def lp_messages(n: int, m: int, K: int) -> int:
    """The numbers that ``decode_lp`` keeps."""
    return state_size(n, m, K) + n + 1


@keep
def decode_lp(plan, K, unary, pair, y, messages, work, effort):
    """y = labels rounded from the relaxation and improved by moves; returns its optimum.

    The bound is above the optimum by at most TOLERANCE, relative to it, unless ``effort`` cores
    were not enough.
    """
    n = len(y)
    m = edge_count(plan, n)
    size = state_size(n, m, K)
    state = messages[:size]
    bound, _ = solve_relaxation(plan, n, K, unary, pair, state, work, effort, LOOKS, 0.0)
    shares = point_parts(state, n, m, K)[1]
    for v in range(n):
        y[v] = highest(shares[v * K : v * K + K], K)
    return improve(plan, K, unary, pair, y, bound, messages[size:], effort, work)


@register_jitable
def solve_relaxation(plan, n, K, unary, pair, state, work, effort, looks, part):
    """Improve the kept point by at most ``effort`` cores; returns the bound and its value.

    A core gets at most ``looks`` times ROUND iterations. It ends when the difference is ``part`` of
    what it was for the kept point, or TOLERANCE.
    """
    m = edge_count(plan, n)
    lam, x, z = point_parts(state, n, m, K)
    cost, both, labels = work[: n * K], work[n * K : (n + 2) * K], work[(n + 2) * K :][:n]
    rest = work[(n + 2) * K + n :]
    fresh = not is_consistent(plan, n, K, FINE, x, z)
    times = FIRST_SWEEPS if fresh else SWEEPS
    sweep_both(plan, n, K, unary, pair, lam, both[:K], both[K:], times)
    bound = label_costs(plan, n, K, unary, pair, lam, cost, both)
    round_labels(plan, n, K, unary, pair, lam, both, labels)
    value, rounded = -np.inf, labelling_value(plan, K, unary, pair, labels)
    if not fresh:
        value = (dot(unary, x) + dot(pair, z)) / FINE
    goal = max(part * (bound - (rounded if fresh else value)), TOLERANCE * (1.0 + abs(bound)))
    if rounded > value:
        value = rounded
        keep_labels_as_counts(plan, n, K, labels, x, z)
    omega, wide = RATIO * mean_range(K, pair), WIDE
    for _ in range(effort):
        if bound - value <= goal:
            break
        core = make_core(plan, n, K, unary, pair, cost, wide * (bound - value), x, rest)
        omega, value = solve_core(
            plan,
            n,
            K,
            core,
            lam,
            x,
            z,
            omega,
            value,
            ENOUGH * goal,
            looks,
            rest[core_size(n, m, K) :],
        )
        sweep_both(plan, n, K, unary, pair, lam, both[:K], both[K:], SWEEPS_BETWEEN)
        bound = min(bound, label_costs(plan, n, K, unary, pair, lam, cost, both))
        wide *= WIDER
    return max(bound, value), value


@register_jitable
def keep_labels_as_counts(plan, n, K, labels, x, z):
    """x, z = the counts of a labelling."""
    for j in range(len(x)):
        x[j] = 0.0
    for j in range(len(z)):
        z[j] = 0.0
    for v in range(n):
        x[v * K + np.int64(labels[v])] = FINE
    for e in range(edge_count(plan, n)):
        a, b = np.int64(labels[plan[2 * e]]), np.int64(labels[plan[2 * e + 1]])
        z[(e * K + a) * K + b] = FINE


@register_jitable
def solve_core(plan, n, K, core, lam, x, z, omega, value, goal, looks, work):
    """Improve messages and the point by those of the core; returns the ratio and the value."""
    size = core_length(core)
    now, anchor, new = work[:size], work[size : 2 * size], work[2 * size : 3 * size]
    lam0, x0, z0 = core_parts(core, now)
    work = work[3 * size :]
    best, ahead, belief = work[: len(lam0)], work[len(lam0) :], work[2 * len(lam0) :]
    count = belief[len(x0) :]
    table, left = count[len(x0) :], count[len(x0) + len(z0) :]
    load_point(core, K, FINE, lam, x, z, lam0, x0, z0)
    bound = core_bound(core, lam0, belief)
    for j in range(len(lam0)):
        best[j] = lam0[j]
    for j in range(size):
        anchor[j] = now[j]
    k, first, last = 0, np.inf, np.inf
    for t in range(looks * ROUND):
        dual, primal = advance(core, now, anchor, new, ahead, omega, (k + 1) / (k + 2))
        length = np.sqrt(dual + primal)
        first = length if k == 0 else first
        k += 1
        if (t + 1) % ROUND == 0:
            lam1, x1, z1 = core_parts(core, new)
            found = core_bound(core, lam1, belief)
            if found < bound:
                bound = found
                for j in range(len(lam1)):
                    best[j] = lam1[j]
            found = quantise(core, FINE, lam1, x1, z1, count, table, left)
            if found > value:
                value = found
                store_counts(plan, n, K, FINE, core, count, table, x, z)
            if bound - value <= goal:
                break
        shorter = length <= SUFFICIENT * first or (length <= NECESSARY * first and length > last)
        last = length
        if shorter or (k > 2 * ROUND and 3 * k > t):
            dual, primal = squared_distances(core, new, anchor)
            if dual > 0.0 and primal > 0.0:
                omega = np.sqrt(omega * np.sqrt(dual / primal))
            for j in range(size):
                now[j] = anchor[j] = new[j]
            k, last = 0, np.inf
    store_messages(core, K, best, lam)
    return omega, value
