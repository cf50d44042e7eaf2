"""The QP over the bundle of cuts: a small dense concave maximum over the simplex.

    maximise   l.beta - N/2 beta' G beta      over beta >= 0, sum(beta) = 1

An active-set method, similar to Wolfe's nearest-point algorithm. Newton steps on the support are
shortened where they would leave the simplex. When the QP on the support is solved, the most
violated cut is added to the support. The method starts from the last solution (a new cut changes
little) and stops when no cut is violated by more than ``tol``. Its zeros are exact.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

#: Added to the diagonal, relative to its mean, because the Gram matrix of cuts can be singular.
RIDGE = 1e-12

#: Its smallest value, in units of the loss, for cuts that are nearly zero.
SMALLEST_RIDGE = 1e-100

#: Maximum number of ridges that are tried, each a hundred times larger than the one before.
RIDGES = 20


def solve_simplex_qp(
    G: np.ndarray, loss: np.ndarray, N: float, beta: np.ndarray, tol: float
) -> np.ndarray:
    """Maximise ``loss.beta - N/2 beta' G beta`` over the simplex.

    Parameters
    ----------
    G : array (m, m)
        Gram matrix of the cuts.
    loss : array (m,)
    N : float
        C times the number of examples.
    beta : array (m,)
        The initial point, in the simplex.
    tol : float
        Maximum violation of a cut, relative to the cuts of the support.

    Returns
    -------
    array (m,)
        A point of the simplex whose objective is within ``tol`` of the maximum.
    """
    beta = beta.copy()
    free = beta > 0
    hopeless = np.zeros(len(beta), bool)
    rounding = 1e-14 * max(1.0, np.abs(loss).max())
    expected = np.inf  # what is left of the residual after a full Newton step, at most
    for _ in range(100 + 30 * len(beta)):
        value = loss - N * (G @ beta)
        level = float(value @ beta)
        residual = float(np.abs(value[free] - level).max())
        if residual > expected:
            rounding = max(rounding, residual)  # only rounding errors are left
        if residual > max(0.1 * tol, rounding):
            before = free.copy()
            step = _move(G, N, beta, free, value - level)
            expected = 0.5 * residual if step == 1 else np.inf
            # A cut that left the support before anything moved must not enter again (cycling).
            hopeless = np.zeros_like(free) if step > 0 else hopeless | (before & ~free)
            continue
        excess = np.where(free | hopeless, -np.inf, value - level)
        worst = int(np.argmax(excess))
        if excess[worst] <= max(tol, rounding):
            break
        free[worst], expected = True, np.inf
    return beta / beta.sum()


def _move(G: np.ndarray, N: float, beta: np.ndarray, free: np.ndarray, excess: np.ndarray) -> float:
    """One Newton step on the support, as far as the simplex allows, in place.

    Entries that become 0 leave the support. Returns the length of the step: 1 is a full one.
    """
    direction = _newton(N * G[np.ix_(free, free)], excess[free], N * np.trace(G) / len(G))
    inside = beta[free]
    room = np.full(len(inside), np.inf)
    falls = direction < 0
    room[falls] = -inside[falls] / direction[falls]
    step = min(1.0, float(room.min()))
    inside = np.where(room <= step, 0.0, inside + step * direction)
    beta[free] = inside / inside.sum()
    free[free] = inside > 0
    return step


def _newton(K: np.ndarray, excess: np.ndarray, scale: float) -> np.ndarray:
    """The Newton direction, whose entries sum to zero.

    A ridge makes it a proximal step, which changes the path but not the solution.
    """
    right = np.column_stack([excess, np.ones(len(K))])
    diagonal = np.einsum("ii->i", K)
    ridge = max(RIDGE * scale, SMALLEST_RIDGE)
    for _ in range(RIDGES):
        diagonal += ridge
        try:
            by_excess, by_one = cho_solve(cho_factor(K, lower=True), right).T
        except LinAlgError:
            ridge *= 100
            continue
        return by_excess - by_one * (by_excess.sum() / by_one.sum())
    return np.zeros_like(excess)
