"""Output for images: the evaluation of pixels, and descriptions of models."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...report.pictures import image_colors, label_colors, legend_html, picture_html
from ...report.results import Outcome
from ..graph.show import PICTURES, GraphShow, ShownNodes, codes_of, evaluate_nodes
from ..show import Row
from .images import read_images


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

    def sections(self, estimator: Any, X: Any, Y: Any) -> list[tuple[str, str]]:
        """The first images next to their true labels, predictions and errors."""
        labels, X, Y = estimator.classes_.tolist(), list(X[:PICTURES]), list(Y[:PICTURES])
        images, rows = read_images(X), []
        for image, truth, found in zip(images, Y, estimator.predict(X), strict=True):
            if 0 in image.shape:
                continue
            shape = image.shape[:2]
            t, f = (codes_of(y, labels, estimator.void).reshape(shape) for y in (truth, found))
            wrong = np.where((t >= 0) & (t != f), 3, -1)
            pictures = {
                "image": image_colors(image), "truth": label_colors(t),
                "prediction": label_colors(f), "errors": label_colors(wrong),
            }  # fmt: skip
            rows.append("".join(picture_html(c, title) for title, c in pictures.items()))
        content = legend_html(labels) + "".join(f"<div>{row}</div>" for row in rows)
        return [("Images", content)] if rows else []
