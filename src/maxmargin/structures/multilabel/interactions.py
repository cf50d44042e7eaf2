"""Which pairs of labels have weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import DataError

#: The choices, each with what it means.
INTERACTIONS = {
    "none": "labels are predicted independently",
    "tree": "pairs of a tree that is learned from the training labels (Chow and Liu)",
    "full": "all pairs",
    "associative": "all pairs, with a weight >= 0 each for labels that are present together",
}


def find_pairs(interactions: Any, Y: np.ndarray) -> np.ndarray:
    """The pairs of labels with weights, int64 array (m, 2), from training labels Y (n, L)."""
    if not isinstance(interactions, str) or interactions not in INTERACTIONS:
        raise DataError(
            f"interactions must be one of {', '.join(INTERACTIONS)}, got {interactions!r:.100}"
        )
    L = Y.shape[1]
    if interactions in ("full", "associative"):
        return np.column_stack(np.triu_indices(L, 1)).astype(np.int64)
    if interactions == "tree" and L > 1:
        return chow_liu(Y)
    return np.zeros((0, 2), np.int64)


def chow_liu(Y: np.ndarray) -> np.ndarray:
    """The pairs of the tree with the largest sum of mutual information (L - 1, 2).

    References
    ----------
    Chow, Liu: Approximating discrete probability distributions with dependence trees, IEEE
    Transactions on Information Theory 14 (1968).
    """
    information, L = mutual_information(Y), Y.shape[1]
    # The algorithm of Prim, which also takes pairs without any information.
    inside, pairs = np.zeros(L, bool), []
    inside[0] = True
    best, source = information[0].copy(), np.zeros(L, np.int64)
    for _ in range(L - 1):
        new = int(np.argmax(np.where(inside, -1.0, best)))
        pairs.append(sorted((int(source[new]), new)))
        inside[new] = True
        closer = information[new] > best
        best, source = np.where(closer, information[new], best), np.where(closer, new, source)
    return np.array(sorted(pairs), np.int64)


def mutual_information(Y: np.ndarray) -> np.ndarray:
    """The mutual information of all pairs of labels in nats, array (L, L) of numbers >= 0."""
    Y = np.asarray(Y, np.float64)
    n = max(len(Y), 1)
    both, count = Y.T @ Y, Y.sum(axis=0)
    total = np.zeros(both.shape)
    sides = {1: count / n, 0: 1 - count / n}
    tables = {
        (1, 1): both,
        (1, 0): count[:, None] - both,
        (0, 1): count[None, :] - both,
        (0, 0): n - count[:, None] - count[None, :] + both,
    }
    for (a, b), table in tables.items():
        joint, apart = table / n, np.outer(sides[a], sides[b])
        some = joint > 0
        total[some] += joint[some] * np.log(joint[some] / apart[some])
    return np.maximum(total, 0.0)
