"""Progress of training on stderr: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar as Bar
from rich.table import Table
from rich.text import Text

from .objective import gap_target

if TYPE_CHECKING:
    from .result import Record, Stop
    from .solvers.task import Task

#: Redraws of the live display per second.
REDRAWS = 4

#: Seconds until the first plain line; the interval then doubles, up to the second number.
FIRST_LINE, LONGEST_INTERVAL = 2.0, 600.0

#: Estimate the remaining time from at least this many iterations and this many seconds.
EVIDENCE, EVIDENCE_TIME = 8, 0.5

#: Ignore estimates that exceed the elapsed time by more than this factor.
FARTHEST = 20.0


class ProgressBar:
    """Shows how far training has come: a context manager, and a callback of the training loop.

    Parameters
    ----------
    task : Task
    stop : Stop
        The limits, which bound the estimate of the remaining time.
    """

    def __init__(self, task: Task, stop: Stop):
        self.forecast = Forecast(gap_target(stop.tol, task.C, task.n), stop)
        self.bounds = f" {task.shard.bounds}" if task.shard.bounds else ""
        self.console = Console(stderr=True, highlight=False)
        self.live: Live | None = None
        self.over = False
        self.start = time.monotonic()
        self.interval = FIRST_LINE
        self.next_line = self.start + self.interval

    def __enter__(self) -> Self:
        # rich treats a file as a terminal if colours are forced; redrawing needs a real terminal.
        if sys.stderr.isatty() and not self.console.is_dumb_terminal:
            self.live = Live(
                console=self.console, get_renderable=self._render, refresh_per_second=REDRAWS
            )
            self.live.start()
        return self

    def __call__(self, record: Record, state: Any) -> None:
        """Record an iteration; a live display redraws itself, plain lines are printed here."""
        self.forecast.add(record)
        if self.live is None and time.monotonic() >= self.next_line:
            self._print_line()
            self.interval = min(2 * self.interval, LONGEST_INTERVAL)
            self.next_line = time.monotonic() + self.interval

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.over = True
        if self.live is not None:
            self.live.stop()
        elif self.forecast.records:
            self._print_line()

    def _render(self) -> Group | Text:
        if not self.forecast.records:
            return Text(f"first pass over the examples, {self._elapsed()}")
        bar = Table.grid(padding=(0, 1))
        words = " · ".join([self._gap(), self._elapsed(), *self._left()])
        bar.add_row(Bar(1.0, self.forecast.fraction(), width=24), words)
        return Group(bar, Text(" · ".join(self._values()), style="dim"))

    def _print_line(self) -> None:
        words = [*self._values(), self._gap(), self._elapsed(), *self._left()]
        print("maxmargin:", ", ".join(words), file=sys.stderr, flush=True)

    def _gap(self) -> str:
        ratio = self.forecast.records[-1].gap / self.forecast.target
        if ratio <= 1:
            return "gap within tol"
        return f"gap {ratio:.3g} x target" if math.isfinite(ratio) else "no gap yet"

    def _elapsed(self) -> str:
        return f"{duration(time.monotonic() - self.start)} elapsed"

    def _left(self) -> list[str]:
        done = self.over or self.forecast.fraction() == 1
        return [] if done else [f"{self.forecast.time_left()} left"]

    def _values(self) -> list[str]:
        last = self.forecast.records[-1]
        return [
            f"iteration {last.iteration:,}",
            f"primal {last.primal:.6g}",
            f"dual {last.dual:.6g}{self.bounds}",
            f"{last.n_oracle:,} oracle calls",
        ]


class Forecast:
    """Estimate of the remaining training time, from the gaps so far.

    The gap of most solvers falls roughly geometrically, so log(gap) is extrapolated as a straight
    line through the recent iterations.
    """

    def __init__(self, target: float, stop: Stop):
        self.target = target
        self.stop = stop
        self.records: list[Record] = []

    def add(self, record: Record) -> None:
        """Record an iteration."""
        self.records.append(record)

    def fraction(self) -> float:
        """Progress from the first gap to the target, between 0 and 1, on a logarithmic scale."""
        first, last = self.records[0].gap, self.records[-1].gap
        if last <= self.target:
            return 1.0
        if not math.isfinite(first):
            return 0.0
        return max(0.0, math.log(first / last) / math.log(first / self.target))

    def time_left(self) -> str:
        """The remaining time as text."""
        expected, limit = self.seconds(), self.limit()
        if expected < limit:
            return f"about {duration(expected)}"
        return "unknown time" if math.isinf(limit) else f"at most {duration(limit)}"

    def limit(self) -> float:
        """Seconds until max_time; infinity without a limit."""
        if self.stop.max_time is None:
            return math.inf
        return max(0.0, self.stop.max_time - self.records[-1].time)

    def seconds(self) -> float:
        """Estimated seconds until the target; infinity while there is too little evidence."""
        now = self.records[-1].time
        recent = [r for r in self._tail() if r.time >= now / 2 and 0 < r.gap < math.inf]
        if len(recent) < EVIDENCE or recent[-1].time - recent[0].time < EVIDENCE_TIME:
            return math.inf
        times = np.array([r.time for r in recent])
        slope = np.polyfit(times - now, np.log([r.gap for r in recent]), 1)[0]
        if not slope < 0:
            return math.inf
        expected = max(0.0, math.log(recent[-1].gap / self.target) / -slope)
        return expected if expected <= FARTHEST * now else math.inf

    def _tail(self) -> list[Record]:
        """The last thousand iterations at most, to keep drawing cheap."""
        return self.records[-1000:]


def duration(seconds: float) -> str:
    """Seconds in a readable form: ``7 ms``, ``0.4 s``, ``12 s``, ``3:25 min``, ``2:05 h``."""
    if seconds < 0.0995:
        milliseconds = 1000 * seconds
        return f"{milliseconds:.{0 if milliseconds >= 0.95 or not seconds else 1}f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02d} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours}:{minutes:02d} h"
    return f"{hours // 24} days"
