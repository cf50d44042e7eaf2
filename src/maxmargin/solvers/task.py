"""What a solver works on: the examples, the constants of the objective, and the clock."""

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


class TimeUp(Exception):
    """max_time has passed."""


class Clock:
    """The solver's own time: it stands still while others work (callbacks, drawing)."""

    def __init__(self, max_time: float | None = None):
        self.max_time = max_time
        self.interrupted = False
        self._start = time.perf_counter()
        self._paused = 0.0

    def time(self) -> float:
        """Seconds since the start, pauses left out."""
        return time.perf_counter() - self._start - self._paused

    def continue_from(self, seconds: float) -> None:
        """Let this time have passed already, in a run that was interrupted."""
        self._start -= seconds - self.time()

    def over(self) -> bool:
        """Whether the limit has passed."""
        return self.max_time is not None and self.time() > self.max_time

    def check(self) -> None:
        """Raise TimeUp when the limit has passed, and what became of a Ctrl-C that got lost."""
        if self.interrupted:
            raise KeyboardInterrupt
        if self.over():
            raise TimeUp

    @contextmanager
    def noting_interrupts(self) -> Iterator[None]:
        """Remember a Ctrl-C: code between Python and compiled loops may swallow its exception."""
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
        """Time inside does not count."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._paused += time.perf_counter() - start


@dataclass
class Task:
    """One training problem, as a solver sees it."""

    shard: Shard
    C: float
    mode: int
    tol: float
    random: np.random.RandomState
    shares: dict[str, float] = field(default_factory=dict)
    block: int | None = None  # after so many examples a pass stops, to learn what others did to w
    last: bool = False  # whether the iteration is the last one allowed: a certificate is due

    @property
    def n(self) -> float:
        """The number of examples: the sum of their weights."""
        return self.shard.total_weight

    @property
    def N(self) -> float:
        """C n, the scale of gaps: training stops when gap <= tol N."""
        return self.C * self.n

    @contextmanager
    def share(self, kind: str) -> Iterator[None]:
        """Count the time inside as work of this kind."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.shares[kind] = self.shares.get(kind, 0.0) + time.perf_counter() - start
