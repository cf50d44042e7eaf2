"""Trees as text for terminals, and where the nodes of a picture stand.

Words stand in one row at the bottom; a constituent stands right above the highest of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len

from .brackets import as_tree
from .trees import Tree, fold


@dataclass(slots=True)
class Place:
    """A node and where it stands.

    Attributes
    ----------
    label, word : str
        The word is empty for a constituent.
    parts : list of Place
    level : int
        0 for words, and one more than the highest part for a constituent.
    left, right : float
        The room that the node and what is below it take beside the middle of the label.
    x : float
        The middle of the label: first from that of the parent, then from the left end of all.
    span : (int, int)
        First word, and end (excluded).
    """

    label: str
    word: str
    parts: list[Place]
    level: int
    left: float
    right: float
    x: float = 0.0
    span: tuple[int, int] = (0, 0)

    @property
    def width(self) -> float:
        """All the room."""
        return self.left + self.right


def lay_out(tree: Tree, measure: Callable[[str], float], gap: float) -> list[Place]:
    """Places of all nodes, a parent before its parts.

    Parameters
    ----------
    tree : Tree
    measure : callable
        The width of a text.
    gap : float
        The space between neighbours.
    """

    def make(node: Tree, values: list[Any]) -> Place:
        if node.preterminal:
            half = max(map(measure, (node.label, values[0]))) / 2
            return Place(node.label, values[0], [], 0, half, half)
        return _stand_over(node.label, values, measure(node.label) / 2, gap)

    root = fold(tree, lambda node: node.children, make)
    root.x = root.left
    places = [root]
    stack = [root]
    while stack:
        place = stack.pop()
        for part in place.parts:
            part.x += place.x
        stack += place.parts[::-1]
        places += [] if place is root else [place]
    _count_words(places)
    return places


def _stand_over(label: str, parts: list[Place], half: float, gap: float) -> Place:
    """A parent over the middle of its parts, which stand side by side."""
    end = -gap
    for part in parts:
        part.x = end + gap + part.left
        end = part.x + part.right
    x = parts[0].x + (parts[-1].x - parts[0].x) // 2
    for part in parts:
        part.x -= x
    level = 1 + max(part.level for part in parts)
    return Place(label, "", parts, level, max(x, half), max(end - x, half))


def _count_words(places: list[Place]) -> None:
    n_words = 0
    for place in places:
        if not place.parts:
            place.span = (n_words, n_words + 1)
            n_words += 1
    for place in reversed(places):
        if place.parts:
            place.span = (place.parts[0].span[0], place.parts[-1].span[1])


def draw_text(tree: Any, width: int | None = 100) -> str:
    """The tree as text.

    Parameters
    ----------
    tree : Tree, nltk.Tree or str
    width : int or None
        A tree that takes more columns is drawn as an outline, from left to right; None for no
        limit.

    Returns
    -------
    str
        Lines without a line end after the last one.

    Examples
    --------
    >>> print(draw_text("(S (NP (DT The) (NN dog)) (VP (VBZ barks)))"))
             S
        ┌────┴────┐
        NP        VP
     ┌──┴──┐      │
     DT    NN    VBZ
    The   dog   barks
    """
    tree = as_tree(tree)
    for gap in (3, 1):  # odd, as the widths are, so that every word has a middle column
        places = lay_out(tree, lambda text: cell_len(text) | 1, gap)
        if width is None or places[0].width <= width:
            return _draw_places(places)
    return draw_outline(tree)


def _draw_places(places: list[Place]) -> str:
    grid = _Grid()
    top = places[0].level
    for place in places:
        row, x = 2 * (top - place.level), int(place.x)
        grid.write(row, x, place.label)
        if place.word:
            grid.write(row + 1, x, place.word)
        elif len(place.parts) == 1:
            grid.line(row + 1, x, "│")
        else:
            _draw_fork(grid, row + 1, x, [int(part.x) for part in place.parts])
        for part in place.parts:
            for below in range(row + 2, 2 * (top - part.level)):
                grid.line(below, int(part.x), "│")
    return grid.text()


def _draw_fork(grid: _Grid, row: int, x: int, ends: list[int]) -> None:
    """The line from a parent at x to its parts."""
    for column in range(ends[0], ends[-1] + 1):
        grid.line(row, column, "─")
    for column in ends:
        grid.line(row, column, "┬")
    grid.line(row, x, "┼" if x in ends[1:-1] else "┴")
    grid.line(row, ends[0], "├" if x == ends[0] else "┌")
    grid.line(row, ends[-1], "┤" if x == ends[-1] else "┐")


class _Grid:
    """Rows of cells; a wide character fills the cell after it with nothing."""

    def __init__(self) -> None:
        self.rows: list[dict[int, str]] = []

    def line(self, row: int, column: int, character: str) -> None:
        while len(self.rows) <= row:
            self.rows.append({})
        self.rows[row][column] = character

    def write(self, row: int, middle: int, text: str) -> None:
        """Write with the middle of the text in this column."""
        column = middle - (cell_len(text) - 1) // 2
        for character in text:
            wide = cell_len(character)
            if not wide:  # combines with the character before
                character = self.rows[row].get(column - 1, "") + character
                column -= 1
            self.line(row, column, character)
            for more in range(1, wide):
                self.line(row, column + more, "")
            column += max(wide, 1)

    def text(self) -> str:
        left = min(min(row) for row in self.rows)
        return "\n".join(
            "".join(row.get(column, " ") for column in range(left, max(row) + 1))
            for row in self.rows
        )


def draw_outline(tree: Any) -> str:
    """The tree as an outline, from left to right; for sentences that are too long for a row.

    Constituents with one part share its line, and so do the words of one that has nothing else.

    Examples
    --------
    >>> print(draw_outline("(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks))))"))
    TOP ─ S
    ├─ NP  The/DT dog/NN
    └─ VP  barks/VBZ
    """
    lines: list[str] = []
    stack: list[tuple[Tree, str, str]] = [(as_tree(tree), "", "")]  # what comes before, and below
    while stack:
        node, before, below = stack.pop()
        labels = [] if node.preterminal else [node.label]
        while len(node.children) == 1 and not node.preterminal and not _child(node, 0).preterminal:
            node = _child(node, 0)
            labels.append(node.label)
        words = [node] if node.preterminal else list(node.children)
        flat = all(word.preterminal for word in words)  # type: ignore[union-attr]
        said = " ".join(f"{word.children[0]}/{word.label}" for word in words) if flat else ""  # type: ignore[union-attr]
        lines.append(before + "  ".join(filter(None, (" ─ ".join(labels), said))))
        if not flat:
            last = len(words) - 1
            forks = [("└─ ", "   ") if i == last else ("├─ ", "│  ") for i in range(last + 1)]
            parts = zip(words, forks, strict=True)
            stack.extend(
                (part, below + fork, below + rest)  # type: ignore[misc]
                for part, (fork, rest) in reversed(list(parts))
            )
    return "\n".join(lines)


def _child(node: Tree, i: int) -> Tree:
    return node.children[i]  # type: ignore[return-value]


def wrong_brackets(places: Iterable[Place], truth: Any) -> set[int]:
    """Which of the places are constituents that the true tree does not have."""
    there = list(as_tree(truth).spans())
    wrong = set()
    for number, place in enumerate(places):
        if place.parts:
            bracket = (place.label, *place.span)
            if bracket in there:
                there.remove(bracket)
            else:
                wrong.add(number)
    return wrong
