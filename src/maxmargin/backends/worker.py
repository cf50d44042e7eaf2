"""A worker: one shard with the solver's state for it, and a copy of w.

A worker runs in an actor, in a separate process or on another machine, or in this process for
tests. It does not know the other workers.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..data.checked import check_like
from ..engine.arrays import GAP
from ..engine.bounds import Hinge
from ..engine.exchange import set_both
from ..engine.shard import Shard
from ..engine.vectors import Vector, changed, warm_up_exchange
from ..errors import DataError
from ..problem import PREDICT, CompiledProblem, Pack
from ..solvers import working_sets as sets
from ..solvers.bundle import LineSearch
from ..solvers.cuts import Cut
from ..solvers.slots import repair_alpha
from ..solvers.task import Task
from .hearsay import Hearsay, warm_up_hearsay
from .moves import NOTHING, Moves, places_type, warm_up_moves

#: Parts of the state of a dual method that can be computed from the others.
REMADE = ("block", "labels", "w", "average")


class Source(Protocol):
    """The source of a worker's examples."""

    def load(self, shared: Any) -> tuple[CompiledProblem, Pack]:
        """The problem and the packed examples; called in the worker.

        ``shared`` is what all sources have in common.
        """
        ...


class Facts(NamedTuple):
    """What the driver must know about a shard."""

    n: int
    total_weight: float
    dim: int
    width: int
    operations: float | None
    compiled: bool
    pid: int
    host: str


class Reply(NamedTuple):
    """An answer, the time it took in seconds, and the number of oracle calls made for it."""

    value: Any
    seconds: float
    n_oracle: int


class Round(NamedTuple):
    """The answer of a worker that has moved its dual variables.

    ``change`` is the change of w(alpha) that its steps ask for, and ``loss_change`` that of
    the loss term; a single worker sends the new entries of w. ``visits`` is the number of examples
    visited. Before an exchange of all changes there is only what the shard has ``said`` in this
    ``turn``. ``pass_gap`` is the gap of the pass so far, ``gap`` that of the last one that has
    called the oracle.
    """

    change: Vector
    loss_change: float
    visits: int
    said: np.ndarray
    turn: int
    done: bool
    pass_gap: float
    gap: float
    violation: float
    hinge: float
    bound: float
    added: float
    finished: bool
    complete: bool
    settled: float


class Worker:
    """One shard and the solver's state for it."""

    def __init__(self, source: Source, shared: Any = None, n_jobs: int = 1):
        problem, pack = source.load(shared)
        self.shard = Shard(problem, pack, n_jobs)
        self.w = np.zeros(pack.dim)
        self.state: Any = None
        self.hearsay: Hearsay | None = None

    def call(self, method: str, args: tuple[Any, ...], w: Vector | None = None) -> Reply:
        """Update w, call a method and return its answer."""
        start, before = time.perf_counter(), self.shard.n_oracle
        if w is not None and w.where is not None and self.state is not None:
            set_both(w.where, w.value, self.w, self.state.w)
        elif w is not None:
            w.set_in(self.w)
            if self.state is not None:
                w.set_in(self.state.w)
        value = getattr(self, method)(*args)
        return Reply(value, time.perf_counter() - start, self.shard.n_oracle - before)

    def facts(self) -> Facts:
        """The facts about this worker and its shard."""
        shard = self.shard
        return Facts(
            shard.n, shard.total_weight, shard.pack.dim, shard.pack.width, shard.operations(),
            shard.loops.compiled, os.getpid(), socket.gethostname(),
        )  # fmt: skip

    def warm_up(self, mode: int, names: tuple[str, ...]) -> float:
        """Compile these passes; returns the time it took, in seconds."""
        warm_up_exchange()
        if any(name.startswith("ascend") for name in names):
            warm_up_moves(self.shard)
            warm_up_hearsay(places_type(self.shard.pack.dim))
        return self.shard.warm_up(mode, names)

    def begin(self, solver: Any, C: float, mode: int, tol: float, random: Any) -> None:
        """Start a solver; ``random`` is the state of a RandomState."""
        if len(self.shard.positive):
            raise DataError(
                "weights that must be >= 0 (positive) are trained in this process only: leave out "
                "backend="
            )
        generator = np.random.RandomState()
        generator.set_state(random)
        self.solver, self.C = solver, C
        self.task = Task(self.shard, C, mode, tol, generator)
        self.state = None

    def predict(self) -> Any:
        """The best outputs at w."""
        pack = self.shard.pack
        labels = self.shard.new_labels()
        self.shard.try_functions(PREDICT)
        self.shard.oracle(self.w, PREDICT, labels, self.shard.everyone)
        return self.shard.problem.unpack(pack, labels)

    # One-slack

    def begin_cuts(self) -> None:
        """Start with empty caches."""
        self.maker = self.solver.cut_maker(self.task, LineSearch(0, 1.0))
        self.attempts: Iterator[Cut] | None = None

    def next_cut(self, first: bool) -> Cut:
        """The next attempt at a cut at w on these examples; a new worker makes the first."""
        if first or self.attempts is None:
            self.attempts = self.maker.attempts(self.w)
            self.cut: Cut | None = None
        assert self.attempts is not None
        self.cut = next(self.attempts, self.cut)
        assert self.cut is not None
        return self.cut

    # Subgradient

    def begin_batches(self) -> None:
        """Prepare the batches, before the first pass."""
        self.batches = self.solver.batches(self.task)

    def shuffle(self, n_steps: int, random: Any) -> Any:
        """Start a pass; ``random``, if given, is the state of the generator to continue from."""
        if random is not None:
            self.task.random.set_state(random)
        random = self.task.random.get_state()
        self.batches.shuffle(n_steps)
        return random

    def batch_cut(self, step: int) -> tuple[Vector, float]:
        """The cut of this shard's part of a batch."""
        g, loss = self.batches.cut(self.w, step)
        return Vector.of(g), loss

    def batch_hinge(self, at: Vector) -> Hinge:
        """sum_i weight_i H_i at the point ``at``."""
        return self.batches.hinge(self._dense(at))

    # Dual methods over several shards (``master.py``)

    def begin_duals(self, k: int, K: int) -> None:
        """Start with alpha_i = 1 at the true output of each example; this is shard k of K."""
        self.k, self.K, self.hearsay = k, K, None
        self.task.moves = Moves(self.shard) if K > 1 else None
        self.state = self.solver.init(self.task)
        np.copyto(self.state.w, self.w)

    def start(
        self,
        step: str,
        blocks: tuple[int, int],
        controls: dict[str, Any],
        places: np.ndarray | None,
    ) -> None:
        """Start the solver's ``step``; passes with and without the oracle stop ``blocks`` times.

        If ``places`` are given, shards tell each other about the weights there at every stop, and
        exchange all changes at the end.
        """
        task, state = self.task, self.state
        self.hearsay = None
        if places is not None:  # a copy: arrays of other processes are read-only
            self.hearsay = Hearsay(places.copy(), self.K, self.w, state.w)
        for name, value in controls.items():
            setattr(state, name, value)
        task.blocks, task.gap = blocks, None
        self.steps = getattr(self.solver, step)(task, state)
        self.settled, self.done = 0.0, False

    def ascend(
        self,
        sigma: float,
        parts: np.ndarray | None,
        heard: np.ndarray | None,
        gap: float | None,
    ) -> Round:
        """Keep the part of the last steps that the driver has chosen, and move until the next stop.

        Parameters
        ----------
        sigma : float
            The local model of w moves this many times as far as w(alpha) does, because the other
            shards move too.
        parts : array (K,), optional
            What to keep of each shard's steps, after an exchange of all changes.
        heard : array, optional
            The sum of what all shards have said, if that was of the same places.
        gap : float, optional
            That of the last pass in all shards, if they make their passes together.
        """
        task, state = self.task, self.state
        self.keep(parts)
        if self.done:  # it waits for the others
            return self.last
        if self.hearsay is not None and heard is not None:
            self.hearsay.hear(heard.copy())
        task.C, task.gap = sigma * self.C, gap
        try:
            next(self.steps)
        except StopIteration as end:
            self.done = True
            self.settled = float(end.value or 0.0)
        task.C = self.C
        said, turn = NOTHING.value, -1
        if self.hearsay is not None and not self.done:
            change, loss, visits = NOTHING, 0.0, 0
            said, turn = self.hearsay.say(), self.hearsay.turn
        else:
            change, loss, visits = self._take(sigma)
        self.last = Round(
            change=change,
            loss_change=loss,
            visits=visits,
            said=said,
            turn=turn,
            done=self.done,
            pass_gap=state.visits.total[GAP] / task.n,
            gap=state.gap,
            violation=state.seen.violation,
            hinge=state.seen.hinge,
            bound=state.seen.bound,
            added=state.seen.added,
            finished=state.finished,
            complete=state.complete,
            settled=self.settled,
        )
        return self.last

    def _take(self, sigma: float) -> tuple[Vector, float, int]:
        """All changes since the last exchange; w and its model are those of that moment again."""
        if self.hearsay is not None:
            self.hearsay.forget()
            self.hearsay = None
        if self.task.moves is None:  # the only shard
            return changed(self.state.w, self.w), 0.0, 0
        return self.task.moves.take(self.state, self.w, 1.0 / sigma)

    def keep(self, parts: np.ndarray | None) -> None:
        """Keep the part of the last steps that the driver has chosen."""
        if self.task.moves is not None and parts is not None:
            self.task.moves.keep(self.state.duals, float(parts[self.k]))

    def finish(self, parts: np.ndarray | None) -> tuple[float, int]:
        """End an iteration; returns the shard's part of the loss term of D, and its planes."""
        self.keep(parts)
        return sets.dual_loss(self.task, self.state), self.solver.planes(self.state)

    def sum_duals(self) -> tuple[Vector, float]:
        """The shard's part of w(alpha), and of the loss term of D."""
        task, w = self.task, np.zeros(self.shard.pack.dim)
        if task.moves is not None:  # steps that the driver has not seen: another worker was lost
            self._take(1.0)
            task.moves.keep(self.state.duals, 0.0)
        repair_alpha(self.state.duals)
        self.shard.sum_duals(self.C, task.mode, self.state.duals, w, task.frank_wolfe)
        return Vector.of(w), sets.dual_loss(self.task, self.state)

    def average_minus_w(self) -> Vector:
        """The average of this shard's part of w minus its last value."""
        return Vector.of(sets.average_minus_w(self.state))

    def hinge(self, at: Vector | None, add: bool) -> Hinge:
        """sum_i weight_i H_i at w, or at the point ``at``."""
        w = self.w if at is None else self._dense(at)
        return sets.hinge_at(self.task, self.state, w, add)

    def fingerprint(self) -> str:
        """A hash of the examples."""
        return self.shard.fingerprint()

    def freeze(self) -> dict[str, Any]:
        """Everything that the next iterations depend on, as named arrays and numbers."""
        kept = {name: v for name, v in vars(self.state).items() if name not in REMADE}
        kept |= {name: kept[name]._asdict() for name in ("duals", "visits", "seen")}
        random = self.task.random.get_state(legacy=False)
        return {"state": kept, "random": random, "messages": self.shard.messages}

    def thaw(self, frozen: dict[str, Any]) -> None:
        """Continue from what ``freeze`` returned, here or in another worker of the same shard."""
        from ..saving.restored import thaw_working_sets

        thaw_working_sets(self.task, self.state, frozen["state"], frozen["random"])
        self.state.block = self.shard.new_block(self.state.duals.loss.shape[1])
        if self.shard.messages is not None:
            self.shard.messages[:] = check_like(frozen["messages"], self.shard.messages, "messages")

    def _dense(self, v: Vector) -> np.ndarray:
        """A writable copy: arrays shared between processes are read-only, a different type."""
        w = np.zeros(self.shard.pack.dim)
        v.add_to(w)
        return w
