"""The arrays of a model file: ``.npy`` entries of the archive, checked before use."""

from __future__ import annotations

import hashlib
import io
import math
import re
import struct
import zipfile
from typing import Any

import numpy as np

#: The dtypes of arrays that can be stored, in numpy's notation.
DTYPE = re.compile(r"\|b1|\|[iu]1|[<>][iu][248]|[<>]f[248]|[<>]U[1-9]\d{0,8}")

_NPY_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(..)"
    rb"\{'descr': '([^']{2,12})', 'fortran_order': (True|False), 'shape': \(([\d, ]*)\), \} *\n",
    re.DOTALL,
)


class RefusedError(Exception):
    """The reason why a file is not loaded."""


def write_array(archive: zipfile.ZipFile, name: str, array: np.ndarray) -> dict[str, Any]:
    """Write one .npy entry without copying the data; returns its description."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, np.lib.format.header_data_from_array_1_0(array))
    flat = array.ravel(order="C" if array.flags.c_contiguous else "F")
    parts = [memoryview(head.getvalue()), flat.view(np.uint8).data]
    info = zipfile.ZipInfo(f"{name}.npy")
    info.file_size = len(parts[0]) + array.nbytes  # so that zipfile knows if it needs zip64
    digest = hashlib.sha256()
    with archive.open(info, "w") as entry:
        for part in parts:
            entry.write(part)
            digest.update(part)
    return {"dtype": array.dtype.str, "shape": list(array.shape), "sha256": digest.hexdigest()}


def parse_array(name: str, content: bytes, spec: Any) -> np.ndarray:
    """The array in the bytes of a .npy file, checked against its description."""
    header = _NPY_HEADER.match(content)
    if header is None:
        raise RefusedError(f"is damaged: array {name!r} is not in a plain .npy format")
    length, fortran, sizes = header.group(1, 3, 4)
    descr = header[2].decode("ascii", "replace")
    shape = [int(n) for n in sizes.decode().split(",") if n.strip()]
    found = {"dtype": descr, "shape": shape, "sha256": hashlib.sha256(content).hexdigest()}
    if found != spec or not DTYPE.fullmatch(descr):
        raise RefusedError(f"was altered: array {name!r} does not match its description")
    try:
        dtype = np.dtype(descr)
    except TypeError:  # a longer string than numpy can hold
        raise RefusedError(f"is damaged: array {name!r} has the type {descr}") from None
    data_size = math.prod(shape) * dtype.itemsize
    if header.end() != 10 + struct.unpack("<H", length)[0]:
        raise RefusedError(f"is damaged: the header of array {name!r} is inconsistent")
    if header.end() + data_size != len(content):
        raise RefusedError(f"is damaged: array {name!r} does not have the size it declares")
    flat = np.frombuffer(content, dtype, offset=header.end())
    _check_values(name, flat)
    return flat.reshape(shape, order="F" if fortran == b"True" else "C").copy(order="K")


def _check_values(name: str, flat: np.ndarray) -> None:
    """Raise a RefusedError for bytes that are not a bool or not a character."""
    if flat.dtype.kind == "b":
        codes, largest = flat.view(np.uint8), 1
    elif flat.dtype.kind == "U":
        codes, largest = flat.view(flat.dtype.str[0] + "u4"), 0x10FFFF
    else:
        return
    if codes.max(initial=0) > largest:
        raise RefusedError(f"is damaged: array {name!r} holds invalid values")
