"""The QP over the bundle of cuts: a small dense concave maximum over the simplex.

    maximise   l.beta - N/2 beta' G beta      over beta >= 0, sum(beta) = 1

An active-set method in the manner of Wolfe's nearest-point algorithm: solve the QP on the support
as if nothing else existed, step back to the simplex where the solution leaves it, and bring in the
cut that is violated most. It starts from the last solution (one new cut means few changes), stops
as soon as no cut is violated by more than ``tol``, and its zeros are exact.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

#: Added to the diagonal, relative to its mean: the Gram matrix of cuts becomes singular.
RIDGE = 1e-13


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
        A point of the simplex to start from.
    tol : float
        No cut may be violated by more, relative to the cuts of the support.

    Returns
    -------
    array (m,)
        A point of the simplex whose objective is within ``tol`` of the maximum.
    """
    beta = beta.copy()
    free = beta > 0
    worst = -1
    for _ in range(50 + 20 * len(loss)):
        target = _solve_free(G, loss, N, free)
        while target[free].min() <= 0:
            _step_back(beta, free, target)
            target = _solve_free(G, loss, N, free)
        if worst >= 0 and not free[worst]:
            break  # it left at once: the rest is rounding
        beta = target
        value = loss - N * (G @ beta)
        worst = int(np.argmax(np.where(free, -np.inf, value)))
        if free.all() or value[worst] - value @ beta <= tol:
            break
        free[worst] = True
    return beta / beta.sum()


def _solve_free(G: np.ndarray, loss: np.ndarray, N: float, free: np.ndarray) -> np.ndarray:
    """The maximum over sum(beta) = 1 and beta = 0 outside ``free``, signs ignored."""
    K = N * G[np.ix_(free, free)]
    diagonal = np.einsum("ii->i", K)
    ridge = RIDGE * (N * np.trace(G) / len(G) or 1.0)
    right = np.column_stack([loss[free], np.ones(len(K))])
    while True:
        diagonal += ridge
        try:
            by_loss, by_one = cho_solve(cho_factor(K, lower=True), right).T
            break
        except LinAlgError:
            ridge *= 100
    beta = np.zeros(len(loss))
    beta[free] = by_loss - by_one * ((by_loss.sum() - 1) / by_one.sum())
    return beta


def _step_back(beta: np.ndarray, free: np.ndarray, target: np.ndarray) -> None:
    """Move beta towards target as far as the simplex allows; what reaches 0 leaves the support."""
    falls = free & (target <= 0)
    ratio = np.full(len(beta), np.inf)
    fall = np.maximum(beta[falls] - target[falls], np.finfo(float).tiny)
    ratio[falls] = beta[falls] / fall
    step = ratio.min()
    beta[free] += step * (target[free] - beta[free])
    gone = ratio <= step
    beta[gone] = 0.0
    free[gone] = False
