"""Several cuts an iteration (DivMCuts, paper 004): more planes from more outputs of each example."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..m_best import Asker
from .bundle import Bundle
from .combine import STRATEGIES, Outputs
from .task import Task

#: All ways to combine outputs into planes.
COMBINE = (*STRATEGIES, "greedy", "none")

#: Which reward for each difference "auto" begins with, and how it is changed.
FIRST_DIVERSITY = 0.5
FACTOR = 2.0
RANGE = (2.0**-6, 2.0**6)


class Options(NamedTuple):
    """What the solver says about its cuts."""

    m: int
    combine: str
    diversity: float | str
    reuse_map: bool


class DiverseCuts:
    """Asks for M outputs of each example and makes planes of them.

    Parameters
    ----------
    task : Task
    options : Options
    """

    def __init__(self, task: Task, options: Options):
        most = task.shard.problem.n_outputs
        self.task = task
        self.options = options
        self.asker = Asker(task.shard, options.m if most is None else min(options.m, most))
        self.labels = task.shard.new_labels()
        auto = options.diversity == "auto"
        self.strength = Strength() if auto else None
        self.diversity = FIRST_DIVERSITY if auto else float(options.diversity)

    def ask(self, w: np.ndarray, order: np.ndarray, labels: np.ndarray) -> None:
        """M outputs of the examples of ``order``; the most violated ones into ``labels``."""
        self.asker.ask(w, self.task.mode, self.diversity, order)
        self.asker.take(0, labels, order)

    def add_planes(self, model: Bundle, w: np.ndarray, first: np.ndarray, tol: float) -> None:
        """Add planes to the model, after the most violated one at w, whose g is ``first``."""
        if self.options.combine == "none":
            return
        if self.options.combine == "greedy":
            self._add_greedily(model, tol)
            return
        choose = STRATEGIES[self.options.combine]
        for slots in choose(self._outputs(model, first), self.options.reuse_map):
            self.asker.take(slots, self.labels)
            self._add(model, w)

    def _add_greedily(self, model: Bundle, tol: float) -> None:
        """Each next plane is the one the QP's new solution violates most, of all combinations.

        This tells assignments apart, and it is what a greedy maximisation of the dual over all
        ways to combine the outputs does.
        """
        self.asker.measure(np.zeros_like(model.w))
        for _ in range(1, self.asker.m):
            model.solve(tol)
            shard = self.task.shard
            shard.recall(model.w, self.task.mode, self.asker.outputs, 0, self.labels)
            if not self._add(model, model.w, above=tol):
                return

    def _add(self, model: Bundle, w: np.ndarray, above: float = -np.inf) -> bool:
        """Add the plane of the present labels, unless it is the truth's or too little violated."""
        task = self.task
        g, loss, _ = task.shard.collect(w, task.mode, self.labels)
        g /= task.n
        loss /= task.n
        if loss == 0 or model.violation(g, loss) <= above:
            return False
        model.add(g, loss)
        return True

    def _outputs(self, model: Bundle, first: np.ndarray) -> Outputs:
        """What the strategies look at; equation 6 for the weight of the new planes.

        The median is that of planes with a weight: our QP's zeros are exact, and most weights are
        zero. Before there is any, all are taken to be equal.
        """
        used = model.beta[1:][model.beta[1:] > 0]
        share = float(np.median(used)) if len(used) else 1.0 / self.asker.m
        return Outputs(
            self.asker, self.task.mode, model.w, first, model.N * share, self.task.n
        )

    def learn(self, model: Bundle, n_new: int) -> None:
        """Adapt the strength of an automatic diversity to what the QP made of the new planes."""
        if self.strength is not None and n_new:
            self.diversity = self.strength.next(self.diversity, float(model.beta[-n_new:].sum()))


class Strength:
    """A diversity that goes on in a direction while the QP gives the new planes more weight."""

    def __init__(self) -> None:
        self.direction = 1
        self.last = -1.0

    def next(self, now: float, weight: float) -> float:
        """The strength to try next, given the weight of the planes made with the present one."""
        if weight < self.last:
            self.direction = -self.direction
        self.last = weight
        return float(np.clip(now * FACTOR**self.direction, *RANGE))
