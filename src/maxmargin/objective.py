"""Definitions: objective, dual, gap, and the conversions of C and tol.

Notation (the same names are identifiers everywhere in the code)::

    phi_i(y)   joint features of example i with output y
    loss_i(y)  >= 0, and 0 at the true output y_i
    psi_i(y)   = phi_i(y_i) - phi_i(y)
    plane      psi_i(y) with margin rescaling, loss_i(y) * psi_i(y) with slack rescaling
    H_i(w)     = max_y loss_i(y) - <w, plane_i(y)>            the structured hinge loss
    P(w)       = 1/2 |w|^2 + C sum_i weight_i H_i(w)          the primal
    w(alpha)   = C sum_ir weight_i alpha_ir plane_ir          alpha_i in the simplex
    D(alpha)   = C sum_ir weight_i alpha_ir loss_ir - 1/2 |w(alpha)|^2
    gap        = P(w) - D(alpha) >= 0                         the optimum lies between D and P

A *cut* of the 1-slack formulation is ``(g, l)`` with ``g = sum_i weight_i plane_i`` and
``l = sum_i weight_i loss_i``. The true outputs give the cut ``g = 0, l = 0``. The dual variables
``beta`` of the cuts lie in the simplex, ``w = C sum_t beta_t g_t`` and
``D = C sum_t beta_t l_t - 1/2 |w|^2``.

``C`` multiplies the sum of the losses, as in scikit-learn. ``tol`` is in units of loss: training
stops when ``gap <= tol * C * n``, where n is the sum of the weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import DataError

#: The types of numbers that parameters may have.
NUMBER = int | float | np.integer | np.floating

#: Range of C and weights, and limit of the entries of X: products of a few of them are finite.
SMALLEST, LARGEST = 1e-100, 1e100


def primal(w: np.ndarray, hinge: float, C: float, square: float | None = None) -> float:
    """P(w), given ``hinge = sum_i weight_i H_i(w)``; ``square`` is |w|^2, if it is known."""
    return 0.5 * (float(w @ w) if square is None else square) + C * hinge


def dual(w: np.ndarray, loss: float, C: float, square: float | None = None) -> float:
    """D(alpha), given ``w = w(alpha)`` and ``loss = sum_ir weight_i alpha_ir loss_ir``.

    ``square`` is |w|^2, if it is known.
    """
    return C * loss - 0.5 * (float(w @ w) if square is None else square)


def gap_target(tol: float, C: float, n: float) -> float:
    """The duality gap at which a solver may stop."""
    return tol * C * n


def check_positive(name: str, value: float) -> float:
    """The value as a float; a DataError that names the parameter unless it is finite and > 0."""
    number = float(value) if isinstance(value, NUMBER) else np.nan
    if not (np.isfinite(number) and number > 0):
        raise DataError(f"{name} must be a finite number > 0, got {value!r}")
    return number


def check_factor(name: str, value: float) -> float:
    """Like ``check_positive``, for a factor of the objective, within SMALLEST and LARGEST."""
    number = check_positive(name, value)
    if not SMALLEST <= number <= LARGEST:
        raise DataError(f"{name} must be in {SMALLEST:g} to {LARGEST:g}, got {value!r}")
    return number


def check_integer(name: str, value: Any, low: int, high: int, more: str = "") -> int:
    """The value as an int in low..high; else a DataError that names the parameter.

    ``more`` names other values that the caller accepts.
    """
    whole = isinstance(value, NUMBER) and not isinstance(value, bool) and value % 1 == 0
    if not whole or not low <= value <= high:
        raise DataError(f"{name} must be an integer in {low} to {high}{more}, got {value!r}")
    return int(value)
