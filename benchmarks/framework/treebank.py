"""Trees for the experiments with parsing, and what they have in common."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.data.trees import Tree

from .data import find_file

if TYPE_CHECKING:
    from maxmargin.result import Result
    from maxmargin.structures.cfg.problem import CFG


class Treebank(NamedTuple):
    """Trees to train on and to test with."""

    trees: list[Tree]
    test: list[Tree]

    def first(self, n: int) -> Treebank:
        """The same with the first n training trees only."""
        return self._replace(trees=self.trees[:n])


@lru_cache(maxsize=4)
def load_treebank(
    name: str,
    directory: Path | None,
    seed: int | None = None,
    length: int = 15,
    form: str = "unary",
) -> Treebank:
    """Read ``wsj_cfg`` or ``gum_cfg``, the training trees shuffled if there is a seed.

    ``form`` is "unary", or "collapsed" for files in which a unary chain is one symbol.
    """
    from maxmargin.io import read_trees

    parts = ("train", "test")
    files = (find_file(name, directory, f"le{length}.{form}.{part}.txt.gz") for part in parts)
    trees, test = (read_trees(file)[1] for file in files)
    if seed is not None:
        order = np.random.default_rng(seed).permutation(len(trees))
        trees = [trees[i] for i in order]
    return Treebank(trees, test)


def read_problem(trees: list[Tree], loss: str = "zero-one", **options: Any) -> CFG:
    """The grammar and features of these trees; the input is raw words by default."""
    from maxmargin.structures.cfg.problem import CFG

    return CFG.read(None, trees, loss=loss, **options)


def sentences(problem: CFG, trees: list[Tree]) -> list[Any]:
    """The input of the parser for these trees."""
    kind = problem.lexicon.input
    take = {"words": Tree.leaves, "tags": Tree.tags, "tagged": Tree.pos}[kind]
    return [take(tree) for tree in trees]


def train_trees(problem: CFG, trees: list[Tree], **options: Any) -> Result:
    """Training of a parser on trees whose grammar the problem has."""
    from maxmargin.training import train

    return train(problem, sentences(problem, trees), trees, **options)


def parse(problem: CFG, w: np.ndarray, trees: list[Tree]) -> list[Tree | None]:
    """The best trees over the sentences of these trees."""
    from maxmargin.engine.shard import predict_labels

    pack = problem.pack(sentences(problem, trees))
    return problem.unpack(pack, predict_labels(problem, pack, w))


def within_grammar(problem: CFG, trees: list[Tree]) -> list[bool]:
    """Whether each tree has only rules and unary chains of the training trees."""
    return [_encodes(problem, tree) for tree in trees]


def _encodes(problem: CFG, tree: Tree) -> bool:
    try:
        problem.grammar.encode(tree)
    except KeyError:
        return False
    return True


def relative_frequencies(problem: CFG, trees: list[Tree]) -> np.ndarray:
    """The weights that make the decoder a treebank PCFG: logarithms of relative frequencies.

    A rule ``A -> B C`` weighs log n(A -> B C) / n(A), a word log n(tag -> word) / n(tag). An
    unknown word stands for the words that occur once in training: its weight is the logarithm of
    the fraction of its tag's tokens that are such words with its signature (or of its class, if
    none has its signature). The parser adds up its features of rare words, so each weight is a
    difference to the next coarser one.
    """
    from maxmargin.structures.cfg.lexicon import signature, word_class

    grammar, lexicon = problem.grammar, problem.lexicon
    w = np.zeros(int(problem.base[-1]))
    rules: Counter[Any] = Counter(rule for tree in trees for rule in _rules(tree))
    parents: Counter[Any] = Counter()
    for rule, n in rules.items():
        parents[rule[0]] += n
    for number, rule in enumerate(grammar.features):
        w[number] = np.log(rules[rule] / parents[rule[0]])
    pairs: Counter[Any] = Counter(pair for tree in trees for pair in tree.pos())
    tags: Counter[str] = Counter()
    names: dict[str, Counter[str]] = {}
    for (word, tag), n in pairs.items():
        tags[tag] += n
        names.setdefault(f"word {word}", Counter())[tag] += n
        if lexicon.counts[word] <= lexicon.rare:
            names.setdefault(f"signature {signature(word)}", Counter())[tag] += n
            names.setdefault(f"class {word_class(word)}", Counter())[tag] += n

    def weight(name: str, tag: str) -> float:
        return float(np.log(names[name][tag] / tags[tag]))

    K, base = len(grammar.tags), int(problem.base[0])
    for row, name in enumerate(lexicon.words.names_):
        kind, _, word = name.partition(" ")
        coarser = f"class {word.partition(' ')[0]}" if kind == "signature" else None
        if kind == "word" and lexicon.counts[word] <= lexicon.rare:
            coarser = f"signature {signature(word)}"
        for tag in names[name]:
            off = 0.0 if coarser is None else weight(coarser, tag)
            w[base + row * K + lexicon.tag_number[tag]] = weight(name, tag) - off
    return w


def _rules(tree: Tree) -> list[Any]:
    """The rules of a tree as the grammar names them: long ones by first child and the rest."""
    from maxmargin.structures.cfg.binary_rules import Part, Phrase, Tag

    def symbol(node: Any) -> Any:
        return Tag(node.label) if node.preterminal else Phrase(node.label)

    found = []
    for node in tree.subtrees():
        if not node.preterminal:
            first, *rest = map(symbol, node.children)
            right = rest if len(rest) < 2 else [Part(None, tuple(rest))]
            found.append((Phrase(node.label), first, *right))
    return found
