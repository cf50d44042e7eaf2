"""Combination of the outputs of examples into planes, as in the DivMCuts paper.

A strategy uses up to M outputs per example, the most violated first, and returns slots (planes, n):
plane p consists of the outputs ``slots[p, i]`` of examples i. The plane of all first outputs is the
most violated one; it is always added, before these.

In the paper's notation, with plane_ik = psi_i(y_ik) and alpha = N beta, equation 14 is

    max_rho  sum_mik a c_ik rho_ik^m - a^2/2 |sum_mik Psi(x_i, y_ik) rho_ik^m|^2

where c_ik is the same for all planes m. So the objective does not depend on which plane uses an
output, only on ``u_ik = sum_m rho_ik^m``, the number of times it is used. If M - 1 planes use
M - 1 outputs once each (14b and 14c), there is nothing to choose. If the first output may be used
again (``reuse_map``), one output of each example is left out, and this is all that the programs
decide. The quadratic part is concave, so the relaxed program has a global maximum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..engine.several_outputs import SeveralOutputs
from ..problem import SLACK

#: Stop the relaxed program when a step can gain at most this fraction of its value.
FIRST_ORDER = 1e-3
MOST_STEPS = 50


@dataclass(frozen=True)
class Outputs:
    """The outputs of all examples, and the other quantities in equation 14.

    Attributes
    ----------
    several : SeveralOutputs
        The outputs.
    mode : int
    w : array (dim,)
        The solution of the QP before the new planes.
    first : array (dim,)
        g of the most violated plane, divided by n.
    weight_of_new : float
        Assumed weight of the new planes (alpha-tilde in the paper).
    n : float
    """

    several: SeveralOutputs
    mode: int
    w: np.ndarray
    first: np.ndarray
    weight_of_new: float
    n: float

    @property
    def m(self) -> int:
        """Maximum number of outputs per example."""
        return self.several.m

    def along(self, v: np.ndarray) -> np.ndarray:
        """<v, plane_ik> (n, M)."""
        margin = self.several.measure(v)
        return self.fill(margin * self.several.outputs.loss if self.mode == SLACK else margin)

    def loss(self) -> np.ndarray:
        """loss_ik (n, M) of outputs that have been measured."""
        return self.fill(self.several.outputs.loss)

    def fill(self, values: np.ndarray) -> np.ndarray:
        """Replace the values of missing outputs by those of the first output."""
        there = np.arange(self.m) < self.several.outputs.count[:, None]
        return np.where(there, values, values[:, :1])


def order_slots(outputs: Outputs, reuse_map: bool = False) -> np.ndarray:
    """DivMBest-Ordering: the m-th plane consists of the m-th outputs of all examples."""
    n, m = outputs.several.shard.n, outputs.m
    return np.broadcast_to(np.arange(1, m)[:, None], (m - 1, n))


def ilp_slots(outputs: Outputs, reuse_map: bool = False) -> np.ndarray:
    """DOP1-ILP: the exact solution of equation 14 without its quadratic terms.

    The constraints 14b and 14c concern the outputs of one example only, so the program is an
    assignment of outputs to planes per example.
    """
    from scipy.optimize import linear_sum_assignment

    first = 0 if reuse_map else 1
    gain = linear_terms(outputs)[:, first:]
    slots = np.empty((outputs.m - 1, len(gain)), np.int64)
    for i, row in enumerate(gain):
        _, chosen = linear_sum_assignment(np.tile(row, (outputs.m - 1, 1)), maximize=True)
        slots[:, i] = np.sort(chosen) + first  # all orders have the same value
    return slots


def linear_terms(outputs: Outputs) -> np.ndarray:
    """c_ik of equation 14 as printed, divided by alpha-tilde, up to a constant for each example.

    As printed means without the factor 1/n^2 of H, which the paper drops from equation 10 on, and
    with the term of Psi(X, Y), which the quadratic terms would cancel. Psi(x_i, y_ik) is phi_i(y_i)
    minus the plane; terms that do not depend on k are omitted.
    """
    a, n = outputs.weight_of_new, outputs.n
    shard = outputs.several.shard
    truth = shard.problem.truth_features(shard.pack)
    v = n * outputs.w + a * n * outputs.first + (outputs.m - 1) * a * truth
    along = outputs.along(v)
    return outputs.loss() / n - along


def relaxed_slots(outputs: Outputs, reuse_map: bool = False) -> np.ndarray:
    """Equation 14 with its quadratic terms, without integrality; the solution is rounded.

    The variables are the outputs that each example leaves out; the method is Frank-Wolfe. The terms
    of Psi(X, Y) cancel if the objective is written in terms of planes.
    """
    if not reuse_map:
        return order_slots(outputs)
    a, n, shard = outputs.weight_of_new, outputs.n, outputs.several.shard
    v = n * outputs.w + a * n * outputs.first
    linear = -outputs.along(v)
    linear += outputs.loss() / n
    weight = shard.pack.weight[:, None]
    out = one_hot(linear.argmin(axis=1), outputs.m)
    total = outputs.several.sum(outputs.mode, 1.0 - out)
    for _ in range(MOST_STEPS):
        slope = linear - a * outputs.along(total)
        corner = one_hot(slope.argmin(axis=1), outputs.m)
        gain = float((weight * slope * (out - corner)).sum())
        if gain <= FIRST_ORDER * abs(float((weight * slope * (1.0 - out)).sum())):
            break
        change = outputs.several.sum(outputs.mode, out - corner)
        curvature = a * float(change @ change)
        step = 1.0 if curvature <= gain else gain / curvature
        out, total = out + step * (corner - out), total + step * change
    rounded = out.argmax(axis=1)
    kept = np.arange(outputs.m) != rounded[:, None]
    return np.nonzero(kept)[1].reshape(-1, outputs.m - 1).T


def one_hot(chosen: np.ndarray, m: int) -> np.ndarray:
    """Rows of zeros with a 1 at the chosen position (n, m)."""
    return (np.arange(m) == chosen[:, None]).astype(float)


STRATEGIES = {"ordering": order_slots, "ilp": ilp_slots, "relaxed": relaxed_slots}
