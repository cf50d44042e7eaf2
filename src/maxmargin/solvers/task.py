"""The input of a solver: the examples, the constants of the objective, and the clock."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..engine.shard import Shard

#: With fewer operations per oracle pass training is fast in any way, and what counts is the time
#: to compile.
FEW_OPERATIONS = 1e5

#: The same as a number of examples, for problems that do not know their operations.
FEW_EXAMPLES = 500


def is_tiny(shard: Shard) -> bool:
    """Whether an oracle pass over all examples takes no noticeable time."""
    operations = shard.operations()
    return shard.n < FEW_EXAMPLES if operations is None else operations < FEW_OPERATIONS


class TimeUp(Exception):
    """max_time has passed."""


class Clock:
    """The time spent in the solver, without pauses for callbacks and drawing."""

    def __init__(self, max_time: float | None = None):
        self.max_time = max_time
        self.interrupted = False
        self._start = time.perf_counter()
        self._paused = 0.0

    def time(self) -> float:
        """Seconds since the start, without pauses."""
        return time.perf_counter() - self._start - self._paused

    def continue_from(self, seconds: float) -> None:
        """Set the clock to the time of an interrupted run, in seconds."""
        self._start -= seconds - self.time()

    def over(self) -> bool:
        """Whether the limit has passed."""
        return self.max_time is not None and self.time() > self.max_time

    def check(self) -> None:
        """Raise TimeUp if the limit has passed, or KeyboardInterrupt after a Ctrl-C."""
        if self.interrupted:
            raise KeyboardInterrupt
        if self.over():
            raise TimeUp

    @contextmanager
    def noting_interrupts(self) -> Iterator[None]:
        """Record Ctrl-C, because its exception can get lost between Python and compiled code."""
        standard = signal.default_int_handler
        main = threading.current_thread() is threading.main_thread()
        if not main or signal.getsignal(signal.SIGINT) is not standard:
            yield
            return

        def note(signum: int, frame: Any) -> None:
            self.interrupted = True
            raise KeyboardInterrupt

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, standard)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Stop the clock inside the block."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._paused += time.perf_counter() - start


@dataclass
class Task:
    """One training problem in the form that solvers use."""

    shard: Shard
    C: float
    mode: int
    tol: float
    random: np.random.RandomState
    shares: dict[str, float] = field(default_factory=dict)
    block: int | None = None  # examples between exchanges of w with other shards
    frank_wolfe: bool | None = None  # that of the run's PassOptions
    last: bool = False  # whether this is the last allowed iteration, which must certify

    @property
    def n(self) -> float:
        """The sum of the weights of the examples (their number, if all weights are 1)."""
        return self.shard.total_weight

    @property
    def N(self) -> float:
        """C n; training stops when gap <= tol N."""
        return self.C * self.n

    @contextmanager
    def share(self, kind: str) -> Iterator[None]:
        """Add the time inside the block to the share ``kind``."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.shares[kind] = self.shares.get(kind, 0.0) + time.perf_counter() - start
