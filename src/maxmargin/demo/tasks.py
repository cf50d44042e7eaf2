"""The tasks of the demo: data, and models for single parts and for whole structures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC

from ..data.trees import Tree
from ..datasets import make_codes, make_trees
from ..structures.cfg.estimator import CFGSVC
from ..structures.chain.estimator import ChainSVC

#: The parameter C of all structural models here.
C = 0.1

#: Seeds of the training and of the test sentences.
TRAIN_SEED, TEST_SEED = 1, 2


@dataclass(frozen=True)
class Codes:
    """Handwritten test codes with their true digits and two predictions.

    Attributes
    ----------
    images : list of float64 arrays (length, 64)
    truth, alone, chain : lists of lists of int
        The true digits, and those predicted by a classifier of single images and by the chain.
    model : ChainSVC
    n_train : int
        Number of training codes.
    """

    images: list[np.ndarray]
    truth: list[list[int]]
    alone: list[list[int]]
    chain: list[list[int]]
    model: ChainSVC
    n_train: int


@dataclass(frozen=True)
class Sentences:
    """Test sentences with their true trees, and predictions of tags and trees.

    Attributes
    ----------
    truth : list of Tree
    alone, chain : lists of lists of str
        The tags predicted by a classifier of single words and by the chain.
    parsed : list of Tree
        The trees predicted by the parser.
    tagger : ChainSVC
    parser : CFGSVC
    n_train : int
        Number of training sentences.
    """

    truth: list[Tree]
    alone: list[list[str]]
    chain: list[list[str]]
    parsed: list[Tree]
    tagger: ChainSVC
    parser: CFGSVC
    n_train: int

    @property
    def tags(self) -> list[list[str]]:
        """The true tags."""
        return [tree.tags() for tree in self.truth]


def read_codes(n_train: int = 300, n_test: int = 500) -> Codes:
    """Train on keypad codes, and predict the test codes digit by digit and as chains."""
    X, X_test, Y, Y_test = make_codes(n_train, n_test)
    alone = LinearSVC().fit(np.concatenate(X), np.concatenate(Y))
    model = ChainSVC(C=C).fit(X, Y)
    return Codes(
        images=X_test,
        truth=Y_test,
        alone=[alone.predict(x).tolist() for x in X_test],
        chain=model.predict(X_test),
        model=model,
        n_train=n_train,
    )


def read_sentences(n_train: int = 300, n_test: int = 300) -> Sentences:
    """Train on a small treebank, and tag and parse the test sentences."""
    trees, truth = make_trees(n_train, TRAIN_SEED), make_trees(n_test, TEST_SEED)
    # For the tagging models, the only feature of a token is the word.
    X, X_test = ([[[word] for word in tree.leaves()] for tree in some] for some in (trees, truth))
    Y = [tree.tags() for tree in trees]
    alone: Any = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LinearSVC())
    alone.fit([word for words in X for word in words], [tag for tags in Y for tag in tags])
    tagger = ChainSVC(C=C).fit(X, Y)
    parser = CFGSVC(C=C, features="rich").fit(None, trees)
    return Sentences(
        truth=truth,
        alone=[alone.predict(words).tolist() for words in X_test],
        chain=tagger.predict(X_test),
        parsed=parser.predict([tree.leaves() for tree in truth]),
        tagger=tagger,
        parser=parser,
        n_train=n_train,
    )


def part_right(truth: list[list[Any]], found: list[list[Any]]) -> float:
    """Percentage of digits or words whose label is correct."""
    pairs = [a == b for x, y in zip(truth, found, strict=True) for a, b in zip(x, y, strict=True)]
    return 100 * sum(pairs) / len(pairs)


def whole_right(truth: list[Any], found: list[Any]) -> float:
    """Percentage of codes or sentences without any error."""
    return 100 * sum(a == b for a, b in zip(truth, found, strict=True)) / len(truth)


def figures(codes: Codes, sentences: Sentences) -> list[tuple[str, ...]]:
    """Rows of the table of accuracies: name, each part alone, chain, tree."""
    tags, tree_tags = sentences.tags, [tree.tags() for tree in sentences.parsed]
    rows = [
        ("digits", part_right, codes.truth, (codes.alone, codes.chain)),
        ("whole codes", whole_right, codes.truth, (codes.alone, codes.chain)),
        ("tags of words", part_right, tags, (sentences.alone, sentences.chain, tree_tags)),
        ("tags of whole sentences", whole_right, tags,
         (sentences.alone, sentences.chain, tree_tags)),
    ]  # fmt: skip
    found: list[tuple[str, ...]] = [
        (name, *(f"{measure(truth, guess):.1f} %" for guess in guesses), *[""] * (3 - len(guesses)))
        for name, measure, truth, guesses in rows
    ]
    trees = whole_right(sentences.truth, sentences.parsed)
    return [*found, ("whole trees", "", "", f"{trees:.1f} %")]
