"""A tiny grammar whose trees can be listed, for the tests that every structure gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...data.brackets import as_tree
from ...data.trees import Tree
from ..tiny import Tiny
from .binary_rules import Phrase, Tag
from .estimator import CFGSVC
from .input import sentence_of
from .problem import CFG

TEXT = """(S (S (T a) (U b)) (T c))
(S (T a) (S (T b) (T c)))
(S (S (T c) (T a)) (T b))
(S (T a) (S (S (U b) (T c)) (T a)))
"""

#: The children that an S has in these trees, and the tags that a word has.
RULES = {("T", "U"), ("S", "T"), ("T", "T"), ("T", "S"), ("U", "T")}
LEXICON = {"a": "T", "b": "TU", "c": "T"}


def examples() -> list[Tiny]:
    """The three losses of trees."""
    trees = [as_tree(line) for line in TEXT.splitlines()]
    return [
        _example("bracket", trees, _bracket_loss),
        _example("zero-one", trees, lambda truth, y: float(truth != y)),
        _example("f1", trees, _f1_loss),
    ]


def _example(name: str, trees: list[Tree], loss: Any) -> Tiny:
    problem = CFG.read(None, trees, loss=name)
    return Tiny(
        name=name,
        problem=problem,
        X=[tree.leaves() for tree in trees],
        Y=trees,
        outputs=lambda x: _parses("S", x),
        features=lambda x, y: _features(problem, y),
        loss=loss,
        estimator=CFGSVC(loss=name),
        text=TEXT,
        command=("--loss", name),
    )


def _parses(symbol: str, words: Sequence[str]) -> list[Tree]:
    """All trees of the symbol over some words."""
    if symbol != "S":
        alone = len(words) == 1 and symbol in LEXICON[words[0]]
        return [Tree(symbol, [words[0]])] if alone else []
    return [
        Tree("S", [left, right])
        for cut in range(1, len(words))
        for first, second in sorted(RULES)
        for left in _parses(first, words[:cut])
        for right in _parses(second, words[cut:])
    ]


def _bracket_loss(truth: Tree, y: Tree) -> float:
    wrong = set(truth.spans()) ^ set(y.spans())
    return float(len(wrong) + sum(a != b for a, b in zip(truth.tags(), y.tags(), strict=True)))


def _f1_loss(truth: Tree, y: Tree) -> float:
    a, b = set(truth.spans()), set(y.spans())
    return 1 - 2 * len(a & b) / (len(a) + len(b))


def _features(problem: CFG, y: Tree) -> np.ndarray:
    """Counts of rules, and of words with their tags, in the order of the problem's names."""
    grammar, lexicon = problem.grammar, problem.lexicon
    phi, first, K = np.zeros(int(problem.base[-1])), problem.base[0], len(grammar.tags)
    for node in y.subtrees():
        if not node.preterminal:
            children = (Phrase(c.label) if c.label == "S" else Tag(c.label) for c in node.children)
            phi[grammar.features.index((Phrase("S"), *children))] += 1
    names, word_names = list(lexicon.words.names_), lexicon.word_names(sentence_of(y, "words"))
    for tag, found in zip(y.tags(), word_names, strict=True):
        for name in found:
            phi[first + names.index(name) * K + grammar.tags.index(tag)] += 1
    return phi
