"""What happens beside the examples: one shard, the solver's state of it, and its own copy of w.

A worker lives in a process of its own, in an actor on another machine or, for tests, in this
process. It knows nothing of the others.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..engine.shard import Shard
from ..engine.warm_up import warm_up_vectors
from ..problem import PREDICT, CompiledProblem, Pack
from ..solvers import working_sets as sets
from ..solvers.bundle import LineSearch
from ..solvers.cuts import Cut
from ..solvers.task import Task
from .vectors import Vector, changed

#: Of the state of a dual method, what follows from the rest.
REMADE = ("block", "labels", "w", "average")


class Source(Protocol):
    """Where a worker gets its examples from."""

    def load(self, shared: Any) -> tuple[CompiledProblem, Pack]:
        """The problem and the packed examples; called where they are needed.

        ``shared`` is what all sources have in common.
        """
        ...


class Facts(NamedTuple):
    """What others must know of a shard."""

    n: int
    total_weight: float
    dim: int
    width: int
    operations: float | None
    compiled: bool
    pid: int
    host: str


class Reply(NamedTuple):
    """An answer, the seconds it took, and the calls of the oracle that were made for it."""

    value: Any
    seconds: float
    n_oracle: int


class Round(NamedTuple):
    """What a worker tells after it has moved its dual variables.

    ``change`` is what w has become where it was changed, by the local model of it.
    """

    change: Vector
    done: bool
    gap: float
    violation: float
    hinge: float
    added: float
    loss: float
    planes: int
    finished: bool
    complete: bool
    settled: float


class Worker:
    """One shard, and what a solver keeps of it."""

    def __init__(self, source: Source, shared: Any = None, n_jobs: int = 1):
        problem, pack = source.load(shared)
        self.shard = Shard(problem, pack, n_jobs)
        self.w = np.zeros(pack.dim)
        self.sigma = 1.0
        self.state: Any = None

    def call(self, method: str, args: tuple[Any, ...], w: Vector | None = None) -> Reply:
        """Receive what is new of w, and answer."""
        start, before = time.perf_counter(), self.shard.n_oracle
        if w is not None:
            w.set_in(self.w)
            if self.state is not None:
                w.set_in(self.state.w)
        value = getattr(self, method)(*args)
        return Reply(value, time.perf_counter() - start, self.shard.n_oracle - before)

    def facts(self) -> Facts:
        """Who is here, with how much work."""
        shard = self.shard
        return Facts(
            shard.n, shard.total_weight, shard.pack.dim, shard.pack.width, shard.operations(),
            shard.loops.compiled, os.getpid(), socket.gethostname(),
        )  # fmt: skip

    def warm_up(self, mode: int, names: tuple[str, ...]) -> float:
        """Compile these loops."""
        warm_up_vectors()
        return self.shard.warm_up(mode, names)

    def begin(self, solver: Any, C: float, mode: int, tol: float, random: Any) -> None:
        """The state of a solver before its first iteration; ``random`` is that of a RandomState."""
        generator = np.random.RandomState()
        generator.set_state(random)
        self.solver, self.C = solver, C
        self.task = Task(self.shard, C, mode, tol, generator)
        self.sigma, self.state = 1.0, None

    def predict(self) -> Any:
        """The best outputs at w."""
        pack = self.shard.pack
        labels = np.empty(len(pack.truth), pack.truth.dtype)
        self.shard.oracle(self.w, PREDICT, labels, self.shard.everyone)
        return self.shard.problem.unpack(pack, labels)

    # One-slack

    def begin_cuts(self) -> None:
        """Empty caches."""
        self.maker = self.solver.cut_maker(self.task, LineSearch(0, 1.0))
        self.attempts: Iterator[Cut] | None = None

    def next_cut(self, first: bool) -> Cut:
        """The next attempt at a cut at w, of these examples alone; the first for who is new."""
        if first or self.attempts is None:
            self.attempts = self.maker.attempts(self.w)
            self.cut: Cut | None = None
        assert self.attempts is not None
        self.cut = next(self.attempts, self.cut)
        assert self.cut is not None
        return self.cut

    # Subgradient

    def begin_batches(self) -> None:
        """No pass has begun."""
        self.batches = self.solver.batches(self.task)

    def shuffle(self, n_steps: int, random: Any) -> Any:
        """Begin a pass; ``random``, if given, is where the random numbers continue from."""
        if random is not None:
            self.task.random.set_state(random)
        random = self.task.random.get_state()
        self.batches.shuffle(n_steps)
        return random

    def batch_cut(self, step: int) -> tuple[Vector, float]:
        """The cut of this shard's part of a batch."""
        g, loss = self.batches.cut(self.w, step)
        return Vector.of(g), loss

    def batch_hinge(self, at: Vector) -> float:
        """sum_i weight_i H_i at another point than w."""
        return self.batches.hinge(self._dense(at))

    # Dual methods: CoCoA+

    def begin_duals(self) -> None:
        """alpha is 1 at the truth."""
        self.state = self.solver.init(self.task)
        np.copyto(self.state.w, self.w)

    def start(self, step: str, sigma: float, blocks: int, controls: dict[str, Any]) -> None:
        """Begin the solver's ``step``, which stops ``blocks`` times in a pass over all examples."""
        task, state = self.task, self.state
        if sigma != self.sigma:  # the steps in the average are those of the model
            np.multiply(state.visits.lag, sigma / self.sigma, out=state.visits.lag)
        self.sigma = sigma
        for name, value in controls.items():
            setattr(state, name, value)
        task.block = None if blocks == 1 else -(-self.shard.n // blocks)
        self.steps = getattr(self.solver, step)(task, state)
        self.settled, self.done = 0.0, False

    def ascend(self, whole: bool) -> Round:
        """Move dual variables, at a model of w of this shard's own, until the next stop.

        The model moves sigma times as far as w(alpha) does, for the others move too.
        """
        task, state = self.task, self.state
        task.C = self.sigma * self.C
        try:
            while not self.done:
                next(self.steps)
                if not whole:
                    break
        except StopIteration as end:
            self.done = True
            self.settled = float(end.value or 0.0)
        task.C = self.C
        change = changed(state.w, self.w)
        if change.where is None:
            change = change._replace(value=state.w.copy())
            np.copyto(state.w, self.w)
        else:
            state.w[change.where] = self.w[change.where]
        return Round(
            change=change,
            done=self.done,
            gap=state.gap,
            violation=state.seen.violation,
            hinge=state.seen.hinge,
            added=state.seen.added,
            loss=sets.dual_loss(task, state),
            planes=self.solver.planes(state),
            finished=state.finished,
            complete=state.complete,
            settled=self.settled,
        )

    def sum_duals(self) -> tuple[Vector, float]:
        """The shard's part of w(alpha), and of the losses in D."""
        w = np.zeros(self.shard.pack.dim)
        sets.repair_alpha(self.state.duals)
        self.shard.sum_duals(self.C, self.task.mode, self.state.duals, w)
        return Vector.of(w), sets.dual_loss(self.task, self.state)

    def average_minus_w(self) -> Vector:
        """How far the average of this shard's part of w is from its last value."""
        return Vector.of(sets.average_minus_w(self.state) / self.sigma)

    def hinge(self, at: Vector | None, add: bool) -> float:
        """sum_i weight_i H_i at w, or at another point."""
        w = self.w if at is None else self._dense(at)
        return sets.hinge_at(self.task, self.state, w, add)

    def fingerprint(self) -> str:
        """A hash of the examples."""
        return self.shard.fingerprint()

    def freeze(self) -> dict[str, Any]:
        """All that the next iterations depend on, by plain names and arrays."""
        kept = {name: v for name, v in vars(self.state).items() if name not in REMADE}
        kept |= {name: kept[name]._asdict() for name in ("duals", "visits", "seen")}
        return {"state": kept, "random": self.task.random.get_state(legacy=False)}

    def thaw(self, frozen: dict[str, Any], sigma: float) -> None:
        """Continue from what ``freeze`` gave, here or in another worker of the same shard."""
        from ..saving.restored import thaw_working_sets

        thaw_working_sets(self.task, self.state, frozen["state"], frozen["random"])
        self.state.block = self.shard.new_block(self.state.duals.loss.shape[1])
        self.sigma = sigma

    def _dense(self, v: Vector) -> np.ndarray:
        """An array of our own: what other processes share with us is read-only, another type."""
        w = np.zeros(v.dim)
        v.add_to(w)
        return w
