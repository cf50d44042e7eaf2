"""The calibration of a model in its file, checked like everything else in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.probabilities import Calibration, Curve, Sigmoid, Softmax, Steps
from .contents import check_choice, check_whole, is_real
from .sparse import LARGEST, finite

METHODS = ("sigmoid", "isotonic")


def encode_calibration(calibration: Calibration, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """The calibration as JSON types; the points of curves are put into ``arrays``."""
    curves = {
        name: _encode(curve, f"calibration.{name}", arrays)
        for name, curve in calibration.curves.items()
    }
    return {"method": calibration.method, "n": calibration.n, "curves": curves}


def _encode(curve: Curve, key: str, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    if isinstance(curve, Sigmoid):
        return {"slope": curve.slope, "offset": curve.offset}
    steps = curve if isinstance(curve, Steps) else curve.steps
    if steps is not None:
        arrays[key] = np.array([steps.x, steps.y], np.float64)
    if isinstance(curve, Steps):
        return {"points": key}
    return {"temperature": curve.temperature, "points": None if steps is None else key}


def decode_calibration(
    code: Any, arrays: dict[str, np.ndarray], kinds: dict[str, type] | None = None
) -> Calibration:
    """The calibration of a file.

    Parameters
    ----------
    code : dict
    arrays : dict of arrays
    kinds : dict, optional
        The curves that the estimator can have: Softmax, or Sigmoid for any curve of one score.

    Raises
    ------
    ValueError, KeyError or TypeError
        If something is missing or out of range.
    """
    check_choice("the method of calibration", code["method"], METHODS)
    check_whole("the number of examples of the calibration", code["n"], 1)
    curves = {name: _decode(curve, arrays) for name, curve in code["curves"].items()}
    for name, curve in curves.items():
        if kinds is None:
            continue
        if name not in kinds or isinstance(curve, Softmax) != (kinds[name] is Softmax):
            raise ValueError(f"{name!r:.100} is not a curve of this model")
    return Calibration(code["method"], int(code["n"]), curves)


def _decode(code: Any, arrays: dict[str, np.ndarray]) -> Curve:
    match code:
        case {"slope": slope, "offset": offset}:
            return Sigmoid(_number("slope", slope, 0.0), _number("offset", offset, -LARGEST))
        case {"temperature": temperature, "points": points}:
            steps = None if points is None else _decode_steps(points, arrays)
            return Softmax(_number("temperature", temperature, 1e-100), steps)
        case {"points": str(points)}:
            return _decode_steps(points, arrays)
    raise ValueError(f"{code!r:.100} is not a curve of a calibration")


def _number(name: str, value: Any, low: float) -> float:
    if not is_real(value) or not low <= value <= LARGEST:
        raise ValueError(f"the {name} of a calibration is {value!r:.100}")
    return float(value)


def _decode_steps(key: Any, arrays: dict[str, np.ndarray]) -> Steps:
    points = finite(arrays, key, ndim=2)
    if len(points) != 2 or points.shape[1] < 1 or (np.diff(points, axis=1) < 0).any():
        raise ValueError("the points of a calibration are not sorted")
    x, y = points
    if y[0] < 0 or y[-1] > 1:
        raise ValueError("the points of a calibration are not probabilities")
    return Steps(x, y)
