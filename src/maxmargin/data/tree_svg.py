"""Drawing of trees as SVG, for light and dark pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from xml.sax.saxutils import escape

from rich.cells import cell_len

from .brackets import as_tree
from .printable import printable
from .tree_text import Place, lay_out, wrong_brackets

# All in pixels.
_SIZE = 14  # font size
_LEVEL = 38  # vertical distance of two levels
_GAP = 14
_MARGIN = 12
_ROUND = 6  # radius of the corners of lines

#: The class keeps the styles from changing the page that contains the image.
_STYLE = """
.mm-tree{font-family:system-ui,"DejaVu Sans",Helvetica,Arial,sans-serif;font-size:14px}
.mm-tree text{text-anchor:middle;fill:#1f2328}
.mm-tree .phrase{fill:#0b5cad;font-weight:600}
.mm-tree .tag{fill:#6e7781;font-size:12px}
.mm-tree .note{fill:#6e7781;font-size:12px;text-anchor:start}
.mm-tree path{fill:none;stroke:#9aa4ae;stroke-width:1.3px}
.mm-tree .wrong{fill:#c4320a}
@media (prefers-color-scheme:dark){
.mm-tree text{fill:#e6edf3}
.mm-tree .phrase{fill:#79b8ff}
.mm-tree .tag,.mm-tree .note{fill:#9aa4ae}
.mm-tree path{stroke:#636c76}
.mm-tree .wrong{fill:#ff8a65}
}
"""


def draw_svg(tree: Any, truth: Any = None) -> str:
    """The tree as an SVG image.

    Parameters
    ----------
    tree : Tree, nltk.Tree or str
    truth : Tree, nltk.Tree or str, optional
        The true tree: constituents that it does not have are highlighted.

    Returns
    -------
    str
        An SVG document without XML declaration, which can be inserted into HTML.
    """
    return draw_many([("", tree, truth)])


def draw_many(items: Iterable[tuple[str, Any, Any]]) -> str:
    """Several trees, one below the other.

    Parameters
    ----------
    items : iterable of (note, tree, truth)
        The note is written above the tree and may be empty; the truth may be None.
    """
    parts: list[str] = []
    width = top = 0.0
    for note, tree, truth in items:
        drawn, right, bottom = _draw(note, tree, truth, top)
        parts += drawn
        width, top = max(width, right), bottom + _MARGIN
    size = f'width="{width + 2 * _MARGIN:.0f}" height="{top + _MARGIN:.0f}"'
    box = f'viewBox="0 0 {width + 2 * _MARGIN:.0f} {top + _MARGIN:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="mm-tree" {size} {box}>'
    return "\n".join([head, f"<style>{_STYLE}</style>", *parts, "</svg>"])


def _draw(note: str, tree: Any, truth: Any, top: float) -> tuple[list[str], float, float]:
    """The SVG elements of a tree, and the right and lower end of their area."""
    places = lay_out(as_tree(tree), _measure, _GAP)
    wrong = set() if truth is None else wrong_brackets(places, truth)
    drawn = []
    y = top + _MARGIN
    if note:
        words = escape(printable(note))
        drawn.append(f'<text class="note" x="{_MARGIN}" y="{y + _SIZE:.0f}">{words}</text>')
        y += 2 * _SIZE
    y += _SIZE
    height = places[0].level
    lines = [_lines(place, y, height) for place in places if place.parts]
    drawn.append(f'<path d="{"".join(lines)}"/>')
    for number, place in enumerate(places):
        kind = "tag" if place.word else "phrase wrong" if number in wrong else "phrase"
        x, base = place.x + _MARGIN, y + _LEVEL * (height - place.level)
        drawn.append(_text(kind, x, base, place.label))
        if place.word:
            drawn.append(_text("", x, base + 1.3 * _SIZE, place.word))
    right = max(_measure(note) if note else 0.0, places[0].width)
    return drawn, right, y + _LEVEL * height + 1.6 * _SIZE


def _text(kind: str, x: float, y: float, text: str) -> str:
    kind = f' class="{kind}"' if kind else ""
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _lines(place: Place, top: float, height: int) -> str:
    """The path from a label along a horizontal bar to each of its parts, with round corners."""
    x = place.x + _MARGIN
    start = top + _LEVEL * (height - place.level) + 0.35 * _SIZE
    bar = start + 0.28 * _LEVEL
    found = []
    for part in place.parts:
        to = part.x + _MARGIN
        end = top + _LEVEL * (height - part.level) - 0.95 * _SIZE
        if abs(to - x) < 2 * _ROUND:
            found.append(f"M{x:.1f} {start:.1f}V{bar:.1f}L{to:.1f} {bar:.1f}V{end:.1f}")
            continue
        r = _ROUND if to > x else -_ROUND
        found.append(
            f"M{x:.1f} {start:.1f}V{bar:.1f}H{to - r:.1f}"
            f"Q{to:.1f} {bar:.1f} {to:.1f} {bar + _ROUND:.1f}V{end:.1f}"
        )
    return "".join(found)


def _measure(text: str) -> float:
    """Approximate width of a text in pixels; wide characters count twice."""
    narrow = sum(character in "iljtfr.,:;'|!()[] " for character in text)
    return _SIZE * (0.62 * cell_len(text) - 0.27 * narrow) + 4
