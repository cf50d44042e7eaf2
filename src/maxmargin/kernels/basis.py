"""k basis functions: an explicit feature map onto the subspace that they span.

Paper 000, section 3.3: with the Cholesky factor L of the kernel matrix of the basis, the features
``z(x) = L^-1 K(basis, x)`` turn OP8 and OP9 into linear problems. Every solver and every structure
then works as it is, and what it certifies holds for all w in the subspace.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import blas
from scipy.linalg.lapack import dpstrf, dtrtri

from ..errors import DataError
from .rows import TILE, KernelRows, in_batches

#: A basis function must add so much to the span of those before it, relative to the largest.
#: Features are stored in float32 and multiplied by at most one over the root of this.
LEAST = 1e-7

#: Where each function adds at least so much, features are computed in float32, three times faster:
#: its errors are multiplied by at most one over the root of this.
SINGLE = 1e-3

#: Entries of the map that are so much smaller than the largest count for nothing in float32.
NOTHING = 1e-15

#: As ``LEAST``, where the map is to be exact, and features are stored in float64.
EXACT = 1e-13

#: The pool in which the pivots are searched has so many rows, or so many times k.
POOL, POOL_FACTOR = 1000, 2


@dataclass(frozen=True)
class Basis:
    """How the basis functions are chosen: ``n_basis=mm.Basis(500, choice="random")``.

    Parameters
    ----------
    k : int or "auto"
        How many; "auto" makes it so large that the gap which the subspace leaves to the whole space
        of the kernel is about twice ``tol`` at the most.
    choice : {"cholesky", "random"}
        The pivots of an incomplete Cholesky factorisation, each the row that those before it
        explain least, among a random pool of rows; or rows at random.
    max_bytes : int
        Memory for the features of all rows, in float32; "auto" keeps below it, and more is
        refused.
    """

    k: int | str = "auto"
    choice: str = "cholesky"
    max_bytes: int = 2**31

    def __post_init__(self) -> None:
        if self.k != "auto" and (isinstance(self.k, str | bool) or self.k != int(self.k)):
            raise DataError(f"n_basis is an integer >= 1 or 'auto', got {self.k!r}")
        if self.k != "auto" and int(self.k) < 1:
            raise DataError(f"n_basis is an integer >= 1 or 'auto', got {self.k!r}")
        if self.choice not in ("cholesky", "random"):
            raise DataError(f"choice is 'cholesky' or 'random', got {self.choice!r}")


def as_basis(n_basis: Any) -> Basis:
    """The basis of a parameter: a number, "auto" or a Basis."""
    return n_basis if isinstance(n_basis, Basis) else Basis(n_basis)


class FeatureMap:
    """z(x) = L^-1 K(basis, x).

    Attributes
    ----------
    pivots : int array (k,)
        Which rows the basis functions are.
    basis : KernelRows
    upper : array (k, k)
        Upper triangular, L^-T: ``z(X) = K(X, basis) @ upper``.
    """

    def __init__(self, rows: KernelRows, pivots: np.ndarray, lower: np.ndarray):
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
        k = len(self)
        out = np.empty((len(rows), k), dtype)
        single = self.single and out.dtype == np.float32
        kind, multiply = (np.float32, blas.strmm) if single else (np.float64, blas.dtrmm)
        rows, basis = rows.in_type(kind), self.basis.in_type(kind)
        upper = np.asfortranarray(self.upper, kind)
        if single:  # numbers that underflow are slow, and there may be many
            size = np.abs(upper)
            upper[size < NOTHING * size.max(initial=0.0)] = 0.0
        rows.prepare()
        basis.prepare()

        def work(lo: int, hi: int) -> None:
            values = rows.take(np.arange(lo, hi)).block(basis)
            # out = values @ upper; by columns that is upper' @ values'.
            out[lo:hi] = multiply(1.0, upper, values.T, trans_a=1, overwrite_b=True).T

        in_batches(work, len(rows), max(64, TILE // max(k, 1)), n_jobs)
        return out

    def of_rows(self, rows: KernelRows, index: np.ndarray) -> FeatureMap:
        """The same map, where the rows it was made from are the rows ``index`` of others."""
        found = copy.copy(self)
        found.pivots = index[self.pivots]
        found.basis = rows.take(found.pivots)
        found.basis.prepare()
        return found

    def coefficients(self, weights: np.ndarray) -> np.ndarray:
        """Weights (k, m) of the features as coefficients (k, m) of the basis functions."""
        return self.upper @ weights


def choose_basis(
    rows: KernelRows, k: int, choice: str, random: np.random.RandomState, least: float = LEAST
) -> FeatureMap:
    """The map of at most k basis functions; fewer where more would add nothing.

    "cholesky" searches its pivots among a pool: all rows where these are few. A smaller k with the
    same ``random`` gives the first functions of a larger one, if the pool is the same.
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
    """The map of all rows, up to rounding, and their features (n, rank) in float64."""
    rows.prepare()
    factor, order, rank = pivoted_cholesky(square_block(rows), EXACT)
    lower = np.tril(factor[:, :rank])
    Z = np.empty_like(lower)
    Z[order] = lower
    return FeatureMap(rows, order[:rank], np.ascontiguousarray(lower[:rank])), Z


def square_block(rows: KernelRows) -> np.ndarray:
    """K of rows with themselves."""
    out = np.empty((len(rows), len(rows)))

    def work(lo: int, hi: int) -> None:
        out[lo:hi] = rows.take(np.arange(lo, hi)).block(rows)

    in_batches(work, len(rows), max(64, TILE // max(len(rows), 1)))
    return out


def pivoted_cholesky(gram: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray, int]:
    """``(L, order, rank)`` with ``gram[order][:, order] = L L'``, greedily chosen pivots first.

    The first ``rank`` columns explain all up to ``least`` times the largest of the diagonal; what
    is above the diagonal of L, and in its other columns, has no meaning.
    """
    largest = float(np.einsum("ii->i", gram).max(initial=0.0))
    if largest <= 0:
        raise DataError("the kernel of no row with itself is positive: nothing can be learnt")
    factor, order, rank, _ = dpstrf(gram, tol=least * largest, lower=1)
    return factor, (order - 1).astype(np.int64), int(rank)
