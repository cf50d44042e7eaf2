"""An explicit feature map onto the subspace that k basis functions span.

Joachims et al. (2009), section 3.3: with the Cholesky factor L of the kernel matrix of the basis,
the features ``z(x) = L^-1 K(basis, x)`` turn OP8 and OP9 into linear problems. Every solver and
every structure then works unchanged, and its certificate holds for all w in the subspace.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import DataError
from .rows import TILE, KernelRows, in_batches

#: The smallest squared distance of a basis function from the span of those before it, relative to
#: the largest. Features are stored in float32, and the map multiplies their errors by at most one
#: over the square root of this.
LEAST = 1e-7

#: If each function adds at least this much, features are computed in float32, which is three times
#: faster. Its errors are multiplied by at most one over the square root of this.
SINGLE = 1e-3

#: Entries of the map below this fraction of the largest entry do not matter in float32.
NOTHING = 1e-15

#: The same as ``LEAST`` for an exact map, whose features are stored in float64.
EXACT = 1e-13

#: Size of the pool of rows in which the pivots are searched: this many rows, or this many times k.
POOL, POOL_FACTOR = 1000, 2


@dataclass(frozen=True)
class Basis:
    """How the basis functions are chosen: ``n_basis=mm.Basis(500, choice="random")``.

    Parameters
    ----------
    k : int or "auto"
        Number of basis functions. "auto" chooses the number such that the gap between the subspace
        and the whole space of the kernel is at most about twice ``tol``.
    choice : {"cholesky", "random"}
        "cholesky": the pivots of an incomplete Cholesky factorisation of a random pool of rows;
        each pivot is the row farthest from the span of those before it. "random": random rows.
    max_bytes : int
        Maximum memory in bytes for the features of all rows in float32. "auto" stays below it; a
        larger ``k`` is an error.
    """

    k: int | str = "auto"
    choice: str = "cholesky"
    max_bytes: int = 2**31

    def __post_init__(self) -> None:
        if self.k != "auto" and (isinstance(self.k, str | bool) or not 1 <= self.k == int(self.k)):
            raise DataError(f"n_basis is an integer >= 1 or 'auto', got {self.k!r}")
        if self.choice not in ("cholesky", "random"):
            raise DataError(f"choice is 'cholesky' or 'random', got {self.choice!r}")


def as_basis(n_basis: Any) -> Basis:
    """The Basis for the parameter ``n_basis``, which is a number, "auto" or a Basis."""
    return n_basis if isinstance(n_basis, Basis) else Basis(n_basis)


class FeatureMap:
    """The feature map z(x) = L^-1 K(basis, x).

    Attributes
    ----------
    pivots : int array (k,)
        Numbers of the rows that are the basis functions.
    basis : KernelRows
    upper : array (k, k)
        Upper triangular, L^-T: ``z(X) = K(X, basis) @ upper``.
    """

    def __init__(self, rows: KernelRows, pivots: np.ndarray, lower: np.ndarray):
        from scipy.linalg.lapack import dtrtri  # slow to import, and a Basis does not need it

        self.pivots = pivots
        self.basis = rows.take(pivots)
        self.basis.prepare()
        self.upper = dtrtri(lower, lower=1)[0].T
        added = np.einsum("ii->i", lower) ** 2
        self.single = bool(added.min(initial=np.inf) >= SINGLE * added.max(initial=0.0))

    def __len__(self) -> int:
        return len(self.pivots)

    def transform(self, rows: KernelRows, dtype: Any = np.float32, n_jobs: int = 1) -> np.ndarray:
        """Features (n, k) of rows."""
        from scipy.linalg import blas

        k = len(self)
        out = np.empty((len(rows), k), dtype)
        single = self.single and out.dtype == np.float32
        kind, multiply = (np.float32, blas.strmm) if single else (np.float64, blas.dtrmm)
        rows, basis = rows.in_type(kind), self.basis.in_type(kind)
        upper = np.asfortranarray(self.upper, kind)
        if single:  # subnormal numbers are slow, and there may be many
            size = np.abs(upper)
            upper[size < NOTHING * size.max(initial=0.0)] = 0.0
        rows.prepare()
        basis.prepare()

        def work(lo: int, hi: int) -> None:
            values = rows.take(np.arange(lo, hi)).block(basis)
            # out = values @ upper; in column-major order this is upper' @ values'.
            out[lo:hi] = multiply(1.0, upper, values.T, trans_a=1, overwrite_b=True).T

        in_batches(work, len(rows), max(64, TILE // max(k, 1)), n_jobs)
        return out

    def of_rows(self, rows: KernelRows, index: np.ndarray) -> FeatureMap:
        """The same map, with its rows renumbered: row i becomes row ``index[i]``."""
        found = copy.copy(self)
        found.pivots = index[self.pivots]
        found.basis = rows.take(found.pivots)
        found.basis.prepare()
        return found

    def coefficients(self, weights: np.ndarray) -> np.ndarray:
        """Turn weights (k, m) of the features into coefficients (k, m) of the basis functions."""
        return self.upper @ weights


def choose_basis(
    rows: KernelRows, k: int, choice: str, random: np.random.RandomState, least: float = LEAST
) -> FeatureMap:
    """The map of at most k basis functions; fewer if more would not extend the subspace.

    "cholesky" searches its pivots in a random pool of rows, or in all rows if there are few. With
    the same ``random`` and the same pool, a smaller k gives the first functions of a larger one.
    """
    n = len(rows)
    k = min(k, n)
    size = k if choice == "random" else max(POOL, POOL_FACTOR * k)
    pool = np.arange(n) if size >= n else np.sort(random.choice(n, size, replace=False))
    part = rows.take(pool)
    part.prepare()
    gram = square_block(part)
    factor, order, rank = pivoted_cholesky(gram, least)
    k = min(k, rank)
    return FeatureMap(rows, pool[order[:k]], np.tril(factor[:k, :k]))


def exact_map(rows: KernelRows) -> tuple[FeatureMap, np.ndarray]:
    """The map onto the span of all rows, up to rounding, and the features (n, rank) in float64."""
    rows.prepare()
    factor, order, rank = pivoted_cholesky(square_block(rows), EXACT)
    lower = np.tril(factor[:, :rank])
    Z = np.empty_like(lower)
    Z[order] = lower
    return FeatureMap(rows, order[:rank], np.ascontiguousarray(lower[:rank])), Z


def square_block(rows: KernelRows) -> np.ndarray:
    """The kernel matrix of the rows."""
    out = np.empty((len(rows), len(rows)))

    def work(lo: int, hi: int) -> None:
        out[lo:hi] = rows.take(np.arange(lo, hi)).block(rows)

    in_batches(work, len(rows), max(64, TILE // max(len(rows), 1)))
    return out


def pivoted_cholesky(gram: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray, int]:
    """``(L, order, rank)`` with ``gram[order][:, order] = L L'``, greedily chosen pivots first.

    The first ``rank`` columns leave an error of at most ``least`` times the largest diagonal entry.
    Entries of L above the diagonal and in the other columns are undefined.
    """
    from scipy.linalg.lapack import dpstrf

    largest = float(np.einsum("ii->i", gram).max(initial=0.0))
    if largest <= 0:
        raise DataError(
            "K(x, x) is not positive for any row x: check the kernel and its parameters"
        )
    factor, order, rank, _ = dpstrf(gram, tol=least * largest, lower=1)
    return factor, (order - 1).astype(np.int64), int(rank)
