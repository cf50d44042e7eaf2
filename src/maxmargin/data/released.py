"""Return memory to the system that was freed but kept by the allocator."""

from __future__ import annotations

import ctypes
from contextlib import suppress


def release_memory() -> None:
    """Call it after work with many large temporary arrays: glibc keeps up to 64 MB of them."""
    with suppress(AttributeError, OSError, TypeError):  # systems without malloc_trim
        ctypes.CDLL(None).malloc_trim(0)
