"""Paths of data files on this machine, or anywhere fsspec can read (``s3://``, ``hdfs://``...)."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import DataError

_BLOCK = 1 << 20


def find_paths(patterns: list[str]) -> list[tuple[str, int]]:
    """The matching files with their sizes in bytes, in the order of patterns, each sorted.

    A pattern that is the name of a file is this file.
    """
    found: list[tuple[str, int]] = []
    for pattern in patterns:
        if "://" in pattern:
            system, path = _filesystem(pattern)
            scheme = pattern.split("://", 1)[0]
            several = glob.has_magic(path) and not system.exists(path)
            files = sorted(system.glob(path)) if several else [path]
            matches = [(f"{scheme}://{f}", int(system.size(f) or 0)) for f in files]
        else:
            several = glob.has_magic(pattern) and not os.path.exists(pattern)
            files = sorted(glob.glob(pattern)) if several else [pattern]
            matches = [(f, _size(f)) for f in files]
        if not matches:
            raise DataError("no file matches: check the pattern", path=pattern)
        found += matches
    return found


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from error


@contextmanager
def open_path(path: str) -> Iterator[Any]:
    """Open a file for reading bytes; errors name the file."""
    try:
        if "://" in path:
            system, name = _filesystem(path)
            with system.open(name, "rb") as stream:
                yield _Named(stream, path)
        else:
            with open(path, "rb") as stream:
                yield stream
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from error


def read_bytes_hash(path: str) -> str:
    """A digest of the content."""
    digest = hashlib.blake2b(digest_size=16)
    with open_path(path) as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def state_of(path: str) -> tuple[int, int] | None:
    """What changes if a file is written: its size and time; None for addresses."""
    if "://" in path:
        return None
    try:
        found = os.stat(path)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from error
    return found.st_size, found.st_mtime_ns


def _filesystem(path: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as error:
        raise DataError("a path with '://' needs fsspec: pip install fsspec", path=path) from error
    try:
        return fsspec.core.url_to_fs(path)
    except (ImportError, ValueError) as error:
        raise DataError(f"cannot be opened: {error}", path=path) from error


class _Named:
    """A stream with a name for error messages."""

    def __init__(self, stream: Any, name: str):
        self._stream, self.name = stream, name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
