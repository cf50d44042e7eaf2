"""Checks of arrays from users and files, before compiled code uses them.

Compiled code does not check bounds: an index out of range can crash or overwrite other memory.
Every array from a user, a file or a checkpoint is therefore checked here first. The checks read
the memory without copies; the position of an error is searched only if a check fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import DataError, ProblemError
from ..objective import LARGEST, SMALLEST

#: What weights must be.
WEIGHTS = f"weights must be 0 or in {SMALLEST:g} to {LARGEST:g}"

#: What to do about an invalid sparse matrix.
REPAIR = "it was changed by hand or damaged: build it again, for example with scipy.sparse"


def csr_rows(X: Any, what: str = "X") -> Any:
    """A sparse matrix as CSR, with checked indices.

    They are checked before the conversion, because SciPy does not check them.

    Parameters
    ----------
    X : sparse matrix (rows, d)
    what : str
        The name of the matrix in error messages.
    """
    if len(X.shape) != 2:
        raise DataError(f"{what} has shape {X.shape}: it must be a matrix of two dimensions")
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
    """The CSR matrix of arrays from a file, without copies; checked before SciPy uses them."""
    import scipy.sparse as sp

    shape = np.asarray(shape)
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or (shape < 0).any():
        said = shape.tolist() if shape.shape == (2,) else f"an array of shape {shape.shape}"
        raise DataError(f"shape is {said}: it must be the numbers of rows and columns")
    for name, array in (("data", data), ("indices", indices), ("indptr", indptr)):
        if array.ndim != 1:
            raise DataError(f"{name} has shape {array.shape}: it must have one dimension")
    rows, d = shape.tolist()
    _check_indptr(indptr, rows, min(len(indices), len(data)), "the matrix")
    _check_range(indices, d, "indices", f"of shape {(rows, d)}", indptr)
    try:
        matrix = sp.csr_matrix((data, indices, indptr), shape=(rows, d), copy=False)
    except (ValueError, TypeError) as error:
        raise DataError(f"is not a CSR matrix: {error}; {REPAIR}") from error
    check_compressed(matrix)
    return matrix


def check_compressed(X: Any, what: str = "X") -> None:
    """Check that the index arrays of a CSR, CSC or BSR matrix agree with its shape."""
    size, block = X.shape, (1, 1)
    if X.format == "bsr":
        if X.data.ndim != 3 or any(s % b for s, b in zip(size, X.blocksize, strict=True)):
            raise DataError(f"the blocks of {what} do not fit its shape {size}: {REPAIR}")
        block = X.blocksize
    major, minor = (1, 0) if X.format == "csc" else (0, 1)
    lines, width = size[major] // block[major], size[minor] // block[minor]
    if X.indices.ndim != 1 or X.data.ndim != (3 if X.format == "bsr" else 1):
        raise DataError(
            f"{what} has indices of shape {X.indices.shape} and data of shape {X.data.shape}, "
            f"which are not those of a {X.format} matrix: {REPAIR}"
        )
    _check_indptr(X.indptr, lines, min(len(X.indices), len(X.data)), what)
    if len(X.indices) != len(X.data):
        raise DataError(
            f"{what} has {len(X.indices)} entries in indices and {len(X.data)} in data: {REPAIR}"
        )
    _check_range(X.indices, width, f"{what}.indices", f"of shape {size}", X.indptr)


def _check_indptr(indptr: np.ndarray, lines: int, entries: int, what: str) -> None:
    """Check that indptr increases from 0 to at most ``entries``, and has ``lines + 1`` numbers."""
    name = f"{what}.indptr"
    if indptr.dtype.kind not in "iu" or indptr.shape != (lines + 1,):
        raise DataError(
            f"{name} is an array of {indptr.dtype} of shape {indptr.shape}, "
            f"{lines} rows need {lines + 1} integers: {REPAIR}"
        )
    if indptr[0] != 0:
        raise DataError(f"{name} starts with {indptr[0]}, not with 0: {REPAIR}")
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        i = int(np.argmax(falls))
        raise DataError(
            f"{name} decreases from {indptr[i]} to {indptr[i + 1]} at row {i}: {REPAIR}"
        )
    if indptr[-1] > entries:
        raise DataError(f"{name} ends at {indptr[-1]}, but there are {entries} entries: {REPAIR}")


def _check_range(
    index: np.ndarray, size: int, name: str, where: str, indptr: np.ndarray | None = None
) -> None:
    """Check that indices lie in 0..size-1; the error names the entry, and the row if known."""
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
        f"{name}[{p}] is {index[p]}{row}: in a matrix {where} it must be in 0 to {size - 1}; "
        f"{REPAIR}"
    )


def first_not_finite(values: np.ndarray, total: Callable[[np.ndarray], Any] = np.sum) -> int | None:
    """Index of the first NaN or infinity in the flattened array; None if all are finite.

    ``total`` is a sum that is not finite if one of the values is not.
    """
    if values.dtype.kind != "f":
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(total(values)):  # one pass without a copy
            return None
    bad = ~np.isfinite(values.ravel())  # a sum of finite values can overflow
    return int(np.argmax(bad)) if bad.any() else None


def check_finite_rows(X: Any, what: str = "X", dtype: Any = None) -> None:
    """Check that all entries of a CSR matrix or array (rows, d) are finite, also in type ``dtype``.

    The error names row and column.
    """
    sparse = hasattr(X, "indptr")
    values = X.data if sparse else X
    if values.strides == (0,):  # one value that is repeated without memory
        values = values[:1]
    if values.dtype.kind not in "fiub":
        raise DataError(f"{what} has type {values.dtype}: features must be numbers")
    if dtype is not None and values.dtype.kind == "f" and values.dtype.itemsize > 8:
        with np.errstate(over="ignore"):
            values = values.astype(dtype)  # long double has a larger range
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


def plain_array(values: Any, name: str, dtype: Any = None) -> np.ndarray:
    """The values as an array; a DataError for a masked array, whose mask would be lost."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise DataError(
            f"{name} has masked entries, which are not supported: leave out these examples, or "
            "give the entries a value with .filled(...)"
        )
    try:
        return np.asarray(values, dtype)
    except ValueError as error:  # rows of different lengths, or a text that is no number
        raise DataError(f"{name} cannot be made an array: {error}") from error


def check_weights(weight: Any, n: int, name: str) -> np.ndarray:
    """n weights as float64, each 0 or in SMALLEST to LARGEST; ``name`` is for error messages."""
    weight = plain_array(weight, name)
    if weight.dtype.kind not in "fiub" or weight.shape != (n,):
        raise DataError(
            f"{name} has shape {weight.shape} and type {weight.dtype}, expected numbers of "
            f"shape ({n},)"
        )
    weight = weight.astype(np.float64, copy=False)
    i = first_bad_weight(weight)
    if i is not None:
        raise DataError(f"{name}[{i}] is {weight[i]}: {WEIGHTS}")
    return weight


def first_bad_weight(weight: np.ndarray) -> int | None:
    """Index of the first weight that is negative, NaN or out of range; None if all are valid."""
    if len(weight) == 0 or (weight.min() >= SMALLEST and weight.max() <= LARGEST):
        return None  # NaN fails both
    bad = ~((weight == 0) | ((weight >= SMALLEST) & (weight <= LARGEST)))
    return int(np.argmax(bad)) if bad.any() else None


def check_codes(y: Any, n: int, low: int, high: int, what: str = "label") -> np.ndarray:
    """n class numbers in low..high, checked before they are converted to a smaller type."""
    y = plain_array(y, "Y")
    if y.shape != (n,):
        raise DataError(f"there are {n} examples, but the labels have shape {y.shape}")
    if n and y.dtype.kind not in "iub" and not (y.dtype.kind == "f" and (y % 1 == 0).all()):
        raise DataError(f"labels must be class numbers {low} to {high}, got an array of {y.dtype}")
    if n and not (y.min() >= low and y.max() <= high):
        i = int(np.argmax((y < low) | (y > high)))
        raise DataError(f"{what} {i} is {y[i]}: class numbers must be in {low} to {high}")
    return y


def check_like(found: np.ndarray, fresh: np.ndarray, name: str, grows: bool = False) -> np.ndarray:
    """An array from a file, checked to have type and shape of a new one and finite numbers.

    Parameters
    ----------
    found, fresh : arrays
        The array from the file, and the new array that it replaces.
    name : str
        The name of the array in error messages.
    grows : bool
        The shapes may differ; only the number of dimensions must be the same.

    Returns
    -------
    array
        ``found``, C-contiguous.
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
    """The starts of sequences as int64, checked to increase from 0 to the number of rows."""
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
        raise DataError(f"offsets must increase from 0 to the number of rows, {total}")
    return offsets.astype(np.int64, copy=False)


def check_pack(pack: Any) -> None:
    """Check that the arrays of a ``Pack`` agree with each other; they come from a user's ``pack``.

    What the functions of the problem find in ``pack.data`` is known to them alone.
    """
    for name in ("dim", "width", "work"):
        size = getattr(pack, name)
        if not isinstance(size, int | np.integer) or size < 0:
            raise ProblemError(f"pack.{name} is {size!r}: it must be an integer >= 0")
    truth = pack.truth
    if not isinstance(truth, np.ndarray) or truth.ndim != 1:
        raise ProblemError("pack.truth must be an array of one dimension, with all labels")
    try:
        check_offsets(pack.offsets, len(truth))
        check_weights(pack.weight, len(pack.offsets) - 1, "pack.weight")
    except DataError as error:
        raise ProblemError(f"pack returns arrays that do not fit: {error}") from error


def check_positive_weights(chosen: Any, dim: int) -> np.ndarray:
    """The indices of weights that must be >= 0, sorted; a problem gives them or a bool array."""
    if chosen is None:
        return np.empty(0, np.int64)
    indices = np.asarray(chosen)
    if indices.dtype == bool and indices.shape == (dim,):
        return np.flatnonzero(indices)
    if indices.ndim != 1 or (len(indices) and indices.dtype.kind not in "iu"):
        raise ProblemError(f"positive must be indices of weights or a bool array of length {dim}")
    outside = (indices < 0) | (indices >= dim)
    if outside.any():
        raise ProblemError(f"positive has the index {indices[outside][0]}, outside 0..{dim - 1}")
    return np.unique(indices).astype(np.int64)


def check_vector(w: Any, *shape: int, total: Callable[[np.ndarray], Any] = np.sum) -> np.ndarray:
    """The weights of a model as a contiguous float64 array of this shape, checked to be finite.

    For ``total`` see ``first_not_finite``.
    """
    w = np.asarray(w)
    if w.dtype.kind not in "fiub" or w.shape != shape:
        raise DataError(
            f"the weights of the model are an array of {w.dtype} of shape {w.shape}, and these "
            f"inputs need {shape}: they are inputs for another model, or coef_ or another "
            "attribute was changed after fit"
        )
    w = np.ascontiguousarray(w, np.float64)
    i = first_not_finite(w, total)
    if i is not None:
        raise DataError(f"weight {i} of the model is {w.flat[i]}: weights must be finite")
    return w
