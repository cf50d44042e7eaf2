"""HTML of a model's largest weights, and of the examples that fit it worst."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..outputs.explain import Explanation, Weight, Weights
from .page import escape, name_html

#: The weights of more labels than this are collapsed.
_OPEN = 12

#: At most this many labels are shown.
_LABELS = 60

#: Number of tokens shown on each side of an error, in sequences of more than ``_WHOLE`` tokens.
_CONTEXT, _WHOLE = 4, 40


def explanation_html(explanation: Explanation, transitions: str = "") -> str:
    """The weights of ``transitions``, which are HTML, and the largest weights of each label."""
    labels = explanation.labels[:_LABELS]
    grid = f'<div class="weights">{"".join(map(_weights, labels))}</div>'
    if len(labels) > _OPEN:
        grid = f"<details><summary>The features of {len(labels)} labels</summary>{grid}</details>"
    words = (
        "The largest weights, with the names of their features. Positive weights (blue) raise "
        "the score of a label, negative weights (orange) lower it."
    )
    pairs = f"<h3>Transitions</h3>{transitions}" if transitions else ""
    return f"{pairs}<h3>Features</h3><p class='muted'>{words}</p>{grid}"


def _weights(weights: Weights) -> str:
    largest = max([abs(w.weight) for w in (*weights.positive, *weights.negative)], default=1.0)
    rows = "".join(
        _weight(entry, largest, color)
        for side, color in ((weights.positive, "--good"), (weights.negative, "--bad"))
        for entry in side
    )
    return f"<div><h3>{name_html(weights.title)}</h3><table><tbody>{rows}</tbody></table></div>"


def _weight(entry: Weight, largest: float, color: str) -> str:
    part = 100 * abs(entry.weight) / largest
    return (
        f'<tr><td class="mono"><div class="bar" style="--p:{part:.0f};--k:var({color})">'
        f'{name_html(entry.name)}</div></td><td class="n">{entry.weight:+.4f}</td></tr>'
    )


def suspects_html(suspects: Sequence[dict[str, Any]]) -> str:
    """The examples that fit the model worst, each with the output that the model prefers."""
    if not suspects:
        return "<p>No example violates its margin: the model fits all labels.</p>"
    words = (
        "The examples that fit the model worst, the worst first. Their labels may be wrong, or the "
        "features may not be enough to predict them. The slack is the loss that an example adds "
        "to the objective, before it is multiplied by C."
    )
    return f"<p class='muted'>{words}</p>" + "".join(
        _suspect(number, suspect) for number, suspect in enumerate(suspects)
    )


def _suspect(number: int, suspect: dict[str, Any]) -> str:
    truth, worst = suspect["truth"], suspect["worst"]
    head = f"Example {suspect['index'] + 1}: slack {suspect['slack']:.3g}"
    lines = suspect.get("lines")
    if lines is not None:
        head += f", line {lines[0]}"
    if isinstance(truth, list) and isinstance(worst, list) and len(truth) == len(worst):
        differ = sum(a != b for a, b in zip(truth, worst, strict=True))
        head += f", {differ} of {len(truth)} labels differ"
        body = _sentence(truth, worst, suspect.get("words"))
    else:
        body = (
            f'<p><span class="muted">label</span> {name_html(truth)}, '
            f'<span class="muted">model</span> <b>{name_html(worst)}</b></p>'
        )
    state = " open" if number < 3 else ""
    return f"<details{state}><summary>{escape(head)}</summary>{body}</details>"


def _sentence(truth: list[Any], worst: list[Any], words: Any) -> str:
    """Tokens with their labels, and the model's label where it differs."""
    differ = [a != b for a, b in zip(truth, worst, strict=True)]
    long, cells, skipped = len(truth) > _WHOLE, [], False
    for t, (label, other) in enumerate(zip(truth, worst, strict=True)):
        near = any(differ[max(0, t - _CONTEXT) : t + _CONTEXT + 1])
        if long and not near:
            skipped = True
            continue
        if skipped:
            cells.append('<span class="token">…</span>')
            skipped = False
        word = str(t + 1) if words is None else _word(words[t])
        tags = f'<small class="file">{name_html(label)}</small>'
        if differ[t]:
            tags += f'<small class="model">{name_html(other)}</small>'
        kind = "token wrong" if differ[t] else "token"
        cells.append(f'<span class="{kind}">{name_html(word)}{tags}</span>')
    if skipped:
        cells.append('<span class="token">…</span>')
    return f'<div class="sentence">{"".join(cells)}</div>'


def _word(token: Any) -> str:
    """The first column, name or value of a token."""
    if isinstance(token, dict):
        name, value = next(iter(token.items()), ("", ""))
        return str(value) if isinstance(value, str) else str(name)
    if isinstance(token, (list, tuple)):
        return str(token[0]) if token else ""
    return str(token)
