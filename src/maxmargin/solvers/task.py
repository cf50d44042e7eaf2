"""The input of a solver: the examples, the constants of the objective, and the clock."""

from __future__ import annotations

import os
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


#: Written to stderr at the first Ctrl-C of a run with a checkpoint.
PATIENCE = b"\nmaxmargin: saving after this iteration; a second Ctrl-C ends training at once\n"


class Clock:
    """The time spent in the solver, without pauses for callbacks and drawing, and interruptions.

    Parameters
    ----------
    max_time : float, optional
        Seconds after which training ends.
    patient : bool
        Whether an iteration is completed before the time limit, Ctrl-C or SIGTERM ends training,
        so that it can be saved. A second Ctrl-C ends it at once.
    """

    def __init__(self, max_time: float | None = None, patient: bool = False):
        self.max_time = max_time
        self.patient = patient
        self.signals: list[int] = []
        self.earlier = 0.0  # seconds of the run from whose checkpoint this one continues
        self._start = time.perf_counter()
        self._paused = 0.0

    def time(self) -> float:
        """Seconds since the start, without pauses."""
        return time.perf_counter() - self._start - self._paused

    def continue_from(self, seconds: float) -> None:
        """Set the clock to the time of an interrupted run, in seconds."""
        self._start -= seconds - self.time()
        self.earlier = seconds

    def over(self) -> bool:
        """Whether the limit has passed."""
        return self.max_time is not None and self.time() > self.max_time

    def check(self) -> None:
        """Within an iteration: raise TimeUp or KeyboardInterrupt if it has to end at once."""
        if len(self.signals) > self.patient:
            raise KeyboardInterrupt
        if not self.patient and self.over():
            raise TimeUp

    def check_between_iterations(self) -> None:
        """Raise TimeUp if the limit has passed, or KeyboardInterrupt after a signal."""
        if self.signals:
            raise KeyboardInterrupt
        if self.over():
            raise TimeUp

    @contextmanager
    def noting_signals(self) -> Iterator[None]:
        """Record Ctrl-C, because its exception can get lost between Python and compiled code.

        If the clock is patient, SIGTERM is recorded too, and ends the process afterwards.
        """
        standard: dict[int, Any] = {signal.SIGINT: signal.default_int_handler}
        if self.patient:
            standard[signal.SIGTERM] = signal.SIG_DFL
        if threading.current_thread() is not threading.main_thread():
            standard = {}

        def note(signum: int, frame: Any) -> None:
            self.signals.append(signum)
            if len(self.signals) > self.patient:
                raise KeyboardInterrupt
            os.write(2, PATIENCE)  # print() is not safe in a signal handler

        replaced = {n: old for n, old in standard.items() if signal.getsignal(n) == old}
        for number in replaced:
            signal.signal(number, note)
        try:
            yield
        finally:
            for number, old in replaced.items():
                signal.signal(number, old)
            if signal.SIGTERM in self.signals:
                os.kill(os.getpid(), signal.SIGTERM)

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
    blocks: tuple[int, int] = (1, 1)  # stops in a pass with and without the oracle
    shards: int = 1  # into how many parts the examples are divided
    moves: Any = None  # notes the steps of this shard for the exchange (``backends/moves.py``)
    gap: float | None = None  # of the last pass in all shards, if they make their passes together
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
