"""The feature matrix of a template, made from a block of tokens at a time to save memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .windows import Occurrences

#: Sort entries in a table with a row per token if it has at most this many places per entry.
PADDED = 2


def binary_matrix(
    blocks: list[tuple[np.ndarray, np.ndarray]], n_features: int, dtype: Any = np.float32
) -> Any:
    """A CSR matrix (n_tokens, n_features) of ones.

    Parameters
    ----------
    blocks : list of (int32 array, int array)
        Columns of the entries of each block, row by row and sorted in each row, and number of
        entries of each row.
    n_features : int
    dtype : float type
    """
    from scipy.sparse import csr_array  # slow to import, so only when features are extracted

    indices = np.concatenate([np.zeros(0, np.int32), *(columns for columns, _ in blocks)])
    starts = np.cumsum(np.concatenate([np.zeros(1, np.int64), *(each for _, each in blocks)]))
    # Like scipy's own matrices: 32-bit starts of rows if they suffice.
    indptr = starts.astype(np.int32) if starts[-1] <= np.iinfo(np.int32).max else starts
    values = np.ones(len(indices), dtype)
    matrix = csr_array((values, indices, indptr), (len(indptr) - 1, n_features))
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def sort_rows(
    entries: list[Occurrences], columns: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """The columns of all entries of n tokens, sorted for each token, and their number.

    Parameters
    ----------
    entries : list of Occurrences
        All features of a token are different.
    columns : int32 array
        The column of each node; -1 for a node that is left out. The last one is -1, too: that of
        an entry without a node.
    n : int
    """
    found = [(tokens, columns[nodes]) for tokens, nodes in entries]
    counts = [None if tokens is None else np.bincount(tokens, minlength=n) for tokens, _ in found]
    widths = [1 if count is None else int(count.max(initial=0)) for count in counts]
    if n * sum(widths) > PADDED * sum(len(own) for _, own in found):
        # The table would be mostly empty.
        rows = [np.arange(n) if tokens is None else tokens for tokens, _ in found]
        return sort_pairs(np.concatenate(rows), np.concatenate([own for _, own in found]), n)
    # A table of equally long rows is sorted fast.
    table = np.full((n, sum(widths)), -1, np.int32)
    first = 0
    for (tokens, own), count, width in zip(found, counts, widths, strict=True):
        if tokens is None or count is None:
            table[:, first] = own
        else:
            number = np.arange(len(own)) - np.repeat(np.cumsum(count) - count, count)
            table[tokens, first + number] = own
        first += width
    table.sort(axis=1)
    known = table >= 0
    if known.all():
        return table.ravel(), np.full(n, table.shape[1])
    return table[known], known.sum(axis=1)


def sort_pairs(rows: np.ndarray, columns: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The different columns >= 0 of n rows, sorted for each row, and their number.

    Parameters
    ----------
    rows, columns : int arrays (m,)
        The row and the column of each entry.
    n : int
    """
    pairs = np.sort(((rows.astype(np.int64) << 32) | columns)[columns >= 0])
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    return pairs.astype(np.int32), np.bincount(pairs >> 32, minlength=n)
