"""The convergence of a training run: charts of primal, dual and gap, and their picture."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import MaxMarginError
from ..result import Record, Result
from .certificate import bound, optimum, verdict
from .charts import Chart, Series, find_ticks, number, scale, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

#: Figure formats that can be written, by file extension.
FORMATS = (".png", ".svg", ".pdf")

#: Colours of Okabe and Ito: distinguishable by colour-blind readers and in grey.
PRIMAL, DUAL, GAP = "#D55E00", "#0072B2", "#000000"

_GREY = "#555555"

#: The same colours by their names in the report's style sheet, and curves by their names there.
_COLORS = {"--c0": DUAL, "--c1": PRIMAL, "--c2": "#009E73", "--c6": GAP}
_NAMES = {"primal": "primal: objective of the weights", "dual": "dual: lower bound"}

#: Points per curve: more cannot be told apart on a screen.
_POINTS = 400


def plot_result(result: Result, path: str | Path | None = None) -> Figure:
    """Plot primal, dual and gap over time and over oracle calls.

    Parameters
    ----------
    result : Result
    path : str or path, optional
        Also write the figure to this .png, .svg or .pdf file.

    Returns
    -------
    matplotlib.figure.Figure
        It is not registered with pyplot.

    Raises
    ------
    MaxMarginError
        If matplotlib is missing, the figure cannot be written, or there is nothing to draw.
    """
    figure = new_figure(path, 9, 5.8)
    if not result.history:
        raise MaxMarginError("the result has no history to draw")
    figure.suptitle(_title(result), fontsize=11.5)
    axes = figure.subplots(2, 2, sharex="col", sharey="row")
    for place, chart in zip(axes.flat, convergence_charts(result), strict=True):
        _draw(place, chart)
        place.label_outer()
    handles = [h for place in axes[:, 0] for h in place.get_legend_handles_labels()[0]]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return save(figure, path)


def new_figure(path: str | Path | None, width: float, height: float) -> Figure:
    """An empty figure in inches; an error if it could not be drawn, or not written to ``path``."""
    if path is not None:
        check_format(path)
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def require_matplotlib() -> None:
    """Raise an error that says how to install matplotlib, if it is missing."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise MaxMarginError(
            "drawing needs matplotlib, which is not installed: pip install maxmargin[plot]"
        ) from error


def check_format(path: str | Path) -> None:
    """Raise an error if the file extension is not one of ``FORMATS``."""
    if Path(path).suffix.lower() not in FORMATS:
        raise MaxMarginError(f"{path}: a picture is one of {', '.join(FORMATS)}")


def save(figure: Figure, path: str | Path | None) -> Figure:
    """Write a figure to a file if there is one, completely or not at all; returns the figure."""
    from ..io import atomic_file

    if path is not None:
        with atomic_file(path) as file:
            kind = Path(path).suffix[1:].lower()
            # Exactly what was drawn, with a margin: long names of labels are never cropped.
            figure.savefig(file, format=kind, dpi=150, bbox_inches="tight", pad_inches=0.12)
    return figure


def _title(result: Result) -> str:
    if not isfinite(result.gap):
        return f"{verdict(result)}: objective about {result.primal:.6g}, no lower bound"
    return (
        f"{verdict(result)}: primal {result.primal:.6g}, dual {result.dual:.6g},"
        f"{chr(10) if result.bounds else ' '}{bound(result)} above {optimum(result)}"
    )


def _draw(axes: Axes, chart: Chart) -> None:
    """Draw a chart with matplotlib; the title of the axis names a curve that is alone."""
    for series in chart.series:
        points = {"marker": "o", "markersize": 5, "linestyle": "none"}
        line = {"linewidth": 1.8, "label": _NAMES.get(series.name)}
        look = line if series.marker is None else points
        axes.plot(series.x, series.y, color=_COLORS[series.color], **look)
    for _, place, color, name in chart.lines:
        axes.axhline(place, color=_COLORS[color], linewidth=1.2, linestyle="--", label=name)
    if chart.band is not None:
        name, x, low, high = chart.band
        axes.fill_between(x, low, high, color=_GREY, alpha=0.13, linewidth=0, label=name)
    axes.set(xlabel=chart.x_label, xscale=scale(chart.x_log), xlim=span(chart, "x"))
    axes.set(ylabel=chart.y_label, yscale=scale(chart.y_log), ylim=span(chart, "y"))
    _set_ticks(axes.xaxis, chart.x_log)
    _set_ticks(axes.yaxis, chart.y_log)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(_GREY)
    axes.tick_params(colors=_GREY, which="both", labelsize=9)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def _set_ticks(axis: Axis, log: bool) -> None:
    """The same few round numbers as in the report; minor ticks have no labels."""
    from matplotlib.ticker import NullFormatter

    low, high = axis.get_view_interval()
    ticks = find_ticks(low, high, log)
    while len(ticks) > 2 and not _fit(ticks, np.log(high / low) if log else high - low, log):
        ticks = ticks[-1::-2][::-1]
    axis.set_ticks(ticks, [number(tick) for tick in ticks])
    axis.set_minor_formatter(NullFormatter())


def _fit(ticks: list[float], length: float, log: bool) -> bool:
    """Whether the labels of ticks fit next to each other on an axis of this length."""
    gaps = np.diff(np.log(ticks) if log else ticks) / length
    return bool(gaps.min() > 0.03 + 0.018 * max(len(number(tick)) for tick in ticks))


def thin(history: Sequence[Record], points: int = _POINTS) -> list[Record]:
    """At most ``points`` records, evenly spaced in log(iteration), including the last one."""
    last = len(history)
    if last <= points:
        return list(history)
    chosen = np.unique(np.geomspace(1, last, points).round().astype(int)) - 1
    return [history[i] for i in chosen]


def convergence_charts(result: Result) -> list[Chart]:
    """Objective and gap, over time and over oracle calls."""
    history = thin(result.history)
    texts = [_values(record) for record in history]
    charts = []
    for name, x_label, x in (
        ("time", "solver time, seconds", [record.time for record in history]),
        ("oracle calls", "oracle calls", [float(record.n_oracle) for record in history]),
    ):
        charts += [_objective(name, x_label, x, history, texts, result)]
        charts += [_gap(name, x_label, x, history, texts, result)]
    return [charts[0], charts[2], charts[1], charts[3]]


def _objective(
    name: str, x_label: str, x: list[float], history: list[Record], texts: list[str], result: Result
) -> Chart:
    primal, dual = [r.primal for r in history], [r.dual for r in history]
    log = result.dual > 0 and result.primal > 0
    floor = max(min(dual), result.dual / 100) if log else None
    if floor is not None:
        # The first dual values can be close to zero and would stretch the axis.
        dual = [max(value, floor) for value in dual]
    known = [p for p in primal if isfinite(p)]
    top = max(known) if known else None
    if log and top is not None:
        top = min(top, 1000 * result.primal) * 1.1
        primal = [min(value, top) if isfinite(value) else value for value in primal]
    series = [
        Series("primal", x, primal, "--c1", hover="none"),
        Series("dual", x, dual, "--c0", texts=texts, hover="vline"),
        Series("primal", x[-1:], primal[-1:], "--c1", "none", "circle", 8, hover="none"),
        Series("dual", x[-1:], dual[-1:], "--c0", "none", "circle", 8, hover="none"),
    ]
    both = [i for i, value in enumerate(primal) if isfinite(value)]
    x_known, low, high = ([values[i] for i in both] for values in (x, dual, primal))
    return Chart(
        f"Objective over {name}", x_label, "objective", series, x_log=True, y_log=log,
        y_range=(floor / 1.3 if floor else None, None),
        band=(f"{optimum(result)} lies here", x_known, low, high),
    )  # fmt: skip


def _gap(
    name: str, x_label: str, x: list[float], history: list[Record], texts: list[str], result: Result
) -> Chart:
    gap = [r.gap for r in history]
    log = any(isfinite(value) and value > 0 for value in gap)
    series = [
        Series("gap", x, gap, "--c6", texts=texts, hover="vline"),
        Series("gap", x[-1:], gap[-1:], "--c6", "none", "circle", 8, hover="none"),
    ]
    goal = [("y", result.target, "--c2", "gap to reach")] if result.target else []
    return Chart(
        f"Gap over {name}", x_label, "duality gap", series, x_log=True, y_log=log, lines=goal
    )


def _values(record: Record) -> str:
    return (
        f"iteration {record.iteration:,}\n"
        f"{number(record.time)} s, {record.n_oracle:,} oracle calls\n"
        f"primal {record.primal:.6g}\ndual {record.dual:.6g}\ngap {record.gap:.4g}\n"
        f"{record.planes:,} planes"
    )
