"""Read sentences and trees in all supported forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...data.brackets import as_tree
from ...data.source import list_of
from ...data.trees import Tree
from ...errors import DataError

#: The values of the parameters ``input``, ``features`` and ``loss`` of a parser.
INPUTS = ("words", "tags", "tagged")
FEATURES = ("rules", "rich")
LOSSES = ("bracket", "zero-one", "f1")


class Sentence(NamedTuple):
    """The words of a sentence, and their tags if these are given."""

    words: list[str]
    tags: list[str] | None


def read_sentence(x: Any, input: str, i: int) -> Sentence:
    """Sentence number i of X.

    With ``input="tagged"`` a token is a pair (word, tag), otherwise a str; a sentence that is one
    str is split at blanks.
    """
    tokens: list[Any] = x.split() if isinstance(x, str) else list_of(x, f"sentence {i}")
    if input == "tagged":
        for t, token in enumerate(tokens):
            if (
                not isinstance(token, tuple | list)
                or len(token) != 2
                or not all(isinstance(s, str) for s in token)
            ):
                raise DataError(
                    f"token {t} of sentence {i} is {token!r}: with input='tagged' a token is a "
                    "pair (word, tag)"
                )
        return Sentence([word for word, _ in tokens], [tag for _, tag in tokens])
    for t, token in enumerate(tokens):
        if not isinstance(token, str):
            raise DataError(
                f"token {t} of sentence {i} is {token!r}: with input={input!r} a token is a str "
                "(for pairs (word, tag) use input='tagged')"
            )
    return Sentence(tokens, tokens if input == "tags" else None)


def sentence_of(tree: Tree, input: str) -> Sentence:
    """The sentence of a true tree, in the form that the parser reads."""
    tags = tree.tags()
    return Sentence(tags if input == "tags" else tree.leaves(), None if input == "words" else tags)


def read_examples(X: Any, Y: Any, input: str) -> tuple[list[Sentence], list[Tree]]:
    """Sentences and matching true trees; if X is None, the sentences are those of the trees."""
    trees = []
    for i, y in enumerate(list_of(Y, "Y")):
        try:
            trees.append(as_tree(y))
        except DataError as error:
            raise DataError(f"tree {i} of Y: {error}") from error
    if X is None:
        return [sentence_of(tree, input) for tree in trees], trees
    X = list_of(X, "X")
    if len(X) != len(trees):
        raise DataError(
            f"X has {len(X)} sentences and Y has {len(trees)} trees: the numbers must be equal"
        )
    sentences = [read_sentence(x, input, i) for i, x in enumerate(X)]
    for i, (sentence, tree) in enumerate(zip(sentences, trees, strict=True)):
        check_agreement(i, sentence, sentence_of(tree, input))
    return sentences, trees


def check_agreement(i: int, given: Sentence, true: Sentence) -> None:
    """Raise a DataError unless a tree has the words and tags of its sentence."""
    if len(given.words) != len(true.words):
        raise DataError(
            f"sentence {i} has {len(given.words)} tokens and its tree {len(true.words)}: the "
            "numbers must be equal"
        )
    for name, mine, other in (("words", given.words, true.words), ("tags", given.tags, true.tags)):
        for t, (a, b) in enumerate(zip(mine or (), other or (), strict=True)):
            if a != b:
                raise DataError(
                    f"token {t} of sentence {i} is {a!r}, but its tree has {b!r} there: the {name} "
                    "must be the same"
                )


def read_sentences(X: Sequence[Any], input: str) -> list[Sentence]:
    """Sentences to be parsed."""
    if isinstance(X, str):
        raise DataError("X is one string: give a list of sentences, such as ['the dog barks']")
    return [read_sentence(x, input, i) for i, x in enumerate(list_of(X, "X"))]
