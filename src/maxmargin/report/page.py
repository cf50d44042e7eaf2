"""HTML pages in one file, with style, script, charts and text; they need no network."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from .. import __version__
from ..data.printable import clipped, printable
from ..errors import MaxMarginError
from .charts import Chart, draw, require_bokeh

__all__ = ["Page", "check_name", "check_page", "escape", "name_html", "table"]


def escape(text: str, quote: bool = True) -> str:
    """Text as HTML; control characters become visible."""
    return html.escape(printable(text, keep="\n\t"), quote)


def name_html(value: Any, length: int = 80) -> str:
    """A label, word or name of a feature as HTML, clipped; its direction changes nothing else."""
    return f"<bdi>{html.escape(clipped(value, length))}</bdi>"


def check_name(path: str | Path) -> None:
    """Raise an error if the file name does not end in .html."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise MaxMarginError(f"{path}: a report is a .html file")


def check_page(path: str | Path) -> None:
    """Raise an error if the file name does not end in .html, or if bokeh is missing."""
    check_name(path)
    require_bokeh()


class Page:
    """A page: add its sections one after the other, then write it.

    Parameters
    ----------
    title : str
    lead : str
        HTML below the title.
    style : str
        CSS that is added to the common style sheet.
    """

    def __init__(self, title: str, lead: str, style: str = ""):
        self.title = title
        self.lead = lead
        self.style = style
        self._parts: list[str] = []
        self._names: list[tuple[str, str]] = []
        self._figures: dict[str, Any] = {}

    def section(self, title: str, *parts: str) -> None:
        """Add a heading, which also appears in the table of contents, and HTML below it."""
        name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
        self._names.append((name, title))
        self._parts.append(
            f'<section id="{name}"><h2>{escape(title)}</h2>{"".join(parts)}</section>'
        )

    def charts(self, charts: Sequence[Chart], keys: Iterable[tuple[str, str, str]] = ()) -> str:
        """The HTML of charts side by side, with one legend for all of them.

        Parameters
        ----------
        charts : sequence of Chart
        keys : iterable of (name, colour, kind)
            Entries of the legend; kind is "solid", "dashed", "dotted", "area" or "point". By
            default one entry for each series name.
        """
        group = f"charts{len(self._figures)}"
        cells = []
        for chart in charts:
            name = f"figure{len(self._figures)}"
            self._figures[name] = draw(chart, group)
            title = f"<h3>{escape(chart.title)}</h3>" if chart.title else ""
            if chart.y_label and chart.y_label.split()[-1] not in chart.title.lower().split():
                title += f'<p class="axis">{escape(chart.y_label)}</p>'
            words = escape(f"{chart.title}: {chart.y_label} over {chart.x_label}", quote=True)
            cells.append(
                f'<div class="chart" role="img" aria-label="{words}">{title}<!--{name}-->'
                f'<p class="axis under">{escape(chart.x_label)}</p></div>'
            )
        one = " one" if len(charts) == 1 else ""
        legend = _legend(list(keys) or _keys(charts), group)
        return f'{legend}<div class="charts{one}">{"".join(cells)}</div>'

    def html(self) -> str:
        """The content of the file."""
        body = "".join(self._parts)
        script = ""
        if self._figures:
            script, body = self._embed(body)
        contents = "".join(f'<a href="#{name}">{escape(title)}</a>' for name, title in self._names)
        date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
            f"<title>{escape(self.title)}</title>\n<style>\n{_read('page.css')}{self.style}</style>\n"
            f"{script}</head>\n<body>\n"
            f"<header><h1>{escape(self.title)}</h1>{self.lead}<nav>{contents}</nav></header>\n"
            f"<main>{body}</main>\n"
            f'<footer class="small muted">Made by maxmargin {__version__}, {date}. '
            "This file loads nothing from the network.</footer>\n</body>\n</html>\n"
        )

    def write(self, path: str | Path) -> None:
        """Write the file, completely or not at all."""
        from ..io import atomic_file

        content = self.html().encode()
        with atomic_file(path) as file:
            file.write(content)

    def _embed(self, body: str) -> tuple[str, str]:
        """The scripts of bokeh and of the page, and the body with the elements of the figures."""
        from bokeh.document import Document
        from bokeh.embed import components
        from bokeh.resources import Resources

        document = Document()
        with document.models.freeze():  # otherwise each added figure visits all earlier ones
            for figure in self._figures.values():
                document.add_root(figure)
        script, places = components(self._figures)
        for name, place in places.items():
            body = body.replace(f"<!--{name}-->", place)
        light = json.dumps(light_colors())
        own = _read("page.js").replace('"LIGHT_COLOURS"', light)
        library = Resources(mode="inline", components=["bokeh"]).render_js()
        return f'{library}\n{script}\n<script type="module">\n{own}</script>\n', body


def light_colors() -> dict[str, str]:
    """The colours of the light theme, which is also used for printing."""
    first = _read("page.css").split("}", 1)[0]
    return dict(re.findall(r"(--[a-z0-9-]+): (#[0-9a-f]{6})", first))


def _read(name: str) -> str:
    return files("maxmargin.report").joinpath(name).read_text(encoding="utf-8")


def _keys(charts: Sequence[Chart]) -> list[tuple[str, str, str]]:
    """One legend entry for each series name; a point for series without a line."""
    found: dict[str, tuple[str, str, str]] = {}
    for chart in charts:
        if chart.band is not None:
            found.setdefault(chart.band[0], (chart.band[0], "--grey", "area"))
        for series in chart.series:
            kind = "point" if series.dash == "none" else series.dash
            if not series.hollow and series.name:
                found.setdefault(series.name, (series.name, series.color, kind))
        for _, _, color, name in chart.lines:
            found.setdefault(name, (name, color, "dashed"))
    return list(found.values())


def _legend(keys: list[tuple[str, str, str]], group: str) -> str:
    if not keys:
        return ""
    buttons = "".join(
        f'<button type="button" class="key {kind}" style="--k:var({color})" aria-pressed="true" '
        f'data-series="{escape(name, quote=True)}"><i></i>{escape(name)}</button>'
        for name, color, kind in keys
    )
    return f'<div class="keys" data-group="{group}">{buttons}</div>'


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[bool], caption: str = ""
) -> str:
    """A table that scrolls on narrow screens; the cells are HTML, the headings plain text."""
    kind = ['class="n"' if n else "" for n in numeric]
    top = "".join(f"<th {k}>{escape(name)}</th>" for name, k in zip(head, kind, strict=True))
    body = "".join(
        "<tr>"
        + "".join(f"<td {k}>{cell}</td>" for cell, k in zip(row, kind, strict=True))
        + "</tr>"
        for row in rows
    )
    words = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f'<div class="scroll"><table>{words}<thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
