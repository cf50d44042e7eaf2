"""Opening sources of examples: files, standard input and streams, plain or gzip."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, BinaryIO

from ..errors import DataError

_BLOCK_BYTES = 1 << 20

#: For readers that split a block into objects, which need ten times as much memory.
_SMALL_BLOCK_BYTES = 1 << 18
_GZIP_MAGIC = b"\x1f\x8b"
_UTF8_BOM = b"\xef\xbb\xbf"

#: The beginnings of other files that people give by mistake, and what to say about them.
_BEGINNINGS = {
    b"PK\x03\x04": "is a binary file (a model or a zip archive), not text",
    b"BZh": "is compressed with bzip2; decompress it, or compress it with gzip",
    b"\xfd7zXZ": "is compressed with xz; decompress it, or compress it with gzip",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd; decompress it, or compress it with gzip",
    b"\xff\xfe": "is UTF-16 text; convert it: iconv -f utf-16 -t utf-8",
    b"\xfe\xff": "is UTF-16 text; convert it: iconv -f utf-16 -t utf-8",
    b"%PDF-": "is a PDF document, not plain text",
}

#: The beginning of a file in which a zero byte is looked for, in bytes.
_PEEK_BYTES = 8192

#: Called with the name of a file and the file, which it accompanies while it is read: the command
#: line shows how far reading has come.
on_open: Callable[[str, Any], AbstractContextManager[None]] | None = None


def display_name(source: Any) -> str:
    """The name of a source in error messages."""
    if isinstance(source, str) and source == "-":
        return "<stdin>"
    if hasattr(source, "read"):
        return str(getattr(source, "name", "<stream>"))
    return os.fsdecode(source)


@contextmanager
def open_source(source: Any, binary: bool = False) -> Iterator[BinaryIO]:
    """Open a source as uncompressed bytes; files that the caller opened stay open.

    Parameters
    ----------
    source : str, path or binary file object
        ``"-"`` is standard input. Gzip is recognised by content, whatever the name.
    binary : bool
        Whether the source may contain other data than text.

    Raises
    ------
    DataError
        If the source cannot be opened, or cannot be read within the block; the message names it.
    """
    name = display_name(source)
    try:
        with _open_binary(source) as stream:
            if not binary:
                _refuse_binary(stream, name)
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
            if on_open is not None:
                stack.enter_context(on_open(display_name(source), stream))
        if not hasattr(stream, "peek"):
            stream = io.BufferedReader(stream)
            # Otherwise the caller's file would be closed with the buffer.
            stack.callback(stream.detach)
        if stream.peek(2)[:2] == _GZIP_MAGIC:
            unzipped: Any = gzip.GzipFile(fileobj=stream)
            stream = stack.enter_context(io.BufferedReader(unzipped, _BLOCK_BYTES))
        yield stream


def _refuse_binary(stream: Any, name: str) -> None:
    """Raise an error for content that cannot be text; nothing is read from the stream.

    A zero byte on the first lines decides, as in git and grep. Readers refuse later ones.
    """
    start = stream.peek(_PEEK_BYTES)[:_PEEK_BYTES]
    for beginning, message in _BEGINNINGS.items():
        if start.startswith(beginning):
            raise DataError(message, name)
    refuse_zero_bytes(start, name)


def refuse_zero_bytes(text: bytes, name: str, first: int = 1) -> None:
    """Raise an error that names the line of a zero byte; ``first`` is the first line's number."""
    before, zero, _ = text.partition(b"\0")
    if zero:
        message = "contains a zero byte, so it is a binary file; data files are plain text or gzip"
        raise DataError(message, name, first + before.count(b"\n"))


def byte_blocks(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole lines, each with the number of its first line."""
    first = 1
    while block := stream.read(_SMALL_BLOCK_BYTES):
        block += stream.readline()
        if first == 1:
            block = block.removeprefix(_UTF8_BOM)
        yield first, block
        first += block.count(b"\n")


def line_blocks(stream: BinaryIO) -> Iterator[tuple[int, list[bytes]]]:
    """Blocks of lines, each with the number of its first line."""
    first = 1
    while lines := stream.readlines(_BLOCK_BYTES):
        if first == 1:
            lines[0] = lines[0].removeprefix(_UTF8_BOM)
        yield first, lines
        first += len(lines)
