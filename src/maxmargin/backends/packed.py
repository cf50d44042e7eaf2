"""Examples on disk as arrays that are mapped into memory, so that files are parsed only once.

A packed shard is a directory of ``.npy`` files and a ``meta.json``. It is written under a temporary
name and renamed when complete, so that an incomplete shard is never read.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import Any, NamedTuple

import numpy as np

from ..data.checked import as_csr, check_codes, check_finite_rows, check_offsets, check_weights
from ..data.sequences import Sequences
from ..errors import DataError, MaxMarginError

#: What NumPy, zipfile and json raise for damaged files; TokenError for headers of ``.npy`` files.
DAMAGED = (
    ValueError, LookupError, TypeError, AttributeError, OSError, EOFError, OverflowError,
    MemoryError, RuntimeError, TokenError, struct.error, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


class Part(NamedTuple):
    """The examples of one file: rows of a matrix, class numbers, and weights if there are any.

    ``offsets`` holds the first row of each sequence; it is None if each row is an example.
    """

    matrix: Any
    codes: np.ndarray
    offsets: np.ndarray | None
    weight: np.ndarray | None


def digest_of(value: Any) -> str:
    """A digest of a value of JSON types."""
    return hashlib.blake2b(json.dumps(value).encode(), digest_size=16).hexdigest()


class Growing:
    """A one-dimensional ``.npy`` file that is written piece by piece."""

    def __init__(self, path: Path, dtype: Any):
        self.file = open(path, "wb")  # noqa: SIM115 - closed by close()
        self.dtype, self.n = np.dtype(dtype), 0
        self._header()
        self.start = self.file.tell()

    def add(self, values: np.ndarray) -> None:
        """Append values."""
        np.ascontiguousarray(values, self.dtype).tofile(self.file)
        self.n += len(values)

    def close(self) -> None:
        """Write the header again with the final length, for which NumPy leaves space."""
        self.file.seek(0)
        self._header()
        assert self.file.tell() == self.start
        self.file.close()

    def _header(self) -> None:
        shape = {"descr": self.dtype.str, "fortran_order": False, "shape": (self.n,)}
        np.lib.format.write_array_header_1_0(self.file, shape)


def write_packed(place: Path, parts: Iterable[Part], n_features: int) -> None:
    """Write a packed shard; only one of the ``parts`` is in memory at a time."""
    make_folder(place.parent)
    with _writing(place):
        folder = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
        try:
            with ExitStack() as stack:
                _write(folder, parts, n_features, stack)
            try:
                os.rename(folder, place)
            except OSError:  # another process has written the same shard
                if not (place / "meta.json").exists():
                    raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def make_folder(place: Path) -> None:
    """Make the folder of a cache, if it does not exist."""
    with _writing(place):
        place.mkdir(parents=True, exist_ok=True)


@contextmanager
def _writing(place: Path) -> Iterator[None]:
    """A full disk, or a folder that cannot be written, as an error that names the place."""
    try:
        yield
    except OSError as error:
        raise MaxMarginError(
            f"{place}: the cache of the files cannot be written: {error.strerror or error}; give "
            "another directory as cache="
        ) from error


def _write(folder: Path, parts: Iterable[Part], n_features: int, stack: ExitStack) -> None:
    """Write the arrays and their metadata; ``stack`` closes the files after an error."""
    import scipy.sparse as sp

    arrays: dict[str, Growing] = {}

    def add(name: str, values: np.ndarray, dtype: Any) -> None:
        if name not in arrays:
            arrays[name] = Growing(folder / f"{name}.npy", dtype)
            stack.callback(arrays[name].file.close)
        arrays[name].add(values)

    meta: dict[str, Any] = {"n_features": n_features, "dense": False, "sequences": False}
    entries = rows = 0
    add("indptr", np.zeros(1), np.int64)
    add("offsets", np.zeros(1), np.int64)
    for part in parts:
        dense = not sp.issparse(part.matrix)
        if rows and (dense != meta["dense"] or (part.offsets is not None) != meta["sequences"]):
            raise DataError(
                "the files differ: all must be dense or all sparse, and all or none hold sequences"
            )
        meta |= {"dense": dense, "sequences": part.offsets is not None}
        matrix = np.ascontiguousarray(part.matrix) if dense else part.matrix.tocsr()
        if not dense:
            matrix.sort_indices()
            add("indices", matrix.indices, np.int32)
            add("indptr", matrix.indptr[1:] + entries, np.int64)
            entries += matrix.nnz
        values: np.ndarray = np.asarray(matrix.reshape(-1) if dense else matrix.data)
        add("values", values, np.float32 if values.dtype == np.float32 else np.float64)
        add("codes", part.codes, np.int32)
        add("weight", np.ones(_n(part)) if part.weight is None else part.weight, np.float64)
        if part.offsets is not None:
            add("offsets", part.offsets[1:] + rows, np.int64)
        rows += matrix.shape[0]
    for array in arrays.values():
        array.close()
    meta["rows"] = rows
    (folder / "meta.json").write_text(json.dumps(meta | {"checksum": digest_of(meta)}))


def _n(part: Part) -> int:
    """Number of examples."""
    return part.matrix.shape[0] if part.offsets is None else len(part.offsets) - 1


def read_packed(place: Path, n_features: int, n_classes: int) -> Part:
    """Map a packed shard into memory, with the same checks as for the original files."""
    try:
        return _read(place, n_features, n_classes)
    except DAMAGED as error:  # includes DataError
        raise DataError(
            f"is not a packed shard, or is damaged: {error}; delete this directory to have it "
            "packed again from its files",
            path=str(place),
        ) from error


def _read(place: Path, n_features: int, n_classes: int) -> Part:
    meta = json.loads((place / "meta.json").read_text())
    if meta.pop("checksum") != digest_of(meta):
        raise DataError("meta.json was altered")
    rows = int(meta["rows"])
    shape = (rows, n_features)
    if meta["n_features"] != n_features:
        raise DataError(f"it has {meta['n_features']} features, expected {n_features}")

    def mapped(name: str) -> np.ndarray:
        path = place / f"{name}.npy"
        # An empty array, whose file is only a header, cannot be mapped.
        mode = "r" if path.stat().st_size > 128 else None
        return np.asarray(np.load(path, mmap_mode=mode, allow_pickle=False))

    if meta["dense"]:
        matrix: Any = mapped("values").reshape(shape)
    else:
        matrix = as_csr(mapped("values"), mapped("indices"), mapped("indptr"), shape)
        matrix.has_sorted_indices = True
    check_finite_rows(matrix)
    codes = check_codes(mapped("codes"), rows, 0, n_classes - 1).astype(np.int32, copy=False)
    offsets = check_offsets(mapped("offsets"), rows) if meta["sequences"] else None
    n = rows if offsets is None else len(offsets) - 1
    return Part(matrix, codes, offsets, check_weights(mapped("weight"), n, "weight"))


def examples_of(part: Part) -> tuple[Any, Any]:
    """X and class numbers in the form that problems take."""
    if part.offsets is None:
        return part.matrix, part.codes
    X = Sequences(part.matrix, part.offsets)
    return X, np.split(part.codes, part.offsets[1:-1])
