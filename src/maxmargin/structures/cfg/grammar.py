"""The grammar of the training trees: symbols, rules and unary chains, as arrays.

Symbols are numbered: constituents, then tags, then parts of long rules. Binary rules are sorted by
their right part and then by their left part, because CKY looks them up in this order. Chain 0 is no
chain; the others are the unary chains that occur in the trees, each of which is a single step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numba.extending import register_jitable

from ...data.trees import Tree
from ...engine.linalg import read_only
from ...errors import DataError
from .binary_rules import Node, Part, Phrase, Symbol, Tag, binarise, binary_rules, unbinarise

#: The table of a grammar is a single array, because numba compiles functions of many arrays slowly.
#: It begins with these numbers, followed by the positions of its sections.
N_PHRASES, N_TAGS, N_LABELS, START, N_GROUPS = range(5)

#: Its sections. Rule r is PARENT[r] -> LEFT[r] RIGHT[r]; those with right part C are
#: FIRST[C]:FIRST[C + 1]. Chain c goes from BOTTOM[c] up to TOP[c] and adds the constituents
#: LABELS[LABEL_AT[c]:LABEL_AT[c + 1]], each counted once; the chains above symbol X are
#: ABOVE[ABOVE_AT[X]:ABOVE_AT[X + 1]], those that end in T BELOW[BELOW_AT[T]:BELOW_AT[T + 1]]. The
#: features of rule r are FEATURE[FEATURE_AT[r]:FEATURE_AT[r + 1]]; the entry of chain c in
#: FEATURE_AT is R + c. LABEL is the label of each constituent, USE the possible uses of a symbol,
#: WIDTH the class of each width, and BASE the positions in w of the kinds of features.
(
    LEFT, RIGHT, PARENT, FIRST, BOTTOM, TOP, LABELS, LABEL_AT, ABOVE, ABOVE_AT, BELOW, BELOW_AT,
    FEATURE, FEATURE_AT, LABEL, USE, WIDTH, BASE,
) = range(5, 23)  # fmt: skip

#: Uses of a symbol: as left part, as right part, as root, or a sum of these.
AS_LEFT, AS_RIGHT, AS_ROOT = 1, 2, 4


@register_jitable
def section(table, k):
    """Section k of a table."""
    return table[table[k] : table[k + 1]]


class Grammar:
    """Rules over numbered symbols.

    Parameters
    ----------
    symbols : list of Phrase, Tag and Part, in this order
    rules : list of (parent, left, right), numbers of symbols
    chains : list of tuples of symbol numbers, from the top to the symbol at the bottom
    roots : list of symbol numbers, the most frequent first
    horizontal, vertical : how the trees were binarised
    """

    def __init__(
        self,
        symbols: Sequence[Symbol],
        rules: Iterable[Sequence[int]],
        chains: Iterable[Sequence[int]],
        roots: Sequence[int],
        horizontal: int | None = None,
        vertical: int = 1,
    ):
        self.symbols = list(symbols)
        self.rules = sorted(map(tuple, rules), key=lambda rule: (rule[2], rule[1], rule[0]))
        self.chains = [(), *sorted(map(tuple, chains))]
        self.roots = list(roots)
        self.horizontal, self.vertical = horizontal, vertical
        self.phrases = [s for s in self.symbols if isinstance(s, Phrase)]
        self.tags = [s.label for s in self.symbols if isinstance(s, Tag)]
        self.labels = sorted({phrase.label for phrase in self.phrases})
        self.number = {symbol: k for k, symbol in enumerate(self.symbols)}
        self.rule_number = {rule: r for r, rule in enumerate(self.rules)}
        self.chain_number = {chain: c for c, chain in enumerate(self.chains)}
        self._check()
        self.features, lists = self._features()
        self._sections = self._make_sections(lists)

    @classmethod
    def read(
        cls, trees: Iterable[Tree], horizontal: int | None = None, vertical: int = 1
    ) -> Grammar:
        """All rules of the trees."""
        rules: dict[Any, None] = {}
        chains: dict[Any, None] = {}
        seen: dict[Symbol, None] = {}
        roots: dict[Symbol, int] = {}
        for tree in trees:
            nodes = binarise(tree, horizontal, vertical)
            roots[nodes[0].top] = roots.get(nodes[0].top, 0) + 1
            for node, rule in zip(nodes, binary_rules(nodes), strict=True):
                seen.update(dict.fromkeys((*node.chain, node.symbol)))
                if rule is not None:
                    rules[rule] = None
                if node.chain:
                    chains[(*node.chain, node.symbol)] = None
        symbols = [s for kind in (Phrase, Tag, Part) for s in seen if isinstance(s, kind)]
        number = {symbol: k for k, symbol in enumerate(symbols)}
        return cls(
            symbols,
            [[number[s] for s in rule] for rule in rules],
            [[number[s] for s in chain] for chain in chains],
            [number[s] for s in sorted(roots, key=lambda s: -roots[s])],
            horizontal,
            vertical,
        )

    @property
    def n_rules(self) -> int:
        """The number of binary rules."""
        return len(self.rules)

    def encode(self, tree: Tree) -> list[tuple[int, int, int, int]]:
        """``(start, end, rule, chain)`` of each node; a word's rule is R + the number of its tag.

        Raises
        ------
        KeyError
            If the tree has a rule, a chain, a tag or a root that the grammar does not have.
        """
        nodes = binarise(tree, self.horizontal, self.vertical)
        if self.number.get(nodes[0].top) not in self.roots:
            raise KeyError(f"the root {tree.label}")
        codes = []
        for node, rule in zip(nodes, binary_rules(nodes), strict=True):
            chain = tuple(self.number.get(s, -1) for s in (*node.chain, node.symbol))
            if rule is None:
                symbol = self.number.get(node.symbol)
                code = None if symbol is None else self.n_rules + symbol - len(self.phrases)
            else:
                code = self.rule_number.get(tuple(self.number.get(s, -1) for s in rule))
            if code is None:
                raise KeyError(f"the rule {describe(rule, node)}")
            c = self.chain_number.get(chain) if node.chain else 0
            if c is None:
                labels = " -> ".join(s.label for s in (*node.chain, node.symbol))  # type: ignore
                raise KeyError(f"the unary chain {labels}")
            codes.append((node.start, node.end, code, c))
        return codes

    def derives(self, tree: Tree) -> bool:
        """Whether it has all rules, chains and tags of a tree, and its root."""
        try:
            self.encode(tree)
        except KeyError:
            return False
        return True

    def decode(self, codes: Iterable[Sequence[int]], words: Sequence[str]) -> Tree:
        """The tree of such nodes; for fragments see ``cky_trace.trace_fragments``."""
        R, P, n_chains = self.n_rules, len(self.phrases), len(self.chains)
        root = self.phrase(self.roots[0])
        nodes = []
        for at, (start, end, rule, chain) in enumerate(codes):
            if rule == R + len(self.tags):  # fragments side by side
                symbol: Symbol = root if at == 0 else Part(None, ())
            else:
                symbol = self.symbols[self.rules[rule][0] if rule < R else P + rule - R]
            names = [self.phrase(s) for s in self.chains[chain % n_chains][:-1]]
            if chain >= n_chains:  # a single fragment, below the most frequent root
                names.insert(0, root)
            nodes.append(Node(start, end, symbol, tuple(names)))
        return unbinarise(nodes, words)

    def phrase(self, number: int) -> Phrase:
        """A constituent; for a tag (the root of a one-word tree) a constituent with its label."""
        symbol = self.symbols[number]
        return symbol if isinstance(symbol, Phrase) else Phrase(symbol.label)  # type: ignore

    def _check(self) -> None:
        """Raise an error unless all numbers are symbols of the right kind; CKY does not check."""
        n, m = len(self.phrases), len(self.phrases) + len(self.tags)
        S = len(self.symbols)
        kinds = [(Phrase, Tag, Part).index(type(s)) for s in self.symbols]
        if kinds != sorted(kinds) or len(self.number) < S:
            raise ValueError("symbols are not in order, or some are equal")
        if not self.tags or not self.roots:
            raise DataError("the grammar has no tags or no roots: there are no trees to learn from")
        for parent, left, right in self.rules:
            if not (0 <= parent < S and 0 <= left < m and 0 <= right < S) or n <= parent < m:
                raise ValueError(f"{(parent, left, right)} is not a rule")
        for chain in self.chains[1:]:
            if len(chain) < 2 or not 0 <= chain[-1] < m or not all(0 <= s < n for s in chain[:-1]):
                raise ValueError(f"{chain} is not a chain")
        if not all(0 <= s < m for s in self.roots):
            raise ValueError("a root is not a constituent")

    def _features(self) -> tuple[list[Any], list[list[int]]]:
        """The names of the features of rules, and their numbers for each rule and chain.

        The features are the rules of the trees. If symbols contain parents, there is also a feature
        of the rule without parents.
        """
        number: dict[Any, int] = {}
        lists = []
        for parent, left, right in self.rules:
            names = (self.symbols[parent], self.symbols[left], self.symbols[right])
            whole = self.horizontal is None and isinstance(names[0], Part)
            keys = [] if whole else dict.fromkeys([names, strip(names)])
            lists.append([number.setdefault(key, len(number)) for key in keys])
        for chain in self.chains:
            pairs = list(pairwise(self.symbols[s] for s in chain))
            keys = [key for pair in pairs for key in dict.fromkeys([pair, strip(pair)])]
            lists.append([number.setdefault(key, len(number)) for key in keys])
        return list(number), lists

    def _make_sections(self, lists: list[list[int]]) -> list[Any]:
        """All sections of the table up to USE."""
        S, n = len(self.symbols), len(self.phrases)
        parent, left, right = np.array(self.rules, np.int64).reshape(-1, 3).T
        tops = [chain[0] if chain else -1 for chain in self.chains]
        bottoms = [chain[-1] if chain else -1 for chain in self.chains]
        places = {label: k for k, label in enumerate(self.labels)}
        label = [places[phrase.label] for phrase in self.phrases]
        extra = []
        for chain in self.chains:
            own = label[chain[-1]] if chain and chain[-1] < n else -1
            extra.append(sorted({label[s] for s in chain[:-1]} - {own}))
        above, below = grouped(bottoms, S), grouped(tops, S)
        use = np.zeros(S, np.int64)
        use[left] |= AS_LEFT
        use[right] |= AS_RIGHT
        use[self.roots] |= AS_ROOT
        first = np.searchsorted(right, np.arange(S + 1))
        return [
            left, right, parent, first, bottoms, tops,
            *flat(extra), *flat(above), *flat(below), *flat(lists), label, use,
        ]  # fmt: skip

    def table(self, n_groups: int, widths: Sequence[int], base: Sequence[int]) -> np.ndarray:
        """The grammar in the form that CKY reads, with the other numbers that scores need."""
        root = self.symbols[self.roots[0]]
        start = self.labels.index(root.label) if isinstance(root, Phrase) else -1
        numbers = [len(self.phrases), len(self.tags), len(self.labels), start, n_groups]
        sections = [*self._sections, widths, base]
        ends = np.cumsum([BASE + 2, *map(len, sections)])
        return ints(np.concatenate([numbers, ends, *sections]))


def strip(names: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same symbols without their parents."""

    def bare(symbol: Any) -> Any:
        if isinstance(symbol, Phrase):
            return Phrase(symbol.label)
        if isinstance(symbol, Part):
            owner = None if symbol.owner is None else bare(symbol.owner)
            return Part(owner, tuple(bare(s) for s in symbol.rest))
        return symbol

    return tuple(bare(symbol) for symbol in names)


def describe(rule: Any, node: Node) -> str:
    """A rule of a tree as text."""
    if rule is None:
        return f"{node.symbol.label} -> a word"  # type: ignore[union-attr]
    parent, left, right = rule
    if isinstance(parent, Part):
        return "of which it is a part"
    rest = right.rest if isinstance(right, Part) else (right,)
    dots = " ..." if isinstance(right, Part) and right.owner else ""
    return f"{parent.label} -> {' '.join(s.label for s in (left, *rest))}{dots}"


def grouped(symbols: Sequence[int], n: int) -> list[list[int]]:
    """For each of n symbols its places in a list; -1 is no symbol."""
    found: list[list[int]] = [[] for _ in range(n)]
    for at, symbol in enumerate(symbols):
        if symbol >= 0:
            found[symbol].append(at)
    return found


def ints(values: Any) -> np.ndarray:
    """A read-only int32 array."""
    return read_only(np.array(values, np.int32), np.int32)


def flat(lists: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Lists as one array, and an array of the positions at which they begin."""
    ends = np.cumsum([0, *map(len, lists)])
    return ints([value for values in lists for value in values]), ints(ends)
