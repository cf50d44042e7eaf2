"""Plots of confusion matrices: which labels are predicted for which true labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data.printable import clipped
from ..errors import DataError
from ..metrics.counts import frequent_errors
from .convergence import DUAL, PRIMAL, new_figure, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: At most this many labels are drawn, the most frequent ones.
MOST = 50

#: Colours show this power of an error's fraction, so that errors of one percent are visible.
_POWER = 0.38

_GREY = "#555555"


def plot_confusion(
    labels: Sequence[Any],
    confusion: np.ndarray,
    path: str | Path | None = None,
    *,
    n_counts: int = 20,
) -> Figure:
    """Draw a confusion matrix: the diagonal in blue and errors in orange.

    Parameters
    ----------
    labels : sequence (k,)
        Names of the columns and of the first k rows. Labels that never occur are left out.
    confusion : int array (k, k) or (k + 1, k)
        ``confusion[t, p]`` is the number of items with true label t and predicted label p. Row k
        counts the items whose true label the model does not know.
    path : str or path, optional
        Also write the figure to this .png, .svg or .pdf file.
    n_counts : int
        Write the counts of this many errors into their cells, the most frequent ones.

    Returns
    -------
    matplotlib.figure.Figure
        It is not registered with pyplot.

    Raises
    ------
    MaxMarginError
        If matplotlib is missing, the figure cannot be written, or there is nothing to draw.
    """
    counts = np.asarray(confusion)
    shown = select(labels, counts)
    side = 3.4 + 0.2 * len(shown.columns)
    figure = new_figure(path, side + 1.3, side)
    figure.set_layout_engine("compressed")  # cells are squares: other layouts crop the title
    axes = figure.subplots()
    axes.set_title(_title(counts, shown.left_out), fontsize=11.5, pad=12)
    _draw_cells(axes, shown)
    _name_axes(axes, shown)
    _write_counts(axes, shown, n_counts)
    return save(figure, path)


class Shown(NamedTuple):
    """The part of a confusion matrix that is drawn.

    Attributes
    ----------
    columns, rows : lists of str
        The names of labels, shortened; the last row may be for unknown labels.
    support : int array (rows,)
        Number of items of each true label, including those whose prediction is not drawn.
    counts : int array (rows, columns)
    parts : float array (rows, columns)
        The counts as fractions of ``support``.
    left_out : int
        Number of labels that occur and are not drawn.
    """

    columns: list[str]
    rows: list[str]
    support: np.ndarray
    counts: np.ndarray
    parts: np.ndarray
    left_out: int

    def depth(self, t: int, p: int) -> float:
        """How strong the colour of a cell is, from 0 to 1."""
        return float(self.parts[t, p]) ** (1.0 if t == p else _POWER)


def select(labels: Sequence[Any], confusion: np.ndarray) -> Shown:
    """The labels that occur, or the most frequent ones."""
    k = len(labels)
    if confusion.shape not in [(k, k), (k + 1, k)]:
        raise DataError(f"the confusion matrix of {k} labels has shape {confusion.shape}")
    total = confusion[:k].sum(axis=1) + confusion.sum(axis=0)
    n_seen = int((total > 0).sum())
    if n_seen == 0:
        raise DataError("there is nothing to draw: no label occurs")
    keep = np.sort(np.argsort(-total, kind="stable")[: min(n_seen, MOST)])
    columns = [_short(labels[j]) for j in keep]
    unknown = ["(unknown)"] if confusion[k:].any() else []
    rows = np.append(keep, [k] * len(unknown)).astype(int)
    support, counts = confusion[rows].sum(axis=1), confusion[np.ix_(rows, keep)]
    parts = counts / np.maximum(support, 1)[:, None]
    return Shown(columns, columns + unknown, support, counts, parts, n_seen - len(keep))


def _short(label: Any) -> str:
    return clipped(label, 16)


def _title(confusion: np.ndarray, left_out: int) -> str:
    n, right = int(confusion.sum()), int(confusion.trace())
    text = f"{n:,} labels, {n - right:,} errors ({100 * (n - right) / n:.2f} %)"
    return text + (f"; {left_out} rare labels not drawn" if left_out else "")


def _draw_cells(axes: Axes, shown: Shown) -> None:
    """The diagonal in one colour and errors in another, each with its own scale."""
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm

    diagonal = np.eye(*shown.counts.shape, dtype=bool)
    for name, color, hidden, power, ticks in [
        ("right", DUAL, ~diagonal, 1.0, [0, 25, 50, 75, 100]),
        ("errors", PRIMAL, diagonal, _POWER, [0, 1, 5, 20, 50, 100]),
    ]:
        image = axes.imshow(
            np.ma.masked_array(100 * shown.parts, hidden | (shown.counts == 0)),
            cmap=LinearSegmentedColormap.from_list(name, ["#ffffff", color]),
            norm=PowerNorm(power, 0, 100),
        )
        bar = axes.figure.colorbar(image, ax=axes, shrink=0.6, aspect=25, pad=0.025)
        bar.outline.set_visible(False)  # pyright: ignore
        bar.set_ticks(ticks, labels=[f"{tick} %" for tick in ticks])
        bar.ax.tick_params(labelsize=8, colors=_GREY, length=0)
        bar.ax.set_title(name, fontsize=9, color=color, loc="left")


def _name_axes(axes: Axes, shown: Shown) -> None:
    """Labels on both axes; the true labels with their counts."""
    n_rows, n_columns = shown.counts.shape
    size = 9 if n_columns <= 25 else 7.5
    rows = [f"{name}  {n:,}" for name, n in zip(shown.rows, shown.support, strict=True)]
    axes.set_xticks(range(n_columns), shown.columns, rotation=90 if n_columns > 6 else 0)
    axes.set_yticks(range(n_rows), rows)
    axes.tick_params(labelsize=size, colors=_GREY, length=0)
    for text in [*axes.get_xticklabels(), *axes.get_yticklabels()]:
        text.set_parse_math(False)  # a label may hold dollar signs
    axes.set_xlabel("predicted", fontsize=10)
    axes.set_ylabel("true label and its count", fontsize=10)
    axes.spines[:].set_visible(False)
    # Lines between the cells, as a grid of the minor ticks.
    axes.set_xticks(np.arange(n_columns + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(n_rows + 1) - 0.5, minor=True)
    axes.grid(True, which="minor", color="#e8e8e8", linewidth=0.6)
    axes.tick_params(which="minor", length=0)


def _write_counts(axes: Axes, shown: Shown, n_counts: int) -> None:
    """Counts in the cells of the most frequent errors; also on the diagonal if they fit."""
    few = len(shown.columns) <= 12
    cells = [(t, p) for t, p, _ in frequent_errors(shown.counts, n_counts)]
    cells += [(k, k) for k in range(len(shown.columns))] if few else []
    for t, p in cells:
        text = short_count(shown.counts[t, p])
        size = 9 if few else 6.5 if len(text) <= 3 else 5.5
        color = "white" if shown.depth(t, p) > 0.6 else "black"
        axes.text(p, t, text, ha="center", va="center", fontsize=size, color=color)


def short_count(n: int) -> str:
    """A count in at most four characters; 10,000 and more are shown in thousands."""
    return f"{n}" if n < 10_000 else f"{n / 1000:.0f}k"
