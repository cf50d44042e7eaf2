"""Pairwise models by HiGHS: the best labelling and the relaxation to the local polytope.

Plain Python and a general solver: for small graphs, and for comparisons. A label of a node and a
pair of labels of an edge are variables z >= 0; the variables of a node sum to 1, and those of an
edge sum to the variables of its ends. Whole solutions are the labellings; without the condition to
be whole this is the local polytope.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def exact_labelling(unary: Any, edges: Any, pair: Any) -> tuple[np.ndarray, float]:
    """The best labelling and its value.

    Parameters
    ----------
    unary : array (n, K)
    edges : integer array (m, 2)
    pair : array (m, K, K)
        As in ``maximise``, checked.

    Returns
    -------
    labels : int32 array (n,)
    bound : float
        The upper bound on the maximum that HiGHS has proven.
    """
    from scipy.optimize import LinearConstraint, milp

    n, K = unary.shape
    scores, A, b = local_polytope(unary, edges, pair)
    whole = np.arange(len(scores)) < n * K  # pairs follow from the labels
    found = milp(-scores, integrality=whole, constraints=LinearConstraint(A, b, b))
    labels = found.x[: n * K].reshape(n, K).argmax(axis=1).astype(np.int32)
    value = unary[np.arange(n), labels].sum()
    value += pair[np.arange(len(edges)), labels[edges[:, 0]], labels[edges[:, 1]]].sum()
    return labels, float(max(value, -found.mip_dual_bound))


def relaxation(unary: Any, edges: Any, pair: Any) -> tuple[float, np.ndarray]:
    """The optimum of the relaxation to the local polytope, and the variables of nodes (n, K)."""
    from scipy.optimize import linprog

    scores, A, b = local_polytope(unary, edges, pair)
    found = linprog(-scores, A_eq=A, b_eq=b, bounds=(0, None))
    return -found.fun, found.x[: unary.size].reshape(unary.shape)


def local_polytope(unary: Any, edges: Any, pair: Any) -> tuple[np.ndarray, Any, np.ndarray]:
    """Scores of all variables, and matrix and right-hand sides of the equations."""
    (n, K), m = unary.shape, len(edges)
    blocks = [[sp.kron(sp.eye_array(n), np.ones((1, K))), None]]
    for side in range(2):
        rows, columns = np.divmod(np.arange(m * K), K)
        ends = sp.csr_array(
            (np.ones(m * K), (np.arange(m * K), edges[rows, side] * K + columns)), (m * K, n * K)
        )
        sums = (
            np.kron(np.eye(K), np.ones((1, K)))
            if side == 0
            else np.kron(np.ones((1, K)), np.eye(K))
        )
        blocks.append([-ends, sp.kron(sp.eye_array(m), sums)])
    if m == 0:
        blocks = [[blocks[0][0]]]
    right = np.concatenate([np.ones(n), np.zeros(2 * m * K)])
    return (
        np.concatenate([unary.ravel(), pair.ravel()]),
        sp.csr_array(sp.block_array(blocks)),
        right,
    )
