"""``ModelParts``: how the estimator of a structure is stored in a model file and loaded.

The default stores the weights ``coef_``, which is what a ``StructuredSVC`` needs. Nothing here
executes code from a file. Invalid content raises ValueError, KeyError or TypeError, which
``models.load`` turns into an error that names the file. ``contents`` checks what all structures
have; a structure with other parameters extends ``check_parameters``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .contents import check_common
from .sparse import finite

Arrays = dict[str, np.ndarray]


class ModelParts:
    """Conversion of a fitted estimator to named arrays and JSON, and back.

    Parameters
    ----------
    structure : Structure
        The structure it belongs to.
    """

    #: Dataclasses of plain values, other than solvers, whose objects may be parameters.
    parameter_classes: tuple[type, ...] = ()

    #: Whether ``info`` counts only the weights that are not zero.
    counts_nonzeros = False

    def __init__(self, structure: Any):
        self.structure = structure

    def encode(self, estimator: Any, arrays: Arrays) -> dict[str, Any]:
        """Add fitted arrays to ``arrays``; return additional content of the file as JSON types."""
        arrays["coef_"] = estimator.coef_
        return {}

    def decode(self, estimator: Any, meta: dict[str, Any], arrays: Arrays) -> np.ndarray:
        """Set all fitted attributes of an estimator except its labels; returns w."""
        coef, expected = finite(arrays, "coef_", ndim=1), estimator._n_weights()
        if expected not in (None, coef.size):
            raise ValueError(f"weights of shape {coef.shape} do not fit the estimator")
        estimator.coef_ = coef
        estimator._problem()  # refuses parameters of the structure
        return coef

    def check_parameters(self, parameters: dict[str, Any]) -> None:
        """Raise a ValueError or TypeError for a parameter outside of its range.

        It is called before a model is written and before an estimator is made from a file.
        """
        check_common(parameters)

    def parameters(self, estimator: Any, parameters: dict[str, Any]) -> dict[str, Any]:
        """The parameters to store; by default those of the estimator."""
        return parameters

    def weights(self, meta: dict[str, Any], arrays: Arrays) -> np.ndarray:
        """The array of the weights in a file, checked."""
        return finite(arrays, "coef_")

    def summary(self, meta: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
        """What ``maxmargin info`` shows for this structure only, as JSON types by key."""
        return {}
