"""The content of a model file of a ``GraphSVC``: weights and the number of edge features."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.checked import check_weights
from ...saving.contents import LARGEST_COUNT, check_choice, check_class_weight, check_flag, is_whole
from ...saving.parts import Arrays, ModelParts
from ...saving.sparse import WEIGHTS, decode_weights, encode_weights, finite
from .pairs import KINDS

CLASS_WEIGHT = "class_weight"


class GraphParts(ModelParts):
    """The parts of a ``GraphSVC``."""

    counts_nonzeros = True

    def check_parameters(self, parameters: dict[str, Any]) -> None:
        """Also those of labels and pairs; ``_problem`` checks loss and inference."""
        super().check_parameters(parameters)
        check_choice("pairwise", parameters["pairwise"], tuple(KINDS))
        check_class_weight("class_weight", parameters["class_weight"])
        check_flag("relax", parameters["relax"])
        if not isinstance(parameters["inference"], str):
            raise ValueError(f"{parameters['inference']!r:.100} is not a kind of inference")

    def encode(self, estimator: Any, arrays: Arrays) -> dict[str, Any]:
        """Store w; "graph" holds the number of edge features and the decoder."""
        encode_weights(estimator._w(), arrays)
        if estimator.class_weight_ is not None:
            arrays[CLASS_WEIGHT] = estimator.class_weight_
        e, inference = estimator.n_edge_features_in_, estimator.inference_
        return {"graph": {"edge_features": e, "inference": inference}}

    def decode(self, estimator: Any, meta: dict[str, Any], arrays: Arrays) -> np.ndarray:
        """Set everything in the estimator except parameters and labels; returns w."""
        found = graph_summary(meta)
        estimator.n_edge_features_in_ = e = found["edge_features"]
        estimator.inference_ = found["inference"]
        K, d = len(estimator.classes_), estimator.n_features_in_
        estimator.class_weight_ = None
        if estimator.class_weight is not None:
            estimator.class_weight_ = check_weights(finite(arrays, CLASS_WEIGHT), K, CLASS_WEIGHT)
        problem = estimator._problem()  # refuses parameters that do not fit the labels
        w = decode_weights(arrays, problem.dim(d, e))
        estimator._set_weights(w)
        return w

    def weights(self, meta: dict[str, Any], arrays: Arrays) -> np.ndarray:
        """The stored weights: all non-zeros and some zeros."""
        return finite(arrays, WEIGHTS)

    def summary(self, meta: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
        """The number of edge features and the decoder."""
        return {"graph": graph_summary(meta)}


def graph_summary(meta: dict[str, Any]) -> dict[str, Any]:
    """What a file says about edges and inference, checked."""
    e, inference = meta["graph"]["edge_features"], meta["graph"]["inference"]
    if type(e) is not int or not is_whole(e, 0, LARGEST_COUNT):
        raise ValueError(f"{e!r:.100} is not a number of edge features")
    if not isinstance(inference, str):
        raise ValueError(f"{inference!r:.100} is not a kind of inference")
    return {"edge_features": e, "inference": inference}
