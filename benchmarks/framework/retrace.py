"""Interactive charts from matplotlib's figures, so that an experiment draws only once.

Lines, error bars and lines across the axes are copied with their names, colours, dashes and
markers, and so are scales, limits and ticks that were set. What a chart cannot hold (texts next to
points) is left out; the picture that is written next to the report has it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.report.charts import COLORS, Chart, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_MARKERS = {
    "o": "circle", "s": "square", "^": "triangle", "D": "diamond", "v": "inverted_triangle",
    "P": "plus", "X": "x", "x": "x", "+": "cross", "*": "star", ".": "circle", "d": "diamond",
}  # fmt: skip

_DASHES = {"-": "solid", "--": "dashed", "-.": "dashed", ":": "dotted"}


def charts_of(figure: Figure) -> list[Chart]:
    """One chart for each axes object with something that a chart can show."""
    from .figures import COLORS as DRAWN  # here, as bench imports the report

    figure.draw_without_rendering()  # limits and ticks are settled now
    names = {color.lower(): name for color, name in zip(DRAWN, COLORS, strict=True)}
    charts = [_chart(axes, names) for axes in figure.axes]
    return [chart for chart in charts if chart.series]


def _chart(axes: Axes, names: dict[str, str]) -> Chart:
    labels = _labels(axes)
    bars = {id(container.lines[0]): container for container in axes.containers
            if hasattr(container, "has_yerr")}  # fmt: skip
    series, rules = [], []
    for line in axes.get_lines():
        rule = _rule(axes, line, names, labels)
        if rule is not None:
            rules.append(rule)
        elif line.get_marker() not in ("_", "|") and len(np.atleast_1d(line.get_xdata())):
            series.append(_series(line, bars.get(id(line)), names, labels))
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    return Chart(
        axes.get_title(loc="left") or axes.get_title(), axes.get_xlabel(), axes.get_ylabel(),
        series, axes.get_xscale() == "log", axes.get_yscale() == "log",
        _ticks(axes, "x"), _ticks(axes, "y"), (left, right), (bottom, top), rules,
    )  # fmt: skip


def _labels(axes: Axes) -> dict[int, str]:
    """The names in the legend, of lines and of the lines of error bars."""
    handles, labels = axes.get_legend_handles_labels()
    found = {}
    for handle, label in zip(handles, labels, strict=True):
        line = handle.lines[0] if hasattr(handle, "lines") else handle
        found[id(line)] = label
    return found


def _series(line: Line2D, bars: Any, names: dict[str, str], labels: dict[int, str]) -> Series:
    x, y = (np.atleast_1d(np.asarray(v, float)).tolist() for v in line.get_data(orig=True))
    kind = str(line.get_linestyle())
    marker = _MARKERS.get(str(line.get_marker()))
    hollow = _color(line, names) == "--back"
    low = high = None
    if bars is not None and bars.has_yerr:
        ends = np.array([segment[:, 1] for segment in bars.lines[2][0].get_segments()])
        if len(ends) == len(x):
            low, high = ends[:, 0].tolist(), ends[:, 1].tolist()
    # A line without a name belongs to the one of the same colour.
    name = labels.get(id(line), "")
    dash = _DASHES.get(kind, "none")
    if dash == "none" and marker is None:
        marker = "circle"
    # A white dot on another marker stays smaller, so that the edge of that marker is visible.
    size = line.get_markersize() if hollow else max(line.get_markersize() * 1.3, 5.0)
    return Series(
        name, x, y, _color(line, names), dash, marker, size, hollow,
        low, high, hover="none" if hollow else "mouse",
        steps=str(line.get_drawstyle()).startswith("steps"),
    )  # fmt: skip


def _rule(
    axes: Axes, line: Line2D, names: dict[str, str], labels: dict[int, str]
) -> tuple[str, float, str, str] | None:
    """A line across the axes: one that matplotlib keeps in the axes' own coordinates."""
    for dimension, transform, place in (
        ("x", axes.get_xaxis_transform(which="grid"), line.get_xdata),
        ("y", axes.get_yaxis_transform(which="grid"), line.get_ydata),
    ):
        if line.get_transform() == transform:
            value = float(np.atleast_1d(place())[0])
            return (dimension, value, _color(line, names), labels.get(id(line), ""))
    return None


def _color(line: Line2D, names: dict[str, str]) -> str:
    from matplotlib.colors import to_hex

    color = to_hex(line.get_color())
    if color == "#ffffff":
        return "--back"
    return names.get(color, "--grey")


def _ticks(axes: Axes, which: str) -> list[tuple[float, str]] | None:
    """Ticks with their labels, as they are seen."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = sorted(axis.get_view_interval())
    found = [
        (float(place), label.get_text())
        for place, label in zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=False)
        if low <= place <= high and label.get_text() and math.isfinite(place)
    ]
    plain = all("$" not in text for _, text in found)
    few = len(found) < (4 if axis.get_scale() == "log" else 2)
    return None if few or not plain else found
