"""Methods that an estimator has only after ``mm.calibrate``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..errors import DataError


class if_calibrated:
    """A method that raises an error that says what to call, as long as there is no calibration.

    The error is an AttributeError too: ``hasattr`` is false then, by which scikit-learn decides
    whether a classifier has probabilities.
    """

    def __init__(self, method: Callable[..., Any]):
        self.method = self.__wrapped__ = method
        self.__doc__ = method.__doc__

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        """The method of an estimator; of a class the plain function."""
        if estimator is None:
            return self.method
        check_is_fitted(estimator)
        if not hasattr(estimator, "calibration_"):
            raise NotFittedError(
                f"{self.method.__name__} needs a calibration: call mm.calibrate(clf, X, Y) with "
                "examples that were not used for training, or mm.calibrate(clf, X, Y, cv=3) with "
                "the training examples"
            )
        return self.method.__get__(estimator, owner)


def curves_of(estimator: Any) -> dict[str, Any]:
    """The curves of the calibration of an estimator; none if it is not calibrated."""
    found = getattr(estimator, "calibration_", None)
    return {} if found is None else found.curves


def get_curve(estimator: Any, name: str) -> Any:
    """The curve of one kind of decisions."""
    curves = estimator.calibration_.curves
    if name not in curves:
        raise DataError(
            f"the calibration has no probabilities of {_NAMES.get(name, name)}, because all of "
            "the held-out ones were right, or all were wrong: calibrate with more examples"
        )
    return curves[name]


_NAMES = {"output": "whole outputs", "classes": "classes or labels"}
