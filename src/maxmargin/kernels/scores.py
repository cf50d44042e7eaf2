"""Problems on scores, which let kernels work with every decoder without changes to the decoder.

If row j of X is the j-th unit vector, the weights of feature j ARE the scores of row j. So the
functions of a problem, packed with an identity matrix and called with scores instead of weights,
decode from scores. The cut that they sum up holds the coefficient of every row: a vector in these
coordinates is ``(coefficients of rows and labels, transition weights)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.sequences import Sequences, tokens_of
from ..engine.fingerprint import fingerprint
from ..engine.shard import Shard
from ..engine.vectors import Vector
from ..problem import CompiledProblem, Pack
from .columns import Columns
from .rows import KernelRows

#: With fewer features, computing a kernel value is as fast as reading it from memory.
WIDE = 16

#: There is no cache if it has room for fewer columns.
LEAST = 64


def matrix_of(X: Any) -> Any:
    """The rows that a kernel is applied to: those of a matrix, or all tokens of sequences."""
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
        All rows: one per example, or one per token.
    n_labels : int
        Number of scores per row: 1 for two classes, else the number of labels.
    emissions : int
        Number of coordinates that are coefficients of rows; the others are plain weights.
    """

    for_kernels = True

    def __init__(self, problem: CompiledProblem, pack: Pack, rows: KernelRows, n_jobs: int = 1):
        super().__init__(problem, pack, n_jobs)
        self.rows = rows
        self.n_labels = getattr(problem, "n_classes", 1)
        self.emissions = len(rows) * self.n_labels
        self.columns: Columns | None = None
        self._cache_bytes, self._computed = 0, 0
        self._room: tuple[np.ndarray, np.ndarray] | None = None
        # The rows of example i.
        self.row_offsets = pack.offsets if pack.offsets[-1] == len(rows) else np.arange(pack.n + 1)
        self.one_each = bool((np.diff(self.row_offsets) == 1).all())

    def compute_in(self, dtype: Any, cache_bytes: int, every_row: bool) -> None:
        """Set the type of kernel values; cache columns if computing them is slower than reading.

        If not ``every_row`` is scored each time, a column has values that are not asked for. Then
        there is a cache only if it has room for all columns, and not before as many values were
        computed without it: so it takes at most twice as long as the better of both ways.
        """
        rows = self.rows
        if rows.dtype != dtype:
            self.rows = rows.in_type(dtype)
            self.rows.prepare()
        expensive = rows.kernel.function is not None or rows.X.shape[1] >= WIDE
        least = LEAST if every_row else len(rows)
        fits = cache_bytes >= self.rows.dtype.itemsize * least * len(rows)
        if expensive and rows.kernel.name != "precomputed" and fits:
            self._cache_bytes = cache_bytes
            if every_row:
                self.columns = Columns(self.rows, cache_bytes)

    def table(self, w: np.ndarray) -> np.ndarray:
        """A view (rows, labels) of the coefficients or scores in w."""
        return w[: self.emissions].reshape(len(self.rows), self.n_labels)

    def support(self, w: np.ndarray) -> np.ndarray:
        """The rows whose coefficients are not all zero."""
        return np.flatnonzero(self.table(w).any(axis=1))

    def rows_of(self, examples: np.ndarray) -> np.ndarray:
        """The rows of some examples."""
        if self.one_each:
            return self.row_offsets[examples]
        return tokens_of(self.row_offsets, examples)

    def lift(self, w: np.ndarray) -> np.ndarray:
        """Turn coefficients into scores: ``<lift(w), g>`` is the inner product of w and g."""
        if self.columns is None:
            return self._lift(w, self.rows)
        out, support = w.copy(), self.support(w)
        self.table(out)[:] = self.columns.product(support, self.table(w)[support], self.n_jobs)
        return out

    def lift_exactly(self, w: np.ndarray) -> np.ndarray:
        """Like ``lift``, with kernel values in double precision, for a certificate."""
        return self._lift(w, self.rows.in_type(np.float64))

    def _lift(self, w: np.ndarray, rows: KernelRows) -> np.ndarray:
        out, support = w.copy(), self.support(w)
        self.table(out)[:] = rows.product(rows.take(support), self.table(w)[support], self.n_jobs)
        return out

    def rows_in(self, plane: Vector) -> np.ndarray:
        """The rows whose coefficients in a sparse vector are not all zero."""
        where = plane.where
        assert where is not None
        return np.unique(where[where < self.emissions] // self.n_labels)

    def places_of(self, rows: np.ndarray) -> np.ndarray:
        """The coordinates of some rows, and of all plain weights."""
        K = self.n_labels
        where = (rows[:, None] * K + np.arange(K)).ravel()
        return np.concatenate([where, np.arange(self.emissions, self.pack.dim)])

    def scores_at(self, w: Vector, at: np.ndarray, out: np.ndarray) -> Vector:
        """Write the scores of the rows ``at`` into ``out``, which must be zero; returns them.

        The time depends on the rows of w and on ``at``, not on the total number of rows.
        """
        where, value, K = w.where, w.value, self.n_labels
        assert where is not None
        rest = where >= self.emissions
        coefficients = where[~rest]
        support, place = np.unique(coefficients // K, return_inverse=True)
        coef = np.zeros((len(support), K))
        coef[place, coefficients % K] = value[~rest]
        if self.columns is None and self._cache_bytes and self._computed >= len(self.rows) ** 2:
            self.columns = Columns(self.rows, self._cache_bytes)
        if self.columns is None:
            found = self.rows.take(at).product(self.rows.take(support), coef, self.n_jobs)
            self._computed += len(at) * len(support)
        else:
            found = self.columns.product_at(at, support, coef, self.n_jobs)
        scored = Vector(
            np.concatenate([(at[:, None] * K + np.arange(K)).ravel(), where[rest]]),
            np.concatenate([found.ravel(), value[rest]]),
        )
        scored.add_to(out, 1.0)
        return scored

    def sparse_cut(
        self, scored: np.ndarray, mode: int, labels: np.ndarray, order: np.ndarray, scale: float
    ) -> tuple[Vector, float, np.ndarray]:
        """Like ``collect`` on the examples of ``order``, times ``scale``, with a sparse g.

        The work arrays are reused. Touching a few entries of a new array takes as long as filling
        it, because the system provides memory in large pages, which it fills with zeros.
        """
        g, value = self._room or (np.zeros(self.pack.dim), np.empty(self.n))
        self._room = None  # an interruption would leave g partly filled
        loss, _ = self._collect(scored, mode, labels, order, g, value)
        where = self.places_of(self.rows_of(order))
        found = g[where]
        g[where] = 0.0
        self._room = g, value
        used = found != 0
        return Vector(where[used], scale * found[used]), scale * loss, value[order]

    def fingerprint(self) -> str:
        """A hash of the examples and of the kernel."""
        return fingerprint(super().fingerprint(), *self.rows.identity())


def score_shard(
    problem: CompiledProblem, X: Any, Y: Any, weight: Any, rows: KernelRows, n_jobs: int = 1
) -> ScoreShard:
    """Pack examples on unit vectors."""
    rows.prepare()
    return ScoreShard(problem, problem.pack(identity_of(X), Y, weight), rows, n_jobs)
