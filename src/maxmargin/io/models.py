"""Saving and loading estimators: what of an estimator goes into a model file, and back.

A file names its estimator and its solver; both are looked up in the tables below, and nothing in
the file is ever imported or executed. What is code, the problem of a ``StructuredSVC``, is not
stored.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..errors import ModelFileError
from ..estimators import BinarySVC, MulticlassSVC, StructuredSVC
from ..result import Record, Result, Status
from ..solvers import SOLVERS
from .label_json import labels_from_json, labels_to_json
from .model import read_container, write_container

ESTIMATORS: dict[str, Any] = {
    cls.__name__: cls for cls in (BinarySVC, MulticlassSVC, StructuredSVC)
}
SOLVER_CLASSES: dict[str, Any] = {cls.__name__: cls for cls in SOLVERS.values()}

#: Fitted attributes that are arrays of numbers, and those that are labels.
_ARRAYS, _LABELS = ("coef_", "intercept_"), ("classes_", "n_features_in_", "feature_names_in_")

#: The fields of a result that are single numbers.
_NUMBERS = (
    "primal", "dual", "gap", "n_iter", "n_oracle", "time", "prepare_time", "compile_time",
)  # fmt: skip


def save_model(estimator: Any, path: Any) -> None:
    """Write a fitted estimator to a file, completely or not at all.

    Parameters
    ----------
    estimator : BinarySVC, MulticlassSVC or StructuredSVC
        Fitted. Of a StructuredSVC everything but its problem is stored.
    path : str or path

    Raises
    ------
    ModelFileError
        If a parameter cannot be stored, in which case nothing is written, or the file cannot be.
    """
    name = type(estimator).__name__
    if ESTIMATORS.get(name) is not type(estimator):
        raise ModelFileError(f"a {name} cannot be stored, only {', '.join(ESTIMATORS)}")
    arrays = {key: getattr(estimator, key) for key in _ARRAYS if hasattr(estimator, key)}
    meta: dict[str, Any] = {"estimator": name}
    parameters = estimator.get_params(deep=False)
    problem = parameters.pop("problem", None)
    if problem is not None:
        meta["problem"] = type(problem).__name__
    meta["parameters"] = {
        key: _encode_parameter(key, value, arrays) for key, value in parameters.items()
    }
    meta["fitted"] = {
        key: labels_to_json(getattr(estimator, key)) for key in _LABELS if hasattr(estimator, key)
    }
    meta["result"] = _encode_result(estimator.result_)
    arrays["history"] = np.array(estimator.result_.history, np.float64).reshape(
        -1, len(Record._fields)
    )
    write_container(path, meta, arrays)


def load(path: Any, problem: Any = None) -> Any:
    """Read an estimator back from a file that its ``save`` wrote.

    Parameters
    ----------
    path : str or path
    problem : Problem or KernelProblem, optional
        For a StructuredSVC, whose file does not hold its problem: an object of the same class.

    Returns
    -------
    BinarySVC, MulticlassSVC or StructuredSVC
        Its predictions are those of the stored one, bit for bit.

    Raises
    ------
    ModelFileError
        If the file is not an intact model, or ``problem`` is not the one it needs.
    """
    meta, arrays = read_container(path)
    with _blaming(path):
        cls = _estimator_class(meta)
        extra = _check_problem(meta, problem)
        estimator = cls(**extra, **_decode_parameters(meta, arrays))
        for key in _ARRAYS:
            if key in arrays:
                setattr(estimator, key, arrays[key])
        for key in _LABELS:
            if key in meta["fitted"]:
                setattr(estimator, key, labels_from_json(meta["fitted"][key]))
        _check_shapes(estimator)
        estimator.result_ = _decode_result(meta["result"], arrays["history"], _weights(estimator))
        estimator.n_iter_ = estimator.result_.n_iter
    return estimator


def summary(path: Any) -> dict[str, Any]:
    """What a model file says of itself, for any estimator and without its problem.

    Returns
    -------
    dict
        "estimator", "problem" (None if built in), "parameters", "classes", "n_features" and
        "n_weights", all of JSON types, and the "result".
    """
    meta, arrays = read_container(path)
    with _blaming(path):
        _estimator_class(meta)
        parameters = _decode_parameters(meta, arrays)
        result = _decode_result(meta["result"], arrays["history"], arrays["coef_"].ravel())
        classes = labels_from_json(meta["fitted"].get("classes_"))
        return {
            "estimator": meta["estimator"],
            "problem": meta.get("problem"),
            "parameters": {key: _plain(value) for key, value in parameters.items()},
            "classes": None if classes is None else [_plain(label) for label in classes.tolist()],
            "n_features": meta["fitted"].get("n_features_in_"),
            "n_weights": int(arrays["coef_"].size),
            "result": result,
        }


@contextmanager
def _blaming(path: Any) -> Iterator[None]:
    """Say which file is wrong, whatever way its content is."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{os.fsdecode(path)}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelFileError(f"{os.fsdecode(path)}: is damaged: {error!r}") from error


def _estimator_class(meta: dict[str, Any]) -> Any:
    name = meta.get("estimator")
    if not isinstance(name, str) or name not in ESTIMATORS:
        raise ModelFileError(
            f"holds a {name!r}, which this maxmargin does not know: it loads only "
            f"{', '.join(ESTIMATORS)}"
        )
    return ESTIMATORS[name]


def _check_problem(meta: dict[str, Any], problem: Any) -> dict[str, Any]:
    """The problem as a constructor argument, once it is of the class that was trained."""
    needed = meta.get("problem")
    if needed is None:
        if problem is not None:
            raise ModelFileError(f"holds a {meta['estimator']}, which takes no problem")
        return {}
    if problem is None:
        raise ModelFileError(
            f"holds a {meta['estimator']} of a {needed}, whose code is not in the file: "
            f"use load(path, problem={needed}(...))"
        )
    if type(problem).__name__ != needed:
        found = f"the class {problem.__name__}" if isinstance(problem, type) else repr(problem)
        raise ModelFileError(
            f"was trained with a problem of class {needed}, got {found}: "
            f"use load(path, problem={needed}(...))"
        )
    return {"problem": problem}


def _encode_parameter(name: str, value: Any, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    try:
        if type(value) is np.ndarray and value.ndim != 1:
            arrays[f"parameter.{name}"] = value
            return {"array": f"parameter.{name}"}
        if type(value) is dict:
            pairs = [[labels_to_json(k), labels_to_json(v)] for k, v in value.items()]
            return {"pairs": pairs}
        if type(value) in SOLVER_CLASSES.values():
            options = {key: labels_to_json(v) for key, v in vars(value).items()}
            return {"solver": type(value).__name__, "options": options}
        return {"value": labels_to_json(value)}
    except ModelFileError as error:
        raise ModelFileError(
            f"the parameter {name}={value!r} cannot be stored: use None, numbers, strings, lists, "
            "dicts and arrays of these, or a solver of maxmargin"
        ) from error


def _decode_parameters(meta: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    return {name: _decode_parameter(code, arrays) for name, code in meta["parameters"].items()}


def _decode_parameter(code: Any, arrays: dict[str, np.ndarray]) -> Any:
    match code:
        case {"array": str(name)}:
            return arrays[name]
        case {"pairs": list(pairs)}:
            return {labels_from_json(key): labels_from_json(value) for key, value in pairs}
        case {"solver": str(name), "options": dict(options)}:
            if name not in SOLVER_CLASSES:
                raise ModelFileError(
                    f"uses the solver {name!r}, which this maxmargin does not know"
                )
            return SOLVER_CLASSES[name](**{k: labels_from_json(v) for k, v in options.items()})
        case {"value": value}:
            return labels_from_json(value)
    raise ValueError(f"{code!r} describes no parameter")


def _encode_result(result: Result) -> dict[str, Any]:
    return {
        "status": result.status.name,
        "shares": {key: float(value) for key, value in result.shares.items()},
        **{key: labels_to_json(getattr(result, key)) for key in _NUMBERS},
    }


def _decode_result(code: dict[str, Any], history: np.ndarray, w: np.ndarray) -> Result:
    return Result(
        w=w,
        status=Status[code["status"]],
        history=[
            Record(int(i), time, int(n_oracle), primal, dual, gap, int(planes))
            for i, time, n_oracle, primal, dual, gap, planes in history.tolist()
        ],
        shares=dict(code["shares"]),
        **{key: labels_from_json(code[key]) for key in _NUMBERS},
    )


def _check_shapes(estimator: Any) -> None:
    if isinstance(estimator, StructuredSVC):
        rows_fit = estimator.coef_.ndim == 1
    else:
        rows = 1 if isinstance(estimator, BinarySVC) else len(estimator.classes_)
        rows_fit = estimator.coef_.shape == (
            rows,
            estimator.n_features_in_,
        ) and estimator.intercept_.shape == (rows,)
    if not rows_fit:
        raise ValueError(f"weights of shape {estimator.coef_.shape} do not fit the estimator")


def _weights(estimator: Any) -> np.ndarray:
    """The feature-major w that `_LinearSVC._set_weights` took apart, up to rounding."""
    if isinstance(estimator, StructuredSVC):
        return estimator.coef_
    by_feature = estimator.coef_.T
    if estimator.fit_intercept:
        by_feature = np.vstack([by_feature, estimator.intercept_ / estimator.intercept_scaling])
    return by_feature.ravel()


def _plain(value: Any) -> Any:
    """A parameter or label by JSON types, for people to read."""
    if dataclasses.is_dataclass(value):
        return repr(value)
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value if value is None or isinstance(value, str | int | float | list) else repr(value)
