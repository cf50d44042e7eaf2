"""Several cuts an iteration (DivMCuts, paper 004): more planes, from more outputs."""

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

#: The rewards for each difference among which "auto" chooses, and how often it tries another.
STRENGTHS = (0.0, 0.1, 0.5, 2.0)
TRY_EVERY = 8

#: Without a decoder for several outputs: how much of its loss a step takes from a violation.
STEP = 0.1

#: Greedily, planes are added while they are violated by this part of the first one.
VIOLATED_ENOUGH = 0.1


class Options(NamedTuple):
    """What the solver says about its cuts."""

    m: int
    combine: str
    diversity: float | str | None
    reuse_map: bool


class DiverseCuts:
    """Asks for M outputs of each example and makes planes of them.

    Parameters
    ----------
    task : Task
    model : Bundle
        Where the planes go.
    options : Options
    """

    #: Not part of a checkpoint: settings, and what every iteration asks for anew.
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

    def ask(self, w: np.ndarray, order: np.ndarray, labels: np.ndarray) -> None:
        """M outputs of the examples of ``order``; the most violated ones into ``labels``."""
        self._learn()
        self.several.ask(w, self.task.mode, self.diversity, order)
        self.several.take(0, labels, order)

    def add_planes(self, w: np.ndarray, first: Vector, violation: float, tol: float) -> None:
        """Add planes to the model, after the most violated one at w, which is ``first``.

        ``violation`` is that of the first plane; QPs on the way are solved to ``tol``.
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
        """Each next plane is the one the QP's new solution violates most, of all combinations.

        This tells assignments apart, and it is what a greedy maximisation of the dual over all
        ways to combine the outputs does.
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
        """Add the plane of the present labels, unless it is the truth's or too little violated."""
        task = self.task
        plane, loss, _ = task.shard.cut(w, task.mode, self.labels, 1.0 / task.n)
        loss /= task.n
        if loss == 0 or self.model.violation(plane, loss) <= above:
            return False
        self.model.add(plane, loss)
        self.new.append(int(self.model.number[-1]))
        return True

    def _outputs(self, first: Vector) -> Outputs:
        """What the strategies look at; equation 6 for the weight of the new planes.

        The median is that of planes with a weight: our QP's zeros are exact, and most weights are
        zero. Before there is any, all are taken to be equal.
        """
        model = self.model
        used = model.beta[1:][model.beta[1:] > 0]
        share = float(np.median(used)) if len(used) else 1.0 / self.several.m
        g = first.dense(len(model.w))
        return Outputs(self.several, self.task.mode, model.w, g, model.N * share, self.task.n)

    def _learn(self) -> None:
        """Tell an automatic strength what weight the planes have that were made with it."""
        if self.strength is None or not self.new:
            return
        mine = np.isin(self.model.number, self.new)
        self.strength.learn(float(self.model.beta[mine].sum()))
        self.diversity = self.strength.now
        self.new = []


class Strength:
    """An automatic diversity: that one whose planes the QP gives most weight, of a few.

    Each is tried in turn; then the best so far, with another every few times. It depends on
    nothing but the weights, so that runs repeat exactly.
    """

    def __init__(self) -> None:
        self.weight = np.full(len(STRENGTHS), np.inf)
        self.times = 0
        self.chosen = 0

    @property
    def now(self) -> float:
        """The strength to use."""
        return STRENGTHS[self.chosen]

    def learn(self, weight: float) -> None:
        """Remember the weight as a running average, and choose again."""
        old = self.weight[self.chosen]
        self.weight[self.chosen] = weight if np.isinf(old) else 0.7 * old + 0.3 * weight
        self.times += 1
        self.chosen = int(np.argmax(self.weight))
        if self.times % TRY_EVERY == 0:
            self.chosen = self.times // TRY_EVERY % len(STRENGTHS)
