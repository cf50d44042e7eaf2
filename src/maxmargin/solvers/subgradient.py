"""Stochastic subgradient descent: Pegasos (Shalev-Shwartz et al., 2007) with averaging.

Step t adds the planes of a batch of examples to w with the step size 1/t. With these step sizes w
is, after every complete pass, C times the average of the cuts of all passes: the dual variables of
example i are the relative frequencies with which each output was the most violated one. This is a
feasible point of the dual, so even this baseline has a certificate, although its gap closes
slowly.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from ..engine.bounds import Hinge
from ..engine.sparse import blend
from ..errors import DataError
from ..objective import dual
from .base import Solver, State, Step, certified
from .checking import close, require
from .signs import check_clipped, clip
from .task import Task


class Batches:
    """The examples in random order, one batch per step of a pass."""

    #: Not part of a checkpoint, because each pass sets them again.
    scratch = ("task", "labels", "parts")

    def __init__(self, task: Task):
        self.task = task
        self.labels = task.shard.new_labels()
        self.parts: list[np.ndarray] = []

    def shuffle(self, n_steps: int) -> None:
        """Start a pass: divide the examples into ``n_steps`` random batches."""
        self.parts = np.array_split(self.task.random.permutation(self.task.shard.n), n_steps)

    def cut(self, w: np.ndarray, step: int) -> tuple[np.ndarray, float]:
        """The cut ``(g, l)`` of the batch of a step."""
        shard, mode, part = self.task.shard, self.task.mode, self.parts[step]
        shard.oracle(w, mode, self.labels, part)
        g, loss, _ = shard.collect(w, mode, self.labels, part)
        return g, loss

    def hinge(self, w: np.ndarray, order: np.ndarray | None = None) -> Hinge:
        """sum_i weight_i H_i(w) over the examples of ``order``, by default all."""
        return self.task.shard.hinge(w, self.task.mode, order)


@dataclass
class SubgradientState(State):
    """w after ``t`` steps, its average, and the sum of the losses of its planes.

    ``below`` is what sign constraints have clipped of w (``signs.py``).
    """

    w: np.ndarray
    average: np.ndarray
    below: np.ndarray
    batches: Batches
    t: int = 0
    loss: float = 0.0
    dual: float = 0.0  # D at this w; checked when a checkpoint is read
    passes: int = 0
    next_look: int = 1

    def check_restored(self, task: Task) -> None:
        """D agrees with the last w."""
        value = self.loss / max(self.t, 1)
        found = dual(self.w, value, task.C)
        require(close(found, self.dual, task.C * value), "D does not agree with w")
        check_clipped(self.w, self.below, task.shard.positive)


@dataclass(frozen=True)
class Subgradient(Solver):
    """Stochastic subgradient descent, for every problem and both rescalings: a baseline.

    Parameters
    ----------
    batch : int, optional
        Number of examples per step. By default 1 if w is short. The cost of a step is proportional
        to the length of w, so with millions of weights there are about 50 steps per pass.
    """

    batch: int | None = None

    name = "subgradient"
    for_bounds = True
    for_signs = True

    def __post_init__(self) -> None:
        if self.batch is not None and self.batch < 1:
            raise DataError(f"batch must be a number of examples >= 1, got {self.batch}")

    def loops(self, task: Task) -> tuple[str, ...]:
        """The compiled passes it calls."""
        return ("decode", "collect")

    def warm_up(self, task: Task) -> float:
        """Compile the function that updates w; returns the seconds."""
        start = time.perf_counter()
        blend(np.zeros(1), np.zeros(1), 0.0)
        return time.perf_counter() - start

    def init(self, task: Task) -> SubgradientState:
        """w = 0."""
        dim = task.shard.pack.dim
        below = np.zeros(len(task.shard.positive))
        return SubgradientState(np.zeros(dim), np.zeros(dim), below, self.batches(task))

    def batches(self, task: Task) -> Batches:
        """The object that makes cuts."""
        return Batches(task)

    def step_once(self, task: Task, state: SubgradientState) -> Step:
        """A pass over the examples in random order."""
        shard = task.shard
        n_steps = -(-shard.n // self._batch(task))
        with task.share("oracle"):
            state.batches.shuffle(n_steps)
            for number in range(n_steps):
                state.t += 1
                g, loss = state.batches.cut(state.w, number)
                g *= task.C * n_steps
                self._move(task, state, g)
                blend(state.average, state.w, 2.0 / (state.t + 1))
                state.loss += n_steps * loss
        state.passes += 1
        value = state.dual = dual(state.w, state.loss / state.t, task.C)
        if state.passes < state.next_look and not task.last:
            return None, np.inf, value
        state.next_look = int(1.3 * state.passes) + 1
        with task.share("certificate"):
            hinge = state.batches.hinge(state.average)
        return certified(task, state.average, hinge, value)

    def _move(self, task: Task, state: SubgradientState, g: np.ndarray) -> None:
        """w = (1 - 1/t) w + (1/t) g, before sign constraints clip it."""
        positive = task.shard.positive
        if len(positive):
            state.w[positive] += state.below
        blend(state.w, g, 1.0 / state.t)
        if len(positive):
            state.below = clip(state.w, positive)

    def hinge_at(
        self, task: Task, state: SubgradientState, w: np.ndarray, order: np.ndarray | None = None
    ) -> Hinge:
        """sum_i weight_i H_i(w)."""
        return state.batches.hinge(w, order)

    def planes(self, state: SubgradientState) -> int:
        """Always 0: no planes are kept."""
        return 0

    def _batch(self, task: Task) -> int:
        if self.batch is not None:
            return self.batch
        shard = task.shard
        affordable = 10 * shard.pack.width  # about the number of weights that a visit uses
        return max(1, min(shard.pack.dim // affordable, -(-shard.n // 50)))
