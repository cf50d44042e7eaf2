"""Which outputs of the examples are put together into planes (paper 004).

A strategy looks at up to M outputs of each example, the most violated first, and returns slots
(planes, n): plane p takes output ``slots[p, i]`` of example i. The plane of all first outputs is
the most violated one; it is added anyway, before these.

In the paper's notation, with plane_ik = psi_i(y_ik) and alpha = N beta, equation 14 is

    max_rho  sum_mik a c_ik rho_ik^m - a^2/2 |sum_mik Psi(x_i, y_ik) rho_ik^m|^2

where the same c_ik stands before rho_ik^m of all planes m. So neither part sees which plane takes
an output, only ``u_ik = sum_m rho_ik^m``: how often it is used. When M - 1 planes share M - 1
outputs, each once (14b and 14c), nothing is left to choose. When the first may be used again
(``reuse_map``), one output of each example is left out: that is all these programs decide. And the
quadratic part is concave: the relaxed program has one maximum, not only stationary points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..engine.several_outputs import SeveralOutputs
from ..problem import SLACK

#: The relaxed program is solved until a step can gain no more than this part of its value.
FIRST_ORDER = 1e-3
MOST_STEPS = 50


@dataclass(frozen=True)
class Outputs:
    """The outputs of all examples, and what equation 14 needs to know beside them.

    Attributes
    ----------
    several : SeveralOutputs
        Holds the outputs.
    mode : int
    w : array
        The solution of the QP before the new planes.
    first : array
        g of the most violated plane, divided by n.
    weight_of_new : float
        The paper's alpha-tilde: what weight the new planes are assumed to get.
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
        """Outputs of each example."""
        return self.several.m

    def along(self, v: np.ndarray) -> np.ndarray:
        """<v, plane_ik> (n, M)."""
        margin = self.several.measure(v)
        return self.fill(margin * self.several.outputs.loss if self.mode == SLACK else margin)

    def loss(self) -> np.ndarray:
        """loss_ik (n, M) of outputs that have been measured."""
        return self.fill(self.several.outputs.loss)

    def fill(self, values: np.ndarray) -> np.ndarray:
        """Where an example has fewer outputs its first one takes their place."""
        there = np.arange(self.m) < self.several.outputs.count[:, None]
        return np.where(there, values, values[:, :1])


def order_slots(outputs: Outputs, reuse_map: bool = False) -> np.ndarray:
    """DivMBest-Ordering: the m-th plane takes every example's m-th output."""
    n, m = outputs.several.shard.n, outputs.m
    return np.broadcast_to(np.arange(1, m)[:, None], (m - 1, n))


def ilp_slots(outputs: Outputs, reuse_map: bool = False) -> np.ndarray:
    """DOP1-ILP: equation 14 without its quadratic terms, exactly.

    The constraints 14b and 14c bind the outputs of one example only, so that the program is an
    assignment of outputs to planes for each example.
    """
    from scipy.optimize import linear_sum_assignment

    first = 0 if reuse_map else 1
    gain = linear_terms(outputs)[:, first:]
    slots = np.empty((outputs.m - 1, len(gain)), np.int64)
    for i, row in enumerate(gain):
        _, chosen = linear_sum_assignment(np.tile(row, (outputs.m - 1, 1)), maximize=True)
        slots[:, i] = np.sort(chosen) + first  # all orders are worth the same
    return slots


def linear_terms(outputs: Outputs) -> np.ndarray:
    """c_ik of equation 14 as printed, divided by alpha-tilde, up to a constant for each example.

    As printed: without the 1/n^2 of H, which is lost from equation 10 on, and with the term of
    Psi(X, Y), which the quadratic terms would cancel. Psi(x_i, y_ik) is phi_i(y_i) minus the plane,
    and what does not depend on k is left out.
    """
    a, n = outputs.weight_of_new, outputs.n
    shard = outputs.several.shard
    truth = shard.problem.truth_features(shard.pack)
    v = n * outputs.w + a * n * outputs.first + (outputs.m - 1) * a * truth
    along = outputs.along(v)
    return outputs.loss() / n - along


def relaxed_slots(outputs: Outputs, reuse_map: bool = False) -> np.ndarray:
    """Equation 14 with its quadratic terms and without integrality, then rounded.

    Frank and Wolfe's method over what each example leaves out. Written in planes the terms of
    Psi(X, Y) cancel.
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
    """Rows of zeros with a 1 at the place chosen."""
    return (np.arange(m) == chosen[:, None]).astype(float)


STRATEGIES = {"ordering": order_slots, "ilp": ilp_slots, "relaxed": relaxed_slots}
