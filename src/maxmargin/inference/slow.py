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

from ..errors import ProblemError


def exact_labelling(unary: Any, edges: Any, pair: Any) -> tuple[np.ndarray, float]:
    """The best labelling, and the upper bound on the maximum that HiGHS has proven.

    A ``decode`` in plain Python can call it: with ``model = check_model(unary, edges, pair)``,
    ``y[:] = exact_labelling(*model)[0]``.

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
    """
    from scipy.optimize import LinearConstraint, milp

    n, K = unary.shape
    scores, A, b = local_polytope(unary, edges, pair)
    whole = np.arange(len(scores)) < n * K  # pairs follow from the labels
    equations, options = LinearConstraint(A, b, b), {"mip_rel_gap": 0.0}
    found = milp(-scores, integrality=whole, constraints=equations, options=options)
    if found.x is None:
        raise ProblemError(f"HiGHS found no labelling: {found.message}")
    labels = highest_labels(found.x[: n * K].reshape(n, K))
    return labels, max(value_of(unary, edges, pair, labels), -float(found.mip_dual_bound))


def relaxation(unary: Any, edges: Any, pair: Any) -> tuple[float, np.ndarray]:
    """The optimum of the relaxation to the local polytope, and the variables of nodes (n, K)."""
    from scipy.optimize import linprog

    scores, A, b = local_polytope(unary, edges, pair)
    found = linprog(-scores, A_eq=A, b_eq=b, bounds=(0, None))
    if found.x is None:
        raise ProblemError(f"HiGHS did not solve the relaxation: {found.message}")
    return -float(found.fun), found.x[: unary.size].reshape(unary.shape)


def highest_labels(nodes: np.ndarray) -> np.ndarray:
    """The label of the largest variable of each node, int32."""
    return nodes.argmax(axis=1).astype(np.int32)


def value_of(unary: Any, edges: Any, pair: Any, labels: np.ndarray) -> float:
    """The value of a labelling."""
    pairs = pair[np.arange(len(edges)), labels[edges[:, 0]], labels[edges[:, 1]]]
    return float(unary[np.arange(len(labels)), labels].sum() + pairs.sum())


def local_polytope(unary: Any, edges: Any, pair: Any) -> tuple[np.ndarray, Any, Any]:
    """Scores of all variables, and matrix and right-hand sides of the equations."""
    (n, K), m = unary.shape, len(edges)
    scores = np.concatenate([unary.ravel(), pair.ravel()])
    right = np.concatenate([np.ones(n), np.zeros(2 * m * K)])
    nodes = sp.kron(sp.eye_array(n), np.ones((1, K)))
    if m == 0:
        return scores, sp.csr_array(nodes), right
    over_second, over_first = np.kron(np.eye(K), np.ones((1, K))), np.tile(np.eye(K), K)
    blocks = [[nodes, None]]
    for side, sums in enumerate((over_second, over_first)):
        which = edges[:, side, None] * K + np.arange(K)
        ends = sp.csr_array((np.ones(m * K), which.ravel(), np.arange(m * K + 1)), (m * K, n * K))
        blocks.append([-ends, sp.kron(sp.eye_array(m), sums)])
    return scores, sp.csr_array(sp.block_array(blocks)), right
