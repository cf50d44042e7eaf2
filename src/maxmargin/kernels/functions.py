"""Kernel functions, with the names and parameters of scikit-learn.

=============  ====================================================
"linear"       <x, z>
"rbf"          exp(-gamma |x - z|^2)
"poly"         (gamma <x, z> + coef0) ** degree
"sigmoid"      tanh(gamma <x, z> + coef0), which need not be positive definite
"precomputed"  X holds the values: X[i, j] is the kernel of row i and training row j
a callable     ``kernel(X, Z)`` returns an array (rows of X, rows of Z)
=============  ====================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import DataError
from ..objective import check_integer

#: Smaller exponents of the rbf kernel are replaced by this one in float32.
LOWEST = -40.0

#: Up to this gamma |x|^2, errors of the exponent in float32 are below 1e-4.
FAR = 1e3

#: Number of rows whose lengths are computed at a time.
ROWS = 10_000

NAMES = ("linear", "rbf", "poly", "sigmoid", "precomputed")


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters.

    Attributes
    ----------
    name : str
        One of ``NAMES``, or "callable".
    gamma, degree, coef0 : float, int, float
        Parameters of the formulas above.
    offset : float
        Added to every kernel value. The square of a constant feature gives an intercept.
    function : callable, optional
        The function of a callable kernel.
    centre : array (d,), optional
        Subtracted from all rows before distances are computed, which changes nothing but rounding:
        |x|^2 + |z|^2 - 2 <x, z> loses the digits of a short distance far from the origin.
    single : bool
        Whether values computed in float32 are precise enough.
    """

    name: str
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0
    offset: float = 0.0
    function: Callable[[Any, Any], Any] | None = None
    centre: np.ndarray | None = field(default=None, repr=False, compare=False)
    single: bool = field(default=True, repr=False, compare=False)

    def of_products(self, products: np.ndarray) -> np.ndarray:
        """Turn inner products (rbf: -gamma |x - z|^2) into kernel values, in place."""
        if self.name == "rbf":
            # Rounding may make a distance negative. In float32 values below the lowest do not
            # matter, and arithmetic with subnormal numbers is slow.
            lowest = LOWEST if products.dtype == np.float32 else None
            np.clip(products, lowest, 0.0, out=products)
            np.exp(products, out=products)
        elif self.name in ("poly", "sigmoid"):
            products *= self.gamma
            products += self.coef0
            if self.name == "sigmoid":
                np.tanh(products, out=products)
            else:
                _raise(products, self.degree)
        if self.offset:
            products += self.offset
        return products


def _raise(values: np.ndarray, degree: int) -> None:
    """values **= degree in place, by multiplications: np.power is twenty times slower."""
    base = values.copy() if degree > 1 else values
    for bit in bin(degree)[3:]:
        np.multiply(values, values, out=values)
        if bit == "1":
            np.multiply(values, base, out=values)


def is_linear(kernel: Any) -> bool:
    """Whether the kernel is the inner product of the features, or None."""
    return kernel is None or (isinstance(kernel, str) and kernel == "linear")


def check_kernel(kernel: Any, gamma: Any, degree: Any, coef0: Any) -> None:
    """Check the parameters of a kernel, without the data."""
    if not callable(kernel) and kernel not in NAMES and kernel is not None:
        raise DataError(f"kernel is a callable or one of {', '.join(NAMES)}; got {kernel!r}")
    named = isinstance(gamma, str) and gamma in ("scale", "auto")
    if not named and not (isinstance(gamma, int | float | np.number) and 0 < gamma < np.inf):
        raise DataError(f"gamma is 'scale', 'auto' or a number > 0, got {gamma!r}")
    check_integer("degree", degree, 1, 2**31)
    if not isinstance(coef0, int | float | np.number) or not np.isfinite(coef0):
        raise DataError(f"coef0 is a finite number, got {coef0!r}")


def make_kernel(
    kernel: Any, X: Any, gamma: Any = "scale", degree: int = 3, coef0: float = 0.0
) -> Kernel:
    """Make the kernel with these parameters for training rows X (n, d), dense or sparse.

    ``gamma="scale"`` is 1 / (d * variance of all entries of X), "auto" is 1 / d.
    """
    check_kernel(kernel, gamma, degree, coef0)
    if callable(kernel):
        return Kernel("callable", function=kernel)
    number = float(gamma) if not isinstance(gamma, str) else 1.0
    if isinstance(gamma, str) and kernel not in ("linear", "precomputed", None):
        d = max(X.shape[1], 1)
        variance = _variance(X) if gamma == "scale" else 1.0
        number = 1.0 / (d * variance) if variance > 0 else 1.0
    return placed(Kernel(kernel or "linear", number, int(degree), float(coef0)), X)


def placed(kernel: Kernel, X: Any) -> Kernel:
    """An rbf kernel for rows around X (n, d): with their mean as ``centre``, unless X is sparse."""
    if kernel.name != "rbf" or X.shape[0] == 0:
        return kernel
    with np.errstate(over="ignore", invalid="ignore"):
        if hasattr(X, "tocsr"):
            centre, longest = None, float(X.multiply(X).sum(axis=1).max())
        else:
            centre = np.mean(X, axis=0, dtype=np.float64)
            parts = (X[lo : lo + ROWS] - centre for lo in range(0, X.shape[0], ROWS))
            longest = max(float(np.einsum("ij,ij->i", part, part).max()) for part in parts)
    return replace(kernel, centre=centre, single=kernel.gamma * longest <= FAR)


def _variance(X: Any) -> float:
    """Variance of all entries, including the zeros of a sparse matrix."""
    if not hasattr(X, "tocsr"):
        return float(np.var(X, dtype=np.float64))
    size = X.shape[0] * X.shape[1]
    data = X.data.astype(np.float64)
    return float(data @ data / size - (data.sum() / size) ** 2) if size else 0.0
