"""The content of a model file of a ``MultilabelSVC``: weights and pairs of labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...objective import check_positive
from ...saving.contents import check_choice, check_flag
from ...saving.parts import Arrays, ModelParts
from ...saving.sparse import WEIGHTS, decode_weights, encode_weights, finite
from .interactions import INTERACTIONS
from .problem import check_label_cost

PAIRS = "pairs"


class MultilabelParts(ModelParts):
    """The parts of a ``MultilabelSVC``."""

    counts_nonzeros = True

    def check_parameters(self, parameters: dict[str, Any]) -> None:
        """Also those of labels; ``_problem`` checks the inference."""
        super().check_parameters(parameters)
        check_flag("fit_intercept", parameters["fit_intercept"])
        check_positive("intercept_scaling", parameters["intercept_scaling"])
        check_flag("relax", parameters["relax"])
        check_choice("interactions", parameters["interactions"], tuple(INTERACTIONS))
        if not isinstance(parameters["inference"], str):
            raise ValueError(f"{parameters['inference']!r:.100} is not a kind of inference")

    def encode(self, estimator: Any, arrays: Arrays) -> dict[str, Any]:
        """Store w and the pairs."""
        encode_weights(estimator._w(), arrays)
        arrays[PAIRS] = estimator.pairs_
        return {"multilabel": {"inference": estimator.inference_, "sparse": estimator._sparse}}

    def decode(self, estimator: Any, meta: dict[str, Any], arrays: Arrays) -> np.ndarray:
        """Set everything in the estimator except parameters and labels; returns w."""
        found = meta["multilabel"]
        check_flag("sparse", found["sparse"])
        estimator.inference_, estimator._sparse = self._inference(meta), bool(found["sparse"])
        if arrays[PAIRS].dtype.kind not in "iu":
            raise ValueError(f"{PAIRS} is an array of {arrays[PAIRS].dtype}")
        estimator.pairs_ = arrays[PAIRS].astype(np.int64)
        check_label_cost(estimator.label_cost, len(estimator.classes_))
        problem = estimator._problem()  # refuses parameters that do not fit the labels
        w = decode_weights(arrays, problem.dim(estimator.n_features_in_))
        estimator._set_weights(w)
        return w

    def weights(self, meta: dict[str, Any], arrays: Arrays) -> np.ndarray:
        """The stored weights: all non-zeros and some zeros."""
        return finite(arrays, WEIGHTS)

    def summary(self, meta: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
        """The number of pairs and the decoder."""
        pairs = {"pairs": len(np.atleast_1d(arrays[PAIRS])), "inference": self._inference(meta)}
        return {"multilabel": pairs}

    def _inference(self, meta: dict[str, Any]) -> str:
        inference = meta["multilabel"]["inference"]
        if not isinstance(inference, str):
            raise ValueError(f"{inference!r:.100} is not a kind of inference")
        return inference
