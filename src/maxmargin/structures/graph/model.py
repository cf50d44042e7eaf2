"""The content of a model file of a ``GraphSVC``: weights and the number of edge features."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.checked import check_weights
from ...saving.contents import (
    LARGEST_COUNT,
    check_choice,
    check_class_weight,
    check_distinct,
    check_flag,
    is_whole,
)
from ...saving.label_json import labels_from_json, labels_to_json
from ...saving.parts import Arrays, ModelParts
from ...saving.sparse import WEIGHTS, decode_weights, encode_weights, finite
from ...saving.values import plain
from .node_types import check_type_classes, names_of_features
from .pairs import KINDS

CLASS_WEIGHT, TYPE_CLASSES = "class_weight", "type_classes"


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
        found = {"edge_features": e, "inference": inference}
        if estimator.types_ is not None:
            found["types"] = labels_to_json(estimator.types_)
            arrays[TYPE_CLASSES] = estimator.type_classes_
        return {"graph": found}

    def decode(self, estimator: Any, meta: dict[str, Any], arrays: Arrays) -> np.ndarray:
        """Set everything in the estimator except parameters and labels; returns w."""
        found = graph_summary(meta)
        estimator.n_edge_features_in_ = e = found["edge_features"]
        estimator.inference_ = found["inference"]
        K, d = len(estimator.classes_), estimator.n_features_in_
        estimator.class_weight_ = None
        if estimator.class_weight is not None:
            estimator.class_weight_ = check_weights(finite(arrays, CLASS_WEIGHT), K, CLASS_WEIGHT)
        _decode_types(estimator, meta, arrays)
        problem = estimator._problem()  # refuses parameters that do not fit the labels
        w = decode_weights(arrays, problem.dim(d, e))
        if estimator.types_ is not None:  # after the weights: a file cannot ask for many names
            estimator.feature_names_ = names_of_features(estimator.types_, d)
        estimator._set_weights(w)
        return w

    def weights(self, meta: dict[str, Any], arrays: Arrays) -> np.ndarray:
        """The stored weights: all non-zeros and some zeros."""
        return finite(arrays, WEIGHTS)

    def summary(self, meta: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
        """The number of edge features, the decoder and the types of nodes."""
        types = _types(meta)
        shown = None if types is None else [plain(name) for name in types.tolist()]
        return {"graph": graph_summary(meta) | {"types": shown}}


def _types(meta: dict[str, Any]) -> np.ndarray | None:
    """The types of nodes in a file, checked; None if nodes have no types."""
    if meta["graph"].get("types") is None:
        return None
    types = labels_from_json(meta["graph"]["types"])
    check_distinct("types", types)
    return types


def _decode_types(estimator: Any, meta: dict[str, Any], arrays: Arrays) -> None:
    """Set the types of nodes and their labels."""
    types = estimator.types_ = _types(meta)
    estimator.type_classes_ = estimator.feature_names_ = None
    if types is None:
        return
    allowed = check_type_classes(arrays[TYPE_CLASSES], len(estimator.classes_))
    if len(allowed) != len(types):
        raise ValueError(f"{len(types)} types of nodes and the labels of {len(allowed)}")
    estimator.type_classes_ = allowed


def graph_summary(meta: dict[str, Any]) -> dict[str, Any]:
    """What a file says about edges and inference, checked."""
    e, inference = meta["graph"]["edge_features"], meta["graph"]["inference"]
    if type(e) is not int or not is_whole(e, 0, LARGEST_COUNT):
        raise ValueError(f"{e!r:.100} is not a number of edge features")
    if not isinstance(inference, str):
        raise ValueError(f"{inference!r:.100} is not a kind of inference")
    return {"edge_features": e, "inference": inference}
