"""Tables for people and JSON for programs."""

from __future__ import annotations

import os
from typing import Any, NoReturn

import rich.console
from rich import box
from rich.table import Table
from rich.text import Text

from ..progress import duration
from ..result import Result
from .evaluation import Evaluation

#: The confusion matrix of more classes than these is not legible.
CONFUSION_CLASSES = 12

#: So many labels are listed by name.
LISTED_CLASSES = 12

#: A longer parameter is cut.
_LONGEST = 60


class Console(rich.console.Console):
    """Standard output, without guesses about what to highlight."""

    def __init__(self, **options: Any):
        super().__init__(highlight=False, **options)

    def on_broken_pipe(self) -> NoReturn:
        """Leave it to the guard of all commands."""
        raise BrokenPipeError


def pairs_table(rows: list[tuple[str, str]], title: str | None = None) -> Table:
    """Names and values, side by side."""
    table = Table(
        box=None, show_header=False, title=title, title_justify="left", padding=(0, 2, 0, 0)
    )
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, Text(value))
    return table


def result_rows(result: Result) -> list[tuple[str, str]]:
    """The numbers of a result, as rows."""
    return [
        ("primal", f"{result.primal:.6g}"),
        ("dual", f"{result.dual:.6g}"),
        ("gap", f"{result.gap:.4g}"),
        ("iterations", f"{result.n_iter:,}"),
        ("oracle calls", f"{result.n_oracle:,}"),
        ("time", f"{duration(result.time)} in the solver, {duration(result.prepare_time)} to "
                 f"prepare the data, {duration(result.compile_time)} to compile"),
    ]  # fmt: skip


def print_training(
    estimator: Any, size: str, certificate: str, written: list[str], seconds: float
) -> None:
    """The end of ``train``: ``size`` says what the data were, ``seconds`` is the time of all."""
    console = Console()
    if hasattr(estimator, "grammar_"):
        from ..structures.cfg.show import describe

        content = describe(estimator)
    else:
        classes = "labels" if hasattr(estimator, "transition_") else "classes"
        content = f"{estimator.n_features_in_:,} features, {len(estimator.classes_):,} {classes}"
    console.print(f"[bold]{type(estimator).__name__}[/bold] on {size}, {content}")
    console.print(pairs_table(result_rows(estimator.result_)))
    console.print(Text(certificate))
    console.print(Text(f"Wrote {' and '.join(written)} after {duration(seconds)}.", style="green"))


def print_evaluation(evaluation: Evaluation) -> None:
    """Accuracy, a table by class, and the confusion matrix of few classes."""
    console = Console()
    console.print(
        f"[bold]accuracy {evaluation.accuracy:.4f}[/bold]  "
        f"({evaluation.correct.sum():,} of {evaluation.n:,} examples)"
    )
    if evaluation.unseen:
        console.print(
            f"{evaluation.unseen:,} examples have labels that training has not seen: all errors",
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
        table.add_row(Text(str(label)), *values, f"{evaluation.support[k]:,}")
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
        table.add_column(Text(str(label)), justify="right")
    for k, label in enumerate(evaluation.classes):
        table.add_row(Text(str(label)), *_confusion_cells(evaluation.confusion[k], k))
    if evaluation.unseen:
        table.add_row("not seen", *_confusion_cells(evaluation.confusion[-1], None))
    return table


def _confusion_cells(counts: Any, right: int | None) -> list[Text]:
    """Correct predictions stand out in green, errors in red, zeros hardly at all."""
    return [
        Text("·", "dim") if count == 0 else Text(f"{count:,}", "green" if p == right else "red")
        for p, count in enumerate(counts.tolist())
    ]


def evaluation_json(evaluation: Evaluation) -> dict[str, Any]:
    """Everything that was counted."""
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


def print_info(path: str, content: dict[str, Any], certificate: str) -> None:
    """What a model file says of itself."""
    parameters = ", ".join(f"{key}={_brief(value)}" for key, value in content["parameters"].items())
    rows = [("file", f"{path} ({os.path.getsize(path):,} bytes)"), ("model", content["estimator"])]
    if content["problem"]:
        rows.append(("problem", f"{content['problem']} (its code is not in the file)"))
    rows.append(("parameters", parameters))
    if content["classes"] is not None:
        name = "labels" if "chain" in content else "classes"
        rows.append((name, _listed(content["classes"])))
        rows.append(("features", f"{content['n_features']:,}"))
    more = ""
    if "chain" in content:
        from ..structures.chain.show import chain_rows

        rows += chain_rows(content)
        more = " that are not zero"
    if "cfg" in content:
        from ..structures.cfg.show import cfg_rows

        rows += cfg_rows(content)
        more = " that are not zero"
    if "kernel" in content:
        rows.append(("kernel", content["kernel"]["text"]))
        rows.append(("support vectors", f"{content['kernel']['support']:,}"))
    else:
        rows.append(("weights", f"{content['n_weights']:,}{more}"))
    console = Console()
    console.print(pairs_table([*rows, *result_rows(content["result"])]))
    console.print(Text(certificate))


def _brief(value: Any) -> str:
    """A parameter; of a long one, such as a template or a cost matrix, the beginning."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _listed(labels: list[Any]) -> str:
    shown = ", ".join(map(str, labels[:LISTED_CLASSES]))
    more = ", ..." if len(labels) > LISTED_CLASSES else ""
    return f"{len(labels):,} ({shown}{more})"


def info_json(content: dict[str, Any]) -> dict[str, Any]:
    """The same for programs."""
    result: Result = content["result"]
    numbers = (
        "primal",
        "dual",
        "gap",
        "n_iter",
        "n_oracle",
        "time",
        "prepare_time",
        "compile_time",
    )
    return {
        **content,
        "result": {
            "status": result.status.name.lower(),
            "message": result.status.value,
            **{name: getattr(result, name) for name in numbers},
        },
    }
