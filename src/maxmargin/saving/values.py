"""Parameters and results of estimators as JSON and arrays, and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import ModelFileError
from ..result import Result
from .contents import NUMBERS
from .label_json import labels_from_json, labels_to_json


def encode_parameter(
    name: str, value: Any, arrays: dict[str, np.ndarray], classes: Iterable[type] = ()
) -> dict[str, Any]:
    """A parameter as JSON; an array is put into ``arrays`` and referred to by its name.

    Solvers and objects of ``classes`` are stored as class name and options. A solver that is not
    registered, such as a user's own, is stored as text that describes it.
    """
    from ..solvers import Solver  # slow to import, as is the next one
    from .checkpoint import describe_solver

    try:
        if type(value) is np.ndarray and value.ndim != 1:
            arrays[f"parameter.{name}"] = value
            return {"array": f"parameter.{name}"}
        if type(value) is dict:
            pairs = [[labels_to_json(k), labels_to_json(v)] for k, v in value.items()]
            return {"pairs": pairs}
        if type(value) in (set, frozenset):  # such as pairs of labels; sorted, to be reproducible
            return {"set": [labels_to_json(item) for item in sorted(value, key=repr)]}
        if type(value) in _objects(classes).values():
            options = {key: labels_to_json(v) for key, v in vars(value).items()}
            return {"solver": type(value).__name__, "options": options}
        if isinstance(value, Solver):  # a user's own: its code is not stored, only what it was
            return {"value": describe_solver(value)}
        return {"value": labels_to_json(value)}
    except ModelFileError as error:
        raise ModelFileError(
            f"the parameter {name}={value!r} cannot be stored: use None, numbers, strings, lists, "
            "sets, dicts and arrays of these, or a maxmargin solver"
        ) from error


def decode_parameters(
    meta: dict[str, Any], arrays: dict[str, np.ndarray], classes: Iterable[type] = ()
) -> dict[str, Any]:
    """The parameters of the estimator, by name."""
    stored = meta["parameters"]
    return {k: _decode_parameter(code, arrays, classes) for k, code in stored.items()}


def _objects(classes: Iterable[type]) -> dict[str, Any]:
    """The classes that a stored parameter may be an object of, by name."""
    from ..solvers import solver_classes  # slow to import

    return {cls.__name__: cls for cls in (*solver_classes(), *classes)}


def _decode_parameter(code: Any, arrays: dict[str, np.ndarray], classes: Iterable[type]) -> Any:
    match code:
        case {"array": str(name)}:
            return arrays[name]
        case {"pairs": list(pairs)}:
            return {labels_from_json(key): labels_from_json(value) for key, value in pairs}
        case {"set": list(items)}:
            return {labels_from_json(item) for item in items}
        case {"solver": str(name), "options": dict(options)}:
            known = _objects(classes)
            if name not in known:
                raise ModelFileError(
                    f"uses the solver {name!r}, which this maxmargin does not know"
                )
            return known[name](**{k: labels_from_json(v) for k, v in options.items()})
        case {"value": value}:
            return labels_from_json(value)
    raise ValueError(f"{code!r} describes no parameter")


def encode_result(result: Result) -> dict[str, Any]:
    """A result as JSON, without its weights and its history."""
    return {
        "status": result.status.name,
        "shares": {key: float(value) for key, value in result.shares.items()},
        "solver": result.solver,
        "target": result.target,
        "bounds": result.bounds,
        "gap_inference": float(result.gap_inference),
        "deterministic": result.deterministic,
        **{key: labels_to_json(getattr(result, key)) for key in NUMBERS},
    }


def plain(value: Any) -> Any:
    """A parameter or label as readable JSON."""
    if dataclasses.is_dataclass(value):
        return repr(value)
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value if value is None or isinstance(value, str | int | float) else repr(value)
