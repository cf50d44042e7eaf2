"""The content of a model file of a ``GridSVC``: that of graphs, and the scale of the contrast."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...objective import check_positive
from ...saving.contents import check_flag
from ...saving.parts import Arrays
from ..graph.model import GraphParts


class GridParts(GraphParts):
    """The parts of a ``GridSVC``."""

    def check_parameters(self, parameters: dict[str, Any]) -> None:
        """Also those of the edges."""
        super().check_parameters(parameters)
        check_flag("contrast", parameters["contrast"])
        for name, choices in (("neighbours", (4, 8)), ("directions", (1, 2))):
            value = parameters[name]
            if type(value) is not int or value not in choices:
                raise ValueError(f"{name} must be one of {choices}, got {value!r:.100}")

    def encode(self, estimator: Any, arrays: Arrays) -> dict[str, Any]:
        """Also the scale of the contrast."""
        found = super().encode(estimator, arrays)
        return found | {"grid": {"contrast_scale": estimator.contrast_scale_}}

    def decode(self, estimator: Any, meta: dict[str, Any], arrays: Arrays) -> np.ndarray:
        """Set everything in the estimator except parameters and labels; returns w."""
        scale = meta["grid"]["contrast_scale"]
        if bool(estimator.contrast) != (scale is not None):
            raise ValueError(f"{scale!r:.100} is not the scale of the contrast")
        if scale is not None:
            check_positive("contrast_scale", scale)
        estimator.contrast_scale_ = scale
        w = super().decode(estimator, meta, arrays)
        if estimator.n_edge_features_in_ != len(estimator._edge_names()):
            raise ValueError(f"{estimator.n_edge_features_in_} is not the number of edge features")
        return w
