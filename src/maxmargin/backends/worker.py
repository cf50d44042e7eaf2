"""A worker: one shard with the solver's state for it, and a copy of w.

A worker runs in an actor, in a separate process or on another machine, or in this process for
tests. What it does for dual methods is in ``ascending.py``.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..engine.bounds import Hinge
from ..engine.exchange import set_both
from ..engine.shard import Shard
from ..engine.vectors import Vector, warm_up_exchange
from ..errors import DataError
from ..problem import PREDICT, CompiledProblem, Pack
from ..solvers.bundle import LineSearch
from ..solvers.cuts import Cut
from ..solvers.task import Task
from .ascending import Ascending
from .hearsay import warm_up_hearsay
from .moves import places_type, warm_up_moves

#: The address of this machine if all workers are on it.
LOOPBACK = "127.0.0.1"


class Source(Protocol):
    """The source of a worker's examples."""

    def load(self, shared: Any) -> tuple[CompiledProblem, Pack]:
        """The problem and the packed examples; called in the worker.

        ``shared`` is what all sources have in common.
        """
        ...


class Facts(NamedTuple):
    """What the driver must know about a shard.

    ``together`` says whether threads of the worker change w at the same time.
    """

    n: int
    total_weight: float
    dim: int
    width: int
    operations: float | None
    compiled: bool
    pid: int
    host: str
    together: bool


class Reply(NamedTuple):
    """An answer, the seconds of work for it, and the number of oracle calls made for it."""

    value: Any
    seconds: float
    n_oracle: int


class Worker(Ascending):
    """One shard and the solver's state for it; ``host`` is the address of this machine."""

    def __init__(self, source: Source, shared: Any = None, n_jobs: int = 1, host: str = LOOPBACK):
        problem, pack = source.load(shared)
        self.shard = Shard(problem, pack, n_jobs)
        self.w = np.zeros(pack.dim)
        self.host = host

    def call(self, method: str, args: tuple[Any, ...], w: Vector | None = None) -> Reply:
        """Update w, call a method and return its answer."""
        start, before, waited = time.perf_counter(), self.shard.n_oracle, self.waited
        if w is not None and w.where is not None and self.state is not None:
            set_both(w.where, w.value, self.w, self.state.w)
        elif w is not None:
            w.set_in(self.w)
            if self.state is not None:
                w.set_in(self.state.w)
        value = getattr(self, method)(*args)
        busy = time.perf_counter() - start - (self.waited - waited)
        return Reply(value, busy, self.shard.n_oracle - before)

    def facts(self, deterministic: bool) -> Facts:
        """The facts about this worker and its shard; the first call.

        With ``deterministic=False`` its threads may change w at the same time.
        """
        shard = self.shard
        if not deterministic:
            shard.share_weights()
        return Facts(
            shard.n, shard.total_weight, shard.pack.dim, shard.pack.width, shard.operations(),
            shard.loops.compiled, os.getpid(), socket.gethostname(),
            shard.together is not None,
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

    def fingerprint(self) -> str:
        """A hash of the examples."""
        return self.shard.fingerprint()
