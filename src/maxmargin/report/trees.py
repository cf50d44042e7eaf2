"""Trees as text for terminals, and where the nodes of a picture stand.

Words stand in one row at the bottom; a constituent stands right above the highest of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len

from ..trees import Tree, as_tree, fold


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
    width : float
        The room that the node and what is below it take.
    x : float
        The middle of the label.
    span : (int, int)
        First word, and end (excluded).
    """

    label: str
    word: str
    parts: list[Place]
    level: int
    width: float
    x: float = 0.0
    span: tuple[int, int] = (0, 0)


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
            return Place(node.label, values[0], [], 0, max(map(measure, (node.label, values[0]))))
        room = sum(part.width for part in values) + gap * (len(values) - 1)
        level = 1 + max(part.level for part in values)
        return Place(node.label, "", values, level, max(room, measure(node.label)))

    root = fold(tree, lambda node: node.children, make)
    places = _descend(root, gap)
    for place in reversed(places):  # a parent stands over the middle of its parts
        if place.parts:
            first, last = place.parts[0], place.parts[-1]
            place.x = (first.x + last.x) / 2
            place.span = (first.span[0], last.span[1])
    return places


def _descend(root: Place, gap: float) -> list[Place]:
    """Give room from left to right: the words get their places."""
    places: list[Place] = []
    stack = [(root, 0.0)]
    n_words = 0
    while stack:
        place, left = stack.pop()
        places.append(place)
        if not place.parts:
            place.x = left + place.width / 2
            place.span = (n_words, n_words + 1)
            n_words += 1
            continue
        room = sum(part.width for part in place.parts) + gap * (len(place.parts) - 1)
        left += (place.width - room) / 2
        after = []
        for part in place.parts:
            after.append((part, left))
            left += part.width + gap
        stack.extend(reversed(after))
    return places


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
