"""A line on the terminal while a large data file is read."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from ..data.printable import printable
from ..progress import duration

#: Seconds until the line appears: small files are read before.
DELAY = 1.0


@contextmanager
def progress_line(name: str, file: Any) -> Iterator[None]:
    """Show how much of a file has been read, if stderr is a terminal and reading takes long."""
    console = Console(stderr=True, highlight=False)
    if not sys.stderr.isatty() or console.is_dumb_terminal:
        yield
        return
    start = time.monotonic()
    live = Live(
        console=console,
        get_renderable=lambda: Text(line(name, file, time.monotonic() - start)),
        refresh_per_second=4,
        transient=True,
    )
    timer = threading.Timer(DELAY, live.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        live.stop()


def line(name: str, file: Any, seconds: float) -> str:
    """The text of the line: ``reading train.txt: 45 % of 120.5 MB, 3 s elapsed``."""
    return f"reading {printable(name)}{_fraction(file)}, {duration(seconds)} elapsed"


def _fraction(file: Any) -> str:
    """How much of the file has been read; nothing for a pipe, whose size is not known."""
    try:
        size, place = os.fstat(file.fileno()).st_size, file.raw.tell()
    except (OSError, ValueError):
        return ""
    return f": {100 * place / size:.0f} % of {size / 1e6:.1f} MB" if size else ""
