"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from ..errors import MaxMarginError


def write_lines_atomic(path: Any, lines: Iterable[str]) -> None:
    """Write a UTF-8 text file, completely or not at all; ``"-"`` is standard output.

    Parameters
    ----------
    path : str or path
    lines : iterable of str, without line ends

    Raises
    ------
    MaxMarginError
        If the file cannot be written. An existing file is left unchanged then.
    """
    encoded = (line.encode() + b"\n" for line in lines)
    if isinstance(path, str) and path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.writelines(encoded)
        sys.stdout.buffer.flush()
        return
    with atomic_file(path) as file:
        file.writelines(encoded)


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
        have left, is overwritten. By default a new random name.
    """
    try:
        if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
            # A device or a pipe, such as /dev/stdout, is written to and never replaced.
            with open(path, "wb") as file:
                yield file
            return
        target = os.path.realpath(path)  # a link stays a link
        mode = "xb" if temporary is None else "wb"
        if temporary is None:
            temporary = os.path.join(os.path.dirname(target), f".{secrets.token_hex(8)}.tmp")
        try:
            with open(temporary, mode) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as reason:
        raise error(f"{os.fsdecode(path)}: cannot be written: {reason.strerror or reason}") from (
            reason
        )
