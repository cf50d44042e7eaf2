"""``inference="lp"``: the local polytope to optimality, and labels rounded from its shares."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from ..engine.keep import keep
from .expansion import expand, expansion_size, recall
from .local_polytope import (
    NECESSARY,
    SUFFICIENT,
    advance,
    dual_bound,
    mean_range,
    point_parts,
    point_size,
    squared_distances,
    start_shares,
    sweep,
)
from .plan import edge_count
from .points import FINE, point_length, quantise, quantise_size
from .tables import highest, labelling_value
from .trees import move_forests, tree_size
from .trws import tight

#: The relaxation is solved if the bound is this close to the value of a point, relative to it.
TOLERANCE = 1e-6

#: Sweeps of TRW-S before the iterations of the first call, and of later ones.
FIRST_SWEEPS, SWEEPS = 10, 2

#: Iterations in one unit of effort.
ROUND = 40

#: The ratio of the first steps of messages and shares, in mean ranges of the scores of edges.
#: Large ratios find good points early; restarts change it.
RATIO = 4.0


@register_jitable
def state_size(n: int, m: int, K: int) -> int:
    """What ``solve_relaxation`` keeps: a point, and the number of calls."""
    return point_size(n, m, K) + 1


def relaxation_size(n: int, m: int, K: int) -> int:
    """The scratch of ``solve_relaxation``."""
    return 2 * point_size(n, m, K) + 2 * K + quantise_size(n, K)


def lp_size(n: int, m: int, K: int) -> int:
    """The scratch of ``decode_lp``."""
    moves = max(expansion_size(n, m, K), tree_size(n, K))
    return max(moves, relaxation_size(n, m, K) + point_length(n, m, K))


def lp_messages(n: int, m: int, K: int) -> int:
    """The numbers that ``decode_lp`` keeps."""
    return state_size(n, m, K) + n + 1


@keep
def decode_lp(plan, K, unary, pair, y, messages, work, effort):
    """y = labels rounded from the relaxation and improved by moves; returns its optimum.

    The bound is above the optimum by at most TOLERANCE, relative to it, unless ``effort`` times
    ROUND iterations were not enough.
    """
    n = len(y)
    m = edge_count(plan, n)
    size = state_size(n, m, K)
    state, labels, moves = messages[:size], messages[size : size + n], messages[size + n :]
    point = work[: point_length(n, m, K)]
    bound, _ = solve_relaxation(plan, n, K, unary, pair, state, point, work[len(point) :], effort)
    shares = point_parts(state, n, m, K)[1]
    for v in range(n):
        y[v] = highest(shares[v * K : v * K + K], K)
    value = labelling_value(plan, K, unary, pair, y)
    if not tight(bound, value):
        recall(plan, K, unary, pair, y, labels, work)
        moves[0] = move_forests(plan, K, unary, pair, y, moves[0], effort, work)
        value = expand(plan, K, unary, pair, y, work)
    for v in range(n):
        labels[v] = y[v]
    return max(bound, value)


@register_jitable
def solve_relaxation(plan, n, K, unary, pair, state, point, work, effort):
    """point = the best one of at most ``effort`` ROUNDs; returns the bound and its value."""
    m = edge_count(plan, n)
    size = point_size(n, m, K)
    now, anchor, new, rest = state[:size], work[:size], work[size : 2 * size], work[2 * size :]
    belief, source, rest = rest[:K], rest[K : 2 * K], rest[2 * K :]
    lam, _, _ = point_parts(now, n, m, K)
    fresh = not state[size] > 0.0
    for _ in range(FIRST_SWEEPS if fresh else SWEEPS):
        sweep(plan, n, K, unary, pair, lam, belief, source, True)
        sweep(plan, n, K, unary, pair, lam, belief, source, False)
    if fresh:
        start_shares(plan, n, K, unary, now, belief)
    omega = RATIO * mean_range(K, pair)
    bound, value = dual_bound(plan, n, K, unary, pair, lam, belief), -np.inf
    for j in range(size):
        anchor[j] = now[j]
    k, first, last = 0, np.inf, np.inf
    for t in range(effort * ROUND):
        dual, primal = advance(plan, n, K, unary, pair, now, anchor, new, omega, (k + 1) / (k + 2))
        length = np.sqrt(dual + primal)
        first = length if k == 0 else first
        k += 1
        if (t + 1) % ROUND == 0:
            lam1, x1, z1 = point_parts(new, n, m, K)
            bound = min(bound, dual_bound(plan, n, K, unary, pair, lam1, belief))
            value = quantise(plan, n, K, FINE, unary, pair, lam1, x1, z1, point, rest)
            if bound - value <= TOLERANCE * (1.0 + abs(bound)):
                break
        shorter = length <= SUFFICIENT * first or (length <= NECESSARY * first and length > last)
        last = length
        if shorter or (k > ROUND and 3 * k > t):
            dual, primal = squared_distances(plan, n, K, new, anchor)
            if dual > 0.0 and primal > 0.0:
                omega = np.sqrt(omega * np.sqrt(dual / primal))
            for j in range(size):
                now[j] = anchor[j] = new[j]
            k, last = 0, np.inf
    for j in range(size):
        now[j] = new[j]
    state[size] = 1.0 if fresh else state[size] + 1.0
    return max(bound, value), value
