"""Trees in the form that CKY builds: two parts or one word a node, and no node over one node.

*Unary chains are collapsed.* A node with one child, that child's only child and so on are one
node: its ``symbol`` is that of the lowest, which has several children or a word, and its ``chain``
are those above it. *Long rules are cut from the right*: ``A -> B C D`` becomes ``A -> B (C D)``,
where ``(C D)`` is a ``Part``. So a sentence of L words has L - 1 nodes of two parts and L of one
word, whatever its tree. Nothing is lost: ``unbinarise(binarise(tree), words) == tree``.

The two options are those of Klein and Manning (2003). ``horizontal`` is how many of the children
that are still to come a part remembers. By default it remembers all, so that the binary rules make
the rules of the trees and no others; with fewer, a part knows its parent as well, and new rules
can be put together from what was seen. With ``vertical=2`` the symbol of a constituent is its label
and its parent's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ...data.trees import Tree


class Phrase(NamedTuple):
    """A constituent; its parent's label is there with ``vertical=2`` only ("" at the root)."""

    label: str
    parent: str | None = None


class Tag(NamedTuple):
    """What stands over a word."""

    label: str


class Part(NamedTuple):
    """The last children of a constituent: all of them, or the first of them and the owner."""

    owner: Phrase | None
    rest: tuple[Phrase | Tag, ...]


Symbol = Phrase | Tag | Part


class Node(NamedTuple):
    """A node over words start..end-1; ``chain`` are the constituents above it, the top first."""

    start: int
    end: int
    symbol: Symbol
    chain: tuple[Phrase, ...] = ()

    @property
    def top(self) -> Symbol:
        """What the parent sees."""
        return self.chain[0] if self.chain else self.symbol


def binarise(tree: Tree, horizontal: int | None = None, vertical: int = 1) -> list[Node]:
    """The nodes of a tree, a parent before its parts, the left part before the right."""
    size: dict[int, int] = {}
    for node in reversed(list(tree.subtrees())):
        size[id(node)] = 1 if node.preterminal else sum(size[id(c)] for c in node.children)
    nodes: list[Node] = []
    # What is still to do: a tree below ``parent``, or the last children of ``parent``.
    todo: list[tuple[Tree | tuple[Any, ...], Phrase | None, int]] = [(tree, None, 0)]

    def split(children: tuple[Any, ...], owner: Phrase, start: int) -> None:
        first: Any = children[0]
        rest: Any = children[1:]
        todo.append((rest if len(rest) > 1 else rest[0], owner, start + size[id(first)]))
        todo.append((first, owner, start))

    while todo:
        item, owner, start = todo.pop()
        if isinstance(item, tuple):
            known = item if horizontal is None else item[:horizontal]
            part = Part(
                None if horizontal is None else owner,
                tuple(_symbol(child, owner, vertical) for child in known),
            )
            nodes.append(Node(start, start + sum(size[id(child)] for child in item), part))
            assert owner is not None
            split(item, owner, start)
            continue
        chain: list[Phrase] = []
        symbol = _symbol(item, owner, vertical)
        while len(item.children) == 1 and not item.preterminal:
            assert isinstance(symbol, Phrase)
            chain.append(symbol)
            item, owner = item.children[0], symbol  # type: ignore[assignment]
            symbol = _symbol(item, owner, vertical)  # type: ignore[arg-type]
        nodes.append(Node(start, start + size[id(item)], symbol, tuple(chain)))
        if isinstance(symbol, Phrase):
            split(item.children, symbol, start)
    return nodes


def unbinarise(nodes: Sequence[Node], words: Sequence[str]) -> Tree:
    """The tree of which ``nodes`` are the binary form."""
    stack: list[list[Tree]] = []  # what stands side by side below a node
    for node in reversed(nodes):
        if node.end - node.start == 1:
            found = [Tree(node.symbol.label, [words[node.start]])]  # type: ignore[union-attr]
        else:
            found = stack.pop() + stack.pop()
            if isinstance(node.symbol, Phrase):
                found = [Tree(node.symbol.label, found)]
        for phrase in reversed(node.chain):
            found = [Tree(phrase.label, found)]
        stack.append(found)
    return stack[0][0]


def binary_rules(nodes: Iterable[Node]) -> list[tuple[Symbol, Symbol, Symbol] | None]:
    """``(parent, left, right)`` of each node of two parts, None of each word."""
    rules: list[tuple[Symbol, Symbol, Symbol] | None] = []
    tops: list[Symbol] = []
    for node in reversed(list(nodes)):
        two = node.end - node.start > 1
        rules.append((node.symbol, tops.pop(), tops.pop()) if two else None)
        tops.append(node.top)
    return rules[::-1]


def _symbol(tree: Tree, owner: Phrase | None, vertical: int) -> Phrase | Tag:
    if tree.preterminal:
        return Tag(tree.label)
    if vertical == 1:
        return Phrase(tree.label)
    return Phrase(tree.label, owner.label if owner else "")
