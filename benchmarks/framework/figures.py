"""The common look of the experiments' pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .session import Group

#: Colours of Okabe and Ito, which colour-blind people can tell apart.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

GREY = "#555555"


def style(number: int, **changes: Any) -> dict[str, Any]:
    """Colour, marker and line of the curve of this number."""
    look: dict[str, Any] = {
        "color": COLORS[number % len(COLORS)],
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": 5,
        "linewidth": 1.7,
    }
    return look | changes


def clean(axes: Axes, title: str, x: str, y: str) -> None:
    """Titles, a light grid, no box."""
    axes.set_title(title, fontsize=10.5, loc="left")
    axes.set_xlabel(x, fontsize=9.5)
    axes.set_ylabel(y, fontsize=9.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=GREY, which="both", labelsize=9)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def legend(figure: Figure, axes: Axes, columns: int) -> None:
    """One legend for all panels, below them."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=9
    )


def unfinished(axes: Axes, x: Sequence[float], groups: Sequence[Group], values: Any) -> None:
    """White dots on the markers of runs that reached the time limit: values are lower bounds."""
    late = [i for i, group in enumerate(groups) if not group.every("converged")]
    axes.plot([x[i] for i in late], [values[i] for i in late], "o", color="white", ms=3, zorder=6)


def log_scale(axes: Axes, which: str) -> None:
    """Make the "x" or "y" axis logarithmic, with plain numbers: 20, 50, 1,000.

    Call it after everything is drawn: the ticks follow the range.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set(**{f"{which}scale": "log"})
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = axis.get_view_interval()
    powers = math.floor(math.log10(high)) - math.ceil(math.log10(low)) + 1
    few = high < 50 * low or powers < 2
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


def named_ticks(axes: Axes, values: Sequence[float]) -> None:
    """Ticks of the x axis exactly at these values."""
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.set_xticks([], minor=True)
