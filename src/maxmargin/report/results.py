"""HTML of prediction results: measures per label and the confusion matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .confusion import MOST
from .page import escape, name_html, table

#: Colours show this power of an error's fraction, so that errors of one percent are visible.
_POWER = 0.38

#: Longer names of rows and columns of a confusion matrix are clipped, in characters.
_SHORT = 16

#: Number of errors to list, the most frequent ones.
_ERRORS = 8


@dataclass(frozen=True)
class Outcome:
    """Predictions on some data, compared with the true labels.

    Attributes
    ----------
    data : str
        Name of the data: "training data", "test data".
    labels : sequence (k,)
    confusion : int array (k, k) or (k + 1, k)
        See ``confusion.plot_confusion``; row k is for true labels that the model does not know.
    what : str
        The items that have labels: "tokens" or "examples".
    more : str
        An additional sentence, such as the F1 of entities.
    """

    data: str
    labels: Sequence[Any]
    confusion: np.ndarray
    what: str = "examples"
    more: str = ""

    @property
    def n(self) -> int:
        """Number of items."""
        return int(self.confusion.sum())

    @property
    def right(self) -> int:
        """Number of items whose label is right."""
        return int(self.confusion.trace())

    @property
    def accuracy(self) -> float:
        """Part of the items whose label is right."""
        return self.right / max(self.n, 1)

    def brief(self) -> str:
        """The accuracy in a few words."""
        return f"{100 * self.accuracy:.2f} % of the {self.what} of the {self.data} are right."

    def sentence(self) -> str:
        """The numbers in words."""
        return (
            f"On the {self.data}, {self.right:,} of {self.n:,} {self.what} get the right label: "
            f"{100 * self.accuracy:.2f} %.{self.more and ' '}{self.more}"
        )


def outcome_html(outcome: Outcome) -> str:
    """A summary, the most frequent errors, the confusion matrix and measures per label."""
    parts = [
        f"<h3>{escape(outcome.data.capitalize())}</h3>",
        f"<p>{escape(outcome.sentence())}</p>",
    ]
    if outcome.n:
        parts.append(_errors(outcome))
        parts.append(f'<p class="small muted">{_legend(outcome)}</p>')
        parts.append(f'<div class="split">{_confusion(outcome)}{_label_table(outcome)}</div>')
    return "".join(parts)


def _label_table(outcome: Outcome) -> str:
    k = len(outcome.labels)
    counts = np.asarray(outcome.confusion)
    hits, found, there = counts.diagonal(), counts.sum(axis=0), counts[:k].sum(axis=1)
    precision, recall = hits / np.maximum(found, 1), hits / np.maximum(there, 1)
    f1 = 2 * hits / np.maximum(found + there, 1)
    order = [j for j in np.argsort(-there, kind="stable").tolist() if there[j] + found[j]]
    rows = [
        [name_html(outcome.labels[j]), f"{there[j]:,}", _bar(float(precision[j])),
         _bar(float(recall[j])), _bar(float(f1[j]))]
        for j in order
    ]  # fmt: skip
    out = table(["label", outcome.what, "precision", "recall", "F1"], rows, [False] + 4 * [True])
    return out if len(rows) <= 30 else f"<details><summary>All labels</summary>{out}</details>"


def _bar(part: float) -> str:
    return f'<div class="bar" style="--p:{100 * part:.1f};--k:var(--good)">{100 * part:.1f}</div>'


def _confusion(outcome: Outcome) -> str:
    """A cell for each true and predicted label, coloured by its fraction of the true label."""
    counts, k = np.asarray(outcome.confusion), len(outcome.labels)
    total = counts[:k].sum(axis=1) + counts.sum(axis=0)
    keep = np.sort(np.argsort(-total, kind="stable")[: min(int((total > 0).sum()), MOST)])
    unknown = [k] if counts.shape[0] > k and counts[k].any() else []
    names = [str(label) for label in outcome.labels] + ["(unknown)"]
    tall = ' class="tall"' if max(len(names[j]) for j in keep) > 3 else ""
    top = "".join(f"<th{tall}>{name_html(names[j], _SHORT)}</th>" for j in keep)
    body = "".join(_row(counts[t], t, keep, names[t]) for t in [*keep, *unknown])
    return (
        f'<div class="scroll"><table class="confusion">'
        f"<thead><tr><th></th>{top}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _legend(outcome: Outcome) -> str:
    counts, k = np.asarray(outcome.confusion), len(outcome.labels)
    seen = int((counts[:k].sum(axis=1) + counts.sum(axis=0) > 0).sum())
    note = f" {seen - MOST} rare labels are left out." if seen > MOST else ""
    return (
        "Rows are true labels with their counts, columns are predicted labels. Correct predictions "
        "are blue, errors orange; a stronger colour means a larger fraction of the row."
        f"{note}"
    )


def _row(counts: np.ndarray, t: int, keep: np.ndarray, name: str) -> str:
    support = int(counts.sum())
    cells = []
    for p in keep:
        n = int(counts[p])
        if n == 0:
            cells.append("<td></td>")
            continue
        part = n / support
        depth = 100 * (part if p == t else part**_POWER)
        deep = " deep" if depth > 55 else ""
        kind = "hit" if p == t else "err"
        cells.append(
            f'<td class="{kind}{deep}" style="--p:{depth:.0f}" '
            f'title="{n:,} of {support:,}, {100 * part:.1f} %">{_count(n)}</td>'
        )
    return f"<tr><th>{name_html(name, _SHORT)}<small>{support:,}</small></th>{''.join(cells)}</tr>"


def _errors(outcome: Outcome) -> str:
    counts = np.array(outcome.confusion)
    k = min(counts.shape)
    counts[np.arange(k), np.arange(k)] = 0
    order = np.argsort(-counts, axis=None, kind="stable")[:_ERRORS]
    names = [str(label) for label in outcome.labels] + ["(unknown)"]
    pairs = [(*divmod(int(cell), counts.shape[1]), int(counts.flat[cell])) for cell in order]
    words = [f"{name_html(names[t])} as {name_html(names[p])} ({n:,})" for t, p, n in pairs if n]
    if not words:
        return "<p>There are no errors.</p>"
    return f"<p>Most frequent errors (true label, predicted label): {', '.join(words)}.</p>"


def _count(n: int) -> str:
    """A count in at most four characters."""
    return f"{n}" if n < 10_000 else f"{n / 1000:.0f}k"
