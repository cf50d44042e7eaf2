"""One-slack and subgradient over several shards: their cuts are sums of the workers' cuts.

Both keep nothing beside the examples that they could not do without (caches, a random order), so
that a lost worker costs its part of one cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..engine.vectors import Plane
from ..errors import DataError
from ..solvers.cuts import Cut
from ..solvers.dual import DualSolver
from ..solvers.one_slack import OneSlack
from ..solvers.subgradient import Subgradient
from ..solvers.task import Task
from .cocoa import CoCoA, crew_of
from .draws import random_states
from .vectors import Vector, total

#: Steps in a pass of subgradient descent, at the most: each of them sends w.
STEPS = 50


def distribute(solver: Any) -> Any:
    """The solver that does the same over the shards of a crew."""
    for local, shared in ((OneSlack, SharedOneSlack), (Subgradient, SharedSubgradient)):
        if type(solver) is local:
            return shared(**{field.name: getattr(solver, field.name) for field in fields(solver)})
    if isinstance(solver, DualSolver):
        return CoCoA(solver)
    raise DataError(
        f"{type(solver).__name__} cannot be distributed: use 'sdm', 'bcfw', 'n-slack', 'one-slack' "
        "or 'subgradient', or train without backend="
    )


@dataclass(frozen=True)
class SharedOneSlack(OneSlack):
    """One-slack whose cuts are made by workers."""

    def cut_maker(self, task: Task, model: Any) -> Any:
        """Where the cuts come from."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return SharedCuts(task, OneSlack(**own))


class SharedCuts:
    """Cuts that are sums over the workers; the caches are theirs."""

    diverse = None
    #: Not part of a solver's state.
    scratch = ("task", "crew", "sum")

    def __init__(self, task: Task, solver: OneSlack):
        if solver.m_cuts > 1:
            raise DataError("workers make one cut an iteration: m_cuts is for one machine")
        self.task, self.crew = task, crew_of(task)
        self.sum = np.zeros(self.crew.pack.dim)
        begin_all(task, solver, "begin_cuts")

    def attempts(self, w: np.ndarray) -> Iterator[Cut]:
        """Cuts at w, each better founded and more expensive than the one before."""
        first = True
        while True:
            with self.task.share("oracle"):
                cut = self._sum(self.crew.call("next_cut", first, w=w if first else None))
            first = False
            yield cut
            if cut.complete:
                return

    def _sum(self, cuts: list[Cut]) -> Cut:
        """The workers divide by their own n; together it is the n of all."""
        if len(cuts) == 1:
            return cuts[0]
        loss = hinge = 0.0
        for part, cut in zip(self.crew.parts, cuts, strict=True):
            cut.plane.add_to(self.sum, part)
            loss += part * cut.loss
            hinge += part * cut.hinge
        return Cut(Plane.take(self.sum), loss, hinge, all(cut.complete for cut in cuts))


@dataclass(frozen=True)
class SharedSubgradient(Subgradient):
    """Subgradient descent whose cuts are made by workers."""

    def batches(self, task: Task) -> Any:
        """Where the cuts come from."""
        return SharedBatches(task, Subgradient(batch=self.batch))

    def _batch(self, task: Task) -> int:
        batch = super()._batch(task)
        if self.batch is None and crew_of(task).K > 1:
            return max(batch, -(-task.shard.n // STEPS))
        return batch


class SharedBatches:
    """A batch is a part of each shard."""

    #: Not part of a solver's state.
    scratch = ("crew", "randoms")

    def __init__(self, task: Task, solver: Subgradient):
        self.crew = crew_of(task)
        self.n_steps = 0
        self.randoms: list[Any] = []
        begin_all(task, solver, "begin_batches")
        begin = self.crew.on_replace

        def replace(k: int) -> None:
            begin(k)
            if self.randoms:  # the same order again: every example once in a pass, no more
                self.crew.call("shuffle", self.n_steps, self.randoms[k], who=[k])

        self.crew.on_replace = replace

    def shuffle(self, n_steps: int) -> None:
        """Begin a pass."""
        self.n_steps = n_steps
        self.randoms = self.crew.call("shuffle", n_steps, None)

    def cut(self, w: np.ndarray, step: int) -> tuple[np.ndarray, float]:
        """The cut of a step."""
        cuts = self.crew.call("batch_cut", step, w=w)
        return total((g for g, _ in cuts), self.crew.pack.dim), sum(loss for _, loss in cuts)

    def hinge(self, w: np.ndarray) -> float:
        """sum_i weight_i H_i(w)."""
        return sum(self.crew.call("batch_hinge", self.crew.share(Vector.of(w))))


def begin_all(task: Task, solver: Any, how: str) -> None:
    """The solver's state in every worker, and in those that come later."""
    crew = crew_of(task)

    def begin(k: int, random: Any) -> None:
        crew.call("begin", solver, task.C, task.mode, task.tol, random, who=[k])
        crew.call(how, who=[k])

    crew.on_replace = lambda k: begin(k, random_states(task, 2)[1])
    for k, random in enumerate(random_states(task, crew.K)):
        begin(k, random)
