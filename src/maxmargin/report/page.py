"""One HTML file that holds everything: style, script, charts and words; it loads nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import MaxMarginError
from .charts import Chart, draw, require_bokeh

__all__ = ["Page", "check_name", "check_page", "escape", "table"]


def check_name(path: str | Path) -> None:
    """Refuse a name that does not end in .html."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise MaxMarginError(f"{path}: a report is a .html file")


def check_page(path: str | Path) -> None:
    """Refuse a name that does not end in .html, and say so if bokeh is missing."""
    check_name(path)
    require_bokeh()


class Page:
    """A report while it is made: sections are added one after the other, then it is written.

    Parameters
    ----------
    title : str
    lead : str
        HTML below the title.
    style : str
        CSS after that of all pages.
    """

    def __init__(self, title: str, lead: str, style: str = ""):
        self.title = title
        self.lead = lead
        self.style = style
        self._parts: list[str] = []
        self._names: list[tuple[str, str]] = []
        self._figures: dict[str, Any] = {}

    def section(self, title: str, *parts: str) -> None:
        """A heading that the list of contents has too, then HTML."""
        name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
        self._names.append((name, title))
        self._parts.append(
            f'<section id="{name}"><h2>{escape(title)}</h2>{"".join(parts)}</section>'
        )

    def charts(self, charts: Sequence[Chart], keys: Iterable[tuple[str, str, str]] = ()) -> str:
        """The HTML of charts beside each other and one legend for all of them.

        Parameters
        ----------
        charts : sequence of Chart
        keys : iterable of (name, colour, kind)
            Entries of the legend; a kind is "solid", "dashed", "dotted", "area" or "point".
            Found by the series when there are none.
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
        """The file."""
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
        """Bokeh's own script and ours, and the body with the places where figures go."""
        from bokeh.document import Document
        from bokeh.embed import components
        from bokeh.resources import Resources

        document = Document()
        with document.models.freeze():  # else each figure that is added visits all before it
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
    """The colours of the light style sheet, which paper has too."""
    first = _read("page.css").split("}", 1)[0]
    return dict(re.findall(r"(--[a-z0-9-]+): (#[0-9a-f]{6})", first))


def _read(name: str) -> str:
    return files("maxmargin.report").joinpath(name).read_text(encoding="utf-8")


def _keys(charts: Sequence[Chart]) -> list[tuple[str, str, str]]:
    """One entry for each name of a series; a point for those without a line."""
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
    """A table in a box that scrolls on narrow screens; cells are HTML already."""
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
