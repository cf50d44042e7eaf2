"""Output for graphs: evaluations of nodes, and descriptions of models."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.labels import as_label_array
from ...report.evaluation import ShownEvaluation
from ...report.pictures import graph_html, legend_html
from ...report.results import Outcome
from ..show import Row, Show
from .labels import flat_labels, known_labels
from .pairs import KINDS

#: Number of graphs or images to draw.
PICTURES = 6


class ShownNodes(ShownEvaluation):
    """The evaluation of nodes: accuracy and, for each class, intersection over union."""

    #: The word for what is counted.
    what = "nodes"

    @property
    def iou(self) -> np.ndarray:
        """Intersection over union of true and predicted nodes of each class (k,); NaN if none."""
        right = self.confusion.diagonal()
        union = self.confusion[:-1].sum(axis=1) + self.confusion.sum(axis=0) - right
        return np.where(union > 0, right / np.maximum(union, 1), np.nan)

    @property
    def mean_iou(self) -> float:
        """The average over the classes that occur."""
        iou = self.iou
        return float(iou[~np.isnan(iou)].mean()) if (~np.isnan(iou)).any() else 0.0

    def to_dict(self) -> dict[str, Any]:
        """All counts and measures, as JSON types."""
        found = super().to_dict()
        for entry, iou in zip(found["classes"], self.iou.tolist(), strict=True):
            entry["iou"] = None if np.isnan(iou) else iou
        return {"accuracy": found.pop("accuracy"), "mean_iou": self.mean_iou} | found

    def headline(self) -> str:
        """Accuracy and mean IoU."""
        return f"{super().headline()}, mean IoU {self.mean_iou:.4f}"

    def columns(self) -> dict[str, np.ndarray]:
        """The measures of each class: also the IoU."""
        return super().columns() | {"IoU": self.iou}


class GraphShow(Show):
    """Labels of nodes."""

    class_word = "labels"

    def describe(self, estimator: Any) -> str:
        """Numbers of features, types and labels."""
        types = estimator.types_
        each = "" if types is None else f" for each of {len(types):,} types"
        return (
            f"{estimator.n_features_in_:,} features of nodes{each}, "
            f"{estimator.n_edge_features_in_:,} of edges, {len(estimator.classes_):,} labels"
        )

    def info(self, content: dict[str, Any]) -> list[Row]:
        """The weights of pairs, the decoder and the types of nodes."""
        graph, pairwise = content["graph"], content["parameters"]["pairwise"]
        e, types = graph["edge_features"], graph["types"]
        per = "" if e == 1 else f", for each of {e:,} edge features"
        rows = [("pairs", f"{KINDS[pairwise]}{per}"), ("inference", graph["inference"])]
        return rows if types is None else [*rows, ("types of nodes", ", ".join(map(str, types)))]

    def evaluate(self, estimator: Any, examples: Any) -> ShownNodes:
        """Accuracy and IoU of nodes; nodes without a label do not count."""
        return evaluate_nodes(estimator, examples.X, examples.Y)

    def outcome(self, estimator: Any, data: str, X: Any, Y: Any) -> Outcome:
        """Confusion of labels."""
        found = evaluate_nodes(estimator, X, Y)
        more = f"The mean intersection over union of the labels is {found.mean_iou:.4f}."
        return Outcome(data, found.classes, found.confusion, "nodes", more)

    def explain(self, estimator: Any, n: int) -> Any:
        """The largest weights of labels and of pairs of labels."""
        return estimator.explain(n)

    def sections(self, estimator: Any, X: Any, Y: Any) -> list[tuple[str, str]]:
        """The first graphs that have positions."""
        some = [i for i, x in enumerate(X) if getattr(x, "positions", None) is not None and len(x)]
        some = some[:PICTURES]
        if not some:
            return []
        graphs, void = [X[i] for i in some], estimator.void
        labels = estimator.classes_.tolist()
        pairs = zip(graphs, [Y[i] for i in some], estimator.predict(graphs), strict=True)
        drawn = [
            graph_html(x.positions, x.edges, codes_of(y, labels, void), codes_of(z, labels, void))
            for x, y, z in pairs
        ]
        words = "<p>True labels, with a ring in the colour of the predicted one.</p>"
        return [("Graphs", words + legend_html(labels) + "".join(drawn))]


def codes_of(y: Any, labels: list[Any], void: Any) -> np.ndarray:
    """The colours of labels, as class numbers; -1 for those that are not known."""
    number = {label: k for k, label in enumerate(labels) if void is None or label != void}
    items = np.ravel(np.asarray(y, object)).tolist()
    return np.array([number.get(label, -1) for label in items], np.int64)


def evaluate_nodes(estimator: Any, X: Any, Y: Any) -> ShownNodes:
    """Compare the labels of all nodes with predictions."""
    truth = flat_labels(estimator._flat(Y, X))
    found = flat_labels(estimator._flat(estimator.predict(X), X))
    known = known_labels(truth, estimator.void)
    truth = as_label_array(truth[known].tolist()) if truth.dtype == object else truth[known]
    return ShownNodes.of(truth, found[known], estimator.classes_)
