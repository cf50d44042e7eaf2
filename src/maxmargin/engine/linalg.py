"""Products of matrix rows and weights.

Dense and CSR matrices have the same type, ``Rows``, so that every function is written only once.
Weights are feature-major: the weights of feature f for labels 0..K-1 are ``w[f*K : f*K + K]``, so
that a feature adds one contiguous vector to the scores of all labels.

Loops run over slices from 0, and indices into w are unsigned. If numba cannot prove that an index
is non-negative, it tests for Python's negative indexing in every step and uses no vector
instructions (three times slower).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from ..data.checked import check_finite_rows, csr_rows, plain_array
from ..errors import DataError
from .lanes import FEWEST, sum_rows
from .views import prefetch

#: With more weights than this, w does not fit into the processor's caches.
LARGE = 1 << 18

#: Prefetch the weights of entries this many positions ahead: enough to hide the latency.
AHEAD = 24

#: Number of values that are compared at the same time.
BLOCK = 1 << 16

#: Rows are packed as dense if more than this fraction of their entries is non-zero.
DENSE = 0.4


class Rows(NamedTuple):
    """A matrix by rows: entries ``indptr[i]:indptr[i + 1]`` of ``values`` are row i.

    The columns of a sparse matrix are at the same positions of ``indices``. In a dense matrix
    (``dense`` is 1) the columns are 0, 1, 2, ... and ``indices`` is empty. If ``ones`` is 1, all
    entries of a sparse matrix are 1, and ``values`` holds only as many as the longest row needs.
    """

    values: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    dense: int
    ones: int = 0

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return len(self.values) if self.dense else len(self.indices)

    def all_values(self) -> np.ndarray:
        """The values of all entries (nnz,)."""
        return np.ones(self.nnz, self.values.dtype) if self.ones else self.values


def pack_rows(X: Any, dtype: Any = None) -> Rows:
    """The rows of a 2-d array or CSR matrix, without a copy if possible.

    The arrays are always read-only, so that there is one numba type for arrays of users and from
    shared memory. Indices out of range, NaN and infinity raise a DataError.
    """
    import scipy.sparse as sp

    if sp.issparse(X):
        X = csr_rows(X)
        if not X.has_sorted_indices:
            X = X.sorted_indices()
        values, indices, indptr, dense = X.data, X.indices, X.indptr, 0
    else:
        X = np.ascontiguousarray(plain_array(X, "X"))
        values, dense = X.reshape(-1), 1
        indices = np.empty(0, np.uint32)
        indptr = np.arange(X.shape[0] + 1) * X.shape[1]
    if dtype is None:
        dtype = np.float32 if values.dtype == np.float32 else np.float64
    ones = int(not dense and are_ones(values))
    if not ones:
        check_finite_rows(X, dtype=dtype)
    if X.shape[1] > np.iinfo(np.int32).max:
        raise DataError(f"{X.shape[1]} features are more than an int32 index can hold")
    if ones:
        values = np.ones(int(np.diff(indptr).max(initial=0)))
    return Rows(
        read_only(values, dtype), read_only(indices, np.uint32), read_only(indptr, np.int64), dense,
        ones,
    )  # fmt: skip


def are_ones(values: np.ndarray) -> bool:
    """Whether all values are 1; a single value that is repeated without memory is tested once."""
    if values.strides == (0,):
        values = values[:1]
    blocks = (values[start : start + BLOCK] for start in range(0, len(values), BLOCK))
    return all((block == 1).all() for block in blocks)


def share_ones(matrix: Any) -> Any:
    """A CSR matrix whose values, if all are 1, need no memory; they cannot be written then."""
    if hasattr(matrix, "indptr") and are_ones(matrix.data):
        matrix.data = all_ones(len(matrix.data), matrix.data.dtype)
    return matrix


def all_ones(n: int, dtype: Any) -> np.ndarray:
    """n times 1, in the memory of a single number; it cannot be written."""
    return np.broadcast_to(np.ones(1, dtype), (n,))


def sparse_if_it_pays(matrix: Any) -> Any:
    """The matrix, as sparse if it is mostly zeros (such as pixels), because this is faster."""
    import scipy.sparse as sp

    if sp.issparse(matrix) or np.count_nonzero(matrix) > DENSE * matrix.size:
        return matrix
    return sp.csr_array(matrix)


def read_only(array: Any, dtype: Any) -> np.ndarray:
    """A contiguous read-only view, or a copy if the dtype differs."""
    array = np.asarray(array)
    if array.dtype == np.int32 and dtype == np.uint32:
        array = array.view(np.uint32)  # no copy: indices were checked before
    view = np.ascontiguousarray(array, dtype).view()
    view.flags.writeable = False
    return view


def add_rows(rows: Rows, scale: np.ndarray, label: np.ndarray, K: int, out: np.ndarray) -> None:
    """out[f*K + label_i] += scale_i * X[i, f] for all rows i."""
    of = np.repeat(np.arange(len(label)), np.diff(rows.indptr))
    column = np.arange(len(of)) - rows.indptr[of] if rows.dense else rows.indices.astype(np.int64)
    np.add.at(out, column * K + label[of], scale[of] * rows.all_values())


def row_products(rows: Rows, weights: np.ndarray) -> np.ndarray:
    """The product of a matrix (n, d) and weights (d, K), outside of compiled code."""
    from scipy.sparse import csr_array

    shape = (len(rows.indptr) - 1, len(weights))
    if rows.dense:
        return rows.values.reshape(shape) @ weights
    return csr_array((rows.all_values(), rows.indices.view(np.int32), rows.indptr), shape) @ weights


def mean_square(rows: Rows) -> float:
    """The average |x|^2 of the rows; infinite if it is too large."""
    n = max(len(rows.indptr) - 1, 1)
    if rows.ones:
        return rows.nnz / n
    with np.errstate(over="ignore"):
        return float(rows.values @ rows.values) / n


@register_jitable
def row_values(rows, lo, hi):
    """The values of the entries from ``lo`` to ``hi``, which all belong to one row."""
    start = 0 if rows.ones else lo
    return rows.values[start : start + (hi - lo)]


@register_jitable
def row_scores(rows, i, w, K, s):
    """s[k] = sum_f X[i, f] * w[f*K + k]."""
    lo, hi = rows.indptr[i], rows.indptr[i + 1]
    values = row_values(rows, lo, hi)
    if not rows.dense and K >= FEWEST and len(w) <= LARGE:
        sum_rows(values, rows.indices[lo:hi], len(values), w, K, 0, s)
        return
    if not rows.dense:
        sparse_rows_scores(rows, i, 1, w, K, s)
        return
    for k in range(K):
        s[k] = 0.0
    for p in range(len(values)):
        if values[p] != 0:
            weights = w[p * K : p * K + K]
            for k in range(K):
                s[k] += values[p] * weights[k]


@register_jitable
def rows_scores(rows, i, L, w, K, s):
    """s[t*K + k] = sum_f X[i + t, f] * w[f*K + k] for the L rows from i on."""
    if not rows.dense:
        sparse_rows_scores(rows, i, L, w, K, s)
        return
    if L == 0:  # i may be the number of rows
        return
    for e in range(L * K):
        s[e] = 0.0
    # Four rows at a time, so that weights are read once for four.
    d = rows.indptr[i + 1] - rows.indptr[i]
    X = rows.values[rows.indptr[i] : rows.indptr[i + L]]
    whole = L - L % 4
    for t in range(0, whole, 4):
        s0, s1 = s[t * K : t * K + K], s[(t + 1) * K : (t + 2) * K]
        s2, s3 = s[(t + 2) * K : (t + 3) * K], s[(t + 3) * K : (t + 4) * K]
        for f in range(d):
            weights = w[f * K : f * K + K]
            x0, x1 = X[t * d + f], X[(t + 1) * d + f]
            x2, x3 = X[(t + 2) * d + f], X[(t + 3) * d + f]
            for k in range(K):
                s0[k] += x0 * weights[k]
                s1[k] += x1 * weights[k]
                s2[k] += x2 * weights[k]
                s3[k] += x3 * weights[k]
    for t in range(whole, L):
        row_scores(rows, i + t, w, K, s[t * K : t * K + K])


@register_jitable
def sparse_rows_scores(rows, i, L, w, K, s):
    """The same for sparse rows; if w is large, weights are prefetched."""
    far = len(w) > LARGE
    for t in range(L):
        lo, hi = rows.indptr[i + t], rows.indptr[i + t + 1]
        values, indices = row_values(rows, lo, hi), rows.indices[lo:]
        scores = s[t * K : t * K + K]
        if K >= FEWEST:
            sum_rows(values, indices, len(values), w, K, AHEAD if far else 0, scores)
            continue
        for k in range(K):
            scores[k] = 0.0
        for p in range(len(values)):
            if far and p + AHEAD < len(indices):
                start = indices[p + AHEAD] * K
                prefetch(w, start)
                prefetch(w, start + K - 1)
            base = indices[p] * K
            weights = w[base : base + K]
            for k in range(K):
                scores[k] += values[p] * weights[k]


@register_jitable
def row_dot(rows, i, w):
    """sum_f X[i, f] * w[f]."""
    lo, hi = rows.indptr[i], rows.indptr[i + 1]
    values = row_values(rows, lo, hi)
    total = 0.0
    if rows.dense:
        for p in range(len(values)):
            total += values[p] * w[p]
    else:
        indices = rows.indices[lo:hi]
        for p in range(len(values)):
            total += values[p] * w[indices[p]]
    return total


@register_jitable
def row_write(rows, i, scale, K, k, idx, val, nnz):
    """Append the entries of ``scale * X[i]``, as features of label k, to the sparse (idx, val)."""
    lo, hi = rows.indptr[i], rows.indptr[i + 1]
    values = row_values(rows, lo, hi)
    idx, val = idx[nnz:], val[nnz:]
    if rows.dense:
        for p in range(len(values)):
            idx[p] = p * K + k
            val[p] = scale * values[p]
    else:
        indices = rows.indices[lo:hi]
        for p in range(len(values)):
            idx[p] = indices[p] * K + k
            val[p] = scale * values[p]
    return nnz + hi - lo


@register_jitable
def row_write_both(rows, i, K, k, j, idx, val, nnz):
    """Append ``X[i]`` as features of label k, and ``-X[i]`` as features of label j."""
    lo, hi = rows.indptr[i], rows.indptr[i + 1]
    n = hi - lo
    values = row_values(rows, lo, hi)
    idx_k, val_k = idx[nnz : nnz + n], val[nnz : nnz + n]
    idx_j, val_j = idx[nnz + n : nnz + 2 * n], val[nnz + n : nnz + 2 * n]
    if rows.dense:
        for p in range(n):
            idx_k[p] = p * K + k
            idx_j[p] = p * K + j
    else:
        indices = rows.indices[lo:hi]
        for p in range(n):
            idx_k[p] = indices[p] * K + k
            idx_j[p] = indices[p] * K + j
    for p in range(n):
        val_k[p] = values[p]
        val_j[p] = -values[p]
    return nnz + 2 * n
