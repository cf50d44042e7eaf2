"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, BinaryIO

from ..data.printable import printable
from ..errors import MaxMarginError
from .leftovers import LOCKS, open_temporary


def write_lines_atomic(path: Any, lines: Iterable[str]) -> None:
    """Write a UTF-8 text file, completely or not at all; ``"-"`` is standard output.

    On a terminal control characters are replaced by visible escapes.

    Parameters
    ----------
    path : str or path
    lines : iterable of str, without line ends

    Raises
    ------
    MaxMarginError
        If the file cannot be written. An existing file is left unchanged then.
    """
    to_screen = isinstance(path, str) and path == "-" and sys.stdout.isatty()
    if to_screen:  # a file or a pipe gets the data as they are
        lines = (printable(line, keep="\t") for line in lines)
    # A single surrogate, which a label given in Python may have, has no code in UTF-8.
    encoded = (text.encode("utf-8", "backslashreplace") for text in _texts(lines))
    if isinstance(path, str) and path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.writelines(encoded)
        sys.stdout.buffer.flush()
        return
    with atomic_file(path) as file:
        file.writelines(encoded)


def _texts(lines: Iterable[str]) -> Iterator[str]:
    """Many lines at a time, with their ends, which is faster than line by line."""
    lines = iter(lines)
    while some := list(islice(lines, 1024)):
        yield "\n".join([*some, ""])


@contextmanager
def atomic_file(
    path: Any, error: type[MaxMarginError] = MaxMarginError, temporary: str | None = None
) -> Iterator[BinaryIO]:
    """A binary file that is moved to ``path`` when the block ends without an error.

    Parameters
    ----------
    path : str or path
    error : type of MaxMarginError
        The exception to raise, with file name and reason, if the file cannot be written.
    temporary : str, optional
        The temporary file, in the same directory; an existing one, which a killed process may
        have left, is overwritten. By default a new random name, and files that killed processes
        have left in the directory are removed (see ``leftovers``).
    """
    name = _file_name(path, error)
    try:
        if os.path.exists(name) and not os.path.isfile(name):
            # A device or a pipe, such as /dev/stdout, is written to and never replaced.
            with open(name, "wb") as file:
                yield file
            return
        target = os.path.realpath(name)  # a link stays a link
        file = open_temporary(os.path.dirname(target)) if temporary is None else _open(temporary)
        try:
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                if LOCKS:  # while it is locked, no other process can take it for a leftover
                    os.replace(file.name, target)
            if not LOCKS:  # such systems do not rename open files
                os.replace(file.name, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(file.name)
            raise
    except OSError as reason:
        raise error(f"{name}: cannot be written: {reason.strerror or reason}") from reason


def _open(name: str) -> BinaryIO:
    return open(name, "wb")


def _file_name(path: Any, error: type[MaxMarginError]) -> str:
    """The path as text; an error if no file can have this name."""
    try:
        name = os.fsdecode(path)
        encoded = os.fsencode(name)
    except (TypeError, ValueError):
        raise error(f"{path!r} is not the name of a file") from None
    if not encoded or b"\0" in encoded:
        raise error(f"{name!r} is not the name of a file")
    if os.path.isdir(name):
        raise error(f"{name}: cannot be written: it is a directory, name a file in it")
    return name
