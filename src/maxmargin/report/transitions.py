"""HTML of the weights of transitions: a matrix of labels and next labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .page import name_html

#: At most this many labels are shown, those with the largest weights.
MOST = 40

#: Weights are written into the cells of matrices of at most this many labels.
_WRITTEN = 15

#: Longer names of rows and columns are clipped, in characters.
_SHORT = 16


def transitions_html(labels: Sequence[Any], weights: np.ndarray, allowed: np.ndarray) -> str:
    """A cell for each pair of labels, coloured by the weight of the transition.

    Parameters
    ----------
    labels : sequence (K,)
    weights : array (K + 2, K)
        The weights ``[from, to]``, then a row of the weights of first labels and a row of the
        weights of last labels. The two rows are left out if they are zero.
    allowed : bool array (K + 2, K)
        Transitions that are not allowed are marked.
    """
    K = len(labels)
    weights = np.where(allowed, weights, 0.0)
    shown = _select(weights, K)
    rows = [(name_html(labels[j], _SHORT), weights[j], allowed[j]) for j in shown]
    for name, j in (("(first)", K), ("(last)", K + 1)):
        if weights[j].any() or not allowed[j].all():
            rows.append((f"<i>{name}</i>", weights[j], allowed[j]))
    largest = float(np.abs(weights).max()) or 1.0
    tall = ' class="tall"' if max(len(str(labels[j])) for j in shown) > 3 else ""
    head = "".join(f"<th{tall}>{name_html(labels[j], _SHORT)}</th>" for j in shown)
    body = "".join(
        f"<tr><th>{name}</th>{_cells(row[shown], may[shown], largest, K <= _WRITTEN)}</tr>"
        for name, row, may in rows
    )
    return (
        f'<p class="small muted">{_words(K - len(shown))}</p>'
        f'<div class="scroll"><table class="confusion transitions"><thead><tr><th></th>{head}</tr>'
        f"</thead><tbody>{body}</tbody></table></div>"
    )


def _select(weights: np.ndarray, K: int) -> np.ndarray:
    """The labels to show, in order: all, or those with the largest weights in row or column."""
    size = np.maximum(np.abs(weights[:K]).max(axis=1), np.abs(weights).max(axis=0))
    return np.sort(np.argsort(-size, kind="stable")[:MOST])


def _cells(weights: np.ndarray, allowed: np.ndarray, largest: float, written: bool) -> str:
    """The cells of one row; colours are fractions of the largest weight of the matrix."""
    cells = []
    for weight, may in zip(weights.tolist(), allowed.tolist(), strict=True):
        if not may:
            cells.append('<td class="never" title="not allowed">&times;</td>')
            continue
        depth = 100 * abs(weight) / largest
        deep = " deep" if depth > 70 else ""
        kind = "hit" if weight > 0 else "err"
        text = _short(weight, largest) if written and weight else ""
        style = f'class="{kind}{deep}" style="--p:{depth:.0f}"'
        cells.append(f'<td {style} title="{weight:+.4g}">{text}</td>')
    return "".join(cells)


def _short(weight: float, largest: float) -> str:
    """A weight with as many decimals as show two digits of the largest one; blank if it is 0."""
    decimals = max(0, 1 - int(np.floor(np.log10(largest))))
    text = f"{abs(weight):.{decimals}f}"
    if not text.strip("0."):
        return ""
    return ("&minus;" if weight < 0 else "") + (text[1:] if text.startswith("0.") else text)


def _words(left_out: int) -> str:
    note = f" {left_out} labels with smaller weights are left out." if left_out else ""
    return (
        "The weight of each label (row) before the next label (column). Positive weights are blue, "
        "negative weights orange; &times; marks transitions that are not allowed. Point at a "
        f"cell to see its weight.{note}"
    )
