"""One-slack and subgradient over several shards: their cuts are sums of the workers' cuts.

Besides the examples, the workers hold only what can be replaced (caches, a random order). So only
one part of one cut is lost with a worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..engine.bounds import Hinge
from ..engine.vectors import Vector, total
from ..errors import DataError
from ..solvers.cuts import Cut
from ..solvers.dual import DualSolver
from ..solvers.one_slack import OneSlack
from ..solvers.subgradient import Subgradient
from ..solvers.task import Task
from .master import Master, begin_all, crew_of

#: Maximum number of steps per pass of subgradient descent, because each step sends w.
STEPS = 50


def distribute(solver: Any) -> Any:
    """The version of a solver that works over the shards of a crew."""
    for local, shared in ((OneSlack, SharedOneSlack), (Subgradient, SharedSubgradient)):
        if type(solver) is local:
            return shared(**{field.name: getattr(solver, field.name) for field in fields(solver)})
    if isinstance(solver, DualSolver):
        return Master(solver)
    raise DataError(
        f"{type(solver).__name__} cannot be distributed: use 'sdm', 'bcfw', 'n-slack', 'one-slack' "
        "or 'subgradient', or train without backend="
    )


@dataclass(frozen=True)
class SharedOneSlack(OneSlack):
    """One-slack whose cuts are made by workers."""

    def cut_maker(self, task: Task, model: Any) -> Any:
        """The object that makes cuts."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return SharedCuts(task, OneSlack(**own))


class SharedCuts:
    """Cuts that are sums over the workers; each worker has its own cache."""

    diverse = None
    #: Attributes that are not part of a solver's state.
    scratch = ("task", "crew", "sum")

    def __init__(self, task: Task, solver: OneSlack):
        if solver.m_cuts > 1:
            raise DataError("m_cuts > 1 needs a single machine: leave out m_cuts or backend=")
        self.task, self.crew = task, crew_of(task)
        self.sum = np.zeros(self.crew.pack.dim)
        begin_all(task, solver, "begin_cuts")

    def attempts(self, w: np.ndarray) -> Iterator[Cut]:
        """Cuts at w, each more accurate and more expensive than the one before."""
        first = True
        while True:
            with self.task.share("oracle"):
                cut = self._sum(self.crew.call("next_cut", first, w=w if first else None))
            first = False
            yield cut
            if cut.complete:
                return

    def _sum(self, cuts: list[Cut]) -> Cut:
        """The cut of all examples: each worker's cut is divided by the n of its own shard."""
        if len(cuts) == 1:
            return cuts[0]
        loss = hinge = bound = 0.0
        for part, cut in zip(self.crew.parts, cuts, strict=True):
            cut.plane.add_to(self.sum, part)
            loss += part * cut.loss
            hinge += part * cut.hinge
            bound += part * cut.bound
        complete = all(cut.complete for cut in cuts)
        return Cut(Vector.take(self.sum), loss, hinge, bound, complete)


@dataclass(frozen=True)
class SharedSubgradient(Subgradient):
    """Subgradient descent whose cuts are made by workers."""

    def batches(self, task: Task) -> Any:
        """The object that makes the cuts of batches."""
        return SharedBatches(task, Subgradient(batch=self.batch))

    def _batch(self, task: Task) -> int:
        batch = super()._batch(task)
        if self.batch is None and crew_of(task).K > 1:
            return max(batch, -(-task.shard.n // STEPS))
        return batch


class SharedBatches:
    """Batches that take a part of each shard."""

    #: Attributes that are not part of a solver's state.
    scratch = ("crew", "randoms")

    def __init__(self, task: Task, solver: Subgradient):
        self.crew = crew_of(task)
        self.n_steps = 0
        self.randoms: list[Any] = []
        begin_all(task, solver, "begin_batches")
        begin = self.crew.on_replace

        def replace(k: int) -> None:
            begin(k)
            if self.randoms:  # the same order again, so that each example is used once per pass
                self.crew.call("shuffle", self.n_steps, self.randoms[k], who=[k])

        self.crew.on_replace = replace

    def shuffle(self, n_steps: int) -> None:
        """Start a pass."""
        self.n_steps = n_steps
        self.randoms = self.crew.call("shuffle", n_steps, None)

    def cut(self, w: np.ndarray, step: int) -> tuple[np.ndarray, float]:
        """The cut of one step."""
        cuts = self.crew.call("batch_cut", step, w=w)
        return total((g for g, _ in cuts), self.crew.pack.dim), sum(loss for _, loss in cuts)

    def hinge(self, w: np.ndarray, order: None = None) -> Hinge:
        """sum_i weight_i H_i(w) over all examples."""
        return Hinge.sum(self.crew.call("batch_hinge", self.crew.share(Vector.of(w))))
