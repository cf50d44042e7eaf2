"""The functions of graphs over points of the local polytope: scores, margins and oracles."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit
from numba.extending import register_jitable

from ...inference import decoder
from ...inference.local_polytope import point_parts
from ...inference.lp import LOOKS, solve_relaxation, state_size
from ...inference.points import point_length, write_counts, write_halves, write_labels
from ...inference.two_labels import relax
from ...problem import PREDICT, Functions
from ..bounds import ROUNDING
from .decoding import prepare
from .functions import FOREST, MESSAGES, NODES, PLAN, score_of, set_scores, set_tables
from .node_types import use_own_counts, use_own_labels, use_own_states
from .relaxed_planes import delta, loss

#: A call of the oracle ends when the gap of its point is this part of that of the last call's
#: point, or after this many cores (``inference/lp.py``): its precision follows that of training.
PART, CORES = 0.1, 4

#: The first call of an example has fewer iterations, later ones more and more.
FIRST_LOOKS = 2


@register_jitable
def set_weights(data, i, scores, pair, weights):
    """Write the gain of each count of a point over label 0: the score of a point is linear."""
    K, L = np.int64(data.cost.shape[0]), np.int64(data.cost.shape[0]) - 1
    n = data.starts[i + 1, NODES] - data.starts[i, NODES]
    plan = data.plan[data.starts[i, PLAN] : data.starts[i + 1, PLAN]]
    for v in range(n):
        for k in range(L):
            weights[v * L + k] = scores[v * K + k + 1] - scores[v * K]
    for e in range(len(pair) // (K * K)):
        table = pair[e * K * K : (e + 1) * K * K]
        mine = weights[n * L + e * L * L : n * L + (e + 1) * L * L]
        a, b = np.int64(plan[2 * e]) * L, np.int64(plan[2 * e + 1]) * L
        for j in range(L):
            weights[a + j] += table[(j + 1) * K] - table[0]
            weights[b + j] += table[j + 1] - table[0]
        for j in range(L):
            row = table[(j + 1) * K : (j + 2) * K]
            for k in range(L):
                mine[j * L + k] = row[k + 1] - row[0] - table[k + 1] + table[0]


@njit(nogil=True)
def score(data, w, i, work):
    """The weights of all counts of a point."""
    K, n = np.int64(data.cost.shape[0]), data.starts[i + 1, NODES] - data.starts[i, NODES]
    m = (data.starts[i + 1, PLAN] - data.starts[i, PLAN] - 3 * n - 1) // 4
    rest = work[point_length(n, m, K) :]
    size = set_scores(data, w, i, rest)
    pair = rest[size : size + m * K * K]
    set_tables(data, i, rest[n * K : size], pair)
    set_weights(data, i, rest, pair, work)


@njit(nogil=True)
def margin(data, i, y, z, work):
    """<w, phi(x, y) - phi(x, z)> from the weights that ``score`` or ``decode`` wrote to work."""
    total = 0.0
    for p in range(len(y)):
        total += work[p] * (np.int64(y[p]) - np.int64(z[p]))
    return total / data.units


@register_jitable
def prepare_point(data, w, i, mode, work):
    """The weights of counts, and behind them what ``prepare`` writes and returns."""
    K, n = np.int64(data.cost.shape[0]), data.starts[i + 1, NODES] - data.starts[i, NODES]
    m = (data.starts[i + 1, PLAN] - data.starts[i, PLAN] - 3 * n - 1) // 4
    plan, scores, unary, pair, rest = prepare(data, w, i, mode, work[point_length(n, m, K) :])
    set_weights(data, i, scores, pair, work)
    return plan, scores, unary, pair, rest


@njit(nogil=True)
def decode_two(data, w, i, mode, y, work):
    """y = the best point for two labels, by roof duality."""
    plan, _, unary, pair, rest = prepare_point(data, w, i, mode, work)
    n = data.starts[i + 1, NODES] - data.starts[i, NODES]
    state = rest[:n]
    relax(plan, unary, pair, state, rest[n:])
    use_own_states(data, i, state)
    write_halves(plan, n, pair, state, y)


def relaxed_decode(decode_forest: Any) -> Any:
    """A decode for more than two labels, which returns an upper bound."""

    @njit(nogil=True)
    def decode(data, w, i, mode, y, work):
        plan, scores, unary, pair, rest = prepare_point(data, w, i, mode, work)
        K, first = np.int64(data.cost.shape[0]), data.starts[i, NODES]
        n = data.starts[i + 1, NODES] - first
        state = data.messages[data.starts[i, MESSAGES] : data.starts[i + 1, MESSAGES]]
        if data.starts[i, FOREST]:
            decode_forest(plan, K, unary, pair, rest[:n], state, rest[n:], 1)
            use_own_labels(data, i, rest[:n])
            write_labels(plan, n, K, data.units, rest[:n], y)
            return np.nan
        calls = len(state) - 1
        looks = min(FIRST_LOOKS + np.int64(max(state[calls], 0.0)), LOOKS)
        state[calls] = min(state[calls] + 1.0, 1.0 * LOOKS)
        bound, value = solve_relaxation(plan, n, K, unary, pair, state, rest, CORES, looks, PART)
        _, x, z = point_parts(state, n, len(pair) // (K * K), K)
        use_own_counts(data, i, plan, x, z)
        write_counts(plan, n, K, x, z, y)
        bound += ROUNDING * (abs(bound) + abs(value))
        if mode == PREDICT:
            return bound
        return bound - score_of(data, i, data.y[first : first + n], scores)

    return decode


@lru_cache
def relaxed_functions(two: bool) -> Functions:
    """The functions of points for two labels, or for more."""
    decode = decode_two if two else relaxed_decode(decoder("forest"))
    return Functions(decode, loss, delta, score, margin, bounded=not two)


def messages_of(n: int, m: int, K: int) -> int:
    """The numbers that a graph keeps from call to call."""
    return 0 if K == 2 else state_size(n, m, K) + 1
