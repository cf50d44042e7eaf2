"""Problems on scores: how kernels reach every decoder without a line of its own.

If row j of X is the j-th unit vector, the weights of feature j ARE the scores of row j. So the
existing kernels of a problem, packed with an identity matrix and called with scores in place of
weights, decode from scores; and the cut that they sum up holds the coefficient of every row: a
vector in these coordinates is ``(coefficients of rows and labels, transition weights)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..problem import KernelProblem, Pack
from ..sequences import Sequences
from ..shard import Shard
from .columns import Columns
from .rows import KernelRows

#: With fewer features a kernel value is computed as fast as it is read from memory.
WIDE = 16


def matrix_of(X: Any) -> Any:
    """The rows that a kernel sees: those of a matrix, or all tokens of sequences."""
    return X.matrix if isinstance(X, Sequences) else X


def with_matrix(X: Any, matrix: Any) -> Any:
    """The same examples with other rows."""
    return Sequences(matrix, X.offsets, X.weight) if isinstance(X, Sequences) else matrix


def identity_of(X: Any) -> Any:
    """The same examples with unit vectors as rows."""
    from scipy import sparse

    n = matrix_of(X).shape[0]
    index = np.int32 if n < 2**31 else np.int64
    eye = sparse.csr_array(
        (np.ones(n), np.arange(n, dtype=index), np.arange(n + 1, dtype=index)), (n, n)
    )
    return with_matrix(X, eye)


class ScoreShard(Shard):
    """Examples on unit vectors, and the kernel that turns coefficients into scores.

    Attributes
    ----------
    rows : KernelRows
        All rows: one for each example, or for each token.
    n_labels : int
        Scores of a row: 1 for two classes, else the number of labels.
    emissions : int
        How many of the coordinates are coefficients of rows; the rest are plain weights.
    """

    def __init__(self, problem: KernelProblem, pack: Pack, rows: KernelRows, n_jobs: int = 1):
        super().__init__(problem, pack, n_jobs)
        self.rows = rows
        self.n_labels = getattr(problem, "n_classes", 1)
        self.emissions = len(rows) * self.n_labels
        self.columns: Columns | None = None
        # The rows of example i.
        self.row_offsets = pack.offsets if pack.offsets[-1] == len(rows) else np.arange(pack.n + 1)

    def compute_in(self, dtype: Any, cache_bytes: int = 0) -> None:
        """Compute kernel values in this type; keep columns where they cost more than to read."""
        rows = self.rows
        if rows.dtype != dtype:
            self.rows = KernelRows(rows.kernel, rows.X, rows.ids, dtype)
            self.rows.prepare()
        dear = rows.kernel.function is not None or rows.X.shape[1] >= WIDE
        if dear and rows.kernel.name != "precomputed" and cache_bytes >= 4 * 64 * len(rows):
            self.columns = Columns(self.rows, cache_bytes)

    def table(self, w: np.ndarray) -> np.ndarray:
        """A view of the coefficients or scores in w: (rows, labels)."""
        return w[: self.emissions].reshape(len(self.rows), self.n_labels)

    def support(self, w: np.ndarray) -> np.ndarray:
        """The rows whose coefficients are not all zero."""
        return np.flatnonzero(self.table(w).any(axis=1))

    def rows_of(self, examples: np.ndarray) -> np.ndarray:
        """The rows of some examples."""
        lo, hi = self.row_offsets[examples], self.row_offsets[examples + 1]
        if len(self.rows) == self.n:
            return lo
        return np.concatenate([np.arange(a, b) for a, b in zip(lo, hi, strict=True)] or [lo])

    def lift(self, w: np.ndarray, at: np.ndarray | None = None) -> np.ndarray:
        """From coefficients to scores: ``<lift(w), g>`` is the inner product of w and g.

        With ``at`` only the scores of these rows are computed, and the others are zero.
        """
        out = np.zeros_like(w)
        out[self.emissions :] = w[self.emissions :]
        support = self.support(w)
        if at is None and self.columns is not None:
            coef = self.table(w)[support]
            self.table(out)[:] = self.columns.product(support, coef, self.n_jobs)
            return out
        left = self.rows if at is None else self.rows.take(at)
        found = left.product(self.rows.take(support), self.table(w)[support], self.n_jobs)
        self.table(out)[slice(None) if at is None else at] = found
        return out


def score_shard(
    problem: KernelProblem, X: Any, Y: Any, weight: Any, rows: KernelRows, n_jobs: int = 1
) -> ScoreShard:
    """Pack examples on unit vectors."""
    rows.prepare()
    return ScoreShard(problem, problem.pack(identity_of(X), Y, weight), rows, n_jobs)
