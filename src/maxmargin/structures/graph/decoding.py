"""The ``decode`` of graphs, one for each kind of inference (``maxmargin.inference``)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit
from numba.extending import register_jitable

from ...engine.several import same_labels
from ...inference import decoder, is_exact
from ...problem import PREDICT, Functions
from ..bounds import PREDICT_SWEEPS, TRAIN_SWEEPS, checked_bound
from .functions import (
    FOREST,
    MESSAGES,
    NODES,
    PLAN,
    delta,
    loss,
    margin,
    score,
    score_of,
    set_scores,
    set_tables,
    set_unary,
)
from .node_types import copy_scores, reward_differences, use_own_labels

#: The reward for a different label if no other one is given; a wrong label usually costs 1.
REWARD = 0.1


@register_jitable
def prepare(data, w, i, mode, work):
    """Write the scores of graph i to ``work``; returns ``(plan, scores, unary, pair, rest)``."""
    K = np.int64(data.cost.shape[0])
    n = data.starts[i + 1, NODES] - data.starts[i, NODES]
    plan = data.plan[data.starts[i, PLAN] : data.starts[i + 1, PLAN]]
    m = (len(plan) - 3 * n - 1) // 4
    size = set_scores(data, w, i, work)
    scores, unary = work[:size], work[size : size + n * K]
    pair = work[size + n * K : size + (n + m * K) * K]
    set_unary(data, i, mode, scores, unary)
    set_tables(data, i, scores[n * K :], pair)
    copy_scores(data, i, plan, unary, pair)
    return plan, scores, unary, pair, work[size + (n + m * K) * K :]


def exact_decode(decode_graph: Any) -> Any:
    """A decode that always finds the best labelling."""

    @njit(nogil=True)
    def decode(data, w, i, mode, y, work):
        plan, _, unary, pair, rest = prepare(data, w, i, mode, work)
        K = np.int64(data.cost.shape[0])
        decode_graph(plan, K, unary, pair, y, data.messages[:0], rest, 1)
        use_own_labels(data, i, y)

    return decode


def diverse_decode(decode_graph: Any) -> Any:
    """The function ``m_best`` of training: an exact decoder, called with rewards for differences.

    Without ``diversity`` the reward is REWARD. Predictions find the best labellings
    exactly (``several.py``).
    """

    @njit(nogil=True)
    def m_best(data, w, i, mode, diversity, m, Y, value, work):
        plan, scores, unary, pair, rest = prepare(data, w, i, mode, work)
        n, K = data.starts[i + 1, NODES] - data.starts[i, NODES], np.int64(data.cost.shape[0])
        reward = diversity if diversity > 0.0 else REWARD
        for found in range(m):
            y = Y[found * n : (found + 1) * n]
            decode_graph(plan, K, unary, pair, y, data.messages[:0], rest, 1)
            use_own_labels(data, i, y)
            for r in range(found):
                if same_labels(Y, r * n, Y, found * n, n):
                    return found
            value[found] = score_of(data, i, y, scores)
            reward_differences(data, i, y, reward, unary)
        return m

    return m_best


def bounded_decode(decode_graph: Any, decode_forest: Any) -> Any:
    """A decode that returns an upper bound; graphs that are forests are decoded exactly."""

    @njit(nogil=True)
    def decode(data, w, i, mode, y, work):
        plan, scores, unary, pair, rest = prepare(data, w, i, mode, work)
        K = np.int64(data.cost.shape[0])
        messages = data.messages[data.starts[i, MESSAGES] : data.starts[i + 1, MESSAGES]]
        if data.starts[i, FOREST]:
            decode_forest(plan, K, unary, pair, y, messages, rest, 1)
            use_own_labels(data, i, y)
            return np.nan
        sweeps = PREDICT_SWEEPS if mode == PREDICT else TRAIN_SWEEPS
        bound = decode_graph(plan, K, unary, pair, y, messages, rest, sweeps)
        use_own_labels(data, i, y)
        bound = checked_bound(plan, K, unary, pair, y, bound)
        if mode == PREDICT:
            return bound
        first, last = data.starts[i, NODES], data.starts[i + 1, NODES]
        return bound - score_of(data, i, data.y[first:last], scores)

    return decode


@lru_cache
def functions_of(kind: str) -> Functions:
    """The functions of graphs for one kind of inference."""
    exact = is_exact(kind)
    decode = (
        exact_decode(decoder(kind)) if exact else bounded_decode(decoder(kind), decoder("forest"))
    )
    m_best = diverse_decode(decoder(kind)) if exact else None
    return Functions(decode, loss, delta, score, margin, m_best, bounded=not exact)
