"""The feature matrix of a template, made from a block of tokens at a time to save memory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .coding import token_matrix

#: Number of tokens whose entries are sorted at the same time.
BLOCK = 1 << 15

#: Sort entries in a table with a row per token if it has at most this many places per entry.
PADDED = 2


class Occurrences(NamedTuple):
    """The occurrences of one pattern: entry p is in row ``tokens[p]``, column ``own[inverse[p]]``.

    Tokens are in increasing order, and each occurs at least once. Entries in column -1 are left
    out.
    """

    tokens: np.ndarray
    inverse: np.ndarray
    own: np.ndarray

    def between(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows, counted from ``start``, and columns of the tokens from ``start`` to ``stop``."""
        # Numbers of another type would make NumPy convert all tokens.
        lo, hi = np.searchsorted(self.tokens, np.array([start, stop], self.tokens.dtype))
        return self.tokens[lo:hi] - start, self.own[self.inverse[lo:hi]]


def binary_matrix(patterns: list[Occurrences], shape: tuple[int, int]) -> Any:
    """A CSR matrix (n_tokens, n_features) of ones in float32, with sorted indices.

    If a column occurs several times in a row, its value is the number of times.
    """
    from scipy.sparse import csr_array  # slow to import, so only when features are extracted

    n = shape[0]
    size = sum(len(pattern.tokens) for pattern in patterns)
    indices, values = np.empty(size, np.int32), np.ones(size, np.float32)
    lengths, end = np.zeros(n + 1, np.int64), 0
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        entries = [pattern.between(start, stop) for pattern in patterns]
        found = _sort(entries, stop - start)
        if found is None:
            matrix = _add_up(entries, (stop - start, shape[1]))
            found = matrix.indices, np.diff(matrix.indptr)
            values[end : end + matrix.nnz] = matrix.data
        columns, lengths[start + 1 : stop + 1] = found
        indices[end : end + len(columns)] = columns
        end += len(columns)
    if end < size:  # otherwise the views would keep the unused ends
        indices, values = indices[:end].copy(), values[:end].copy()
    starts = np.cumsum(lengths)
    # Like scipy's own matrices: 32-bit starts of rows if they suffice.
    indptr = starts.astype(np.int32) if end <= np.iinfo(np.int32).max else starts
    matrix = csr_array((values, indices, indptr), shape)
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def _sort(
    entries: list[tuple[np.ndarray, np.ndarray]], n: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """The columns of all rows, sorted in each row, and the number of columns of each row.

    None if a column occurs twice in a row, or if rows have very different lengths: a table of
    equally long rows, which is sorted fast, would be mostly empty.
    """
    several = [np.bincount(rows, minlength=n) if len(rows) > n else None for rows, _ in entries]
    widths = [1 if count is None else int(count.max()) for count in several]
    if n * sum(widths) > PADDED * sum(len(rows) for rows, _ in entries):
        return None
    table = np.full((n, sum(widths)), -1, np.int32)
    first = 0
    for (rows, columns), count, width in zip(entries, several, widths, strict=True):
        if count is None:
            table[:, first] = columns
        else:
            number = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
            table[rows, first + number] = columns
        first += width
    table.sort(axis=1)
    known = table >= 0
    if ((table[:, 1:] == table[:, :-1]) & known[:, 1:]).any():
        return None
    if known.all():
        return table.ravel(), np.full(n, table.shape[1])
    return table[known], known.sum(axis=1)


def _add_up(entries: list[tuple[np.ndarray, np.ndarray]], shape: tuple[int, int]) -> Any:
    """The rows of a block as a CSR matrix."""
    rows = np.concatenate([rows for rows, _ in entries])
    columns = np.concatenate([columns for _, columns in entries])
    return token_matrix(rows, columns, np.ones(len(rows), np.float32), shape)
