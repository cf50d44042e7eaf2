"""Binary trees for CKY: every node has two parts or one word.

*Unary chains are collapsed.* A node with one child, this child's only child, and so on become one
node: its ``symbol`` is that of the lowest, which has several children or a word, and its ``chain``
are the others above it. *Long rules are split from the right*: ``A -> B C D`` becomes
``A -> B (C D)``, where ``(C D)`` is a ``Part``. So every tree of L words has L - 1 nodes with two
parts and L nodes with one word. The conversion loses nothing:
``unbinarise(binarise(tree), words) == tree``.

The two options are those of Klein and Manning (2003). ``horizontal`` is the number of following
children that a part remembers. By default it remembers all, so that the binary rules generate
exactly the rules of the trees. With fewer, a part also remembers its parent, and new rules can be
composed. With ``vertical=2`` the symbol of a constituent contains its label and that of its parent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ...data.trees import Tree


class Phrase(NamedTuple):
    """A constituent, with the label of its parent if ``vertical=2`` ("" at the root)."""

    label: str
    parent: str | None = None


class Tag(NamedTuple):
    """The tag of a word."""

    label: str


class Part(NamedTuple):
    """The last children of a constituent: all of them, or only the first of them and the owner."""

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
        """The symbol that the rule of the parent contains."""
        return self.chain[0] if self.chain else self.symbol


def binarise(tree: Tree, horizontal: int | None = None, vertical: int = 1) -> list[Node]:
    """The nodes of a tree, a parent before its parts, the left part before the right."""
    words = count_words(tree)
    nodes: list[Node] = []
    # Remaining work: a tree below ``owner``, or its last children; the first and the last word.
    todo: list[tuple[Tree | tuple[Any, ...], Phrase | None, int, int]] = []
    todo.append((tree, None, 0, words[id(tree)]))
    while todo:
        item, owner, start, end = todo.pop()
        if isinstance(item, tuple):
            known = item if horizontal is None else item[:horizontal]
            rest = tuple([_symbol(child, owner, vertical) for child in known])
            nodes.append(Node(start, end, Part(None if horizontal is None else owner, rest)))
            children = item
        else:
            chain: list[Phrase] = []
            symbol = _symbol(item, owner, vertical)
            while len(item.children) == 1 and isinstance(symbol, Phrase):
                chain.append(symbol)
                item, owner = item.children[0], symbol  # type: ignore[assignment]
                symbol = _symbol(item, owner, vertical)  # type: ignore[arg-type]
            nodes.append(Node(start, end, symbol, tuple(chain)))
            if isinstance(symbol, Tag):
                continue
            children, owner = item.children, symbol
        middle = start + words[id(children[0])]
        todo.append((children[1:] if len(children) > 2 else children[1], owner, middle, end))  # type: ignore[arg-type]
        todo.append((children[0], owner, start, middle))  # type: ignore[arg-type]
    return nodes


def count_words(tree: Tree) -> dict[int, int]:
    """The number of words below each node, by the node's ``id``."""
    count: dict[int, int] = {}
    for node in reversed(list(tree.subtrees())):
        children = node.children
        inner = type(children[0]) is Tree
        count[id(node)] = sum([count[id(child)] for child in children]) if inner else 1
    return count


def unbinarise(nodes: Sequence[Node], words: Sequence[str]) -> Tree:
    """The tree with the binary form ``nodes``."""
    stack: list[list[Tree]] = []  # lists of siblings
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
    """``(parent, left, right)`` per node with two parts, None per word."""
    rules: list[tuple[Symbol, Symbol, Symbol] | None] = []
    tops: list[Symbol] = []
    for node in reversed(list(nodes)):
        two = node.end - node.start > 1
        rules.append((node.symbol, tops.pop(), tops.pop()) if two else None)
        tops.append(node.top)
    return rules[::-1]


def _symbol(tree: Tree, owner: Phrase | None, vertical: int) -> Phrase | Tag:
    if type(tree.children[0]) is not Tree:
        return Tag(tree.label)
    if vertical == 1:
        return Phrase(tree.label)
    return Phrase(tree.label, owner.label if owner else "")
