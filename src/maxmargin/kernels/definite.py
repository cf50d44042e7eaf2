"""Whether a kernel is an inner product, as certificates in its whole space need.

The values of a kernel must be symmetric, and every kernel matrix positive semi-definite. "linear",
"rbf" and "poly" with coef0 >= 0 always are. "sigmoid" is for few parameters; functions and values
of users may be anything.
"""

from __future__ import annotations

import numpy as np

from ..errors import DataError
from .rows import TILE, KernelRows

#: Number of rows whose kernel matrix is looked at.
SAMPLE = 400

#: Errors of symmetry, and negative eigenvalues, up to this fraction of the largest are rounding.
ROUNDING = 1e-5


def is_certain(rows: KernelRows) -> bool:
    """Whether the kernel is an inner product for all rows and parameters."""
    kernel = rows.kernel
    return kernel.name in ("linear", "rbf") or (kernel.name == "poly" and kernel.coef0 >= 0)


def check_symmetric(rows: KernelRows) -> None:
    """Raise a DataError if K(x, z) is not K(z, x); functions are called on some rows only."""
    if rows.kernel.name == "precomputed":
        K = rows.X
        size = max(1, TILE // max(len(K), 1))
        largest = float(np.abs(K).max(initial=0.0))
        for lo in range(0, len(K), size):
            difference = np.abs(K[lo : lo + size] - K[:, lo : lo + size].T)
            if difference.max(initial=0.0) > ROUNDING * largest:
                i, j = np.unravel_index(int(difference.argmax()), difference.shape)
                raise asymmetric(int(i) + lo, int(j), K[i + lo, j], K[j, i + lo])
    elif rows.kernel.function is not None:
        chosen = some_rows(len(rows))
        part = rows.take(chosen)
        K = part.block(part)
        difference = np.abs(K - K.T)
        if difference.max(initial=0.0) > ROUNDING * np.abs(K).max():
            i, j = np.unravel_index(int(difference.argmax()), K.shape)
            raise asymmetric(int(chosen[i]), int(chosen[j]), K[i, j], K[j, i])


def asymmetric(i: int, j: int, one: float, other: float) -> DataError:
    """The error for two values that differ."""
    return DataError(
        f"the kernel is not symmetric: it is {one:.6g} for rows {i} and {j} of X, and {other:.6g} "
        f"for rows {j} and {i}"
    )


def is_definite(rows: KernelRows) -> bool:
    """Whether the kernel matrix of some rows is positive semi-definite, up to rounding.

    A part with a negative eigenvalue proves that the kernel is no inner product.
    """
    if is_certain(rows):
        return True
    part = rows.in_type(np.float64).take(some_rows(len(rows)))
    values = np.linalg.eigvalsh(part.block(part))
    return bool(values[0] >= -ROUNDING * np.abs(values).max())


def is_complete(rows: KernelRows, Z: np.ndarray) -> bool:
    """Whether Z Z' is the kernel matrix: so it is if exact features are made of an inner product.

    Compares all of the diagonal, and the rows of a sample.
    """
    if is_certain(rows):
        return True
    diagonal = rows.diagonal()
    largest = float(np.abs(diagonal).max())
    if np.abs(diagonal - np.einsum("ij,ij->i", Z, Z)).max() > ROUNDING * largest:
        return False
    chosen = some_rows(len(rows))
    values = rows.block(rows.take(chosen)) if len(rows) else np.zeros((0, 0))
    return bool(np.abs(values - Z @ Z[chosen].T).max(initial=0.0) <= ROUNDING * largest)


def some_rows(n: int) -> np.ndarray:
    """At most SAMPLE rows, the same ones at every call."""
    if n <= SAMPLE:
        return np.arange(n)
    return np.sort(np.random.RandomState(0).choice(n, SAMPLE, replace=False))


def describe(rows: KernelRows) -> str:
    """The kernel that is not definite, for a message."""
    kernel = rows.kernel
    given = f" (gamma={kernel.gamma:.3g}, coef0={kernel.coef0:.3g})"
    given = given if kernel.name in ("sigmoid", "poly") else ""
    return f"kernel={kernel.name!r}{given} is not positive semi-definite on the rows of X"


def no_certificate(rows: KernelRows) -> DataError:
    """The error of what needs an inner product."""
    return DataError(
        f"{describe(rows)}: there is no certificate in its whole space; choose other parameters or "
        "another kernel, or train with n_basis=, whose certificate is for the basis functions"
    )
