"""Types of nodes: which labels each type has, and how decoders keep to them.

A label that a node cannot have gets the scores of one that it can have, alone and in all pairs, and
is replaced by that one afterwards. The copy changes neither the maximum nor any relaxation of the
problem, so that every decoder stays as exact, and its bounds as tight, as with fewer labels; there
are no large or infinite scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from ...data.checked import check_codes
from ...data.graph_lists import Graphs
from ...data.labels import encode_labels
from ...data.node_types import spread
from ...errors import DataError
from .functions import NODES


def check_type_classes(allowed: Any, K: int) -> np.ndarray:
    """A bool array (n_types, K) in which each type has a label."""
    allowed = np.asarray(allowed)
    if allowed.ndim != 2 or allowed.shape[1] != K or allowed.dtype != bool:
        raise DataError(
            f"the labels of types are an array of {allowed.dtype} of shape {allowed.shape}: "
            f"{K} labels need bools of shape (types, {K})"
        )
    if len(allowed) == 0 or not allowed.any(axis=1).all():
        raise DataError("a type of nodes has no label")
    return allowed


def labels_instead(allowed: np.ndarray) -> np.ndarray:
    """For each type and label itself, or the first label that the type has, (n_types, K)."""
    own = np.arange(allowed.shape[1])
    return np.where(allowed, own, allowed.argmax(axis=1)[:, None]).astype(np.int16)


def learn_types(types: np.ndarray, codes: np.ndarray, K: int) -> tuple[np.ndarray, np.ndarray]:
    """The different types of nodes, and the labels that each of them has (n_types, K)."""
    names, kinds = encode_labels(types)
    allowed = np.zeros((len(names), K), bool)
    allowed[kinds, codes] = True
    return names, allowed


def encode_types(X: Graphs, names: np.ndarray | None) -> Graphs:
    """Graphs with the numbers of the types of a model in place of their names."""
    if X.offsets[-1] == 0 and names is not None:
        return X.with_types(np.zeros(0, np.int64))
    if X.types is None or names is None:
        if X.types is not None:
            raise DataError("the nodes of X have types, but the model was trained without")
        if names is not None:
            raise DataError(
                "the nodes of X have no types, but the model was trained with types: give "
                "mm.Graph(..., types=...)"
            )
        return X
    number = {name: t for t, name in enumerate(names.tolist())}
    kinds = np.array([number.get(name, -1) for name in X.types.tolist()], np.int64)
    if (kinds < 0).any():
        row = int(np.argmax(kinds < 0))
        (i, v), name = X.locate(row), X.types.tolist()[row]
        raise DataError(
            f"graph {i}: node {v} has the type {name!r}, which no node had in training",
            sequence=i,
        )
    return X.with_types(kinds)


def names_of_features(types: np.ndarray, d: int) -> list[str]:
    """The names of d features of each type, in the order of the weights."""
    return [f"{name}: feature {j}" for name in types.tolist() for j in range(d)]


def names_of_pairs(types: np.ndarray, features: list[str]) -> list[str]:
    """The names of edge features of each ordered pair of types, in the order of the weights."""
    names = types.tolist()
    more = [f", {feature}" for feature in features] if len(features) > 1 else [""]
    return [f"{a} to {b}{feature}" for a in names for b in names for feature in more]


def type_numbers(X: Graphs, n_types: int) -> np.ndarray:
    """The checked numbers of the types of all nodes, int64 (total,)."""
    if X.types is None:
        raise DataError("the nodes of X need types: give mm.Graph(..., types=...)")
    kinds = check_codes(np.asarray(X.types), int(X.offsets[-1]), 0, n_types - 1, "the type of node")
    return np.asarray(kinds, np.int64)


def spread_features(X: Graphs, edge_matrix: Any, kinds: np.ndarray, n_types: int) -> Any:
    """The features of nodes by type, and those of edges by pair of types: two CSR matrices."""
    first = np.repeat(X.offsets[:-1], np.diff(X.edge_offsets))
    ends = kinds[X.edges + first[:, None]]
    return (
        spread(X.nodes, kinds, n_types),
        spread(edge_matrix, ends[:, 0] * n_types + ends[:, 1], n_types**2),
    )


def check_truth(X: Graphs, kinds: np.ndarray, allowed: np.ndarray, truth: np.ndarray) -> None:
    """Raise a DataError if a node has a label that its type does not have."""
    wrong = ~allowed[kinds, truth]
    if wrong.any():
        row = int(np.argmax(wrong))
        i, v = X.locate(row)
        raise DataError(
            f"graph {i}: no node of the type of node {v} had its label in training", sequence=i
        )


@register_jitable
def copy_scores(data, i, plan, unary, pair):
    """Give labels that a node cannot have the scores of one that it can have."""
    if data.instead.shape[0] == 0:
        return
    K, first = np.int64(data.cost.shape[0]), data.starts[i, NODES]
    for v in range(data.starts[i + 1, NODES] - first):
        for k in range(K):
            unary[v * K + k] = unary[v * K + data.instead[first + v, k]]
    for e in range(len(pair) // (K * K)):
        table = pair[e * K * K : (e + 1) * K * K]
        a, b = first + plan[2 * e], first + plan[2 * e + 1]
        for j in range(K):
            row = np.int64(data.instead[a, j]) * K
            for k in range(K):
                table[j * K + k] = table[row + data.instead[b, k]]


@register_jitable
def use_own_labels(data, i, y):
    """Replace labels that a node cannot have by those whose scores they had."""
    if data.instead.shape[0] == 0:
        return
    first = data.starts[i, NODES]
    for v in range(len(y)):
        y[v] = data.instead[first + v, np.int64(y[v])]


@register_jitable
def use_own_counts(data, i, plan, x, z):
    """The same for the counts of a point: x (n K) of labels, z (m K K) of pairs of labels."""
    if data.instead.shape[0] == 0:
        return
    K, first = np.int64(data.cost.shape[0]), data.starts[i, NODES]
    for v in range(len(x) // K):
        move_counts(data.instead[first + v], K, x[v * K : v * K + K], 1, 1)
    for e in range(len(z) // (K * K)):
        table = z[e * K * K : (e + 1) * K * K]
        move_counts(data.instead[first + plan[2 * e]], K, table, K, K)
        for j in range(K):
            row = table[j * K : j * K + K]
            move_counts(data.instead[first + plan[2 * e + 1]], K, row, 1, 1)


@register_jitable
def move_counts(instead, K, count, step, size):
    """Move ``size`` counts, which begin at ``step`` times a label, to those of other labels."""
    for k in range(K):
        own = np.int64(instead[k])
        if own != k:
            for p in range(size):
                count[own * step + p] += count[k * step + p]
                count[k * step + p] = 0.0


@register_jitable
def use_own_states(data, i, state):
    """The same for the states of two labels: nodes with one label are not divided."""
    if data.instead.shape[0] == 0:
        return
    first = data.starts[i, NODES]
    for v in range(len(state)):
        if data.instead[first + v, 0] == data.instead[first + v, 1]:
            state[v] = data.instead[first + v, 0]


@register_jitable
def reward_differences(data, i, y, reward, unary):
    """Add a reward to all labels of each node but y's, and to what stands for them."""
    K, first, typed = np.int64(data.cost.shape[0]), data.starts[i, NODES], data.instead.shape[0]
    for v in range(len(y)):
        for k in range(K):
            label = np.int64(data.instead[first + v, k]) if typed else k
            if label != y[v]:
                unary[v * K + k] += reward
