"""Saving and loading estimators: the parts of a model file that all estimators have.

A file names its estimator and its solver; both are looked up among the installed ones, and nothing
in the file is imported or executed. What only one structure needs is stored by its
``ModelParts``. The problem of a ``StructuredSVC`` is code, which is not stored.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..errors import MaxMarginError, ModelFileError
from ..result import Record
from .calibrations import decode_calibration, encode_calibration
from .container import read_container, write_container
from .contents import OF_THE_RUN, decode_fitted, decode_result
from .label_json import labels_to_json
from .values import decode_parameters, encode_parameter, encode_result, plain

#: Fitted attributes that are stored as labels.
_LABELS = ("classes_", "n_features_in_", "feature_names_in_")

#: From the class name of an estimator to its structure.
Find = Callable[[str], Any]


def save_model(estimator: Any, path: Any) -> None:
    """Write a fitted estimator to a file, completely or not at all.

    Parameters
    ----------
    estimator : fitted estimator
        For a StructuredSVC everything except its problem is stored.
    path : str or path

    Raises
    ------
    ModelFileError
        If a parameter cannot be stored, or the file cannot be written.
    """
    structure = estimator.structure
    if type(estimator) is not structure.estimator:
        raise ModelFileError(
            f"a {type(estimator).__name__} cannot be stored, only a {structure.estimator_name}"
        )
    parts, arrays = structure.model, {}
    meta: dict[str, Any] = {"estimator": structure.estimator_name}
    meta |= parts.encode(estimator, arrays)
    parameters = parts.parameters(estimator, estimator.get_params(deep=False))
    parameters = {key: value for key, value in parameters.items() if key not in OF_THE_RUN}
    problem = parameters.pop("problem", None)
    if problem is not None:
        meta["problem"] = type(problem).__name__
    meta["parameters"] = {
        key: encode_parameter(key, value, arrays, parts.parameter_classes)
        for key, value in parameters.items()
    }
    with _refusing("parameter"):
        parts.check_parameters(parameters)
    meta["fitted"] = {
        key: labels_to_json(getattr(estimator, key)) for key in _LABELS if hasattr(estimator, key)
    }
    meta["result"] = encode_result(estimator.result_)
    if hasattr(estimator, "calibration_"):
        meta["calibration"] = encode_calibration(estimator.calibration_, arrays)
    arrays["history"] = np.array(estimator.result_.history, np.float64).reshape(
        -1, len(Record._fields)
    )
    with _refusing("label"):
        decode_fitted(meta["fitted"])
    with _refusing("result"):
        decode_result(meta["result"], arrays["history"], estimator.result_.w)
    write_container(path, meta, arrays)


@contextmanager
def _refusing(what: str) -> Iterator[None]:
    """Turn errors of the checks of ``contents`` into a ModelFileError, before a file is written."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise ModelFileError(f"a model with such a {what} cannot be stored: {error}") from error


def load(path: Any, find: Find, problem: Any = None, max_bytes: int | None = None) -> Any:
    """Read an estimator; ``find`` looks up its structure. See ``registry.load``."""
    meta, arrays = read_container(path, max_bytes)
    with _blaming(path):
        structure = _find_structure(meta, find)
        given = _check_problem(meta, problem)
        parts = structure.model
        estimator = structure.estimator(**given, **_parameters(structure, meta, arrays))
        fitted = decode_fitted(meta["fitted"])
        for key in _LABELS:
            if key in fitted:
                setattr(estimator, key, fitted[key])
        w = parts.decode(estimator, meta, arrays)
        estimator.result_ = decode_result(meta["result"], arrays["history"], w)
        estimator.n_iter_ = estimator.result_.n_iter
        if "calibration" in meta:
            kinds = estimator._curves()
            estimator.calibration_ = decode_calibration(meta["calibration"], arrays, kinds)
    return estimator


def summary(path: Any, find: Find) -> dict[str, Any]:
    """The description of a model file, which does not need its problem.

    Returns
    -------
    dict
        "structure", "estimator", "problem" (None if built in), "parameters", "classes",
        "n_features" and "n_weights" (for some structures only those that are not zero), all as
        JSON types; the "result"; the "calibration" (None without one); and what the structure adds.
    """
    meta, arrays = read_container(path)
    with _blaming(path):
        structure = _find_structure(meta, find)
        parts = structure.model
        parameters = _stored_parameters(structure, meta, arrays)
        weights = parts.weights(meta, arrays).ravel()
        result = decode_result(meta["result"], arrays["history"], weights)
        fitted = decode_fitted(meta["fitted"])
        classes = fitted.get("classes_")
        return {
            "structure": structure.name,
            "estimator": meta["estimator"],
            "problem": meta.get("problem"),
            "parameters": {key: plain(value) for key, value in parameters.items()},
            "classes": None if classes is None else [plain(label) for label in classes.tolist()],
            "n_features": fitted.get("n_features_in_"),
            "n_weights": _count(weights, parts.counts_nonzeros),
            "result": result,
            "calibration": _calibration(meta, arrays),
            **parts.summary(meta, arrays),
        }


@contextmanager
def _blaming(path: Any) -> Iterator[None]:
    """Turn errors in the content of a file into a ModelFileError that names the file.

    All errors: the content decides what is called here, so none of them is the caller's mistake.
    """
    name = os.fsdecode(path)
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{name}: {error}") from None
    except MemoryError as error:
        raise ModelFileError(f"{name}: cannot be read: not enough memory") from error
    except Exception as error:
        known = isinstance(error, MaxMarginError) or type(error) is ValueError
        reason = str(error) if known else repr(error)
        raise ModelFileError(f"{name}: is damaged or was altered: {reason:.1000}") from error


def _parameters(structure: Any, meta: dict[str, Any], arrays: Any) -> dict[str, Any]:
    """The checked parameters of the estimator in a file, by name; defaults for missing ones."""
    parts = structure.model
    parameters = {
        name: parameter.default
        for name, parameter in inspect.signature(structure.estimator).parameters.items()
        if parameter.default is not parameter.empty and name not in OF_THE_RUN
    } | decode_parameters(meta, arrays, parts.parameter_classes)
    parts.check_parameters(parameters)
    return parameters


def _stored_parameters(structure: Any, meta: dict[str, Any], arrays: Any) -> dict[str, Any]:
    """The checked parameters in a file; defaults are added only to a file that lacks some.

    A file of this version has all of them, so that the estimator, which needs scikit-learn, is
    not imported.
    """
    parts = structure.model
    parameters = decode_parameters(meta, arrays, parts.parameter_classes)
    try:
        parts.check_parameters(parameters)
    except KeyError:
        return _parameters(structure, meta, arrays)
    return parameters


def _find_structure(meta: dict[str, Any], find: Find) -> Any:
    if "checkpoint" in meta:
        raise ModelFileError("is a checkpoint, not a model: continue training with resume=True")
    name = meta.get("estimator")
    return find(name if isinstance(name, str) else repr(name))


def _check_problem(meta: dict[str, Any], problem: Any) -> dict[str, Any]:
    """The problem as an argument of the estimator, after checking its class."""
    needed = meta.get("problem")
    if needed is None:
        if problem is not None:
            raise ModelFileError(f"contains a {meta['estimator']}, which takes no problem")
        return {}
    if problem is None:
        raise ModelFileError(
            f"contains a {meta['estimator']} of a {needed}, whose code is not in the file: "
            f"use load(path, problem={needed}(...)), or --problem module:{needed} on the command "
            "line"
        )
    if type(problem).__name__ != needed:
        found = f"the class {problem.__name__}" if isinstance(problem, type) else repr(problem)
        raise ModelFileError(
            f"was trained with a problem of class {needed}, got {found}: "
            f"use load(path, problem={needed}(...))"
        )
    return {"problem": problem}


def _calibration(meta: dict[str, Any], arrays: Any) -> dict[str, Any] | None:
    """Method, number of held-out examples and kinds of probabilities; None if not calibrated."""
    if "calibration" not in meta:
        return None
    found = decode_calibration(meta["calibration"], arrays)
    return {"method": found.method, "n": found.n, "curves": sorted(found.curves)}


def _count(weights: np.ndarray, only_nonzero: bool) -> int:
    return int(np.count_nonzero(weights)) if only_nonzero else weights.size
