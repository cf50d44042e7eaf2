"""Arrays from outside, made safe for compiled code.

Compiled loops check no bounds: an index out of range is a crash, or a write into other memory.
Every array that a user, a file or a checkpoint gives passes through here first. The checks are
passes over memory without copies; only when one fails is the place of the fault looked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DataError

#: What to do about a sparse matrix that is not one.
REPAIR = "it was changed by hand or damaged: build it again, for example with scipy.sparse"


def csr_rows(X: Any, what: str = "X") -> Any:
    """A sparse matrix as CSR whose indices compiled code can trust.

    Checked before any conversion, because SciPy's own conversions trust indices as well.

    Parameters
    ----------
    X : sparse matrix (rows, d)
    what : str
        Its name in messages.
    """
    if len(X.shape) != 2:
        raise DataError(f"{what} has shape {X.shape}: a matrix with one row each is needed")
    if X.format not in ("csr", "csc", "bsr", "coo"):
        try:
            X = X.tocoo()
        except (ValueError, IndexError, OverflowError) as error:
            raise DataError(f"{what} is not a valid sparse matrix: {error}; {REPAIR}") from error
    if X.format == "coo":
        for axis, name in enumerate(("row", "col")):
            index = getattr(X, name)
            if len(index) != len(X.data):
                raise DataError(f"{what} has {len(index)} entries in {name} and {len(X.data)} in "
                                f"data: {REPAIR}")  # fmt: skip
            _check_range(index, X.shape[axis], f"{what}.{name}", f"of shape {X.shape}")
    else:
        check_compressed(X, what)
    return X.tocsr()


def as_csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: Any) -> Any:
    """The CSR matrix of arrays from a file, without copies; they are checked before SciPy's use."""
    import scipy.sparse as sp

    shape = np.asarray(shape)
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or (shape < 0).any():
        raise DataError(
            f"shape is {shape.tolist()!r}: two numbers, of rows and columns, are needed"
        )
    if data.ndim != 1:
        raise DataError(f"data has shape {data.shape}: it has one number for each entry")
    rows, d = shape.tolist()
    _check_indptr(indptr, rows, min(len(indices), len(data)), "the matrix")
    _check_range(indices, d, "indices", f"of shape {(rows, d)}", indptr)
    try:
        matrix = sp.csr_matrix((data, indices, indptr), shape=(rows, d), copy=False)
    except (ValueError, TypeError) as error:
        raise DataError(f"is no CSR matrix: {error}; {REPAIR}") from error
    check_compressed(matrix)
    return matrix


def check_compressed(X: Any, what: str = "X") -> None:
    """The index arrays of a CSR, CSC or BSR matrix are in range and agree with its shape."""
    size, block = X.shape, (1, 1)
    if X.format == "bsr":
        if X.data.ndim != 3 or any(s % b for s, b in zip(size, X.blocksize, strict=True)):
            raise DataError(f"the blocks of {what} do not fit its shape {size}: {REPAIR}")
        block = X.blocksize
    major, minor = (1, 0) if X.format == "csc" else (0, 1)
    lines, width = size[major] // block[major], size[minor] // block[minor]
    _check_indptr(X.indptr, lines, min(len(X.indices), len(X.data)), what)
    if len(X.indices) != len(X.data):
        raise DataError(
            f"{what} has {len(X.indices)} entries in indices and {len(X.data)} in data: {REPAIR}"
        )
    _check_range(X.indices, width, f"{what}.indices", f"of shape {size}", X.indptr)


def _check_indptr(indptr: np.ndarray, lines: int, entries: int, what: str) -> None:
    """It rises from 0 to at most ``entries``, with one number more than there are rows."""
    name = f"{what}.indptr"
    if indptr.dtype.kind not in "iu" or indptr.shape != (lines + 1,):
        raise DataError(
            f"{name} is an array of {indptr.dtype} of shape {indptr.shape}, "
            f"{lines} rows need {lines + 1} integers: {REPAIR}"
        )
    if indptr[0] != 0:
        raise DataError(f"{name} begins with {indptr[0]}, not with 0: {REPAIR}")
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        i = int(np.argmax(falls))
        raise DataError(f"{name} falls from {indptr[i]} to {indptr[i + 1]} at row {i}: {REPAIR}")
    if indptr[-1] > entries:
        raise DataError(f"{name} ends at {indptr[-1]}, but there are {entries} entries: {REPAIR}")


def _check_range(
    index: np.ndarray, size: int, name: str, where: str, indptr: np.ndarray | None = None
) -> None:
    """Indices lie in 0..size-1; the message names the entry, and the row where it is known."""
    if index.dtype.kind not in "iu" or index.ndim != 1:
        raise DataError(
            f"{name} is an array of {index.dtype} of shape {index.shape}, not of integers: {REPAIR}"
        )
    if len(index) == 0 or (index.min() >= 0 and index.max() < size):
        return
    p = int(np.argmax((index < 0) | (index >= size)))
    row = ""
    if indptr is not None:
        row = f", in row {int(np.searchsorted(indptr, p, side='right')) - 1}"
    raise DataError(
        f"{name}[{p}] is {index[p]}{row}: in a matrix {where} it lies in 0 to {size - 1}; {REPAIR}"
    )


def first_not_finite(values: np.ndarray) -> int | None:
    """Place of the first NaN or infinity in the flattened array; None if there is none."""
    if values.dtype.kind != "f":
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # one pass, no copy; only an overflow can deceive it
            return None
    bad = ~np.isfinite(values.ravel())
    return int(np.argmax(bad)) if bad.any() else None


def check_finite_rows(X: Any, what: str = "X") -> None:
    """A CSR matrix or an array (rows, d) of finite numbers; the message names row and column."""
    sparse = hasattr(X, "indptr")
    values = X.data if sparse else X
    if values.dtype.kind not in "fiub":
        raise DataError(f"{what} holds {values.dtype}: features are numbers")
    p = first_not_finite(values)
    if p is None:
        return
    if sparse:
        row = int(np.searchsorted(X.indptr, p, side="right")) - 1
        column = int(X.indices[p])
    else:
        row, column = divmod(p, X.shape[1])
    raise NotFinite(row, column, values.ravel()[p], what)


class NotFinite(DataError):
    """An entry of a matrix is NaN or infinite."""

    def __init__(self, row: int, column: int, value: float, what: str):
        super().__init__(f"{what}[{row}, {column}] is {value}: features must be finite")
        self.row, self.column, self.value = row, column, value


def check_weights(weight: Any, n: int, name: str) -> np.ndarray:
    """n finite weights >= 0, as float64; ``name`` is that of the array in messages."""
    weight = np.asarray(weight)
    if weight.dtype.kind not in "fiub" or weight.shape != (n,):
        raise DataError(
            f"{name} has shape {weight.shape} and type {weight.dtype}, expected numbers of "
            f"shape ({n},)"
        )
    weight = weight.astype(np.float64, copy=False)
    i = first_bad_weight(weight)
    if i is not None:
        raise DataError(f"{name}[{i}] is {weight[i]}: weights are finite and >= 0")
    return weight


def first_bad_weight(weight: np.ndarray) -> int | None:
    """Place of the first weight that is negative, NaN or infinite; None if there is none."""
    if len(weight) == 0 or (weight.min() >= 0 and weight.max() < np.inf):  # NaN fails both
        return None
    return int(np.argmax(~np.isfinite(weight) | (weight < 0)))


def check_codes(y: Any, n: int, low: int, high: int, what: str = "label") -> np.ndarray:
    """n integers in low..high: class numbers, before they become a narrow type."""
    y = np.asarray(y)
    if y.shape != (n,):
        raise DataError(f"there are {n} examples, but the labels have shape {y.shape}")
    if n and y.dtype.kind not in "iub" and not (y.dtype.kind == "f" and (y % 1 == 0).all()):
        raise DataError(f"labels are class numbers {low} to {high}, got an array of {y.dtype}")
    if n and not (y.min() >= low and y.max() <= high):
        i = int(np.argmax((y < low) | (y > high)))
        raise DataError(f"{what} {i} is {y[i]}: class numbers are {low} to {high}")
    return y


def check_like(found: np.ndarray, fresh: np.ndarray, name: str, grows: bool = False) -> np.ndarray:
    """A restored array in the form of a fresh one: type, shape, order in memory, finite numbers.

    Parameters
    ----------
    found, fresh : arrays
        The array from a file, and the one in whose place it comes.
    name : str
        Of the array, for messages.
    grows : bool
        Only the number of dimensions must be the same.
    """
    shape_fits = found.ndim == fresh.ndim if grows else found.shape == fresh.shape
    if found.dtype != fresh.dtype or not shape_fits:
        raise ValueError(
            f"{name} is {found.dtype} of shape {found.shape}, expected {fresh.dtype} of shape "
            f"{fresh.shape}"
        )
    if first_not_finite(found) is not None and (
        np.isnan(found).any() or first_not_finite(fresh) is None
    ):
        raise ValueError(f"{name} has values that are not finite")
    return np.ascontiguousarray(found).reshape(found.shape)


def check_offsets(offsets: Any, total: int) -> np.ndarray:
    """Where sequences begin: int64 numbers that rise from 0 to the number of rows."""
    offsets = np.asarray(offsets)
    whole = offsets.dtype.kind in "iu" or (offsets.dtype.kind == "f" and offsets.size == 1)
    if (
        not whole
        or offsets.ndim != 1
        or len(offsets) == 0
        or offsets[0] != 0
        or offsets[-1] != total
        or (offsets[1:] < offsets[:-1]).any()
    ):
        raise DataError(f"offsets rise from 0 to the number of rows, {total}")
    return offsets.astype(np.int64, copy=False)
