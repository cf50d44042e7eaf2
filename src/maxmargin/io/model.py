"""The ``.mm`` model file: named arrays and JSON, in a zip archive that is checked before use.

The archive holds, all uncompressed, one ``<name>.npy`` for each array, ``meta.json`` (format and
version, the user's meta, and type, shape and sha256 of each array) and ``checksum`` (the sha256 of
``meta.json``). ``meta.json`` and ``checksum`` keep their place and form in all later versions, so
that an old maxmargin can say which version a new file needs.

A file is never trusted: nothing in it is evaluated or unpickled, and no memory is taken on the
word of a header, only in proportion to the bytes that are really there.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import stat
import struct
import zipfile
from typing import Any, BinaryIO

import numpy as np

from .. import __version__
from ..errors import ModelFileError
from .svmlight import atomic_file

FORMAT = "maxmargin-model"
VERSION = 1
MAX_ENTRIES = 1000

#: Most characters in an array of labels, counting the padding: bounds what a few bytes of JSON
#: that declare a huge string type can allocate.
MAX_LABEL_CHARACTERS = 2**26

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_DTYPE = re.compile(r"\|b1|\|[iu]1|[<>][iu][248]|[<>]f[248]|[<>]U[1-9]\d{0,8}")
_NPY_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(..)"
    rb"\{'descr': '([^']{2,12})', 'fortran_order': (True|False), 'shape': \(([\d, ]*)\), \} *\n",
    re.DOTALL,
)
_END_SIZE, _LOCATOR_SIZE = 22, 20  # of the zip records that end an archive
_HARMLESS_FLAGS = 0x808  # UTF-8 names; sizes after the data, as when written to a pipe


class _RefusedError(Exception):
    """Why a file is not loaded."""


def write_container(path: Any, meta: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write a model file, atomically; the same content gives the same bytes.

    Parameters
    ----------
    path : str or path
    meta : dict
        Anything that JSON gives back as it was: str keys, no tuples, no NaN.
    arrays : dict of str to array
        Of bool, integer, float (up to 64 bits) or str type, of any shape.

    Raises
    ------
    ModelFileError
        If the content cannot be stored or the file cannot be written.
    """
    ready = {name: _storable(name, array) for name, array in arrays.items()}
    if len(ready) > MAX_ENTRIES - 2:
        raise ModelFileError(f"a model file holds at most {MAX_ENTRIES - 2} arrays")
    _meta_bytes(meta, {})  # before the file is begun
    with (
        atomic_file(path, ModelFileError) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive,
    ):
        specs = {name: _write_array(archive, name, array) for name, array in ready.items()}
        content = _meta_bytes(meta, specs)
        archive.writestr(zipfile.ZipInfo("meta.json"), content)
        archive.writestr(zipfile.ZipInfo("checksum"), hashlib.sha256(content).hexdigest())


def _storable(name: str, array: Any) -> np.ndarray:
    array = np.asarray(array)
    if not _NAME.fullmatch(name):
        raise ModelFileError(f"array name {name!r}: use letters, digits, '_', '-' and '.'")
    if not _DTYPE.fullmatch(array.dtype.str):
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
        raise ModelFileError("meta would not come back from JSON as it is: use str keys and lists")
    return text.encode("ascii")


def _write_array(archive: zipfile.ZipFile, name: str, array: np.ndarray) -> dict[str, Any]:
    """Write one .npy entry without a copy of the data; returns its description."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, np.lib.format.header_data_from_array_1_0(array))
    flat = array.ravel(order="C" if array.flags.c_contiguous else "F")
    parts = [memoryview(head.getvalue()), flat.view(np.uint8).data]
    info = zipfile.ZipInfo(f"{name}.npy")
    info.file_size = len(parts[0]) + array.nbytes  # tells zipfile early if it needs zip64
    digest = hashlib.sha256()
    with archive.open(info, "w") as entry:
        for part in parts:
            entry.write(part)
            digest.update(part)
    return {"dtype": array.dtype.str, "shape": list(array.shape), "sha256": digest.hexdigest()}


def read_container(path: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read a model file back: the ``meta`` and ``arrays`` given to `write_container`.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is not a model, is damaged or needs a newer maxmargin; the
        message names the file and the reason.
    """
    name = os.fsdecode(path)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise _RefusedError("is not a regular file")
        with open(path, "rb") as file:
            size = _check_frame(file)
            with zipfile.ZipFile(file) as archive:
                return _read_archive(archive, size)
    except _RefusedError as error:
        raise ModelFileError(f"{name}: {error}") from None
    except OSError as error:
        raise ModelFileError(f"{name}: cannot be read: {error.strerror or error}") from error
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
    """Size of a file that starts and ends as a zip archive of a bounded number of entries."""
    size = file.seek(0, os.SEEK_END)
    if size == 0:
        raise _RefusedError("is empty")
    file.seek(0)
    if file.read(4) != b"PK\x03\x04":
        raise _RefusedError("is not a maxmargin model file")
    file.seek(max(0, size - _END_SIZE - _LOCATOR_SIZE))
    locator, end = (tail := file.read())[:-_END_SIZE], tail[-_END_SIZE:]
    if not end.startswith(b"PK\x05\x06"):
        raise _RefusedError("is truncated or damaged: the end of the archive is missing")
    # A zip64 record overrules the number of entries given here; zipfile writes it only from 2 GiB.
    (entries,) = struct.unpack_from("<H", end, 10)
    if entries > MAX_ENTRIES or (locator.startswith(b"PK\x06\x07") and size < 2**31 - 1):
        raise _RefusedError(f"has more than {MAX_ENTRIES} entries or a damaged directory")
    return size


def _read_archive(
    archive: zipfile.ZipFile, size: int
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    entries = _checked_entries(archive.infolist(), size)
    content = _read_entry(archive, entries.pop("meta.json"))
    checksum = _read_entry(archive, entries.pop("checksum"))
    if checksum != hashlib.sha256(content).hexdigest().encode():
        raise _RefusedError("was altered: meta.json does not match its checksum")
    header = _checked_header(json.loads(content, parse_constant=_refuse_constant))
    specs = header["arrays"]
    if entries.keys() != {f"{name}.npy" for name in specs}:
        raise _RefusedError("was altered: its arrays are not the ones that meta.json lists")
    arrays = {
        name: _parse_array(name, _read_entry(archive, entries[f"{name}.npy"]), spec)
        for name, spec in specs.items()
    }
    return header["meta"], arrays


def _checked_entries(infos: list[zipfile.ZipInfo], size: int) -> dict[str, zipfile.ZipInfo]:
    """The entries by name, once their sizes are known to fit in the file together."""
    entries = {info.filename: info for info in infos}
    if not {"meta.json", "checksum"} <= entries.keys():
        raise _RefusedError("is not a maxmargin model file: it is a zip archive of something else")
    if len(infos) > MAX_ENTRIES or len(entries) < len(infos):
        raise _RefusedError("has duplicate or too many entries")
    for info in infos:
        if not _NAME.fullmatch(info.filename.removesuffix(".npy")):
            raise _RefusedError(f"has an entry with a forbidden name: {info.filename!r}")
        if (
            info.compress_type != zipfile.ZIP_STORED
            or info.compress_size != info.file_size
            or info.flag_bits & ~_HARMLESS_FLAGS
        ):
            raise _RefusedError(f"has a compressed or encrypted entry: {info.filename!r}")
    # Overlapping entries could otherwise stand for far more bytes than there are.
    if sum(info.file_size for info in infos) > size:
        raise _RefusedError("is damaged: its entries are larger than the file")
    return entries


def _read_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    content = archive.read(info)  # zipfile compares its CRC
    if len(content) != info.file_size:
        raise _RefusedError(f"is truncated: entry {info.filename!r} is incomplete")
    return content


def _refuse_constant(constant: str) -> None:
    raise _RefusedError(f"is damaged: {constant} in meta.json")


def _checked_header(header: Any) -> dict[str, Any]:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise _RefusedError("is not a maxmargin model file")
    version = header.get("version")
    if not isinstance(version, int) or version < 1:
        raise _RefusedError(f"is damaged: its format version is {version!r}")
    if version > VERSION:
        raise _RefusedError(
            f"was written by maxmargin {header.get('maxmargin')} in model format {version}, and "
            f"this maxmargin reads formats up to {VERSION}; upgrade maxmargin"
        )
    if not isinstance(header.get("meta"), dict) or not isinstance(header.get("arrays"), dict):
        raise _RefusedError("is damaged: meta.json is incomplete")
    return header


def _parse_array(name: str, content: bytes, spec: Any) -> np.ndarray:
    """The array in the bytes of a .npy file, which must agree with its description."""
    header = _NPY_HEADER.match(content)
    if header is None:
        raise _RefusedError(f"is damaged: array {name!r} is not in a plain .npy format")
    length, fortran, sizes = header.group(1, 3, 4)
    descr = header[2].decode("ascii", "replace")
    shape = [int(n) for n in sizes.decode().split(",") if n.strip()]
    found = {"dtype": descr, "shape": shape, "sha256": hashlib.sha256(content).hexdigest()}
    if found != spec or not _DTYPE.fullmatch(descr):
        raise _RefusedError(f"was altered: array {name!r} does not match its description")
    dtype = np.dtype(descr)
    data_size = math.prod(shape) * dtype.itemsize
    if header.end() != 10 + struct.unpack("<H", length)[0]:
        raise _RefusedError(f"is damaged: the header of array {name!r} is inconsistent")
    if header.end() + data_size != len(content):
        raise _RefusedError(f"is damaged: array {name!r} does not have the size it declares")
    flat = np.frombuffer(content, dtype, offset=header.end())
    _check_values(name, flat)
    return flat.reshape(shape, order="F" if fortran == b"True" else "C").copy(order="K")


def _check_values(name: str, flat: np.ndarray) -> None:
    """Refuse bytes that stand for no bool or no character."""
    if flat.dtype.kind == "b":
        codes, largest = flat.view(np.uint8), 1
    elif flat.dtype.kind == "U":
        codes, largest = flat.view(flat.dtype.str[0] + "u4"), 0x10FFFF
    else:
        return
    if codes.max(initial=0) > largest:
        raise _RefusedError(f"is damaged: array {name!r} holds invalid values")


def labels_to_json(labels: Any) -> Any:
    """Describe labels by JSON types, for the meta of a model.

    Parameters
    ----------
    labels : 1-D array, list, tuple or single label
        A label is a str, int, float, bool, None, numpy scalar of such a type, or a tuple of these.

    Raises
    ------
    ModelFileError
        If a label is of another type, or is NaN.
    """
    if labels is None or type(labels) in (str, int, bool):
        return labels
    if type(labels) is float:
        if math.isnan(labels):
            raise ModelFileError("label nan cannot be stored: it is not equal to itself")
        return labels if math.isfinite(labels) else {"float": repr(labels)}
    if type(labels) is list:
        return [labels_to_json(label) for label in labels]
    if type(labels) is tuple:
        return {"tuple": [labels_to_json(label) for label in labels]}
    if isinstance(labels, np.str_):
        return {"scalar": "U", "value": str(labels)}
    if isinstance(labels, np.generic) and _DTYPE.fullmatch(labels.dtype.str):
        return {"scalar": labels.dtype.str, "value": labels_to_json(labels.item())}
    if type(labels) is np.ndarray and _is_label_array(labels):
        values = [labels_to_json(label) for label in labels.tolist()]
        return {"array": labels.dtype.str, "values": values}
    raise ModelFileError(
        f"label {labels!r} of type {type(labels).__name__} cannot be stored; use str, int, float, "
        "bool, None, or tuples or 1-D arrays of these"
    )


def _is_label_array(array: np.ndarray) -> bool:
    return array.ndim == 1 and _is_label_dtype(array.dtype.str, len(array))


def _is_label_dtype(descr: str, n: int) -> bool:
    if descr[1:2] == "U" and _DTYPE.fullmatch(descr):
        return int(descr[2:]) * n <= MAX_LABEL_CHARACTERS
    return descr == "|O" or _DTYPE.fullmatch(descr) is not None


def labels_from_json(description: Any) -> Any:
    """The labels that `labels_to_json` described, with the types they had.

    Raises
    ------
    ModelFileError
        If the description is not one that `labels_to_json` makes.
    """
    try:
        return _labels_from_json(description)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ModelFileError(f"the labels in the model are damaged: {error}") from error


def _labels_from_json(description: Any) -> Any:
    match description:
        case None | bool() | int() | float() | str():
            return description
        case list():
            return [_labels_from_json(item) for item in description]
        case {"float": "inf" | "-inf" as text}:
            return float(text)
        case {"tuple": list(items)}:
            return tuple(_labels_from_json(item) for item in items)
        case {"scalar": "U", "value": str(value)}:
            return np.str_(value)
        case {
            "scalar": str(descr),
            "value": bool() | int() | float() | {"float": str()} as value,
        } if _DTYPE.fullmatch(descr) and "U" not in descr:
            return np.dtype(descr).type(_labels_from_json(value))
        case {"array": str(descr), "values": list(values)} if _is_label_dtype(descr, len(values)):
            return _label_array(descr, [_labels_from_json(value) for value in values])
    raise ValueError(f"{description!r} describes no label")


def _label_array(descr: str, labels: list[Any]) -> np.ndarray:
    array = np.empty(len(labels), dtype=np.dtype(descr))
    for i, label in enumerate(labels):  # one by one: a tuple must stay one label
        array[i] = label
    return array
