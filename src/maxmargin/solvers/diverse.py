"""Several cuts per iteration (DivMCuts), from several outputs per example."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..engine.several_outputs import SeveralOutputs
from ..engine.vectors import Vector
from .bundle import Bundle
from .combine import STRATEGIES, Outputs
from .task import Task

#: All ways to combine outputs into planes.
COMBINE = (*STRATEGIES, "greedy", "none")

#: The values of diversity among which "auto" chooses, and how often it tries another one.
STRENGTHS = (0.0, 0.1, 0.5, 2.0)
TRY_EVERY = 8

#: Default diversity without an m-best decoder: the reduction of a violation per unit of loss.
STEP = 0.1

#: "greedy" adds planes while their violation is above this fraction of the first plane's.
VIOLATED_ENOUGH = 0.1


class Options(NamedTuple):
    """The options of the solver about its cuts."""

    m: int
    combine: str
    diversity: float | str | None
    reuse_map: bool


class DiverseCuts:
    """Finds M outputs per example and makes planes from them.

    Parameters
    ----------
    task : Task
    model : Bundle
        The model to which planes are added.
    options : Options
    """

    #: Not part of a checkpoint: settings, and what every iteration computes again.
    scratch = ("task", "model", "options", "several", "labels")

    def __init__(self, task: Task, model: Bundle, options: Options):
        most = task.shard.problem.n_outputs
        self.task = task
        self.model = model
        self.options = options
        self.several = SeveralOutputs(
            task.shard, options.m if most is None else min(options.m, most)
        )
        self.labels = task.shard.new_labels()
        self.strength = None
        self.diversity = 0.0 if self.several.exact else STEP
        if isinstance(options.diversity, float | int):
            self.diversity = float(options.diversity)
        elif options.diversity == "auto" and self.several.exact:
            self.strength = Strength()
        self.new: list[int] = []

    def ask(self, w: np.ndarray, order: np.ndarray, labels: np.ndarray, bound: np.ndarray) -> None:
        """Find M outputs per example of ``order``; write the most violated ones to ``labels``.

        Their upper bounds are written to ``bound`` (see ``Shard.oracle``).
        """
        self._learn()
        shard, mode = self.task.shard, self.task.mode
        self.several.ask(w, mode, self.diversity, order, bound)
        self.several.take(0, labels, order)
        if shard.bounded and self.several.exact:  # m_best gives no bounds
            shard.oracle(w, mode, labels, order, bound)

    def add_planes(self, w: np.ndarray, first: Vector, violation: float, tol: float) -> None:
        """Add more planes to the model, after ``first``, the most violated plane at w.

        ``violation`` is that of the first plane; QPs are solved to the precision ``tol``.
        """
        self.new = []
        if self.options.combine == "greedy":
            self._add_greedily(violation, tol)
        elif self.options.combine != "none":
            choose = STRATEGIES[self.options.combine]
            for slots in choose(self._outputs(first), self.options.reuse_map):
                self.several.take(slots, self.labels)
                self._add(w)

    def _add_greedily(self, violation: float, tol: float) -> None:
        """Add the plane that is most violated at the new solution of the QP, of all combinations.

        Unlike equation 14, this depends on the assignment of outputs to planes. It is a greedy
        maximisation of the dual over all combinations of outputs.
        """
        model, shard = self.model, self.task.shard
        self.several.measure(np.zeros_like(model.w))
        enough = max(tol, VIOLATED_ENOUGH * violation)
        for _ in range(1, self.several.m):
            model.solve(tol)
            shard.recall(model.w, self.task.mode, self.several.outputs, 0, self.labels)
            if not self._add(model.w, above=enough):
                return

    def _add(self, w: np.ndarray, above: float = -np.inf) -> bool:
        """Add the plane of the current labels if it is violated by more than ``above``."""
        task = self.task
        plane, loss, _ = task.shard.cut(w, task.mode, self.labels, 1.0 / task.n)
        loss /= task.n
        if loss == 0 or self.model.violation(plane, loss) <= above:
            return False
        self.model.add(plane, loss)
        self.new.append(int(self.model.number[-1]))
        return True

    def _outputs(self, first: Vector) -> Outputs:
        """The input of the strategies, with the weight of the new planes from equation 6.

        The median is over planes with a positive weight, because the zeros of our QP are exact and
        most weights are zero. If all are zero, equal weights are assumed.
        """
        model = self.model
        used = model.beta[1:][model.beta[1:] > 0]
        share = float(np.median(used)) if len(used) else 1.0 / self.several.m
        g = first.dense(len(model.w))
        return Outputs(self.several, self.task.mode, model.w, g, model.N * share, self.task.n)

    def _learn(self) -> None:
        """Report the weights of the last planes in the QP to the automatic strength."""
        if self.strength is None or not self.new:
            return
        mine = np.isin(self.model.number, self.new)
        self.strength.learn(float(self.model.beta[mine].sum()))
        self.diversity = self.strength.now
        self.new = []


class Strength:
    """Chooses the diversity whose planes get the largest weights in the QP.

    Each value is tried once. Then the best so far is used, and every few times another one. The
    choice depends on the weights only, so that runs are reproducible.
    """

    def __init__(self) -> None:
        self.weight = np.full(len(STRENGTHS), np.inf)
        self.times = 0
        self.chosen = 0

    @property
    def now(self) -> float:
        """The current diversity."""
        return STRENGTHS[self.chosen]

    def learn(self, weight: float) -> None:
        """Update the running average of the weight, and choose again."""
        old = self.weight[self.chosen]
        self.weight[self.chosen] = weight if np.isinf(old) else 0.7 * old + 0.3 * weight
        self.times += 1
        self.chosen = int(np.argmax(self.weight))
        if self.times % TRY_EVERY == 0:
            self.chosen = self.times // TRY_EVERY % len(STRENGTHS)
