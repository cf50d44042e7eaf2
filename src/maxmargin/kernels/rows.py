"""Blocks of kernel values of rows of data, computed by BLAS in batches.

A matrix product gives the inner products (the squared distances for rbf), and one more pass over
the block turns them into kernel values, in float64 or three times faster in float32.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ..errors import DataError
from .functions import Kernel

#: Number of values in a block, which should fit into the processor's cache.
TILE = 1 << 18

#: Sparse rows with at most this many entries, zeros included, are treated as dense (256 MB).
DENSE_SIZE = 1 << 25

#: A batch of sparse rows is also made dense if more than this fraction of its entries is not zero.
DENSITY = 0.02


class KernelRows:
    """The rows of a matrix together with a kernel.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix (n, d)
        With a precomputed kernel, ``X[i, j]`` is the kernel value of row i and training row j.
    ids : int array (n,), optional
        With a precomputed kernel, the indices of these rows among the training rows.
    dtype : float64 or float32
        Type in which kernel values are computed.
    """

    def __init__(
        self, kernel: Kernel, X: Any, ids: np.ndarray | None = None, dtype: Any = np.float64
    ):
        self.kernel = kernel
        self.X = X
        self.ids = ids
        self.dtype = np.dtype(dtype)
        self._ready: Any = None

    def __len__(self) -> int:
        return self.X.shape[0] if self.X is not None else len(self._known_ids())

    def identity(self) -> list[Any]:
        """The kernel and its rows as arrays and numbers; a callable is represented by its name."""
        kernel, X = self.kernel, self.X
        parts = [X.shape, X.data, X.indices, X.indptr] if hasattr(X, "tocsr") else [X]
        name = getattr(kernel.function, "__qualname__", "")
        return [kernel.name, kernel.gamma, kernel.degree, kernel.coef0, kernel.offset, name, *parts]

    def in_type(self, dtype: Any) -> KernelRows:
        """The same rows with kernel values computed in another type, float32 if that will do."""
        dtype = dtype if self.kernel.single else np.dtype(np.float64)
        if self.dtype == dtype:
            return self
        found = copy.copy(self)
        found.dtype = np.dtype(dtype)
        if self.kernel.name != "precomputed":
            found._ready = None
        return found

    def take(self, rows: np.ndarray) -> KernelRows:
        """Some of the rows; those of a precomputed kernel are meant as ``right`` of a block."""
        if self.kernel.name == "precomputed":
            ids = np.arange(len(self)) if self.ids is None else self.ids
            part = KernelRows(self.kernel, None, ids[rows], self.dtype)
            if self.X is not None:
                part._ready = (self.X, np.arange(self.X.shape[0])[rows])
            elif self._ready is not None:
                part._ready = (self._ready[0], self._ready[1][rows])
            return part
        part = KernelRows(self.kernel, self.X[rows], None, self.dtype)
        if self._ready is not None:
            part._ready = self._ready[rows]
        return part

    def block(self, right: KernelRows) -> np.ndarray:
        """The kernel values (len(self), len(right)) of all pairs of rows."""
        kernel = self.kernel
        if kernel.name == "precomputed":
            X, rows = self._values()
            values = np.asarray(_dense(X[rows][:, right._known_ids()]), self.dtype)
            return values + kernel.offset if kernel.offset else values
        if kernel.function is not None:
            return self._call(kernel.function, right)
        a, b = self._prepared(), right._prepared()
        rbf = kernel.name == "rbf"
        with np.errstate(over="ignore", invalid="ignore"):
            products = _distances(a, b, kernel.gamma) if rbf else _products(a, b)
            return self._finite(kernel.of_products(products))

    def diagonal(self) -> np.ndarray:
        """The kernel value of each row with itself, of shape (n,)."""
        kernel = self.kernel
        if kernel.name == "rbf":
            return np.full(len(self), 1.0 + kernel.offset)
        if kernel.name == "precomputed":
            X, rows = self._values()
            ids = np.arange(len(self)) if self.ids is None else self.ids
            found = np.asarray(X[np.arange(X.shape[0])[rows], ids], np.float64).ravel()
            return found + kernel.offset
        if kernel.function is not None:
            ones = [self.take(np.array([i])) for i in range(len(self))]
            return np.array([float(one.block(one)[0, 0]) for one in ones])
        a = self._prepared()
        sparse = hasattr(a, "multiply")
        with np.errstate(over="ignore", invalid="ignore"):
            squares = a.multiply(a).sum(axis=1) if sparse else np.einsum("ij,ij->i", a, a)
            values = kernel.of_products(np.asarray(squares, np.float64).ravel().copy())
        return self._finite(values)

    def _finite(self, values: np.ndarray) -> np.ndarray:
        """Return the values, or raise a DataError if they are not finite."""
        if not np.isfinite(values.sum()) and not np.isfinite(values).all():
            kernel = self.kernel
            raise DataError(
                f"kernel={kernel.name!r} with gamma={kernel.gamma:g}, degree={kernel.degree} and "
                f"coef0={kernel.coef0:g} has values beyond the range of {self.dtype} (about "
                f"{np.finfo(self.dtype).max:.0e}) on these rows of X: scale X or use a smaller "
                "gamma or degree"
            )
        return values

    def product(self, right: KernelRows, coef: np.ndarray, n_jobs: int = 1) -> np.ndarray:
        """``block(right) @ coef`` without storing the block; coef is (len(right), m)."""
        self.prepare()
        right.prepare()
        out = np.zeros((len(self), coef.shape[1]))
        wide = max(1, min(len(right), 2048))
        coef = np.ascontiguousarray(coef, self.dtype)
        rights = [(right.take(np.arange(s, min(s + wide, len(right)))), coef[s : s + wide])
                  for s in range(0, len(right), wide)]  # fmt: skip

        def work(lo: int, hi: int) -> None:
            left = self.take(np.arange(lo, hi)) if (lo, hi) != (0, len(self)) else self
            for part, weights in rights:
                out[lo:hi] += left.block(part) @ weights

        in_batches(work, len(self), max(1, TILE // wide), n_jobs)
        return out

    def prepare(self) -> None:
        """Prepare once what all blocks need."""
        if self.kernel.name != "precomputed" and self.kernel.function is None:
            self._prepared()

    def _prepared(self) -> Any:
        """Rows converted to ``dtype``; dense rows of rbf get the extra columns ``|x|^2`` and 1."""
        if self._ready is None:
            X = self.X
            n, d = X.shape
            if hasattr(X, "tocsr"):
                X = X.toarray() if n * d <= DENSE_SIZE else X.tocsr()
            if hasattr(X, "tocsr"):
                self._ready = X.astype(self.dtype)
            elif self.kernel.name == "rbf":
                ready = np.empty((n, d + 2), self.dtype)
                centre = 0.0 if self.kernel.centre is None else self.kernel.centre
                np.subtract(X, centre, out=ready[:, :d], casting="same_kind")
                ready[:, d] = np.einsum("ij,ij->i", ready[:, :d], ready[:, :d])
                ready[:, d + 1] = 1.0
                self._ready = ready
            else:
                self._ready = np.ascontiguousarray(X, self.dtype)
        return self._ready

    def _values(self) -> tuple[Any, Any]:
        """The matrix of a precomputed kernel, and the indices of these rows in it."""
        if self.X is not None:
            return self.X, slice(None)
        if self._ready is None:
            raise DataError(
                "these rows have no kernel values: use them as the right side of a block"
            )
        return self._ready

    def _known_ids(self) -> np.ndarray:
        if self.ids is None:
            return np.arange(self.X.shape[1])
        return self.ids

    def _call(self, function: Callable[[Any, Any], Any], right: KernelRows) -> np.ndarray:
        values = np.array(_dense(function(self.X, right.X)), self.dtype)
        shape = (len(self), len(right))
        if values.shape != shape:
            raise DataError(
                f"the kernel returned an array of shape {values.shape} for {shape[0]} and "
                f"{shape[1]} rows: it must be {shape}"
            )
        if not np.isfinite(values).all():
            raise DataError("the kernel returned values that are not finite")
        return values + self.kernel.offset if self.kernel.offset else values


def _distances(a: Any, b: Any, gamma: float) -> np.ndarray:
    """-gamma |x - z|^2 for all pairs, as one product because |x|^2 and 1 are columns."""
    if hasattr(a, "tocsr") or hasattr(b, "tocsr"):
        return _sparse_distances(a, b, gamma)
    d = a.shape[1] - 2
    right = np.empty_like(b)
    np.multiply(b[:, :d], 2 * gamma, out=right[:, :d])
    right[:, d] = -gamma
    np.multiply(b[:, d], -gamma, out=right[:, d + 1])
    return a @ right.T


def _sparse_distances(a: Any, b: Any, gamma: float) -> np.ndarray:
    (a, length_a), (b, length_b) = _lengths(a), _lengths(b)
    products = _products(a, b)
    products *= 2 * gamma
    products -= gamma * length_a[:, None]
    products -= gamma * length_b[None, :]
    return products


def _products(a: Any, b: Any) -> np.ndarray:
    """a @ b.T for dense or sparse rows, as a dense array."""
    a, b = (
        x.toarray() if hasattr(x, "tocsr") and x.nnz > DENSITY * x.shape[0] * x.shape[1] else x
        for x in (a, b)
    )
    return np.asarray(_dense(a @ b.T))


def _lengths(a: Any) -> tuple[Any, np.ndarray]:
    """The rows without the extra columns, and |x|^2 of each row."""
    if hasattr(a, "multiply"):
        return a, np.asarray(a.multiply(a).sum(axis=1)).ravel()
    return a[:, :-2], a[:, -2]


def _dense(values: Any) -> Any:
    return values.toarray() if hasattr(values, "toarray") else values


def in_batches(work: Callable[[int, int], None], n: int, size: int, n_jobs: int = 1) -> None:
    """Call ``work(lo, hi)`` for consecutive parts of n rows, in threads if ``n_jobs`` > 1.

    Threads run in parallel because matrix products and NumPy functions release the GIL.
    """
    parts = [(lo, min(lo + size, n)) for lo in range(0, n, size)]
    if n_jobs > 1 and len(parts) > 1:
        with ThreadPoolExecutor(n_jobs) as pool:
            list(pool.map(lambda part: work(*part), parts))
        return
    for lo, hi in parts:
        work(lo, hi)
