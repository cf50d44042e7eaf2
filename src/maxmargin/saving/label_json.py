"""Conversion of labels to JSON and back, with their types."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import ModelFileError
from .npy import DTYPE

#: Maximum number of characters in an array of labels, with padding: a few bytes of JSON that
#: declare a huge string type must not allocate much memory.
MAX_LABEL_CHARACTERS = 2**26


def labels_to_json(labels: Any) -> Any:
    """Labels as JSON types, for the meta of a model.

    Parameters
    ----------
    labels : 1-D array, list, tuple or single label
        A label is a str, int, float, bool, None, a numpy scalar of such a type, or a tuple of
        these.

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
        return {"scalar": "U", "value": "".join(labels)}  # str() drops NUL at the end
    if isinstance(labels, np.generic) and DTYPE.fullmatch(labels.dtype.str):
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
    if descr[1:2] == "U" and DTYPE.fullmatch(descr):
        return int(descr[2:]) * n <= MAX_LABEL_CHARACTERS
    return descr == "|O" or DTYPE.fullmatch(descr) is not None


def labels_from_json(description: Any) -> Any:
    """The inverse of `labels_to_json`: labels with their types.

    Raises
    ------
    ModelFileError
        If the description cannot have been made by `labels_to_json`.
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
        } if DTYPE.fullmatch(descr) and "U" not in descr:
            return np.dtype(descr).type(_labels_from_json(value))
        case {"array": str(descr), "values": list(values)} if _is_label_dtype(descr, len(values)):
            return _label_array(descr, [_labels_from_json(value) for value in values])
    raise ValueError(f"{description!r} describes no label")


def _label_array(descr: str, labels: list[Any]) -> np.ndarray:
    array = np.empty(len(labels), dtype=np.dtype(descr))
    for i, label in enumerate(labels):  # one by one: a tuple must stay one label
        array[i] = label
    return array
