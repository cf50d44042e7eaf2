"""The 0/1 loss of whole graphs, for graphs without cycles.

Every labelling but the true one has the loss 1, so the oracle needs the best labelling, and the
second best one where the best is the truth. That one differs at some node: max-marginals say at
which node and with which label. If its score is lower by more than 1, the truth is the answer.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit
from numba.extending import register_jitable

from ...data.graph_lists import stack_graphs
from ...errors import DataError
from ...inference import decoder
from ...inference.forest import forest_max_marginals
from ...problem import PREDICT, Functions, Pack
from .decoding import prepare
from .functions import NODES, delta, margin, score
from .node_types import use_own_labels
from .problem import GraphProblem

decode_forest = decoder("forest")


@njit(nogil=True)
def loss(data, i, y):
    """1 if a label is wrong."""
    first = data.starts[i, NODES]
    for v in range(len(y)):
        if y[v] != data.y[first + v]:
            return 1.0
    return 0.0


@njit(nogil=True)
def decode(data, w, i, mode, y, work):
    """The best labelling; in training the second best if the best is the truth by less than 1."""
    plan, _, unary, pair, rest = prepare(data, w, i, PREDICT, work)
    K = np.int64(data.cost.shape[0])
    decode_forest(plan, K, unary, pair, y, data.messages[:0], rest, 1)
    use_own_labels(data, i, y)
    if mode != PREDICT and loss(data, i, y) == 0.0:
        marginals, memory = rest[: len(unary)], rest[len(unary) :]
        highest = forest_max_marginals(plan, K, unary, pair, marginals, memory)
        if keep_one_label(data, i, marginals, unary, highest - 1.0):
            decode_forest(plan, K, unary, pair, y, data.messages[:0], rest, 1)
            use_own_labels(data, i, y)


@register_jitable
def keep_one_label(data, i, marginals, unary, least):
    """Leave the best wrong label of a node as its only one; returns if there is one > least."""
    K, first = np.int64(data.cost.shape[0]), data.starts[i, NODES]
    typed = data.instead.shape[0] > 0
    best, at, label = least, -1, -1
    for v in range(len(unary) // K):
        for k in range(K):
            other = k != data.y[first + v] and (not typed or data.instead[first + v, k] == k)
            if other and marginals[v * K + k] > best:
                best, at, label = marginals[v * K + k], v, k
    if at >= 0:
        for k in range(K):
            if k != label:
                unary[at * K + k] = -np.inf
    return at >= 0


@lru_cache
def zero_one_functions() -> Functions:
    """The functions of graphs with this loss."""
    return Functions(decode, loss, delta, score, margin)


class ZeroOneGraphProblem(GraphProblem):
    """Labels of the nodes of graphs without cycles, with the loss 1 if any of them is wrong.

    The parameters are those of ``GraphProblem``, without ``cost`` and ``inference``.
    """

    def __init__(self, n_classes: int, pairwise: str = "full", type_classes: Any = None):
        super().__init__(n_classes, pairwise, None, "forest", type_classes)
        self.functions = zero_one_functions()

    def pack(self, X: Any, Y: Any = None, sample_weight: np.ndarray | None = None) -> Pack:
        """Pack graphs X with class numbers Y of the nodes of each graph."""
        X = stack_graphs(X)
        if Y is not None and X.weight is not None and (X.weight != 1).any():
            raise DataError(
                "loss='zero-one' counts whole graphs, so that weights of nodes have no meaning: "
                "leave out node_weight, or use loss='hamming'"
            )
        pack = super().pack(X, Y, sample_weight)
        marginals = (2 * int(X.lengths.max(initial=0)) + 2) * self.n_classes
        return pack._replace(work=pack.work + marginals)

    def work(self, pack: Pack, mode: int) -> int:
        """Scratch memory of ``decode``; both rescalings are equal, as all errors cost 1."""
        return pack.work
