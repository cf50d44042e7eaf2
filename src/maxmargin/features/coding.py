"""Integer codes of strings, their counts and order, and the feature matrix made from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

#: Number of tokens whose features are found at the same time: their arrays fit into caches.
BLOCK = 1 << 14


class Codes(defaultdict[Any, int]):
    """Numbers for items, from 0 in the order in which they are first looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.default_factory = self.__len__

    def encode(self, items: Iterable[Hashable], n: int) -> np.ndarray:
        """The numbers of n items, an array (n,); new items are added."""
        return np.fromiter(map(self.__getitem__, items), np.int32, n)


def rank(counts: np.ndarray, min_count: int = 1) -> tuple[np.ndarray, int]:
    """Columns of features by decreasing counts; features with equal counts keep their order.

    Returns
    -------
    columns : int32 array (m,)
        -1 for a feature that occurs fewer than ``min_count`` times.
    n : int
        Number of columns.
    """
    order = np.argsort(-counts, kind="stable")
    n = int(np.count_nonzero(counts >= min_count))
    columns = np.full(len(counts), -1, np.int32)
    columns[order[:n]] = np.arange(n, dtype=np.int32)
    return columns, n


def in_columns(names: Iterable[str], columns: np.ndarray, n: int) -> list[str]:
    """The names of the n columns, from the name and the column of each feature that has one."""
    scattered = np.empty(n, object)
    scattered[columns] = list(names)
    return scattered.tolist()


def token_matrix(
    tokens: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: tuple[int, int]
) -> Any:
    """A CSR matrix with sorted column indices; entries at the same place are added up.

    Parameters
    ----------
    tokens, columns : int32 arrays (nnz,)
        The row and the column of each entry. Entries in column -1 are left out.
    values : array (nnz,)
    shape : (int, int)
        Number of tokens and of features.
    """
    from scipy.sparse import coo_array  # slow to import, so only when features are extracted

    if len(columns) and columns.min() < 0:
        known = columns >= 0
        tokens, columns, values = tokens[known], columns[known], values[known]
    # Via the transpose: two linear passes, after which the indices are sorted.
    by_column = coo_array((values, (columns, tokens)), shape=shape[::-1]).tocsr()
    return by_column.T.tocsr()


def place(offsets: np.ndarray, token: int) -> str:
    """The place of a token for a message: its sequence and its number there, both from 0."""
    i = int(np.searchsorted(offsets, token, side="right")) - 1
    return f"sequence {i}, token {token - int(offsets[i])}"


def cut(items: list[Any], offsets: np.ndarray) -> Iterator[list[Any]]:
    """Split the items into sequences."""
    return (items[start:stop] for start, stop in pairwise(offsets.tolist()))
