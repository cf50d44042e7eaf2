"""Small random treebanks, and all trees of a sentence with their features, by enumeration."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.data.trees import Tree
from maxmargin.problem import MARGIN, PREDICT
from maxmargin.structures.cfg.binary_rules import Part, Phrase, Tag, binarise, binary_rules
from maxmargin.structures.cfg.grammar import strip
from maxmargin.structures.cfg.problem import CFG, WIDTHS


def random_tree(
    random: np.random.RandomState, n: int, labels: str = "AB", tags: str = "xyz"
) -> Tree:
    """A tree over n words, with unary chains and rules of up to four children."""

    def grow(n: int) -> Tree:
        if n == 1:
            tag = tags[random.randint(len(tags))]
            tree = Tree(tag, [tag.upper() * random.randint(1, 3)])
        else:
            parts = min(n, random.choice([2, 2, 2, 3, 4]))
            cuts = sorted(random.choice(np.arange(1, n), parts - 1, replace=False).tolist())
            sizes = np.diff([0, *cuts, n]).tolist()
            tree = Tree(labels[random.randint(len(labels))], [grow(size) for size in sizes])
        while random.rand() < 0.25:
            tree = Tree(labels[random.randint(len(labels))], [tree])
        return tree

    return Tree("TOP", [grow(n)]) if random.rand() < 0.8 else grow(n)


@dataclass
class Treebank:
    """Trees and the options of their problem; ``new`` are sentences to parse as well."""

    trees: list[Tree]
    options: dict[str, Any]

    @cached_property
    def problem(self) -> CFG:
        return CFG.read(None, self.trees, **self.options)

    @property
    def input(self) -> str:
        return self.options.get("input", "words")

    def sentence(self, tree: Tree) -> list[Any]:
        return {"words": tree.leaves, "tags": tree.tags, "tagged": tree.pos}[self.input]()

    @property
    def X(self) -> list[Any]:
        return [self.sentence(tree) for tree in self.trees]

    def outputs(self, tree: Tree) -> list[Tree]:
        """All trees over the words of this one, from the rules and chains of the trees.

        Independent of how they are made binary, where no new rules can be put together.
        """
        rules, chains, roots = observed(self.trees)
        words, tags = tree.leaves(), tree.tags()
        lexicon: dict[str, set[str]] = {}
        for word, tag in itertools.chain.from_iterable(t.pos() for t in self.trees):
            lexicon.setdefault(word, set()).add(tag)

        if self.problem.lexicon.rich:  # words that are rare may have other tags
            lexicon = {
                word: {self.problem.grammar.tags[k] for k in self.problem.lexicon._allowed(word)}
                for word in words
            }

        def allowed(tag: str, i: int) -> bool:
            return tag in lexicon[words[i]] if self.input == "words" else tag == tags[i]

        @functools.cache
        def tops(symbol, i, j):
            found = list(bottoms(symbol, i, j))
            for chain in chains:
                if chain[0] == symbol:
                    for below in bottoms(chain[-1], i, j):
                        for phrase in reversed(chain[:-1]):
                            below = Tree(phrase.label, [below])
                        found.append(below)
            return found

        def bottoms(symbol, i, j):
            if isinstance(symbol, Tag):
                if j - i == 1 and allowed(symbol.label, i):
                    yield Tree(symbol.label, [words[i]])
                return
            for parent, children in rules:
                if parent == symbol and len(children) <= j - i:
                    for cuts in itertools.combinations(range(i + 1, j), len(children) - 1):
                        spans = list(itertools.pairwise([i, *cuts, j]))
                        parts = [tops(c, a, b) for c, (a, b) in zip(children, spans, strict=True)]
                        yield from (Tree(symbol.label, kids) for kids in itertools.product(*parts))

        found = [tree for root in roots for tree in tops(root, 0, len(words))]
        if self.input == "tags":
            found = [over(tree, tags) for tree in found]
        assert len(set(found)) == len(found)
        return found

    def loss(self, true: Tree, tree: Tree) -> float:
        if self.options.get("loss") == "zero-one":
            return float(over(true, tree.leaves()) != tree)
        wrong = set(true.spans()) ^ set(tree.spans())
        if self.options.get("loss") == "f1":
            return len(wrong) / max(len(set(true.spans())) + len(set(tree.spans())), 1)
        tags = sum(a != b for a, b in zip(true.tags(), tree.tags(), strict=True))
        return float(len(wrong) + tags)

    def value(self, w: np.ndarray, true: Tree, tree: Tree, mode: int) -> float:
        """What decode maximises."""
        score = w @ self.features(tree)
        if mode == PREDICT:
            return score
        margin, loss = w @ self.features(true) - score, self.loss(true, tree)
        return loss - margin if mode == MARGIN else loss * (1 - margin)

    def features(self, tree: Tree) -> np.ndarray:
        """phi, from the tree itself and the names of features."""
        grammar, lexicon = self.problem.grammar, self.problem.lexicon
        phi = np.zeros(int(self.problem.base[-1]))
        for key, count in self.rule_counts(tree).items():
            phi[grammar.features.index(key)] += count
        from maxmargin.structures.cfg.input import sentence_of

        sentence, K, NL = sentence_of(tree, self.input), len(grammar.tags), len(grammar.labels)
        base = self.problem.base
        names = {name: f for f, name in enumerate(lexicon.words.names_)}
        for tag, features in zip(tree.tags(), lexicon.word_names(sentence), strict=True):
            for name in features:
                if name in names:
                    phi[base[0] + names[name] * K + grammar.tags.index(tag)] += 1
        if not lexicon.rich:
            return phi
        edges = [[lexicon.edges.names_.index(name) for name in each if name in lexicon.edges.names_]
                 for each in lexicon.edge_names(sentence)]  # fmt: skip
        groups, n = [0, *lexicon.groups(sentence), 0], lexicon.n_groups
        for label, i, j in set(tree.spans()):
            A = grammar.labels.index(label)
            for f in edges[i]:
                phi[base[1] + f * 2 * NL + A] += 1
            for f in edges[j]:
                phi[base[1] + f * 2 * NL + NL + A] += 1
            width = sum(j - i > size for size in WIDTHS)
            phi[base[2] + width * NL + A] += 1
            phi[base[3] + (groups[i + 1] * n + groups[j]) * NL + A] += 1
            phi[base[4] + (groups[i] * n + groups[j + 1]) * NL + A] += 1
        return phi

    def rule_counts(self, tree: Tree) -> Counter[Any]:
        """How often each rule of the tree occurs, with the names that the grammar gives them."""
        horizontal, vertical = (
            self.options.get(k, d) for k, d in (("horizontal", None), ("vertical", 1))
        )
        counts: Counter[Any] = Counter()
        if horizontal is None and vertical == 1:
            for node in tree.subtrees():
                if not node.preterminal:
                    first, *rest = (symbol(child) for child in node.children)
                    right = rest if len(rest) < 2 else [Part(None, tuple(rest))]
                    counts[(Phrase(node.label), first, *right)] += 1
            return counts
        nodes = binarise(tree, horizontal, vertical)
        keys = [rule for rule in binary_rules(nodes) if rule is not None]
        if horizontal is None:
            keys = [rule for rule in keys if isinstance(rule[0], Phrase)]
        keys += [pair for node in nodes for pair in itertools.pairwise((*node.chain, node.symbol))]
        for key in keys:
            counts.update(set([key, strip(key)]))
        return counts


def symbol(tree: Tree) -> Any:
    return Tag(tree.label) if tree.preterminal else Phrase(tree.label)


def over(tree: Tree, words: list[str]) -> Tree:
    """The tree over other words."""
    rest = iter(words)

    def copy(node: Tree) -> Tree:
        if node.preterminal:
            return Tree(node.label, [next(rest)])
        return Tree(node.label, [copy(child) for child in node.children])

    return copy(tree)


def observed(trees: list[Tree]) -> tuple[set[Any], set[Any], set[Any]]:
    """``(rules, chains, roots)`` of trees, by looking at them."""
    rules, chains = set(), set()

    def look(node: Tree, chain: tuple[Any, ...]) -> None:
        chain = (*chain, symbol(node))
        if not node.preterminal and len(node.children) == 1:
            look(node.children[0], chain)
            return
        if len(chain) > 1:
            chains.add(chain)
        if not node.preterminal:
            rules.add((chain[-1], tuple(symbol(child) for child in node.children)))
            for child in node.children:
                look(child, ())

    for tree in trees:
        look(tree, ())
    return rules, chains, {symbol(tree) for tree in trees}


def random_treebank(seed: int, sizes: Any = (1, 2, 3, 4), **options: Any) -> Treebank:
    random = np.random.RandomState(seed)
    return Treebank([random_tree(random, n) for n in sizes], options)
