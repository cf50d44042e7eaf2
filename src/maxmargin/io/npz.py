"""Files of plain arrays in numpy's npz format, checked before anything is allocated."""

from __future__ import annotations

import io
import math
import zipfile
from typing import Any

import numpy as np

from ..errors import DataError
from .sources import display_name, open_source


def read_npz(source: Any) -> dict[str, np.ndarray]:
    """The arrays of an npz file or stream, by name."""
    with open_source(source, binary=True) as stream:
        content = io.BytesIO(stream.read())
    return read_arrays(content, display_name(source))


def npz_bytes(arrays: dict[str, np.ndarray]) -> bytes:
    """The content of an npz file with these arrays."""
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def read_arrays(stream: Any, path: str) -> dict[str, np.ndarray]:
    """The arrays of an npz file; a header that claims more data than there are is refused."""
    try:
        with zipfile.ZipFile(stream) as archive:
            for info in archive.infolist():
                with archive.open(info) as entry:
                    _check_header(entry, info)
        stream.seek(0)
        with np.load(stream, allow_pickle=False) as file:
            return dict(file)
    except MemoryError as error:
        raise DataError("does not fit into memory", path=path) from error
    except Exception as error:  # of zipfile, zlib, lzma, ast and numpy, which document no list
        raise DataError(f"is not an npz file of plain arrays: {error}", path=path) from error


def _check_header(entry: Any, info: zipfile.ZipInfo) -> None:
    """Raise a ValueError unless an entry is an array of plain numbers that fills the entry."""
    version = np.lib.format.read_magic(entry)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"{info.filename!r} has version {version} of the npy format")
    old = version == (1, 0)
    read = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(entry)
    if dtype.hasobject or entry.tell() + math.prod(shape) * dtype.itemsize != info.file_size:
        raise ValueError(f"{info.filename!r} does not hold {shape} entries of {dtype}")
