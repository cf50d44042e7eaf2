"""The ``.mm`` model file: named arrays and JSON, in a zip archive that is checked before use.

The archive contains, all uncompressed, one ``<name>.npy`` per array, ``meta.json`` (format and
version, the user's meta, and type, shape and sha256 of each array) and ``checksum`` (the sha256 of
``meta.json``). ``meta.json`` and ``checksum`` will have the same names and form in all later
versions, so that an old maxmargin can say which version a new file needs.

A file is never trusted: nothing in it is evaluated or unpickled, and the memory that it asks for is
compared with a limit before it is allocated (``budget.py``).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import struct
import zipfile
from typing import Any, BinaryIO

import numpy as np

from .. import __version__
from ..errors import ModelFileError
from .atomic import atomic_file
from .budget import Budget, read_limit
from .npy import DTYPE, RefusedError, parse_array, write_array
from .sparse import dense_size

FORMAT = "maxmargin-model"
VERSION = 1
MAX_ENTRIES = 1000

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_END_SIZE, _LOCATOR_SIZE = 22, 20  # of the zip records that end an archive
_HARMLESS_FLAGS = 0x808  # UTF-8 names; sizes after the data, as when written to a pipe


def write_container(
    path: Any, meta: dict[str, Any], arrays: dict[str, np.ndarray], temporary: str | None = None
) -> None:
    """Write a model file, completely or not at all; equal content gives equal bytes.

    Parameters
    ----------
    path : str or path
    meta : dict
        Anything that JSON stores without change: str keys, no tuples, no NaN.
    arrays : dict of str to array
        Arrays of any shape with bool, integer, float (up to 64 bits) or str type.
    temporary : str, optional
        See `atomic_file`.

    Raises
    ------
    ModelFileError
        If the content cannot be stored or the file cannot be written.
    """
    ready = {name: _storable(name, array) for name, array in arrays.items()}
    if len(ready) > MAX_ENTRIES - 2:
        raise ModelFileError(f"a model file can store at most {MAX_ENTRIES - 2} arrays")
    _meta_bytes(meta, {})  # fail before the file is created
    with (
        atomic_file(path, ModelFileError, temporary) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive,
    ):
        specs = {name: write_array(archive, name, array) for name, array in ready.items()}
        content = _meta_bytes(meta, specs)
        archive.writestr(zipfile.ZipInfo("meta.json"), content)
        archive.writestr(zipfile.ZipInfo("checksum"), hashlib.sha256(content).hexdigest())


def _storable(name: str, array: Any) -> np.ndarray:
    array = np.asarray(array)
    if not _NAME.fullmatch(name):
        raise ModelFileError(f"array name {name!r}: use letters, digits, '_', '-' and '.'")
    if not DTYPE.fullmatch(array.dtype.str):
        raise ModelFileError(
            f"array {name!r} has type {array.dtype}; only bool, integer, float (up to 64 bits) "
            "and str arrays can be stored"
        )
    return array if array.flags.f_contiguous else np.asarray(array, order="C")


def _meta_bytes(meta: dict[str, Any], specs: dict[str, Any]) -> bytes:
    header = {"format": FORMAT, "version": VERSION, "maxmargin": __version__}
    try:
        text = json.dumps({**header, "meta": meta, "arrays": specs}, indent=1, allow_nan=False)
        faithful = json.loads(text)["meta"] == meta
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"meta cannot be stored as JSON: {error}") from error
    if not faithful:
        raise ModelFileError("meta would be changed by JSON: use str keys and lists")
    return text.encode("ascii")


def read_container(
    path: Any, max_bytes: int | None = None
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read a model file back: the ``meta`` and ``arrays`` given to `write_container`.

    Parameters
    ----------
    path : str or path
    max_bytes : int, optional
        Limit on the memory that the content may take; see ``registry.load``.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is not a model, is damaged or needs a newer maxmargin; the
        message names the file and the reason.
    """
    name, limit = os.fsdecode(path), read_limit(max_bytes)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise RefusedError("is not a regular file")
        with open(path, "rb") as file:
            size = _check_frame(file)
            with zipfile.ZipFile(file) as archive:
                return _read_archive(archive, size, Budget(size, limit))
    except RefusedError as error:
        raise ModelFileError(f"{name}: {error}") from None
    except OSError as error:
        raise ModelFileError(f"{name}: cannot be read: {error.strerror or error}") from error
    except MemoryError as error:
        raise ModelFileError(f"{name}: cannot be read: not enough memory") from error
    except (
        zipfile.BadZipFile,
        struct.error,
        EOFError,
        ValueError,
        OverflowError,
        RuntimeError,  # includes NotImplementedError, for zip features, and RecursionError
    ) as error:
        raise ModelFileError(f"{name}: is damaged: {str(error) or type(error).__name__}") from error


def _check_frame(file: BinaryIO) -> int:
    """The file size, after checking the first bytes and the end record of the zip archive."""
    size = file.seek(0, os.SEEK_END)
    if size == 0:
        raise RefusedError("is empty")
    file.seek(0)
    if file.read(4) != b"PK\x03\x04":
        raise RefusedError("is not a maxmargin model file")
    file.seek(max(0, size - _END_SIZE - _LOCATOR_SIZE))
    locator, end = (tail := file.read())[:-_END_SIZE], tail[-_END_SIZE:]
    if not end.startswith(b"PK\x05\x06"):
        raise RefusedError("is truncated or damaged: the end of the archive is missing")
    # A zip64 record overrides this number of entries; zipfile writes one only for 2 GiB and more.
    (entries,) = struct.unpack_from("<H", end, 10)
    if entries > MAX_ENTRIES or (locator.startswith(b"PK\x06\x07") and size < 2**31 - 1):
        raise RefusedError(f"has more than {MAX_ENTRIES} entries or a damaged directory")
    return size


def _read_archive(
    archive: zipfile.ZipFile, size: int, budget: Budget
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    entries = _checked_entries(archive.infolist(), size)
    content = _read_entry(archive, entries.pop("meta.json"))
    checksum = _read_entry(archive, entries.pop("checksum"))
    if checksum != hashlib.sha256(content).hexdigest().encode():
        raise RefusedError("was altered: meta.json does not match its checksum")
    header = _checked_header(json.loads(content, parse_constant=_refuse_constant))
    specs = header["arrays"]
    if entries.keys() != {f"{name}.npy" for name in specs}:
        raise RefusedError("was altered: its arrays are not those listed in meta.json")
    budget.spend_labels(header["meta"])
    for name, spec in specs.items():
        budget.spend_array(name, spec)
    arrays = {
        name: parse_array(name, _read_entry(archive, entries[f"{name}.npy"]), spec)
        for name, spec in specs.items()
    }
    budget.spend(8 * dense_size(arrays), "weights")
    return header["meta"], arrays


def _checked_entries(infos: list[zipfile.ZipInfo], size: int) -> dict[str, zipfile.ZipInfo]:
    """The entries by name, after checking names, flags and sizes."""
    entries = {info.filename: info for info in infos}
    if not {"meta.json", "checksum"} <= entries.keys():
        raise RefusedError("is not a maxmargin model file: it is a zip archive of something else")
    if len(infos) > MAX_ENTRIES or len(entries) < len(infos):
        raise RefusedError("has duplicate or too many entries")
    for info in infos:
        if not _NAME.fullmatch(info.filename.removesuffix(".npy")):
            raise RefusedError(f"has an entry with a forbidden name: {info.filename!r}")
        if (
            info.compress_type != zipfile.ZIP_STORED
            or info.compress_size != info.file_size
            or info.flag_bits & ~_HARMLESS_FLAGS
        ):
            raise RefusedError(f"has a compressed or encrypted entry: {info.filename!r}")
    # Otherwise overlapping entries could claim far more bytes than the file has.
    if sum(info.file_size for info in infos) > size:
        raise RefusedError("is damaged: its entries are larger than the file")
    return entries


def _read_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    content = archive.read(info)  # zipfile compares its CRC
    if len(content) != info.file_size:
        raise RefusedError(f"is truncated: entry {info.filename!r} is incomplete")
    return content


def _refuse_constant(constant: str) -> None:
    raise RefusedError(f"is damaged: {constant} in meta.json")


def _checked_header(header: Any) -> dict[str, Any]:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise RefusedError("is not a maxmargin model file")
    version = header.get("version")
    if type(version) is not int or version < 1:
        raise RefusedError(f"is damaged: its format version is {version!r}")
    if version > VERSION:
        raise RefusedError(
            f"was written by maxmargin {header.get('maxmargin')} in model format {version}, and "
            f"this maxmargin reads formats up to {VERSION}; upgrade maxmargin"
        )
    if not isinstance(header.get("meta"), dict) or not isinstance(header.get("arrays"), dict):
        raise RefusedError("is damaged: meta.json is incomplete")
    return header
