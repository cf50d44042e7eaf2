"""The smallest solver, with a certificate.

It takes Frank-Wolfe steps on the dual. Every solver is a frozen dataclass of options that derives
from ``mm.Solver``. Each iteration here is one pass of the oracle over all examples. It finds the
most violated outputs at w, their cut (g, l), and with them P(w). The dual point behind w then moves
towards this cut, as far as is best.

A package makes its solver known by name with two lines in its ``pyproject.toml``; an object such as
``ToySolver()`` needs none::

    [project.entry-points."maxmargin.solvers"]
    toy = "toy_solver:ToySolver"
"""

from dataclasses import dataclass

import numpy as np

import maxmargin as mm
from maxmargin.objective import dual, primal
from maxmargin.solvers.base import State


@dataclass
class ToyState(State):
    """Everything that changes during training, so that a checkpoint can save it."""

    w: np.ndarray  # w(alpha) of a feasible dual point
    loss: float  # sum_ir weight_i alpha_ir loss_ir of the same point
    labels: np.ndarray  # the most violated outputs at w


@dataclass(frozen=True)
class ToySolver(mm.Solver):
    """Frank-Wolfe over all examples at once (Lacoste-Julien et al., 2013, algorithm 2)."""

    name = "toy"

    def loops(self, task):
        """The compiled passes that it calls."""
        return ("decode", "collect")

    def init(self, task):
        """w = 0: all dual variables are those of the truth."""
        return ToyState(np.zeros(task.shard.pack.dim), 0.0, task.shard.new_labels())

    def step_once(self, task, state):
        """One pass: the point, its primal value, and a dual value."""
        shard, w, C = task.shard, state.w, task.C
        shard.oracle(w, task.mode, state.labels, shard.everyone)
        g, loss, hinge = shard.collect(w, task.mode, state.labels)
        found = w, primal(w, shard.pack.weight @ hinge, C), dual(w, state.loss, C)

        direction = C * g - w
        slope, curvature = C * (loss - state.loss) - w @ direction, direction @ direction
        step = min(1.0, max(0.0, slope / curvature)) if curvature > 0 else 0.0
        state.w = w + step * direction
        state.loss += step * (loss - state.loss)
        return found

    def planes(self, state):
        """It keeps no working set."""
        return 0


if __name__ == "__main__":
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    for solver in (ToySolver(), "sdm"):
        result = mm.MulticlassSVC(C=0.01, solver=solver).fit(X, y).result_
        name = getattr(solver, "name", solver)
        print(f"{name}: {result.n_iter} iterations, the optimum lies between", end=" ")
        print(f"{result.dual:.4f} and {result.primal:.4f}")
