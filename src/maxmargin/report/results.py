"""HTML of prediction results: measures per label and the confusion matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..metrics.calibration import ReliabilityCurve
from ..metrics.counts import Counts, frequent_errors
from .confusion import Shown, select, short_count
from .page import escape, name_html, table

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
    entities : Counts or None
        Entities of each type, if the labels are those of entities; for trees, constituents.
    parts : str
        The word for these entities.
    reliability : ReliabilityCurve or None
        How often items are right, by their probability, if the model is calibrated.
    """

    data: str
    labels: Sequence[Any]
    confusion: np.ndarray
    what: str = "examples"
    more: str = ""
    entities: Counts | None = None
    parts: str = "entities"
    reliability: ReliabilityCurve | None = None

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
        """The accuracy in a few words, with the F1 of entities if there are any."""
        f1 = ""
        if self.entities is not None and len(self.entities):
            f1 = f", F1 of {self.parts} {100 * float(self.entities.overall.f1[0]):.2f} %"
        return f"{100 * self.accuracy:.2f} % of the {self.what} of the {self.data} are right{f1}."

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
        shown = select(outcome.labels, np.asarray(outcome.confusion))
        parts.append(_entity_table(outcome.entities, outcome.parts))
        parts.append(_errors(outcome))
        parts.append(f'<p class="small muted">{_legend(shown.left_out)}</p>')
        parts.append(f'<div class="split">{_confusion(shown)}{_label_table(outcome)}</div>')
    return "".join(parts)


def _label_table(outcome: Outcome) -> str:
    found = Counts.of(list(outcome.labels), np.asarray(outcome.confusion))
    rows = _measures(found)
    out = table(["label", outcome.what, "precision", "recall", "F1"], rows, [False] + 4 * [True])
    return out if len(rows) <= 30 else f"<details><summary>All labels</summary>{out}</details>"


def _entity_table(entities: Counts | None, word: str) -> str:
    """Measures of each type of entity and of all together; empty if there are none."""
    if entities is None or not len(entities):
        return ""
    rows = _measures(entities) + [["all types", *row[1:]] for row in _measures(entities.overall)]
    out = table([word, "number", "precision", "recall", "F1"], rows, [False] + 4 * [True])
    return out if len(rows) <= 30 else f"<details><summary>All {word}</summary>{out}</details>"


def _measures(found: Counts) -> list[list[str]]:
    """A row of cells for each name that occurs, the most frequent first."""
    order = np.argsort(-found.support, kind="stable").tolist()
    return [
        [name_html(found.names[j]), f"{found.support[j]:,}", _bar(float(found.precision[j])),
         _bar(float(found.recall[j])), _bar(float(found.f1[j]))]
        for j in order if found.support[j] + found.found[j]
    ]  # fmt: skip


def _bar(part: float) -> str:
    return f'<div class="bar" style="--p:{100 * part:.1f};--k:var(--good)">{100 * part:.1f}</div>'


def _confusion(shown: Shown) -> str:
    """A cell for each true and predicted label, coloured by its fraction of the true label."""
    tall = ' class="tall"' if max(map(len, shown.columns)) > 2 else ""
    top = "".join(f"<th{tall}>{name_html(name, _SHORT)}</th>" for name in shown.columns)
    body = "".join(_row(shown, t) for t in range(len(shown.rows)))
    return (
        f'<div class="scroll"><table class="confusion">'
        f"<thead><tr><th></th>{top}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _legend(left_out: int) -> str:
    note = f" {left_out} rare labels are left out." if left_out else ""
    return (
        "Rows are true labels with their counts, columns are predicted labels. Correct predictions "
        "are blue, errors orange; a stronger colour means a larger fraction of the row."
        f"{note}"
    )


def _row(shown: Shown, t: int) -> str:
    support, cells = int(shown.support[t]), []
    for p, n in enumerate(shown.counts[t].tolist()):
        if n == 0:
            cells.append("<td></td>")
            continue
        depth = 100 * shown.depth(t, p)
        deep = " deep" if depth > 55 else ""
        kind = "hit" if p == t else "err"
        cells.append(
            f'<td class="{kind}{deep}" style="--p:{depth:.0f}" '
            f'title="{n:,} of {support:,}, {100 * n / support:.1f} %">{short_count(n)}</td>'
        )
    name = name_html(shown.rows[t], _SHORT)
    return f"<tr><th>{name}<small>{support:,}</small></th>{''.join(cells)}</tr>"


def _errors(outcome: Outcome) -> str:
    names = [str(label) for label in outcome.labels] + ["(unknown)"]
    found = frequent_errors(np.asarray(outcome.confusion), _ERRORS)
    words = [f"{name_html(names[t])} as {name_html(names[p])} ({n:,})" for t, p, n in found]
    if not words:
        return f"<p>All {escape(outcome.what)} are right.</p>" if outcome.n else ""
    return f"<p>Most frequent errors (true label, predicted label): {', '.join(words)}.</p>"
