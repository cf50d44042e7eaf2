"""How far the reading of many files has come, with an estimate of the time that is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..progress import duration

#: Seconds until the first line; the interval then doubles, up to the second number.
FIRST_LINE, LONGEST_INTERVAL = 2.0, 600.0


class FileProgress:
    """Shows lines on stderr while files are read twice: to collect their features, and to pack.

    On a terminal there is one line, which is written again after each file.

    Parameters
    ----------
    sizes : list of int
        The sizes of the files in bytes.
    verbose : int
        0 shows nothing.
    """

    def __init__(self, sizes: list[int], verbose: int):
        self.sizes = [max(size, 1) for size in sizes]
        self.verbose = verbose
        self.left = 2 * sum(self.sizes)
        self.worked = 0
        self.seconds = 0.0
        self.passes = 0
        self.since = self.next_line = 0.0
        self.interval = FIRST_LINE

    @contextmanager
    def shown(self) -> Iterator[None]:
        """One of the two times that all files are read."""
        self.since = time.monotonic()
        self.next_line = self.next_line or self.since + self.interval
        self.passes += 1
        try:
            yield
        finally:
            self.seconds += time.monotonic() - self.since
            if self.verbose and sys.stderr.isatty():
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()

    def add(self, number: int, known: bool) -> None:
        """A file was read; ``known`` if it was found in the cache, which takes no time."""
        self.left -= self.sizes[number]
        self.worked += 0 if known else self.sizes[number]
        now = time.monotonic()
        if not self.verbose or not (sys.stderr.isatty() or now >= self.next_line):
            return
        line = self.line(number, self.seconds + now - self.since)
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{line}")
        else:
            sys.stderr.write(f"{line}\n")
            self.interval = min(2 * self.interval, LONGEST_INTERVAL)
            self.next_line = now + self.interval
        sys.stderr.flush()

    def line(self, number: int, seconds: float) -> str:
        """The text: ``packing: 3 of 20 files, 12 s elapsed, about 25 s left``."""
        what = "collecting features" if self.passes == 1 else "packing"
        text = f"{what}: {number + 1} of {len(self.sizes)} files, {duration(seconds)} elapsed"
        if self.worked == 0:
            return text
        return f"{text}, about {duration(seconds * self.left / self.worked)} left"
