"""The memory that reading a file may take.

A few bytes of a file can describe huge arrays. What a file asks for is therefore added up and
compared with a limit before anything is allocated.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from ..errors import DataError
from .npy import DTYPE, RefusedError

#: The environment variable that replaces the default limit, in bytes.
VARIABLE = "MAXMARGIN_MAX_MODEL_BYTES"

#: The default limit: this many bytes, or this many for each byte of the file if that is more.
SMALLEST, PER_BYTE = 2**28, 256


class Budget:
    """The bytes that the content of one file may take in memory.

    Parameters
    ----------
    size : int
        The size of the file.
    max_bytes : int, optional
        The limit. By default 256 MiB, or 256 bytes for each byte of the file if that is more.
    """

    def __init__(self, size: int, max_bytes: int | None = None):
        self.limit = max(SMALLEST, PER_BYTE * size) if max_bytes is None else max_bytes
        self.used = 0

    def spend(self, n: int, what: str) -> None:
        """Count n bytes; a RefusedError if the sum is above the limit."""
        self.used += n
        if self.used > self.limit:
            raise RefusedError(
                f"needs at least {self.used:,} bytes of memory, for {what} and what is before it, "
                f"and the limit for this file is {self.limit:,}: if you trust the file, raise the "
                f"limit with mm.load(path, max_bytes=...) or the environment variable {VARIABLE}"
            )

    def spend_labels(self, description: Any) -> None:
        """Count the arrays of labels in JSON, at any depth; see ``label_json``."""
        todo = [description]
        while todo:
            match todo.pop():
                case {"array": str(descr), "values": list(values)}:
                    if DTYPE.fullmatch(descr):
                        self.spend(item_size(descr) * len(values), "labels")
                    todo += values
                case dict(items):
                    todo += items.values()
                case list(items):
                    todo += items

    def spend_array(self, name: str, spec: Any) -> None:
        """Count an array by its description; empty dimensions count as one entry."""
        match spec:
            case {"dtype": str(descr), "shape": list(shape)} if DTYPE.fullmatch(descr) and all(
                type(n) is int and n >= 0 for n in shape
            ):
                entries = math.prod(max(n, 1) for n in shape)
                self.spend(item_size(descr) * entries, f"array {name!r}")
            case _:
                raise RefusedError(f"was altered: array {name!r} does not match its description")


def item_size(descr: str) -> int:
    """Bytes per entry of a type in numpy's notation, also of one that numpy does not accept."""
    return 4 * int(descr[2:]) if descr[1] == "U" else np.dtype(descr).itemsize


def read_limit(max_bytes: int | None) -> int | None:
    """The limit that a user gives as an argument or in the environment; None for the default.

    Raises
    ------
    DataError
        If it is not an integer > 0.
    """
    if max_bytes is not None:
        return _checked("max_bytes", max_bytes)
    text = os.environ.get(VARIABLE)
    return _checked(VARIABLE, text) if text else None


def _checked(name: str, value: Any) -> int:
    """A limit from a user; a DataError unless it is an integer > 0."""
    try:
        found = None if isinstance(value, bool) else int(value)
    except (TypeError, ValueError, OverflowError):
        found = None
    if found is None or found < 1 or (not isinstance(value, str) and found != value):
        raise DataError(f"{name} is a number of bytes, an integer > 0, got {value!r}")
    return found
