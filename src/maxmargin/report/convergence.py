"""Convergence plots: primal, dual and gap of a training run."""

from __future__ import annotations

from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import MaxMarginError
from ..result import Record, Result
from .certificate import bound, optimum, verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Figure formats that can be written, by file extension.
FORMATS = (".png", ".svg", ".pdf")

#: Colours of Okabe and Ito: distinguishable by colour-blind readers and in grey.
PRIMAL, DUAL, GAP = "#D55E00", "#0072B2", "#000000"

_GREY = "#555555"


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
    if path is not None:
        check_format(path)
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if not result.history:
        raise MaxMarginError("the result has no history to draw")
    figure = Figure(figsize=(9, 5.8), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    figure.suptitle(_title(result), fontsize=11.5)
    axes = figure.subplots(2, 2, sharex="col", sharey="row")
    for column, (field, label) in enumerate(
        [("time", "solver time (seconds)"), ("n_oracle", "oracle calls")]
    ):
        x = [getattr(record, field) for record in result.history]
        _draw_objective(axes[0, column], x, result)
        _draw_gap(axes[1, column], x, result.history)
        axes[1, column].set_xlabel(label)
    axes[0, 0].set_ylabel("objective")
    axes[1, 0].set_ylabel("duality gap")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    if path is not None:
        save(figure, path)
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


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure, completely or not at all, in the format of the file extension."""
    from ..io import atomic_file

    kind = Path(path).suffix[1:].lower()
    with atomic_file(path) as file:
        figure.savefig(file, format=kind, dpi=150)


def _title(result: Result) -> str:
    if not isfinite(result.gap):
        return f"{verdict(result)}: objective about {result.primal:.6g}, no lower bound"
    return (
        f"{verdict(result)}: primal {result.primal:.6g}, dual {result.dual:.6g},"
        f"{chr(10) if result.bounds else ' '}{bound(result)} above {optimum(result)}"
    )


def _draw_objective(axes: Axes, x: list[float], result: Result) -> None:
    primal, dual = [r.primal for r in result.history], [r.dual for r in result.history]
    _curve(axes, x, primal, PRIMAL, "primal: objective of the weights")
    if not isfinite(dual[-1]):  # sampled cuts give no bound
        _clean(axes)
        return
    _curve(axes, x, dual, DUAL, "dual: lower bound")
    axes.fill_between(
        x, dual, primal, color=_GREY, alpha=0.13, linewidth=0, label=f"{optimum(result)} lies here"
    )
    if dual[-1] > 0:
        # The first dual values can be close to zero and would stretch the axis.
        axes.set_yscale("log", nonpositive="clip")
        axes.set_ylim(bottom=max(min(dual), dual[-1] / 100) / 1.3)
    _clean(axes)


def _draw_gap(axes: Axes, x: list[float], history: list[Record]) -> None:
    _curve(axes, x, [r.gap for r in history], GAP)
    if 0 < history[-1].gap < inf:
        axes.set_yscale("log")
    _clean(axes)


def _curve(axes: Axes, x: list[float], y: list[float], color: str, label: str = "") -> None:
    """A line with a dot at its end, so that a single iteration is visible too."""
    axes.plot(
        x, y, color=color, label=label, linewidth=1.8, marker="o", markersize=5, markevery=[-1]
    )


def _clean(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(_GREY)
    axes.tick_params(colors=_GREY, which="both", labelsize=9)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
