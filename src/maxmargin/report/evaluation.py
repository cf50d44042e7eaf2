"""Evaluation of classifiers on a terminal: accuracy, table per class, confusion matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from ..data.printable import printable
from ..metrics.classes import Evaluation
from .confusion import plot_confusion
from .console import Console

#: Print the confusion matrix if there are at most this many classes.
CONFUSION_CLASSES = 12


class ShownEvaluation(Evaluation):
    """An evaluation that can be printed, plotted and written as JSON."""

    #: The word for what is counted.
    what = "examples"

    def to_dict(self) -> dict[str, Any]:
        """All counts and measures, as JSON types."""
        names = ("precision", "recall", "f1", "support")
        rows = zip(self.classes, self.by_class.rows(), strict=True)
        return {
            "accuracy": self.accuracy,
            "n": self.n,
            "n_unseen_labels": self.unseen,
            "classes": [{"label": label} | {k: row[k] for k in names} for label, row in rows],
            "confusion": self.confusion[:-1].tolist(),
        }

    def print(self) -> None:
        """Print accuracy, a table per class, and the confusion matrix if there are few classes."""
        console = Console()
        counted = f"({self.correct:,} of {self.n:,} {self.what})"
        console.print(f"[bold]{self.headline()}[/bold]  {counted}")
        if self.unseen:
            console.print(
                f"{self.unseen:,} {self.what} have labels that were not in the training data: "
                "they count as errors",
                style="yellow",
            )
        console.print(self._class_table())
        if len(self.classes) <= CONFUSION_CLASSES:
            console.print(self._confusion_table())

    def headline(self) -> str:
        """The measures of all classes together."""
        return f"accuracy {self.accuracy:.4f}"

    def columns(self) -> dict[str, np.ndarray]:
        """The measures of each class, by name."""
        found = self.by_class
        return {"precision": found.precision, "recall": found.recall, "F1": found.f1}

    def plot(self, path: Path) -> None:
        """Plot the confusion matrix."""
        plot_confusion(self.classes, self.confusion, path)

    def _class_table(self) -> Table:
        table = Table(box=box.SIMPLE_HEAD, header_style="bold")
        table.add_column("class")
        measures, support = self.columns(), self.by_class.support
        for name in (*measures, "support"):
            table.add_column(name, justify="right")
        for k, label in enumerate(self.classes):
            values = (f"{measure[k]:.4f}" for measure in measures.values())
            table.add_row(Text(printable(label)), *values, f"{support[k]:,}")
        table.add_section()
        means = (f"{np.nanmean(measure):.4f}" for measure in measures.values())
        table.add_row("mean", *means, f"{support.sum():,}")
        return table

    def _confusion_table(self) -> Table:
        table = Table(
            box=box.SIMPLE_HEAD, header_style="bold", title="true (rows) and predicted (columns)",
            title_justify="left", padding=(0, 1, 0, 0),
        )  # fmt: skip
        table.add_column("")
        for label in self.classes:
            table.add_column(Text(printable(label)), justify="right")
        for k, label in enumerate(self.classes):
            table.add_row(Text(printable(label)), *_confusion_cells(self.confusion[k], k))
        if self.unseen:
            table.add_row("not seen", *_confusion_cells(self.confusion[-1], None))
        return table


def _confusion_cells(counts: Any, right: int | None) -> list[Text]:
    """Correct predictions in green, errors in red, zeros as a dot."""
    return [
        Text("·", "dim") if count == 0 else Text(f"{count:,}", "green" if p == right else "red")
        for p, count in enumerate(counts.tolist())
    ]
