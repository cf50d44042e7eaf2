"""Output for sets of labels: evaluations, and descriptions of models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from ...data.printable import printable
from ...errors import MaxMarginError
from ...metrics.label_sets import LabelSetScores, score_label_sets
from ...report.console import Console
from ..show import Row, Show
from .indicators import read_indicators
from .interactions import INTERACTIONS

#: The measures, by the names that are printed.
MEASURES = {
    "hamming": "Hamming loss",
    "subset_accuracy": "subset accuracy",
    "example_f1": "example F1",
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
}


@dataclass(frozen=True)
class ShownLabelSets:
    """The evaluation of label sets, as text and as JSON."""

    labels: list[Any]
    scores: LabelSetScores

    def to_dict(self) -> dict[str, Any]:
        """All measures, as JSON types."""
        rows = zip(
            self.labels, self.scores.label_f1.tolist(), self.scores.support.tolist(), strict=True
        )
        return {name: getattr(self.scores, name) for name in ("n", *MEASURES)} | {
            "labels": [{"label": label, "f1": f1, "support": n} for label, f1, n in rows]
        }

    def print(self) -> None:
        """Print the measures of all labels together, then the F1 of each label."""
        console = Console()
        for name, shown in MEASURES.items():
            console.print(f"{shown:<16} {getattr(self.scores, name):.4f}")
        table = Table(box=box.SIMPLE_HEAD, header_style="bold")
        table.add_column("label")
        table.add_column("F1", justify="right")
        table.add_column("support", justify="right")
        rows = zip(self.labels, self.scores.label_f1, self.scores.support, strict=True)
        for label, f1, support in rows:
            table.add_row(Text(printable(str(label))), f"{f1:.4f}", f"{support:,}")
        console.print(table)

    def plot(self, path: Path) -> None:
        """Raise an error: there is no picture."""
        raise MaxMarginError("a picture of an evaluation is not offered for multilabel")


class MultilabelShow(Show):
    """Sets of labels."""

    class_word = "labels"

    def describe(self, estimator: Any) -> str:
        """Numbers of features, labels and pairs."""
        return (
            f"{estimator.n_features_in_:,} features, {len(estimator.classes_):,} labels, "
            f"{len(estimator.pairs_):,} pairs of labels"
        )

    def info(self, content: dict[str, Any]) -> list[Row]:
        """The pairs and the decoder."""
        found, interactions = content["multilabel"], content["parameters"]["interactions"]
        pairs = f"{found['pairs']:,}: {INTERACTIONS[interactions]}"
        return [("pairs of labels", pairs), ("inference", found["inference"])]

    def evaluate(self, estimator: Any, examples: Any) -> ShownLabelSets:
        """Hamming loss, subset accuracy and F1."""
        found = estimator.predict(examples.X)
        found = found.toarray() if hasattr(found, "toarray") else found
        truth = read_indicators(examples.Y, len(found), found.shape[1])
        return ShownLabelSets(estimator.classes_.tolist(), score_label_sets(truth, found))

    def explain(self, estimator: Any, n: int) -> Any:
        """The largest weights of labels, and the pairs that attract each other most."""
        return estimator.explain(n)
