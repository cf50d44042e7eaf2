"""Whether a certificate is true, against bounds that nothing of the package has computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from .problems import Planes
from .trial import FALSE, FoundError


def check_certificate(
    result: Any, problem: Planes, C: float, tol: float, bounds: tuple[float, float], about: str
) -> None:
    """Raise a FoundError unless P is P(w), and D is below the optimum.

    ``bounds`` are an upper and a lower bound of the optimum. From D <= optimum <= P(w) it follows
    that a run which says that it has converged is as near to the optimum as it says, if its gap
    is P - D.
    """
    upper, lower = bounds
    w, P, D = result.w, result.primal, result.dual
    numbers = f"P {P!r}, D {D!r}, optimum in [{lower!r}, {upper!r}], C {C!r}: {about}"
    if not (np.isfinite(w).all() and np.isfinite([P, D, result.gap]).all()):
        raise FoundError(FALSE, f"not finite: {numbers}")
    error = problem.rounding(w, C)
    true = problem.primal(w, C)
    if abs(true - P) > error + 1e-9 * abs(true):
        raise FoundError(FALSE, f"P(w) is {true!r}: {numbers}")
    slack = 1e-9 * max(abs(upper), abs(D)) + error
    if upper + slack < D:
        raise FoundError(FALSE, f"D is above the optimum: {numbers}")
    if lower - slack > P:
        raise FoundError(FALSE, f"P is below the optimum: {numbers}")
    if abs(result.gap - max(P - D, 0.0)) > 1e-9 * max(abs(P), abs(D)):
        raise FoundError(FALSE, f"gap {result.gap!r} is not P - D: {numbers}")
    allowed = tol * C * problem.weight.sum()
    if result.converged and allowed * (1 + 1e-9) + error < P - D:
        raise FoundError(FALSE, f"converged with a gap above {allowed!r}: {numbers}")
