"""Temporary files of saves, and the removal of those that killed processes have left.

A saver locks its temporary file. The system releases the lock when the process ends, whatever ends
it, so that a file that can be locked has no saver any more. Where there are no locks (on Windows,
and on some network file systems) nothing is removed.
"""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

#: Whether files can be locked.
LOCKS = fcntl is not None

_NAME = re.compile(r"\.maxmargin-[0-9a-f]{16}\.tmp")


def open_temporary(folder: str) -> BinaryIO:
    """A new locked file in the folder, after leftovers of killed processes were removed there."""
    remove_leftovers(folder)
    while True:
        file = open(os.path.join(folder, f".maxmargin-{secrets.token_hex(8)}.tmp"), "xb")  # noqa: SIM115
        with suppress(OSError):  # without locks leftovers stay, but saving works
            _lock(file.fileno(), wait=True)
        if os.fstat(file.fileno()).st_nlink > 0:
            return file
        file.close()  # another process took it for a leftover before it was locked


def remove_leftovers(folder: str) -> None:
    """Remove the temporary files in a folder whose processes do not exist any more."""
    with suppress(OSError), os.scandir(folder) as entries:
        names = [entry.path for entry in entries if _NAME.fullmatch(entry.name)]
        for name in names:
            with suppress(OSError):
                _remove_unlocked(name)


def take_lock(path: str | os.PathLike[str]) -> int | None:
    """Create a file if necessary and lock it; returns its descriptor, None if it is locked.

    None also if there are no locks, or if the file was removed or renamed meanwhile.
    """
    try:
        number = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError:
        return None
    try:
        _lock(number, wait=False)
        if os.path.samestat(os.fstat(number), os.stat(path)):
            return number
    except OSError:
        pass
    os.close(number)
    return None


def _remove_unlocked(name: str) -> None:
    number = os.open(name, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    try:
        _lock(number, wait=False)
        os.unlink(name)
    finally:
        os.close(number)


def _lock(number: int, wait: bool) -> None:
    """Lock an open file; an OSError if that is not possible, or if another process has the lock."""
    if fcntl is None:
        raise OSError("this system has no locks")
    fcntl.flock(number, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
