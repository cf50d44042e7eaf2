"""Drawing of trees as text, and the layout of nodes for text and SVG.

Words are in one row at the bottom; a constituent is one level above the highest of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len

from .brackets import as_tree
from .printable import clipped
from .trees import Tree, fold


@dataclass(slots=True)
class Place:
    """A node and its position.

    Attributes
    ----------
    label, word : str
        As they are drawn; the word is empty for a constituent.
    parts : list of Place
        The children.
    level : int
        0 for words, and one more than that of the highest part for a constituent.
    left, right : float
        Width of the subtree to the left and to the right of the centre of the label.
    x : float
        The centre of the label: relative to the parent at first, then to the left end of the tree.
    span : (int, int)
        First word and end (excluded).
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
        """Width of the subtree."""
        return self.left + self.right


def lay_out(tree: Tree, measure: Callable[[str], float], gap: float) -> list[Place]:
    """The positions of all nodes, a parent before its parts.

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
            label, word = clipped(node.label), clipped(values[0])
            half = max(map(measure, (label, word))) / 2
            return Place(label, word, [], 0, half, half)
        label = clipped(node.label)
        return _stand_over(label, values, measure(label) / 2, gap)

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
    """A parent above the centre of its parts, which are placed side by side."""
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
        Maximum number of columns; a wider tree is drawn as an outline. None for no limit.

    Returns
    -------
    str
        Lines, without a newline at the end.

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
    for gap in (3, 1):  # odd, like the widths, so that every word has a central column
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
    """Rows of cells; the cell after a wide character is empty."""

    def __init__(self) -> None:
        self.rows: list[dict[int, str]] = []

    def line(self, row: int, column: int, character: str) -> None:
        while len(self.rows) <= row:
            self.rows.append({})
        self.rows[row][column] = character

    def write(self, row: int, middle: int, text: str) -> None:
        """Write a text centred on this column."""
        column = middle - (cell_len(text) - 1) // 2
        for character in text:
            wide = cell_len(character)
            if not wide:  # a combining character
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
    """The tree as an indented outline, for sentences that are too long for one row.

    A constituent with a single part is on the same line as this part, and a constituent that has
    only words is on the same line as its words.

    Examples
    --------
    >>> print(draw_outline("(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks))))"))
    TOP ─ S
    ├─ NP  The/DT dog/NN
    └─ VP  barks/VBZ
    """
    lines: list[str] = []
    # Nodes with the prefix of their first line and of the lines below.
    stack: list[tuple[Tree, str, str]] = [(as_tree(tree), "", "")]
    while stack:
        node, before, below = stack.pop()
        labels = [] if node.preterminal else [clipped(node.label)]
        while len(node.children) == 1 and not node.preterminal and not _child(node, 0).preterminal:
            node = _child(node, 0)
            labels.append(clipped(node.label))
        words = [node] if node.preterminal else list(node.children)
        flat = all(word.preterminal for word in words)  # type: ignore[union-attr]
        said = " ".join(map(_tagged, words)) if flat else ""  # type: ignore[arg-type]
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


def _tagged(node: Tree) -> str:
    """A word with its tag."""
    return f"{clipped(node.children[0])}/{clipped(node.label)}"


def _child(node: Tree, i: int) -> Tree:
    return node.children[i]  # type: ignore[return-value]


def wrong_brackets(places: Iterable[Place], truth: Any) -> set[int]:
    """Indices of the places that are constituents which the true tree does not have."""
    there = [(clipped(label), *span) for label, *span in as_tree(truth).spans()]
    wrong = set()
    for number, place in enumerate(places):
        if place.parts:
            bracket = (place.label, *place.span)
            if bracket in there:
                there.remove(bracket)
            else:
                wrong.add(number)
    return wrong
