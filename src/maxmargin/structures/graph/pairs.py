"""The kinds of weights of pairs of labels."""

from __future__ import annotations

import numpy as np

from ...errors import DataError

#: The kinds of weights, each with what it has for every edge feature.
KINDS = {
    "full": "one weight per ordered pair of labels",
    "symmetric": "one weight per pair of labels, in any order",
    "potts": "one weight for equal labels",
    "associative": "one weight >= 0 for equal labels",
}


def pair_numbers(pairwise: str, K: int) -> np.ndarray:
    """The number of the weight of each pair of labels, int64 array (K, K); -1 where it is 0."""
    if not isinstance(pairwise, str) or pairwise not in KINDS:
        raise DataError(f"pairwise must be one of {', '.join(KINDS)}, got {pairwise!r:.100}")
    if pairwise == "full":
        return np.arange(K * K).reshape(K, K)
    if pairwise == "symmetric":
        a, b = np.triu_indices(K)
        numbers = np.zeros((K, K), np.int64)
        numbers[a, b] = numbers[b, a] = np.arange(len(a))
        return numbers
    return np.where(np.eye(K, dtype=bool), 0, -1)


def first_pairs(pairwise: str, K: int) -> tuple[np.ndarray, np.ndarray]:
    """The labels of the first pair that has each weight, two arrays (n_pairs,)."""
    numbers = pair_numbers(pairwise, K).ravel()
    found, first = np.unique(numbers, return_index=True)
    return np.divmod(first[found >= 0], K)


def pair_tables(weights: np.ndarray, pairwise: str, K: int) -> np.ndarray:
    """Weights (e, n_pairs) as tables of all pairs of labels, array (e, K, K)."""
    numbers = pair_numbers(pairwise, K)
    return np.where(numbers >= 0, weights[:, numbers], 0.0)
