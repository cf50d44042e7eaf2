"""Stochastic subgradient descent: Pegasos (Shalev-Shwartz et al., 2007) with averaging.

Step t adds the planes of a batch of examples to w with the step size 1/t. With these steps w is,
after every whole pass, C times the average of the cuts of all passes: the dual variables of example
i are how often each output was its most violated one. That is a feasible point of the dual, so even
this baseline has a certificate, though its gap closes slowly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import DataError
from ..linalg import blend
from ..objective import dual, primal
from .task import Task


@dataclass
class SubgradientState:
    """w after ``t`` steps, its average, and the losses of the planes it is made of."""

    w: np.ndarray
    average: np.ndarray
    labels: np.ndarray
    t: int = 0
    loss: float = 0.0
    passes: int = 0
    next_look: int = 1


@dataclass(frozen=True)
class Subgradient:
    """Stochastic subgradient descent, for every problem and both rescalings: a baseline.

    Parameters
    ----------
    batch : int, optional
        Examples in a step. By default 1 where w is short; a step costs as much as w is long, so
        with millions of weights there are about 50 steps in a pass.
    """

    batch: int | None = None

    name = "subgradient"

    def __post_init__(self) -> None:
        if self.batch is not None and self.batch < 1:
            raise DataError(f"batch is a number of examples >= 1, got {self.batch}")

    def loops(self, task: Task) -> tuple[str, ...]:
        """The loops it calls."""
        return ("decode", "collect")

    def init(self, task: Task) -> SubgradientState:
        """w = 0."""
        dim = task.shard.pack.dim
        return SubgradientState(np.zeros(dim), np.zeros(dim), task.shard.new_labels())

    def step_once(
        self, task: Task, state: SubgradientState
    ) -> tuple[np.ndarray | None, float, float]:
        """A pass over the examples in random order."""
        shard = task.shard
        n_steps = -(-shard.n // self._batch(task))
        with task.share("oracle"):
            order = task.random.permutation(shard.n)
            for part in np.array_split(order, n_steps):
                state.t += 1
                shard.oracle(state.w, task.mode, state.labels, part)
                g, loss, _ = shard.collect(state.w, task.mode, state.labels, part)
                # w = (1 - 1/t) w + (1/t) C n_steps g
                g *= task.C * n_steps
                blend(state.w, g, 1.0 / state.t)
                blend(state.average, state.w, 2.0 / (state.t + 1))
                state.loss += n_steps * loss
        state.passes += 1
        value = dual(state.w, state.loss / state.t, task.C)
        if state.passes < state.next_look and not task.last:
            return None, np.inf, value
        state.next_look = int(1.3 * state.passes) + 1
        with task.share("certificate"):
            shard.oracle(state.average, task.mode, state.labels, shard.everyone)
            hinge = shard.collect(state.average, task.mode, state.labels)[2]
        weight = shard.pack.weight
        return state.average, primal(state.average, float(weight @ hinge), task.C), value

    def planes(self, state: SubgradientState) -> int:
        """It keeps none."""
        return 0

    def _batch(self, task: Task) -> int:
        if self.batch is not None:
            return self.batch
        shard = task.shard
        affordable = 10 * shard.pack.width  # weights that a visit could touch, roughly
        return max(1, min(shard.pack.dim // affordable, -(-shard.n // 50)))
