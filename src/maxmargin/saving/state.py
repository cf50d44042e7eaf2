"""Conversion of nested states to arrays and JSON, and back, for checkpoints.

A state consists of NumPy arrays, numbers, strings, lists, dicts, NamedTuples and plain objects. It
is restored into a new state of the same solver: objects are filled but never created, and
NamedTuples are created only from classes that occur in the new state. So nothing in a file can
name code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..data.checked import check_like
from ..engine.vectors import Vector
from ..errors import CheckpointError, ModelFileError
from .label_json import labels_from_json, labels_to_json

#: This many arrays, the largest, become separate entries of the file; others are joined by type.
ENTRIES = 500


def is_tuple(value: Any) -> bool:
    """Whether the value is a NamedTuple."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def stored_names(thing: Any) -> list[str]:
    """The attributes of an object that belong to the state: all except its scratch memory."""
    return [name for name in vars(thing) if name not in getattr(thing, "scratch", ())]


class Writer:
    """Converts values to JSON; arrays are collected in ``arrays``, each once."""

    def __init__(self, truth: np.ndarray | None = None) -> None:
        self.arrays: list[np.ndarray] = []
        self.outputs: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._objects: dict[int, int] = {}
        if truth is not None and truth.dtype == object:  # true outputs need not be stored
            self._objects = {id(y): -1 - i for i, y in enumerate(truth)}

    def describe(self, value: Any) -> Any:
        """JSON for a value."""
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, int | np.integer | np.bool_):
            return int(value)
        if isinstance(value, float | np.floating):
            return {"float": float(value).hex()}  # exact, infinities included
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, dict):
            return {"dict": {str(key): self.describe(item) for key, item in value.items()}}
        if is_tuple(value):
            fields = {name: self.describe(getattr(value, name)) for name in value._fields}
            return {"tuple": type(value).__name__, "fields": fields}
        if isinstance(value, list | tuple):
            return {"list": [self.describe(item) for item in value]}
        if hasattr(value, "__dict__") and not callable(value):
            return {"object": {n: self.describe(getattr(value, n)) for n in stored_names(value)}}
        raise CheckpointError(
            f"a checkpoint cannot store {value!r} of type {type(value).__name__}: the state of a "
            "solver consists of arrays, numbers, lists, dicts, NamedTuples and objects of these"
        )

    def _array(self, array: np.ndarray) -> Any:
        if array.dtype == object:
            numbers = np.array([self._output(y) for y in array.ravel()], np.int64)
            return {"outputs": self._keep(numbers), "shape": list(array.shape)}
        if id(array) not in self._numbers:
            self._numbers[id(array)] = self._keep(array)
        return {"array": self._numbers[id(array)]}

    def _keep(self, array: np.ndarray) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _output(self, y: Any) -> int:
        """The number of an output of a plain Python problem; negative for true outputs."""
        if id(y) not in self._objects:
            self._objects[id(y)] = len(self.outputs)
            try:
                self.outputs.append(labels_to_json(y))
            except ModelFileError as error:
                raise CheckpointError(
                    f"a checkpoint cannot store the output {y!r} of type {type(y).__name__}: let "
                    "decode return str, numbers, None, or tuples, lists or 1-D arrays of these, "
                    "or train without a checkpoint"
                ) from error
        return self._objects[id(y)]


class Reader:
    """Fills new values from the description that a `Writer` has made."""

    def __init__(self, arrays: list[np.ndarray], outputs: Any, truth: np.ndarray) -> None:
        self.arrays = arrays
        self.outputs = [labels_from_json(y) for y in outputs]
        self.truth = truth
        self.kinds: dict[str, Callable[..., Any]] = {"Vector": Vector}

    def fill(self, fresh: Any, description: Any) -> Any:
        """The described value; objects inside the new value ``fresh`` are filled in place."""
        self.kinds |= {type(part).__name__: type(part) for part in walk(fresh) if is_tuple(part)}
        try:
            return self._fill(fresh, description)
        except (
            KeyError, IndexError, AttributeError, TypeError, ValueError, OverflowError,
            RecursionError,
        ) as error:  # fmt: skip
            raise ModelFileError(f"its state does not fit this solver ({error!r})") from error

    def _fill(self, fresh: Any, description: Any, name: str = "state", grows: bool = False) -> Any:
        """The described value, of the same kind as ``fresh``; of any kind if that is None."""
        match description:
            case None | bool() | int() | str():
                return check_scalar(description, fresh, name)
            case {"float": str(digits)}:
                return check_scalar(float.fromhex(digits), fresh, name)
            case {"array": int(number)}:
                return _check_array(self.arrays[number], fresh, name, grows)
            case {"outputs": int(number), "shape": list(shape)}:
                found = self._objects(self.arrays[number]).reshape(shape)
                return _check_array(found, fresh, name, grows)
            case {"dict": dict(items)} if fresh is None or isinstance(fresh, dict):
                known = fresh or {}
                if known and known.keys() != items.keys():
                    raise KeyError(*(known.keys() ^ items.keys()))
                return {key: self._fill(known.get(key), item, key) for key, item in items.items()}
            case {"list": list(items)} if fresh is None or isinstance(fresh, list):
                return [self._fill(None, item, name) for item in items]
            case {"tuple": str(kind), "fields": dict(fields)}:
                return self._tuple(fresh, self.kinds[kind], fields)
            case {"object": dict(fields)}:
                if set(fields) != set(stored_names(fresh)):
                    raise KeyError(*(set(fields) ^ set(stored_names(fresh))))
                for key, item in fields.items():
                    larger = key in getattr(fresh, "grows", ())
                    setattr(fresh, key, self._fill(getattr(fresh, key), item, key, larger))
                return fresh
        raise ValueError(f"{name} is {description!r}")

    def _tuple(self, fresh: Any, kind: Any, fields: dict[str, Any]) -> Any:
        """A NamedTuple; a Vector may be dense or sparse, whatever the new one is."""
        if fresh is not None and type(fresh) is not kind:
            raise TypeError(f"{kind.__name__} in place of {type(fresh).__name__}")
        known = fresh if type(fresh) is kind and kind is not Vector else None
        return kind(
            **{
                key: self._fill(
                    getattr(known, key, None), v, key, key in getattr(kind, "grows", ())
                )
                for key, v in fields.items()
            }
        )

    def _objects(self, numbers: np.ndarray) -> np.ndarray:
        found = np.empty(len(numbers), object)
        for place, number in enumerate(numbers.tolist()):
            found[place] = self.truth[-1 - number] if number < 0 else self.outputs[number]
        return found


def _check_array(found: np.ndarray, fresh: Any, name: str, grows: bool) -> np.ndarray:
    """The array, checked to have the form of ``fresh``; any form if that is None."""
    if fresh is None:
        return np.ascontiguousarray(found).reshape(found.shape)
    if not isinstance(fresh, np.ndarray):
        raise TypeError(f"{name} must not be an array")
    return check_like(found, fresh, name, grows)


def check_scalar(value: Any, fresh: Any, name: str) -> Any:
    """The number, text or None, checked to have the type of ``fresh``; counts must be >= 0.

    Numbers get this type, because compiled code has one version for each type.
    """
    kind = type(fresh)
    if fresh is None:
        fits = True
    elif isinstance(fresh, bool | np.bool_):
        fits = value in (0, 1)
    elif isinstance(fresh, int | np.integer):
        fits = isinstance(value, int) and 0 <= value < 2**53
    elif isinstance(fresh, float | np.floating):
        fits = isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**53)
    else:
        fits = isinstance(value, kind)
    if not fits or value != value:
        raise ValueError(f"{name} is {value!r}, expected {kind.__name__}")
    return kind(value) if isinstance(fresh, bool | np.bool_ | float | np.floating) else value


def walk(value: Any) -> Iterator[Any]:
    """The value and, recursively, everything inside it."""
    yield value
    if isinstance(value, dict):
        parts = list(value.values())
    elif isinstance(value, list | tuple):
        parts = list(value)
    elif hasattr(value, "__dict__") and not callable(value):
        parts = [getattr(value, name) for name in stored_names(value)]
    else:
        return
    for part in parts:
        yield from walk(part)


def join_arrays(
    arrays: list[np.ndarray], most: int = ENTRIES
) -> tuple[dict[str, np.ndarray], list[Any]]:
    """Entries for a file, and the place of each array in them.

    The ``most`` largest arrays are entries; the others are joined, one entry per type.
    """
    large = set(sorted(range(len(arrays)), key=lambda k: -arrays[k].nbytes)[:most])
    entries: dict[str, Any] = {}
    joined: dict[str, list[np.ndarray]] = {}
    sizes: dict[str, int] = {}
    places: list[Any] = []
    for number, array in enumerate(arrays):
        if number in large:
            entries[f"array{number}"] = array
            places.append({"entry": f"array{number}"})
            continue
        name = "joined." + array.dtype.str[1:]
        start = sizes.get(name, 0)
        sizes[name] = start + array.size
        joined.setdefault(name, []).append(array.ravel())
        places.append({"entry": name, "start": start, "shape": list(array.shape)})
    entries |= {name: np.concatenate(parts) for name, parts in joined.items()}
    return entries, places


def split_arrays(entries: dict[str, np.ndarray], places: list[Any]) -> list[np.ndarray]:
    """The arrays that `join_arrays` has joined."""
    arrays = []
    for place in places:
        entry = entries[place["entry"]]
        if "start" in place:
            size = int(np.prod(place["shape"], dtype=np.int64))
            part = entry[place["start"] : place["start"] + size]
            entry = part.reshape(place["shape"]).copy()
        arrays.append(entry)
    return arrays
