"""Write packed shards: file after file, so that a packing that was killed can be continued.

A shard is written in a hidden folder, which is renamed when it is complete: an incomplete shard is
never read. After each file a journal records how long the arrays are. Who packs has a lock on the
folder, which the system releases when the process ends, whatever ends it.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.linalg import all_ones, are_ones
from ..errors import DataError, MaxMarginError
from ..saving.leftovers import take_lock
from .packed import Part, digest_of

_JOURNAL, _LOCK, _META = "journal.json", "lock", "meta.json"

#: Seconds after which an interrupted packing that was not continued is removed: a week.
FORGOTTEN = 7 * 24 * 3600


class Growing:
    """A one-dimensional ``.npy`` file that is written piece by piece.

    If it exists, it is continued after its first ``n`` numbers.
    """

    def __init__(self, path: Path, dtype: Any, n: int = 0):
        self.dtype, self.n = np.dtype(dtype), n
        self.file = open(path, "r+b" if n else "wb")  # noqa: SIM115 - closed by close()
        self._header()
        self.file.flush()
        end = self.file.tell() + n * self.dtype.itemsize
        if os.fstat(self.file.fileno()).st_size < end:
            self.file.close()
            raise ValueError(f"{path} is too short")
        self.file.seek(end)
        self.file.truncate()

    def add(self, values: np.ndarray) -> None:
        """Append values."""
        np.ascontiguousarray(values, self.dtype).tofile(self.file)
        self.n += len(values)

    def close(self) -> None:
        """Write the header again with the final length, for which NumPy leaves space."""
        self.file.seek(0)
        self._header()
        self.file.close()

    def _header(self) -> None:
        shape = {"descr": self.dtype.str, "fortran_order": False, "shape": (self.n,)}
        np.lib.format.write_array_header_1_0(self.file, shape)


class Writer:
    """The arrays of a shard in a folder; with a journal there, after the files of the journal."""

    def __init__(self, folder: Path, n_features: int):
        self.folder = folder
        self.arrays: dict[str, Growing] = {}
        self.files = self.rows = self.entries = 0
        self.meta: dict[str, Any] = {
            "n_features": n_features, "dense": False, "sequences": False, "ones": True,
            "dtype": "float64",
        }  # fmt: skip
        if not self._continue():
            self._add("indptr", np.zeros(1), np.int64)
            self._add("offsets", np.zeros(1), np.int64)

    def _continue(self) -> bool:
        """Continue after the journal, if there is one and the arrays are as it says."""
        try:
            known = json.loads((self.folder / _JOURNAL).read_text())
            if known.pop("checksum") != digest_of(known):
                return False
            for name, (dtype, n) in known["arrays"].items():
                self.arrays[name] = Growing(self.folder / f"{name}.npy", dtype, n)
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            self.close()
            self.arrays = {}
            return False
        self.files, self.rows, self.entries = known["counts"]
        self.meta = known["meta"]
        return True

    def add(self, part: Part) -> None:
        """Append the examples of a file, and record it in the journal."""
        import scipy.sparse as sp

        dense, sequences = not sp.issparse(part.matrix), part.offsets is not None
        if self.rows and (dense != self.meta["dense"] or sequences != self.meta["sequences"]):
            raise DataError(
                "the files differ: all must be dense or all sparse, and all or none hold sequences"
            )
        self.meta |= {"dense": dense, "sequences": sequences}
        matrix: Any = np.ascontiguousarray(part.matrix) if dense else part.matrix.tocsr()
        if not dense:
            matrix.sort_indices()
            self._add("indices", matrix.indices, np.int32)
            self._add("indptr", matrix.indptr[1:] + self.entries, np.int64)
        self._add_values(matrix.reshape(-1) if dense else matrix.data, dense)
        self._add("codes", part.codes, np.int32)
        self._add("weight", np.ones(_n(part)) if part.weight is None else part.weight, np.float64)
        if part.offsets is not None:
            self._add("offsets", part.offsets[1:] + self.rows, np.int64)
        self.rows += matrix.shape[0]
        self.files += 1
        self._record()

    def _add_values(self, values: np.ndarray, dense: bool) -> None:
        """Values are written from the first one on that is not 1."""
        if not self.entries:
            single = values.dtype == np.float32
            self.meta["dtype"] = "float32" if single else "float64"
        if self.meta["ones"] and (dense or not are_ones(values)):
            self.meta["ones"] = False
            self._add("values", all_ones(self.entries, np.float32), self.meta["dtype"])
        if not self.meta["ones"]:
            self._add("values", values, self.meta["dtype"])
        self.entries += len(values)

    def _add(self, name: str, values: np.ndarray, dtype: Any) -> None:
        if name not in self.arrays:
            self.arrays[name] = Growing(self.folder / f"{name}.npy", dtype)
        self.arrays[name].add(values)

    def _record(self) -> None:
        for array in self.arrays.values():
            array.file.flush()
        arrays = {name: [array.dtype.str, array.n] for name, array in self.arrays.items()}
        counts = [self.files, self.rows, self.entries]
        content = {"arrays": arrays, "counts": counts, "meta": self.meta}
        new = self.folder / f"{_JOURNAL}.new"
        new.write_text(json.dumps(content | {"checksum": digest_of(content)}))
        os.replace(new, self.folder / _JOURNAL)

    def finish(self) -> None:
        """Close the arrays and write their description."""
        if not self.meta["dense"] and not self.meta["ones"] and "values" not in self.arrays:
            self._add("values", np.empty(0), self.meta["dtype"])
        for array in self.arrays.values():
            array.close()
        meta = self.meta | {"rows": self.rows}
        (self.folder / _META).write_text(json.dumps(meta | {"checksum": digest_of(meta)}))
        (self.folder / _JOURNAL).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the files after an interruption."""
        for array in self.arrays.values():
            array.file.close()


def write_packed(
    place: Path,
    readers: Sequence[Callable[[], Part]],
    n_features: int,
    on_packed: Callable[[int, bool], None] | None = None,
) -> None:
    """Write a packed shard.

    Parameters
    ----------
    place : Path
    readers : functions that return the examples of each file
        Only one of them is in memory at a time. Those that an earlier packing has completed are not
        called.
    n_features : int
    on_packed : callable, optional
        Called with the number of each file that is complete, and whether it was found complete.
    """
    with _writing(place):
        make_folder(place.parent)
        _remove_leftovers(place)
        with _claimed(place) as folder:
            if is_packed(place):  # by another process, while this one waited
                return
            writer = Writer(folder, n_features)
            with ExitStack() as stack:
                stack.callback(writer.close)
                for number, read in enumerate(readers):
                    found = number < writer.files
                    if not found:
                        writer.add(read())
                    if on_packed is not None:
                        on_packed(number, found)
                writer.finish()
            try:
                os.rename(folder, place)
            except OSError:  # another process has written the same shard
                if not is_packed(place):
                    raise
            (place / _LOCK).unlink(missing_ok=True)


def is_packed(place: Path) -> bool:
    """Whether there is a complete shard."""
    return (place / _META).exists()


@contextmanager
def _claimed(place: Path) -> Iterator[Path]:
    """The folder of an interrupted packing, or a new one; removed after an error.

    Ctrl-C and signals leave it for the next run. If another process uses the folder, or if there
    are no locks, a folder with a random name is used.
    """
    folder = place.parent / f".{place.name}.partial"
    folder.mkdir(exist_ok=True)
    lock = take_lock(folder / _LOCK)
    if lock is None:
        folder = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
        lock = take_lock(folder / _LOCK)
    try:
        yield folder
        shutil.rmtree(folder, ignore_errors=True)  # if it was not renamed
    except Exception:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        if lock is not None:
            os.close(lock)


def _remove_leftovers(place: Path) -> None:
    """Remove the folders with random names of processes that do not exist any more.

    An interrupted packing of other files, or of these before they were changed, may be continued:
    it is removed after a week.
    """
    own, cache = f".{place.name}.partial", place.parent
    old = [f for f in cache.glob(".shard-*.partial") if f.name != own and _age(f) > FORGOTTEN]
    for folder in [*cache.glob(f".{place.name}-*"), *old]:
        with suppress(OSError):
            lock = take_lock(folder / _LOCK) if (folder / _LOCK).exists() else None
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _age(folder: Path) -> float:
    """Seconds since something was last added to the folder; 0 if it is gone."""
    try:
        return time.time() - max(f.stat().st_mtime for f in (folder, *folder.iterdir()))
    except OSError:
        return 0.0


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


def _n(part: Part) -> int:
    """Number of examples."""
    return part.matrix.shape[0] if part.offsets is None else len(part.offsets) - 1
