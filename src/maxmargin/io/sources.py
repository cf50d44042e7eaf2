"""Opening sources of examples: files, standard input and streams, plain or gzip."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO

from ..errors import DataError

_BLOCK_BYTES = 1 << 20
_GZIP_MAGIC = b"\x1f\x8b"
_UTF8_BOM = b"\xef\xbb\xbf"


def display_name(source: Any) -> str:
    """The name of a source in error messages."""
    if isinstance(source, str) and source == "-":
        return "<stdin>"
    if hasattr(source, "read"):
        return str(getattr(source, "name", "<stream>"))
    return os.fsdecode(source)


@contextmanager
def open_source(source: Any) -> Iterator[BinaryIO]:
    """Open a source as uncompressed bytes; files that the caller opened stay open.

    Parameters
    ----------
    source : str, path or binary file object
        ``"-"`` is standard input. Gzip is recognised by content, whatever the name.

    Raises
    ------
    DataError
        If the source cannot be opened, or cannot be read within the block; the message names it.
    """
    name = display_name(source)
    try:
        with _open_binary(source) as stream:
            yield stream
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"the gzip data is corrupt or truncated ({error}); compress or download it again",
            path=name,
        ) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=name) from error


@contextmanager
def _open_binary(source: Any) -> Iterator[BinaryIO]:
    if isinstance(source, io.TextIOBase):
        raise DataError("is open in text mode; open it with mode 'rb'", display_name(source))
    with ExitStack() as stack:
        if isinstance(source, str) and source == "-":
            stream: Any = sys.stdin.buffer
        elif hasattr(source, "read"):
            stream = source
        else:
            stream = stack.enter_context(open(source, "rb"))
        if not hasattr(stream, "peek"):
            stream = io.BufferedReader(stream)
            stack.callback(
                stream.detach
            )  # otherwise the caller's file would be closed with the buffer
        if stream.peek(2)[:2] == _GZIP_MAGIC:
            unzipped: Any = gzip.GzipFile(fileobj=stream)
            stream = stack.enter_context(io.BufferedReader(unzipped, _BLOCK_BYTES))
        yield stream


def line_blocks(stream: BinaryIO) -> Iterator[tuple[int, list[bytes]]]:
    """Blocks of lines, each with the number of its first line."""
    first = 1
    while lines := stream.readlines(_BLOCK_BYTES):
        if first == 1:
            lines[0] = lines[0].removeprefix(_UTF8_BOM)
        yield first, lines
        first += len(lines)
