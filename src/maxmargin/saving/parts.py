"""``ModelParts``: what a model file holds of one structure's estimator, and the way back.

The default stores the weights ``coef_``, as an estimator of a user's own problem has them. Nothing
here executes code from a file; what does not fit raises ValueError, KeyError or TypeError, which
``models.load`` turns into an error that names the file.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]


class ModelParts:
    """How a fitted estimator becomes named arrays and JSON.

    Parameters
    ----------
    structure : Structure
        The structure it belongs to.
    """

    #: Classes, other than solvers, whose objects may be parameters: dataclasses of plain values.
    parameter_classes: tuple[type, ...] = ()

    #: Whether ``info`` counts only the weights that are not zero.
    counts_nonzeros = False

    def __init__(self, structure: Any):
        self.structure = structure

    def encode(self, estimator: Any, arrays: Arrays) -> dict[str, Any]:
        """Put fitted arrays into ``arrays``; return what more the file says, as JSON by key."""
        arrays["coef_"] = estimator.coef_
        return {}

    def decode(self, estimator: Any, meta: dict[str, Any], arrays: Arrays) -> np.ndarray:
        """Give an estimator that has its parameters and labels all the rest; returns w."""
        coef = arrays["coef_"]
        if coef.ndim != 1:
            raise ValueError(f"weights of shape {coef.shape} do not fit the estimator")
        estimator.coef_ = coef
        return coef

    def parameters(self, estimator: Any, parameters: dict[str, Any]) -> dict[str, Any]:
        """The parameters to store, where they are not those that were given."""
        return parameters

    def weights(self, meta: dict[str, Any], arrays: Arrays) -> np.ndarray:
        """The array that stands for the weights in a file."""
        return arrays["coef_"]

    def summary(self, meta: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
        """What ``maxmargin info`` says beyond what all models have, as JSON by key."""
        return {}
