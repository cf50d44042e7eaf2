"""Output for images: the evaluation of pixels, and descriptions of models."""

from __future__ import annotations

from typing import Any

from ...report.results import Outcome
from ..graph.show import GraphShow, ShownNodes, evaluate_nodes
from ..show import Row


class ShownPixels(ShownNodes):
    """The evaluation of pixels."""

    what = "pixels"


class GridShow(GraphShow):
    """Labels of pixels."""

    def describe(self, estimator: Any) -> str:
        """Numbers of channels, neighbours and labels."""
        return (
            f"{estimator.n_features_in_:,} channels, {estimator.neighbours} neighbours, "
            f"{len(estimator.classes_):,} labels"
        )

    def info(self, content: dict[str, Any]) -> list[Row]:
        """The neighbours, the weights of pairs and the decoder."""
        given = content["parameters"]
        kinds = "separate weights by direction" if given["directions"] == 2 else "the same weights"
        more = ", with contrast" if given["contrast"] else ""
        return [("neighbours", f"{given['neighbours']}, {kinds}{more}"), *super().info(content)]

    def evaluate(self, estimator: Any, examples: Any) -> ShownPixels:
        """Accuracy and IoU of pixels; pixels without a label do not count."""
        found = evaluate_nodes(estimator, examples.X, examples.Y)
        return ShownPixels(found.classes, found.confusion)

    def outcome(self, estimator: Any, data: str, X: Any, Y: Any) -> Outcome:
        """Confusion of labels."""
        found = super().outcome(estimator, data, X, Y)
        return Outcome(data, found.labels, found.confusion, "pixels", found.more)
