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

import numpy as np

from .errors import DataError


def primal(w: np.ndarray, hinge: float, C: float) -> float:
    """P(w), given ``hinge = sum_i weight_i H_i(w)``."""
    return 0.5 * float(w @ w) + C * hinge


def dual(w: np.ndarray, loss: float, C: float) -> float:
    """D(alpha), given ``w = w(alpha)`` and ``loss = sum_ir weight_i alpha_ir loss_ir``."""
    return C * loss - 0.5 * float(w @ w)


def gap_target(tol: float, C: float, n: float) -> float:
    """The duality gap at which a solver may stop."""
    return tol * C * n


def check_positive(name: str, value: float) -> float:
    """The value as a float; a DataError that names the parameter unless it is finite and > 0."""
    number = float(value) if _is_number(value) else np.nan
    if not (np.isfinite(number) and number > 0):
        raise DataError(f"{name} must be a finite number > 0, got {value!r}")
    return number


def check_count(name: str, value: float) -> int:
    """The value as an int; a DataError that names the parameter unless it is an integer >= 1."""
    whole = _is_number(value) and 1 <= value < np.inf and int(value) == value
    if isinstance(value, bool) or not whole:
        raise DataError(f"{name} is an integer >= 1, got {value!r}")
    return int(value)


def _is_number(value: object) -> bool:
    return np.isscalar(value) and not isinstance(value, str | bytes | complex)
