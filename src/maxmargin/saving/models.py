"""Saving and loading estimators: what of an estimator goes into a model file, and back.

A file names its estimator and its solver; both are looked up in the tables below, and nothing in
the file is ever imported or executed. What is code, the problem of a ``StructuredSVC``, is not
stored.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..errors import ModelFileError
from ..estimators import CFGSVC, BinarySVC, ChainSVC, MulticlassSVC, StructuredSVC
from ..kernels.saved import decode_kernel, encode_kernel, kernel_summary
from ..result import Record
from ..structures.cfg.model import cfg_summary, decode_cfg, encode_cfg
from ..structures.chain.model import chain_summary, decode_chain, encode_chain, storable_template
from .container import read_container, write_container
from .label_json import labels_from_json, labels_to_json
from .values import decode_parameters, decode_result, encode_parameter, encode_result, plain

ESTIMATORS: dict[str, Any] = {
    cls.__name__: cls for cls in (BinarySVC, CFGSVC, ChainSVC, MulticlassSVC, StructuredSVC)
}

#: Fitted attributes that are arrays of numbers, and those that are labels.
_ARRAYS, _LABELS = ("coef_", "intercept_"), ("classes_", "n_features_in_", "feature_names_in_")

#: The array that stands for the weights, of a chain or not, with a kernel or not.
WEIGHT_ARRAYS = {
    (False, False): "coef_", (False, True): "dual_coef", (True, False): "weights",
    (True, True): "dual_coef",
}  # fmt: skip


def save_model(estimator: Any, path: Any) -> None:
    """Write a fitted estimator to a file, completely or not at all.

    Parameters
    ----------
    estimator : BinarySVC, MulticlassSVC, ChainSVC, CFGSVC or StructuredSVC
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
    meta: dict[str, Any] = {"estimator": name}
    arrays: dict[str, np.ndarray] = {}
    parameters = estimator.get_params(deep=False)
    parameters.pop("backend", None)  # where it was trained is not part of the model
    if hasattr(estimator, "dual_coef_"):
        meta["kernel"] = encode_kernel(estimator, arrays)
    if isinstance(estimator, ChainSVC):
        meta["chain"] = encode_chain(estimator, arrays)
        parameters["template"] = storable_template(estimator)
    elif isinstance(estimator, CFGSVC):
        meta["cfg"] = encode_cfg(estimator, arrays)
    else:
        arrays |= {key: getattr(estimator, key) for key in _ARRAYS if hasattr(estimator, key)}
    problem = parameters.pop("problem", None)
    parameters.pop("checkpoint", None)  # of the run, not of the model
    if problem is not None:
        meta["problem"] = type(problem).__name__
    meta["parameters"] = {
        key: encode_parameter(key, value, arrays) for key, value in parameters.items()
    }
    meta["fitted"] = {
        key: labels_to_json(getattr(estimator, key)) for key in _LABELS if hasattr(estimator, key)
    }
    meta["result"] = encode_result(estimator.result_)
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
    BinarySVC, MulticlassSVC, ChainSVC, CFGSVC or StructuredSVC
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
        estimator = cls(**extra, **decode_parameters(meta, arrays))
        for key in _LABELS:
            if key in meta["fitted"]:
                setattr(estimator, key, labels_from_json(meta["fitted"][key]))
        w = _set_weights(estimator, meta, arrays)
        estimator.result_ = decode_result(meta["result"], arrays["history"], w)
        estimator.n_iter_ = estimator.result_.n_iter
    return estimator


def summary(path: Any) -> dict[str, Any]:
    """What a model file says of itself, for any estimator and without its problem.

    Returns
    -------
    dict
        "estimator", "problem" (None if built in), "parameters", "classes", "n_features" and
        "n_weights" (for a chain and a parser those that are not zero), all of JSON types, and the
        "result"; and "chain", "cfg" and "kernel", what more there is to say of these.
    """
    meta, arrays = read_container(path)
    with _blaming(path):
        _estimator_class(meta)
        parameters = decode_parameters(meta, arrays)
        chain, cfg = "chain" in meta, "cfg" in meta
        weights = arrays[WEIGHT_ARRAYS[chain or cfg, "kernel" in meta]].ravel()
        result = decode_result(meta["result"], arrays["history"], weights)
        classes = labels_from_json(meta["fitted"].get("classes_"))
        return {
            "estimator": meta["estimator"],
            "problem": meta.get("problem"),
            "parameters": {key: plain(value) for key, value in parameters.items()},
            "classes": None if classes is None else [plain(label) for label in classes.tolist()],
            "n_features": meta["fitted"].get("n_features_in_"),
            "n_weights": int(np.count_nonzero(weights)) if chain or cfg else weights.size,
            "result": result,
            **({"chain": chain_summary(meta["chain"])} if chain else {}),
            **({"kernel": kernel_summary(meta["kernel"])} if "kernel" in meta else {}),
            **({"cfg": cfg_summary(meta["cfg"], arrays)} if cfg else {}),
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
    if "checkpoint" in meta:
        raise ModelFileError("is a checkpoint of training, not a model: train with resume=True")
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


def _set_weights(estimator: Any, meta: dict[str, Any], arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Give the estimator its fitted arrays; returns w."""
    if isinstance(estimator, ChainSVC):
        w = decode_chain(estimator, meta["chain"], arrays, "kernel" in meta)
        return decode_kernel(estimator, meta["kernel"], arrays) if "kernel" in meta else w
    if isinstance(estimator, CFGSVC):
        return decode_cfg(estimator, meta["cfg"], arrays)
    if "kernel" in meta:
        estimator.intercept_ = arrays["intercept_"]
        return decode_kernel(estimator, meta["kernel"], arrays)
    for key in _ARRAYS:
        if key in arrays:
            setattr(estimator, key, arrays[key])
    _check_shapes(estimator)
    return _weights(estimator)


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
