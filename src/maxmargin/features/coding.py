"""Integer codes of strings, their counts and order, and the matrix they end in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np


class Codes(defaultdict[Any, int]):
    """Numbers for things, from 0 on in the order in which they are first looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.default_factory = self.__len__

    def encode(self, items: Iterable[Hashable], n: int) -> np.ndarray:
        """The numbers (n,) of n items; new items are added."""
        return np.fromiter(map(self.__getitem__, items), np.int32, n)


class Distinct(NamedTuple):
    """The distinct codes in an array of codes, in increasing order.

    Attributes
    ----------
    first : int array (m,)
        Where each distinct code occurs first.
    inverse : int array (n,)
        Which of the m codes each entry is.
    counts : int array (m,)
    """

    first: np.ndarray
    inverse: np.ndarray
    counts: np.ndarray


def distinct(codes: np.ndarray, size: int) -> Distinct:
    """The distinct ones of n codes from 0 to size - 1."""
    n = len(codes)
    if size > 4 * n + 1024:
        _, *rest = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
        return Distinct(*rest)
    # A table of all codes is filled in linear time; np.unique would have to sort.
    counts = np.bincount(codes, minlength=size)
    used = np.flatnonzero(counts)
    table = np.zeros(size, np.int32)
    table[codes[::-1]] = np.arange(n - 1, -1, -1, dtype=np.int32)  # the last one written stays
    first = table[used]
    table[used] = np.arange(len(used), dtype=np.int32)
    return Distinct(first, table[codes], counts[used])


def rank(counts: np.ndarray, min_count: int = 1) -> tuple[np.ndarray, int]:
    """Columns for features by their counts: the most frequent first, equal ones in given order.

    Returns
    -------
    columns : int32 array (m,)
        -1 for a feature that occurs less than ``min_count`` times.
    n : int
        Number of columns.
    """
    order = np.argsort(-counts, kind="stable")
    n = int(np.count_nonzero(counts >= min_count))
    columns = np.full(len(counts), -1, np.int32)
    columns[order[:n]] = np.arange(n, dtype=np.int32)
    return columns, n


def in_columns(names: Iterable[str], columns: np.ndarray, n: int) -> list[str]:
    """The names of the n columns, given the name and the column of each feature that has one."""
    scattered = np.empty(n, object)
    scattered[columns] = list(names)
    return scattered.tolist()


def token_matrix(
    tokens: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: tuple[int, int]
) -> Any:
    """Entries as a CSR matrix with sorted column indices; entries at one place are added up.

    Parameters
    ----------
    tokens, columns : int32 arrays (nnz,)
        The place of each entry. Entries in column -1 are left out.
    values : array (nnz,)
    shape : (int, int)
    """
    from scipy.sparse import coo_array  # slow to import: only when features are extracted

    if len(columns) and columns.min() < 0:
        known = columns >= 0
        tokens, columns, values = tokens[known], columns[known], values[known]
    # Through the transpose: two linear passes, and the indices come out sorted.
    by_column = coo_array((values, (columns, tokens)), shape=shape[::-1]).tocsr()
    return by_column.T.tocsr()


def place(offsets: np.ndarray, token: int) -> str:
    """Where a token is, for a message: its sequence and its number there, from 0 on."""
    i = int(np.searchsorted(offsets, token, side="right")) - 1
    return f"sequence {i}, token {token - int(offsets[i])}"


def cut(items: list[Any], offsets: np.ndarray) -> Iterator[list[Any]]:
    """The items of each sequence."""
    return (items[start:stop] for start, stop in pairwise(offsets.tolist()))
