"""Conversion of labels of any hashable type to class numbers 0..K-1."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DataError
from .checked import plain_array
from .source import list_of


def as_label_array(y: Any) -> np.ndarray:
    """An array (n,) of labels; labels of mixed or unusual types become objects, not strings."""
    if isinstance(y, np.ndarray) or hasattr(y, "__array__"):
        return plain_array(y, "y")
    items = list_of(y, "y")
    kinds = {type(item) for item in items}
    if len(kinds) <= 1 and all(issubclass(k, str | int | float | bool | np.generic) for k in kinds):
        return np.asarray(items)
    numbers = (int, float, bool, np.number, np.bool_)
    if all(issubclass(k, numbers) for k in kinds) or all(issubclass(k, np.str_) for k in kinds):
        return np.asarray(items)
    if all(isinstance(item, list | np.ndarray) for item in items):
        return np.asarray(items)  # a column or a matrix: scikit-learn raises the error
    labels = np.empty(len(items), object)
    labels[:] = items
    return labels


def check_no_nan(y: np.ndarray) -> None:
    """Raise a DataError if a label is NaN, which marks missing labels in arrays of numbers."""
    if y.dtype.kind == "f" and np.isnan(y).any():
        i = np.argwhere(np.isnan(y))[0][0]
        raise DataError(f"the label of example {i} is NaN: labels must not be missing")


def encode_labels(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``(classes, codes)`` with ``classes[codes] == y``; classes are sorted if possible."""
    if y.dtype.kind != "O":
        classes, codes = np.unique(y, return_inverse=True)
        return classes, codes.astype(np.int32)
    numbers: dict[Any, int] = {}
    for i, label in enumerate(y):
        if label is None or label != label:
            raise DataError(f"the label of example {i} is {label!r}: labels must not be missing")
        try:
            numbers.setdefault(label, len(numbers))
        except TypeError as error:
            raise DataError(
                f"the label of example {i} is {label!r}, of type {type(label).__name__}: labels "
                "must be hashable (use a tuple instead of a list)"
            ) from error
    found = list(numbers)
    try:
        found.sort()
    except TypeError:
        pass  # labels that cannot be compared stay in order of appearance
    numbers = {label: k for k, label in enumerate(found)}
    classes = np.empty(len(found), object)
    classes[:] = found
    return classes, np.array([numbers[label] for label in y], np.int32)
