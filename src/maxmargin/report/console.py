"""Standard output: a console without syntax highlighting, and tables of names and values."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import rich.console
from rich.table import Table
from rich.text import Text

from ..data.printable import printable
from ..progress import duration
from ..result import Result
from .certificate import UNORDERED, gap_parts


class Console(rich.console.Console):
    """Standard output without syntax highlighting."""

    def __init__(self, **options: Any):
        super().__init__(highlight=False, **options)

    def on_broken_pipe(self) -> NoReturn:
        """Raise an error that ``cli.guard`` reports, as it does for all commands."""
        raise BrokenPipeError


def print_json(content: Any) -> None:
    """Print JSON without wrapping its lines."""
    Console(soft_wrap=True).print(json.dumps(content, indent=2), markup=False)


def pairs_table(rows: list[tuple[str, str]], title: str | None = None) -> Table:
    """A table of two columns: names and values."""
    table = Table(
        box=None, show_header=False, title=title, title_justify="left", padding=(0, 2, 0, 0)
    )
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, Text(printable(value)))
    return table


def result_rows(result: Result) -> list[tuple[str, str]]:
    """The numbers of a result as (name, value) rows."""
    parts = gap_parts(result)
    threads = [("threads", UNORDERED)] if not result.deterministic else []
    return [
        ("primal", f"{result.primal:.6g}"),
        ("dual", f"{result.dual:.6g} {result.bounds}".rstrip()),
        ("gap", f"{result.gap:.4g}{f' ({parts})' if parts else ''}"),
        ("iterations", f"{result.n_iter:,}"),
        ("oracle calls", f"{result.n_oracle:,}"),
        ("time", f"{duration(result.time)} in the solver, {duration(result.prepare_time)} to "
                 f"prepare the data, {duration(result.compile_time)} to compile"),
        *threads,
    ]  # fmt: skip
