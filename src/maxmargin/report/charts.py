"""Interactive charts: curves on linear or logarithmic axes that show values under the pointer.

A chart is plain data; bokeh draws it. Colours are variables of the page's style sheet (``--c0``,
``--grey``), which the page's script fills in for the light or dark theme.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ..errors import MaxMarginError

#: Default height of a chart, in pixels.
HEIGHT = 300

#: Colours of the style sheet for series 0, 1, 2, ...
COLORS = ("--c0", "--c1", "--c2", "--c3", "--c4", "--c5", "--c6")

_DASHES = {"solid": "solid", "dashed": [6, 4], "dotted": [2, 4]}


@dataclass(frozen=True)
class Series:
    """A curve.

    Attributes
    ----------
    name : str
        Name in the legend; series with the same name are switched on and off together.
    x, y : sequences of float
        Values that are not finite leave a gap in the curve.
    color : str
        A colour of the style sheet, such as "--c0".
    dash : {"solid", "dashed", "dotted", "none"}
        "none" draws markers only.
    marker : str or None
        A marker of bokeh's scatter; None for no markers.
    size : float
        Size of the markers in pixels.
    hollow : bool
        Fill the markers with the colour of the page.
    low, high : sequences of float, optional
        Lower and upper ends of error bars.
    texts : sequence of str, optional
        Tooltip of each point, instead of its coordinates.
    hover : {"mouse", "vline", "none"}
        Show the tooltip if the pointer is at a point, or anywhere above or below it.
    steps : bool
        Draw a step function: each value holds until the next one.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    color: str = "--c0"
    dash: str = "solid"
    marker: str | None = None
    size: float = 6.0
    hollow: bool = False
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    texts: Sequence[str] | None = None
    hover: Literal["mouse", "vline", "none"] = "mouse"
    steps: bool = False


@dataclass(frozen=True)
class Chart:
    """Axes and the series drawn on them.

    Attributes
    ----------
    x_ticks, y_ticks : list of (float, str), optional
        Positions and labels of the ticks; chosen automatically if None.
    x_range, y_range : (low, high), optional
        Ends of an axis; None is found from the data. ``low > high`` reverses the axis.
    lines : list of (str, float, str, str)
        Lines across the chart: axis "x" or "y", position, colour and name.
    band : (name, x, low, high), optional
        A shaded area between two curves.
    """

    title: str
    x_label: str
    y_label: str
    series: list[Series]
    x_log: bool = False
    y_log: bool = False
    x_ticks: list[tuple[float, str]] | None = None
    y_ticks: list[tuple[float, str]] | None = None
    x_range: tuple[float | None, float | None] = (None, None)
    y_range: tuple[float | None, float | None] = (None, None)
    lines: list[tuple[str, float, str, str]] = field(default_factory=list)
    band: tuple[str, Sequence[float], Sequence[float], Sequence[float]] | None = None
    height: int = HEIGHT


def require_bokeh() -> None:
    """Raise an error that says how to get bokeh, if it is missing."""
    try:
        import bokeh.plotting  # noqa: F401
    except ImportError as error:
        raise MaxMarginError(
            "the report needs bokeh, which is not installed: pip install maxmargin[plot]"
        ) from error


def draw(chart: Chart, group: str) -> Any:
    """The bokeh figure of a chart; the legend of ``group`` switches its series on and off."""
    from bokeh.models import CrosshairTool, NoOverlap, VArea
    from bokeh.plotting import figure

    out = figure(
        height=chart.height, sizing_mode="stretch_width", toolbar_location=None, tools="",
        x_axis_type=scale(chart.x_log), y_axis_type=scale(chart.y_log), tags=[group],
        background_fill_color=None, border_fill_color=None, outline_line_color=None,
        min_border_right=12,
    )  # fmt: skip
    out.xgrid.visible = False
    for axis in (out.xaxis, out.yaxis):
        axis.minor_tick_line_color = None
        axis.major_label_text_font_size = "12px"
        axis.major_label_policy = NoOverlap()
    _set_axis(out, "x", chart)
    _set_axis(out, "y", chart)
    if chart.band is not None:
        name, *parts = chart.band
        data = dict(zip(("x", "y1", "y2"), map(_clean, parts), strict=True))
        _add(out, data, VArea(x="x", y1="y1", y2="y2", fill_alpha=0.13), ["--grey", name])
    for dimension, place, color, name in chart.lines:
        _rule(out, dimension, place, color, name, chart)
    for series in chart.series:
        _draw_series(out, series)
    out.add_tools(CrosshairTool(dimensions="height", line_color="#8d98a3", line_alpha=0.7))
    return out


def _add(out: Any, data: Any, glyph: Any, tags: list[str]) -> Any:
    """Draw a glyph; the methods of ``figure`` would store two more glyphs for selections."""
    from bokeh.models import ColumnDataSource

    source = data if isinstance(data, ColumnDataSource) else ColumnDataSource(data)
    return out.add_glyph(source, glyph, tags=tags)


def _draw_series(out: Any, series: Series) -> None:
    from bokeh.models import ColumnDataSource, HoverTool, Line, Scatter, Segment, Step

    data: dict[str, Any] = {"x": _clean(series.x), "y": _clean(series.y)}
    data["text"] = list(series.texts or [_text(series, i) for i in range(len(series.x))])
    tags, hoverable = [series.color, series.name], []
    if series.low is not None and series.high is not None:
        bars = {"x": data["x"], "low": _clean(series.low), "high": _clean(series.high)}
        _add(out, bars, Segment(x0="x", y0="low", x1="x", y1="high", line_width=1.2), tags)
    source = ColumnDataSource(data)
    if series.dash != "none":
        look = {"x": "x", "y": "y", "line_width": 2, "line_dash": _DASHES[series.dash]}
        line = Step(mode="after", **look) if series.steps else Line(line_join="round", **look)
        hoverable.append(_add(out, source, line, tags))
    if series.marker is not None:
        points = Scatter(x="x", y="y", marker=series.marker, size=series.size)
        hoverable = [_add(out, source, points, [*tags, "hollow"] if series.hollow else tags)]
    if series.hover != "none":
        tool = HoverTool(
            renderers=hoverable, tooltips=_TOOLTIP, mode=series.hover, line_policy="nearest",
            point_policy="snap_to_data", attachment="horizontal",
        )  # fmt: skip
        out.add_tools(tool)


#: With a fixed text colour, because bokeh's box is white in the dark theme too.
_TOOLTIP = '<div style="font:12px system-ui,sans-serif;color:#1c2128;white-space:pre">@text</div>'


def _text(series: Series, i: int) -> str:
    return f"{series.name}\n{number(series.x[i])}: {number(series.y[i])}"


def _rule(out: Any, dimension: str, place: float, color: str, name: str, chart: Chart) -> None:
    """A line across the chart, drawn as a curve so that the legend can switch it."""
    from bokeh.models import Line

    other = "y" if dimension == "x" else "x"
    low, high = span(chart, other)
    along, fixed = [low, high], [place, place]
    x, y = (fixed, along) if dimension == "x" else (along, fixed)
    line = Line(x="x", y="y", line_dash=_DASHES["dashed"], line_width=1.4)
    _add(out, {"x": x, "y": y}, line, [color, name])


def _set_axis(out: Any, which: str, chart: Chart) -> None:
    from bokeh.models import FixedTicker, Range1d

    low, high = span(chart, which)
    setattr(out, f"{which}_range", Range1d(start=low, end=high))
    log = chart.x_log if which == "x" else chart.y_log
    ticks = chart.x_ticks if which == "x" else chart.y_ticks
    if ticks is None:
        ticks = [
            (value, number(value)) for value in find_ticks(min(low, high), max(low, high), log)
        ]
    axis = out.xaxis if which == "x" else out.yaxis
    axis.ticker = FixedTicker(ticks=[value for value, _ in ticks])
    axis.major_label_overrides = {_key(value): label for value, label in ticks}
    grid = out.xgrid if which == "x" else out.ygrid
    grid.ticker = axis.ticker


def _key(value: float) -> Any:
    """The key of a tick's label; bokeh looks up whole numbers as integers."""
    return int(value) if float(value).is_integer() else float(value)


def scale(log: bool) -> Literal["log", "linear"]:
    """The kind of an axis, as bokeh and matplotlib call it."""
    return "log" if log else "linear"


def span(chart: Chart, which: str) -> tuple[float, float]:
    """The range of an axis: as given, or that of the data with a small margin."""
    log = chart.x_log if which == "x" else chart.y_log
    given = chart.x_range if which == "x" else chart.y_range
    parts = [getattr(s, which) for s in chart.series]
    if which == "y":
        parts += [part for s in chart.series for part in (s.low, s.high) if part is not None]
    values = np.array([v for part in parts for v in part], float)
    values = np.append(
        values, [place for dimension, place, *_ in chart.lines if dimension == which]
    )
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    low, high = (values.min(), values.max()) if len(values) else (1.0, 10.0)
    if log:
        room = max((high / low) ** 0.04, 1.06)
        low, high = low / room, high * room
    else:
        room = 0.05 * (high - low) or 0.5 * abs(high) or 1.0
        low, high = low - room, high + room
    return (low if given[0] is None else given[0], high if given[1] is None else given[1])


def find_ticks(low: float, high: float, log: bool) -> list[float]:
    """Round numbers between low and high; powers of ten on a logarithmic axis if they suffice.

    Examples
    --------
    >>> find_ticks(0.3, 12, log=True)
    [0.3, 1.0, 3.0, 10.0]
    >>> find_ticks(0, 100, log=False)
    [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
    """
    if not log or high < 3 * low:  # a short part of a logarithmic axis is nearly linear
        return _even_ticks(low, high)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks: list[float] = []
    for parts in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7)):
        ticks = [float(f"{part * 10.0**p:.12g}") for p in powers for part in parts]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) >= (4 if len(parts) < 3 else 3):  # the last ones are close to each other
            break
    return ticks[:: math.ceil(len(ticks) / 8)]


def _even_ticks(low: float, high: float) -> list[float]:
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.99)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def number(value: float) -> str:
    """A number in a short readable form: ``0.02``, ``1,500``, ``3M``.

    Examples
    --------
    >>> [number(v) for v in (0.0005, 12.3456, 1500, 3_000_000)]
    ['0.0005', '12.35', '1,500', '3M']
    """
    if value is None or not math.isfinite(value):
        return "not known"
    if abs(value) >= 1e6:
        return f"{value / 1e6:.4g}M" if abs(value) < 1e9 else f"{value:.3g}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def _clean(values: Sequence[float]) -> list[float]:
    """Rounded to six digits, which is more than a chart shows; not finite becomes NaN."""
    return [float(f"{v:.6g}") if v is not None and math.isfinite(v) else math.nan for v in values]
