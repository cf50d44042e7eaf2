"""The experiments on the terminal: tables of medians, with their spread."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import rich.console
from rich import box
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from .registry import Experiment, Verdict
    from .session import Group


class Console(rich.console.Console):
    """The terminal, without guesses about what to highlight."""

    def __init__(self, **options: Any):
        super().__init__(highlight=False, **options)


def count(value: float) -> str:
    """A whole number with a thousands separator."""
    return f"{value:,.0f}"


def seconds(value: float) -> str:
    """Three digits at most: ``0.034``, ``2.41``, ``120``."""
    return f"{value:.0f}" if value >= 99.5 else f"{value:.3g}"


def ratio(value: float) -> str:
    """A ratio, such as ``2.40x``; a dash if something was not reached."""
    if value == 0 or math.isinf(value):
        return "-"
    return f"{value:.2f}x" if value < 99.5 else f"{value:,.0f}x"


def percent(value: float) -> str:
    """A fraction as a percentage with one digit."""
    return f"{100 * value:.1f} %"


def percent2(value: float) -> str:
    """A fraction as a percentage with two digits, for accuracies."""
    return f"{100 * value:.2f} %"


class Column(NamedTuple):
    """A column of a table: of the configuration, or of measured values.

    ``format`` is None for a text of the configuration. A value is marked as a lower bound when
    the measurement of the same repeat says False under ``complete``.
    """

    key: str
    label: str
    format: Callable[[float], str] | None = None
    complete: str | None = None


def table(groups: Iterable[Group], columns: Iterable[Column], title: str) -> Table:
    """One row per group: the configuration, then medians with half their range in percent."""
    columns = list(columns)
    out = Table(box=box.SIMPLE_HEAD, header_style="bold", title=title, title_justify="left")
    for column in columns:
        numeric = column.format is not None
        out.add_column(column.label, justify="right" if numeric else "left", no_wrap=numeric)
    for group in groups:
        out.add_row(*(_cell(group, column) for column in columns))
    return out


def cell(group: Group, column: Column) -> tuple[str, str, bool]:
    """The text of a cell, the spread of its repeats, and whether the time limit was reached."""
    if column.key in group.config:
        value = group.config[column.key]
        return str(value) if column.format is None else column.format(value), "", False
    if column.format is None or not all(column.key in values for values in group.values):
        return "", "", False
    middle, numbers = group.median(column.key), group.numbers(column.key)
    if math.isinf(middle):
        return "not reached", "", True
    bounded = column.complete is not None and not group.every(column.complete)
    text = f"> {column.format(middle)}" if bounded else column.format(middle)
    return text, _spread(middle, numbers), bounded


def _cell(group: Group, column: Column) -> Text:
    text, spread, late = cell(group, column)
    return Text.assemble((text, "yellow" if late else ""), (spread, "dim"))


def _spread(middle: float, numbers: list[float]) -> str:
    """Half the range as a percentage of the median, if it is at least 0.5 %."""
    if math.isinf(max(numbers)):
        return " (not always)"
    half = (max(numbers) - min(numbers)) / 2
    return f" ±{100 * half / middle:.0f}%" if half >= 0.005 * abs(middle) > 0 else ""


def measurement_line(config: dict[str, Any], repeat: int, values: dict[str, Any]) -> Text:
    """One line for the log, as soon as a measurement is on disk."""
    what = ", ".join(f"{key} = {value}" for key, value in config.items())
    time = values.get("time")
    took = f": {seconds(time)} s" if isinstance(time, float) else ""
    return Text(f"measured {what}, repeat {repeat + 1}{took}", "dim")


def experiment_table(experiments: Iterable[Experiment]) -> Table:
    """The table of experiments for ``--list``."""
    out = Table(box=box.SIMPLE_HEAD, header_style="bold")
    out.add_column("experiment", style="cyan", no_wrap=True)
    out.add_column("data")
    out.add_column("claim")
    for experiment in experiments:
        out.add_row(experiment.name, ", ".join(experiment.data) or "none", Text(experiment.claim))
    return out


def verdict_table(experiment: Experiment, verdict: Verdict, quick: bool) -> Table:
    """Pass or miss, the claim, and the numbers."""
    out = Table.grid(padding=(0, 2))
    mark = Text("PASS", "bold green") if verdict.passed else Text("MISS", "bold red")
    if quick and verdict.finished:
        mark = Text("QUICK", "bold yellow")
    out.add_row(mark, Text(experiment.claim))
    out.add_row("", Text(verdict.numbers))
    if quick and verdict.finished:
        out.add_row("", Text("A quick run: the sizes are too small to judge the claim.", "yellow"))
    return out
