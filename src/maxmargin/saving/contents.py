"""The validator of model files: parameters, labels and results that all structures have.

``ModelParts`` calls it, and adds the checks that only one structure needs. An estimator is saved
and loaded only with valid content, so that no method of a loaded model fails because of its file.
Invalid content raises a ValueError or a TypeError, which ``models`` turns into a ModelFileError.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..objective import check_positive
from ..problem import MODES
from ..result import Record, Result, Status
from .label_json import labels_from_json

#: Parameters that belong to a training run and are not stored.
OF_THE_RUN = ("backend", "checkpoint")

#: The largest number of threads or processes, to which negative numbers are limited too.
MOST_JOBS = 4096

#: The largest seed of numpy's RandomState.
LARGEST_SEED = 2**32 - 1

#: Larger numbers of features, iterations and so on are not read.
LARGEST_COUNT = 2**53

#: The numbers of a result that count something, those in seconds, and the others.
_COUNTS = ("n_iter", "n_oracle")
_SECONDS = ("time", "prepare_time", "compile_time")
_VALUES = ("primal", "dual", "gap")

#: The fields of a result that are numbers.
NUMBERS = (*_VALUES, *_COUNTS, *_SECONDS)


def is_real(value: Any) -> bool:
    """Whether it is a number, of Python or numpy; a bool is not one."""
    return isinstance(value, int | float | np.integer | np.floating) and type(value) is not bool


def is_whole(value: Any, low: int, high: int) -> bool:
    """Whether it is an integer in low..high, possibly written as a float."""
    return is_real(value) and low <= value <= high and value == int(value)


def is_flag(value: Any) -> bool:
    """Whether it is a bool, or 0 or 1."""
    return isinstance(value, bool | np.bool_) or is_whole(value, 0, 1)


def check_whole(
    name: str, value: Any, low: int, high: int = LARGEST_COUNT, optional: bool = False
) -> None:
    """Raise a ValueError unless the parameter is an integer in low..high, or None if optional."""
    if not (is_whole(value, low, high) or (optional and value is None)):
        raise ValueError(f"{name} must be an integer from {low} to {high}, got {value!r:.100}")


def check_flag(name: str, value: Any) -> None:
    """Raise a ValueError unless the parameter is a bool."""
    if not is_flag(value):
        raise ValueError(f"{name} must be a bool, got {value!r:.100}")


def check_choice(name: str, value: Any, choices: Any) -> None:
    """Raise a ValueError unless the parameter is one of some names."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r:.100}")


def check_class_weight(name: str, value: Any) -> None:
    """Raise a ValueError unless it is None, "balanced" or a dict of finite numbers >= 0."""
    if value is None or (isinstance(value, str) and value == "balanced"):
        return
    if not isinstance(value, dict) or not all(
        is_real(weight) and 0 <= weight < np.inf for weight in value.values()
    ):
        raise ValueError(f"{name} must be 'balanced' or numbers by label, got {value!r:.100}")


def _check_seed(name: str, value: Any) -> None:
    seeds = value if isinstance(value, list | tuple | np.ndarray) else [value]
    for seed in seeds:
        check_whole(name, seed, 0, LARGEST_SEED, optional=True)


def _check_max_time(name: str, value: Any) -> None:
    if value is not None:
        check_positive(name, value)


def _check_solver(name: str, value: Any) -> None:
    if isinstance(value, str) and (value == "auto" or _is_described(value)):
        return
    from ..solvers import get_solver  # slow to import

    get_solver(value)


def _is_described(solver: str) -> bool:
    """Whether it is the description of a user's own solver: class name and options."""
    return re.fullmatch(r"\w+\(.*\)", solver, re.DOTALL) is not None


#: The checks of the parameters of all estimators, by name.
_COMMON: dict[str, Callable[[str, Any], Any]] = {
    "C": check_positive,
    "tol": lambda name, value: value is None or check_positive(name, value),
    "solver": _check_solver,
    "rescaling": lambda name, value: check_choice(name, value, tuple(MODES)),
    "max_iter": lambda name, value: check_whole(name, value, 1),
    "max_time": _check_max_time,
    "n_jobs": lambda name, value: check_whole(name, value, -MOST_JOBS, MOST_JOBS, optional=True),
    "deterministic": check_flag,
    "random_state": _check_seed,
    "warm_start": check_flag,
    "verbose": lambda name, value: is_flag(value) or check_whole(name, value, -1000, 1000),
}


def check_common(parameters: dict[str, Any]) -> None:
    """Check the parameters that all estimators have, as far as they are given."""
    for name in OF_THE_RUN:
        if name in parameters:
            raise ValueError(f"the parameter {name} cannot be in a file")
    for name, check in _COMMON.items():
        if name in parameters:
            check(name, parameters[name])


def decode_fitted(code: dict[str, Any]) -> dict[str, Any]:
    """The fitted attributes that are stored as labels, checked."""
    found = {key: labels_from_json(value) for key, value in code.items()}
    d = found.get("n_features_in_", 0)
    if type(d) is not int or not 0 <= d <= LARGEST_COUNT:
        raise ValueError(f"n_features_in_ is {d!r:.100}, not a number of features")
    if "classes_" in found:
        check_distinct("classes_", found["classes_"])
    names = found.get("feature_names_in_")
    if names is not None:
        check_distinct("feature_names_in_", names)
        if len(names) != d or not all(isinstance(name, str) for name in names.tolist()):
            raise ValueError(f"feature_names_in_ are not the names of {d} features")
    return found


def check_distinct(name: str, labels: Any) -> None:
    """Check that labels are an array of different hashable objects."""
    if not isinstance(labels, np.ndarray) or labels.ndim != 1 or len(labels) == 0:
        raise ValueError(f"{name} is not an array of labels")
    if len(set(labels.tolist())) < len(labels):
        raise ValueError(f"{name} has two equal labels")


def decode_result(code: dict[str, Any], history: np.ndarray, w: np.ndarray) -> Result:
    """The result with its history and weights, checked."""
    numbers = {key: _number(key, labels_from_json(code[key])) for key in NUMBERS}
    shares = {key: _number("shares", value) for key, value in code["shares"].items()}
    texts = {key: code.get(key, "") for key in ("solver", "bounds")}
    inference = _number("gap_inference", labels_from_json(code.get("gap_inference", 0.0)))
    target = code.get("target")
    if not all(isinstance(text, str) for text in texts.values()):
        raise ValueError("the names in the result are not texts")
    if target is not None:
        target = _number("target", target)
    deterministic = code.get("deterministic", True)
    if type(deterministic) is not bool:
        raise ValueError("deterministic of the result is neither true nor false")
    records = _records(history)
    status = Status[code["status"]]
    return Result(
        w=w, status=status, history=records, shares=shares, target=target,
        gap_inference=inference, deterministic=deterministic, **texts, **numbers,
    )  # fmt: skip


def _number(name: str, value: Any) -> Any:
    """A number of a result, with its type; seconds and counts are finite and >= 0."""
    if name in _COUNTS:
        fits = is_whole(value, 0, LARGEST_COUNT) and not isinstance(value, float | np.floating)
    elif name in _VALUES:
        fits = is_real(value) and not math.isnan(value)
    else:
        fits = is_real(value) and 0 <= value < np.inf
    if not fits:
        raise ValueError(f"{name} of the result is {value!r:.100}")
    return value


def _records(history: np.ndarray) -> list[Record]:
    counts = [Record._fields.index(name) for name in ("iteration", "n_oracle", "planes")]
    old = history.dtype.kind == "f" and history.ndim == 2  # written before there were such gaps
    if old and history.shape[1] == len(Record._fields) - 1:
        history = np.column_stack([history, np.zeros(len(history))])
    if history.dtype.kind != "f" or history.ndim != 2 or history.shape[1] != len(Record._fields):
        raise ValueError(f"the history is an array of {history.dtype} of shape {history.shape}")
    whole = history[:, counts]
    if np.isnan(history).any() or not ((whole >= 0) & (whole <= LARGEST_COUNT)).all():
        raise ValueError("the history has numbers that are not finite, or negative counts")
    return [
        Record(int(i), time, int(n_oracle), primal, dual, gap, int(planes), inference)
        for i, time, n_oracle, primal, dual, gap, planes, inference in history.tolist()
    ]
