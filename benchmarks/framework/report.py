"""The report of ``maxmargin bench``: every claim with its verdict, tables and curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maxmargin.report.page import Page, check_page, escape, table

from .retrace import charts_of

if TYPE_CHECKING:
    from .display import Column
    from .registry import Verdict
    from .session import Group, Session


class Findings:
    """The tables and figures of an experiment, kept for the report."""

    def __init__(self) -> None:
        self.tables: list[tuple[list[Group], list[Column], str]] = []
        self.figures: list[Any] = []


def write_bench_report(
    path: str | Path,
    runs: Sequence[tuple[Session, Verdict]],
    missing: Mapping[str, Exception] | None = None,
) -> None:
    """Write the report of experiments that were run, and list those that could not be.

    Parameters
    ----------
    path : str or path
        A .html file.
    runs : sequence of (session, verdict)
    missing : dict
        Why other experiments were not run, by their names.
    """
    check_page(path)
    bench_page(runs, missing or {}).write(path)


def bench_page(runs: Sequence[tuple[Session, Verdict]], missing: Mapping[str, Exception]) -> Page:
    """The page: a table of all claims, then a section for each experiment."""
    page = Page("maxmargin bench: claims and measurements", _lead(runs, missing))
    page.section("Claims", _overview(runs, missing))
    for session, verdict in runs:
        _add(page, session, verdict)
    page.section("How it was measured", _machine(runs))
    return page


def _lead(runs: Sequence[tuple[Session, Verdict]], missing: Mapping[str, Exception]) -> str:
    quick = sum(session.quick for session, _ in runs)
    judged = [verdict.passed for session, verdict in runs if not session.quick]
    words = f"{len(runs)} experiments were run"
    if judged:
        words += f"; the claims of {sum(judged)} of {len(judged)} hold on this machine"
    if quick:
        words += f". {quick} were quick runs, too small to judge their claims"
    if missing:
        words += f". {len(missing)} could not be run: data or programs are missing"
    return f'<p class="lead">{words}.</p>'


def _overview(runs: Sequence[tuple[Session, Verdict]], missing: Mapping[str, Exception]) -> str:
    rows = [
        [
            f'<a href="#{_anchor(session)}">{escape(session.experiment.name)}</a>',
            _mark(session, verdict),
            escape(session.experiment.claim),
        ]
        for session, verdict in runs
    ]
    rows += [
        [escape(name), '<span class="mark quick">NOT RUN</span>', escape(str(error))]
        for name, error in missing.items()
    ]
    return table(["experiment", "verdict", "claim"], rows, [False] * 3)


def _anchor(session: Session) -> str:
    return session.experiment.name.lower()


def _mark(session: Session, verdict: Verdict) -> str:
    if session.quick and verdict.finished:
        return '<span class="mark quick">QUICK</span>'
    kind = "pass" if verdict.passed else "miss"
    return f'<span class="mark {kind}">{kind.upper()}</span>'


def _add(page: Page, session: Session, verdict: Verdict) -> None:
    experiment, findings = session.experiment, session.findings
    parts = [
        f"<p><b>{escape(experiment.title)}</b></p>",
        f"<p>{_mark(session, verdict)}{escape(experiment.claim)}</p>",
        '<ul class="verdict">',
        *(f"<li>{escape(line)}</li>" for line in verdict.numbers.splitlines()),
        "</ul>",
    ]
    if session.quick and verdict.finished:
        parts.append("<p class='muted'>A quick run: the sizes are too small to judge.</p>")
    for figure in findings.figures:
        charts = charts_of(figure)
        if charts:
            parts.append(page.charts(charts))
    parts += [_table(*found) for found in findings.tables]
    files = f"{session.store.path.name}: every measurement with its seed, machine and date."
    parts.append(f"<p class='small muted'>{escape(files)}</p>")
    page.section(experiment.name, *parts)


def _table(groups: list[Group], columns: list[Column], title: str) -> str:
    from .display import cell

    kept = [column for column in columns if any(cell(group, column)[0] for group in groups)]
    rows = [[_cell_html(*cell(group, column)) for column in kept] for group in groups]
    numeric = [column.format is not None for column in kept]
    return table([column.label for column in kept], rows, numeric, title)


def _cell_html(text: str, spread: str, late: bool) -> str:
    words = escape(text) + (f" <small>{escape(spread.strip())}</small>" if spread else "")
    return f'<span class="late">{words}</span>' if late else words


def _machine(runs: Sequence[tuple[Session, Verdict]]) -> str:
    from .store import machine

    words = (
        "Numbers are medians of the repeats; ± is half their range in percent; > marks a value at "
        "which the time limit was reached. The seed of a repeat is its number. All programs of an "
        "experiment ran on this machine, on one thread unless an experiment says otherwise."
    )
    rows = [[escape(key), escape(str(value))] for key, value in machine().items()]
    new = sum(session.measured for session, _ in runs)
    rows.append(["measured for this report", f"{new:,}; the others were on disk already"])
    return f"<p>{words}</p>" + table(["", ""], rows, [False, False])
