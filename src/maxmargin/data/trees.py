"""Constituent trees, the outputs of a parser.

A node above a word is a preterminal, whose label is the tag of the word; all other nodes are
constituents. No method is recursive, so that trees may be as deep as memory allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..errors import DataError

ESCAPES = {"(": "-LRB-", ")": "-RRB-"}
"""How brackets in words are written in bracketed files."""


class Tree:
    """A constituent with its children, or a tag with its word; immutable.

    Parameters
    ----------
    label : str
        The category, or the tag of a word.
    children : iterable of Tree, or of one str
        A str is a word: the node is then a preterminal, and the word is its only child.

    Examples
    --------
    >>> subject, verb = Tree("PRP", ["She"]), Tree("VBZ", ["sleeps"])
    >>> tree = Tree("S", [Tree("NP", [subject]), Tree("VP", [verb])])
    >>> print(tree)
    (S (NP (PRP She)) (VP (VBZ sleeps)))
    >>> tree.pos()
    [('She', 'PRP'), ('sleeps', 'VBZ')]
    >>> tree.spans()
    [('S', 0, 2), ('NP', 0, 1), ('VP', 1, 2)]
    """

    __slots__ = ("children", "label")

    label: str
    children: tuple[Tree | str, ...]

    def __init__(self, label: str, children: Iterable[Tree | str]) -> None:
        parts = tuple(children)
        for part in parts:
            if type(part) is not Tree and (len(parts) > 1 or not isinstance(part, str)):
                raise DataError(
                    f"{part!r} is not a Tree, or is a word next to other children of {label!r}: "
                    "give each word a separate node with its tag as the label"
                )
        if not parts:
            raise DataError(f"a node {label!r} needs trees, or one word, as children")
        _set_label(self, label)
        _set_children(self, parts)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a Tree cannot be changed; make a new one")

    @property
    def preterminal(self) -> bool:
        """Whether the node is a tag above a word."""
        return type(self.children[0]) is not Tree

    def preterminals(self) -> list[Tree]:
        """The nodes above the words, from left to right."""
        found: list[Tree] = []
        stack: list[Any] = [self]
        while stack:
            node = stack.pop()
            children = node.children
            if type(children[0]) is Tree:
                stack.extend(children[::-1])
            else:
                found.append(node)
        return found

    def leaves(self) -> list[str]:
        """The words."""
        return [node.children[0] for node in self.preterminals()]  # type: ignore[misc]

    def tags(self) -> list[str]:
        """The tags of the words."""
        return [node.label for node in self.preterminals()]

    def pos(self) -> list[tuple[str, str]]:
        """Pairs of word and tag."""
        return [(node.children[0], node.label) for node in self.preterminals()]  # type: ignore[misc]

    def subtrees(self) -> Iterator[Tree]:
        """All nodes, a parent before its children, from left to right."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            children = node.children
            if type(children[0]) is Tree:
                stack.extend(children[::-1])  # type: ignore[arg-type]

    def spans(self) -> list[tuple[str, int, int]]:
        """Label, first word and end (excluded) of each constituent; parents come first."""
        found: list[tuple[str, int, int]] = []
        ends: list[tuple[int, str, int]] = []  # index in found, label and start of open ones
        stack: list[Any] = [self]
        position = 0
        while stack:
            node = stack.pop()
            if node is None:
                place, label, start = ends.pop()
                found[place] = (label, start, position)
            elif node.preterminal:
                position += 1
            else:
                ends.append((len(found), node.label, position))
                found.append(("", 0, 0))
                stack.append(None)
                stack.extend(reversed(node.children))
        return found

    def draw(self) -> str:
        """The tree drawn as text; see `maxmargin.data.tree_text`."""
        from .tree_text import draw_text

        return draw_text(self)

    def _repr_svg_(self) -> str:
        from .tree_svg import draw_svg

        return draw_svg(self)

    def _flat(self) -> list[tuple[str, int | str]]:
        """Label and number of children, or the word, of all nodes, which determine the tree."""
        return [
            (node.label, node.children[0] if node.preterminal else len(node.children))  # type: ignore[misc]
            for node in self.subtrees()
        ]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self is other or self._flat() == other._flat()

    def __hash__(self) -> int:
        return hash(tuple(self._flat()))

    def __len__(self) -> int:
        return len(self.children)

    def __str__(self) -> str:
        parts: list[str] = []
        stack: list[Any] = [self]
        while stack:
            node = stack.pop()
            if node is None:
                parts.append(")")
            elif node.preterminal:
                parts.append(f" ({node.label} {escape(node.children[0])})")
            else:
                parts.append(f" ({node.label}")
                stack.append(None)
                stack.extend(reversed(node.children))
        return "".join(parts)[1:]

    def __repr__(self) -> str:
        return f"Tree({str(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unflatten, (self._flat(),)


_set_label = Tree.label.__set__  # type: ignore[attr-defined]
_set_children = Tree.children.__set__  # type: ignore[attr-defined]


def _unflatten(flat: list[tuple[str, int | str]]) -> Tree:
    """The inverse of `Tree._flat`."""
    stack: list[Tree] = []
    for label, content in reversed(flat):
        if isinstance(content, str):
            stack.append(Tree(label, [content]))
        else:
            children = stack[: -content - 1 : -1]
            del stack[-content:]
            stack.append(Tree(label, children))
    return stack[0]


def escape(word: str) -> str:
    """The word as it is written in a bracketed file: ``(`` becomes ``-LRB-``.

    >>> escape("("), escape(":)"), escape("dog")
    ('-LRB-', ':-RRB-', 'dog')
    """
    if "(" in word or ")" in word:
        for bracket, name in ESCAPES.items():
            word = word.replace(bracket, name)
    return word


def fold(root: Any, children: Callable[[Any], Iterable[Any]], make: Callable[..., Any]) -> Any:
    """The value of ``root``, where the value of a node is ``make(node, values of its children)``.

    The value of a word is the word. Nodes are visited bottom-up, without recursion.
    """
    stack: list[tuple[Any, Iterator[Any], list[Any]]] = [(root, iter(children(root)), [])]
    while True:
        node, rest, values = stack[-1]
        for child in rest:
            if isinstance(child, str):
                values.append(child)
            else:
                stack.append((child, iter(children(child)), []))
                break
        else:
            stack.pop()
            value = make(node, values)
            if not stack:
                return value
            stack[-1][2].append(value)


def to_nltk(tree: Tree) -> Any:
    """The tree as an ``nltk.Tree``; needs NLTK."""
    from nltk import Tree as NltkTree

    def make(node: Tree, values: list[Any]) -> Any:
        return NltkTree(node.label, values)

    return fold(tree, lambda node: node.children, make)
