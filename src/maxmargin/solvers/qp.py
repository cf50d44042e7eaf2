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
    for _ in range(100 + 30 * len(beta)):
        value = loss - N * (G @ beta)
        level = float(value @ beta)
        if np.abs(value[free] - level).max() > max(0.1 * tol, rounding):
            before = free.copy()
            moved = _move(G, N, beta, free, value - level)
            # A cut that left the support before anything moved must not enter again (cycling).
            hopeless = np.zeros_like(free) if moved else hopeless | (before & ~free)
            continue
        excess = np.where(free | hopeless, -np.inf, value - level)
        worst = int(np.argmax(excess))
        if excess[worst] <= max(tol, rounding):
            break
        free[worst] = True
    return beta / beta.sum()


def _move(G: np.ndarray, N: float, beta: np.ndarray, free: np.ndarray, excess: np.ndarray) -> bool:
    """One Newton step on the support, as far as the simplex allows, in place.

    The ridge makes it a proximal step, which changes the path but not the solution. Entries that
    become 0 leave the support. Returns whether beta changed.
    """
    K = N * G[np.ix_(free, free)]
    diagonal = np.einsum("ii->i", K)
    ridge = RIDGE * (N * np.trace(G) / len(G) or 1.0)
    right = np.column_stack([excess[free], np.ones(len(K))])
    while True:
        diagonal += ridge
        try:
            by_excess, by_one = cho_solve(cho_factor(K, lower=True), right).T
            break
        except LinAlgError:
            ridge *= 100
    direction = by_excess - by_one * (by_excess.sum() / by_one.sum())
    inside = beta[free]
    room = np.full(len(inside), np.inf)
    falls = direction < 0
    room[falls] = -inside[falls] / direction[falls]
    step = min(1.0, room.min())
    inside = np.where(room <= step, 0.0, inside + step * direction)
    beta[free] = inside / inside.sum()
    free[free] = inside > 0
    return bool(step > 0)
