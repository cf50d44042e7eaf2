"""Evaluation of classifiers on a terminal: accuracy, table per class, confusion matrix."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from ..data.printable import printable
from ..metrics.classes import Evaluation
from .confusion import plot_confusion
from .console import Console

#: Print the confusion matrix if there are at most this many classes.
CONFUSION_CLASSES = 12


@dataclass(frozen=True)
class ShownEvaluation:
    """An evaluation that can be printed, plotted and written as JSON."""

    evaluation: Evaluation

    def to_dict(self) -> dict[str, Any]:
        """All counts and measures, as JSON types."""
        return evaluation_json(self.evaluation)

    def print(self) -> None:
        """Print tables on standard output."""
        print_evaluation(self.evaluation)

    def plot(self, path: Path) -> None:
        """Plot the confusion matrix."""
        plot_confusion(self.evaluation.classes, self.evaluation.confusion, path)


def print_evaluation(evaluation: Evaluation) -> None:
    """Print accuracy, a table per class, and the confusion matrix if there are few classes."""
    console = Console()
    console.print(
        f"[bold]accuracy {evaluation.accuracy:.4f}[/bold]  "
        f"({evaluation.correct.sum():,} of {evaluation.n:,} examples)"
    )
    if evaluation.unseen:
        console.print(
            f"{evaluation.unseen:,} examples have labels that were not in the training data: "
            "they count as errors",
            style="yellow",
        )
    console.print(_class_table(evaluation))
    if len(evaluation.classes) <= CONFUSION_CLASSES:
        console.print(_confusion_table(evaluation))


def _class_table(evaluation: Evaluation) -> Table:
    table = Table(box=box.SIMPLE_HEAD, header_style="bold")
    table.add_column("class")
    for name in ("precision", "recall", "F1", "support"):
        table.add_column(name, justify="right")
    measures = (evaluation.precision, evaluation.recall, evaluation.f1)
    for k, label in enumerate(evaluation.classes):
        values = (f"{measure[k]:.4f}" for measure in measures)
        table.add_row(Text(printable(label)), *values, f"{evaluation.support[k]:,}")
    table.add_section()
    means = (f"{measure.mean():.4f}" for measure in measures)
    table.add_row("mean", *means, f"{evaluation.support.sum():,}")
    return table


def _confusion_table(evaluation: Evaluation) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD, header_style="bold", title="true (rows) and predicted (columns)",
        title_justify="left", padding=(0, 1, 0, 0),
    )  # fmt: skip
    table.add_column("")
    for label in evaluation.classes:
        table.add_column(Text(printable(label)), justify="right")
    for k, label in enumerate(evaluation.classes):
        table.add_row(Text(printable(label)), *_confusion_cells(evaluation.confusion[k], k))
    if evaluation.unseen:
        table.add_row("not seen", *_confusion_cells(evaluation.confusion[-1], None))
    return table


def _confusion_cells(counts: Any, right: int | None) -> list[Text]:
    """Correct predictions in green, errors in red, zeros as a dot."""
    return [
        Text("·", "dim") if count == 0 else Text(f"{count:,}", "green" if p == right else "red")
        for p, count in enumerate(counts.tolist())
    ]


def evaluation_json(evaluation: Evaluation) -> dict[str, Any]:
    """All counts and measures, as JSON types."""
    by_class = zip(
        evaluation.classes, evaluation.precision.tolist(), evaluation.recall.tolist(),
        evaluation.f1.tolist(), evaluation.support.tolist(), strict=True,
    )  # fmt: skip
    names = ("label", "precision", "recall", "f1", "support")
    return {
        "accuracy": evaluation.accuracy,
        "n": evaluation.n,
        "n_unseen_labels": evaluation.unseen,
        "classes": [dict(zip(names, row, strict=True)) for row in by_class],
        "confusion": evaluation.confusion[:-1].tolist(),
    }
