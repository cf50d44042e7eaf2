"""Generated sentences of a small grammar, with parts of speech, chunks or trees.

With them taggers and parsers can be tried without a download. Words are ambiguous ("saw" is a noun
and a verb), every file has new words, some parts of speech are wrong, and some chunk tags can be
made wrong too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .trees import Tree


def _words(text: str) -> list[str]:
    return text.split()


_NOUNS = _words(
    "dog cat child teacher garden river letter saw run walk talk plan report house bird"
)
_VERBS = _words("sees likes finds saw run walk talk plan report reads wants leaves watches")
_NAMES = _words("Anna Berlin Carlos Delhi Emma Fatima Geneva Hiro")
_ADJECTIVES = _words("old small red happy quiet long open clear")
_ADVERBS = _words("often slowly never again today")
_PREPOSITIONS = _words("in on near with after before")
_DETERMINERS = _words("the a every this")
_MODALS = _words("will can must should")

#: Words of trees; words that can be nouns and verbs in the past tense are in both lists.
_TREE_NOUNS = _words("dog cat child teacher garden letter river bird saw cut felt cast set")
_TREE_VERBS = _words("saw cut felt cast set found liked watched painted followed")
_TREE_DETERMINERS = _words("the the this every")
_OF_NOUNS = _words("of near behind")
_OF_VERBS = _words("with after before")

#: Syllables of invented words, which make every file contain new words.
_SYLLABLES = _words("ba de fi go lu mo na pe ri so tu va ze ki")

#: Parts of speech that are sometimes confused.
_CONFUSED = {"NN": "VB", "VB": "NN", "JJ": "NN", "RB": "JJ"}

Token = tuple[str, str, str]


def make_conll(n: int = 300, seed: int = 0, noise: float = 0.0) -> list[str]:
    """Lines of a CoNLL file: word, part of speech and chunk tag; a blank line ends a sentence.

    Parameters
    ----------
    n : int
        Number of sentences.
    seed : int
        Seed of the random number generator.
    noise : float
        Fraction of the sentences in which one chunk tag is wrong.

    Returns
    -------
    list of str

    Examples
    --------
    >>> lines = make_conll(2, seed=0)
    >>> [len(line.split()) for line in lines if line] == [3] * (len(lines) - 2)
    True
    """
    random = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        tokens = [_mistag(random, token) for token in _sentence(random)]
        if random.random() < noise:
            _spoil(random, tokens)
        lines += [" ".join(token) for token in tokens] + [""]
    return lines


def write_conll(path: str | Path, n: int = 300, seed: int = 0, noise: float = 0.0) -> None:
    """Write ``make_conll(n, seed, noise)`` to a file."""
    Path(path).write_text("".join(f"{line}\n" for line in make_conll(n, seed, noise)), "utf-8")


def _pick(random: np.random.Generator, words: list[str]) -> str:
    return words[int(random.integers(len(words)))]


def _invent(random: np.random.Generator) -> str:
    return "".join(_pick(random, _SYLLABLES) for _ in range(3))


def _sentence(random: np.random.Generator) -> Iterator[Token]:
    yield from _noun_phrase(random)
    if random.random() < 0.25:
        yield _pick(random, _ADVERBS), "RB", "B-ADVP"
    yield from _verb_phrase(random)
    if random.random() < 0.75:
        yield from _noun_phrase(random)
    for _ in range(int(random.integers(3))):
        yield _pick(random, _PREPOSITIONS), "IN", "B-PP"
        yield from _noun_phrase(random)
    yield ".", ".", "O"


def _noun_phrase(random: np.random.Generator) -> Iterator[Token]:
    if random.random() < 0.2:
        yield _pick(random, _NAMES), "NNP", "B-NP"
        return
    yield _pick(random, _DETERMINERS), "DT", "B-NP"
    for _ in range(int(random.integers(3))):
        yield _pick(random, _ADJECTIVES), "JJ", "I-NP"
    noun = _pick(random, _NOUNS)
    if random.random() < 0.15:
        noun = _invent(random)
    yield noun, "NN", "I-NP"
    if random.random() < 0.15:
        yield _pick(random, _NOUNS), "NN", "I-NP"


def _verb_phrase(random: np.random.Generator) -> Iterator[Token]:
    tag = "B-VP"
    if random.random() < 0.35:
        yield _pick(random, _MODALS), "MD", tag
        tag = "I-VP"
    yield _pick(random, _VERBS), "VB", tag


def _mistag(random: np.random.Generator, token: Token) -> Token:
    """Replace some parts of speech by wrong ones, as an automatic tagger would."""
    word, pos, tag = token
    if pos in _CONFUSED and random.random() < 0.08:
        pos = _CONFUSED[pos]
    return word, pos, tag


def _spoil(random: np.random.Generator, tokens: list[Any]) -> None:
    """Give a chunk of one token a wrong type; the tag sequence stays valid."""
    tags = [tag for _, _, tag in tokens]
    single = [t for t in range(len(tags) - 1) if not tags[t + 1].startswith("I-")]
    t = single[int(random.integers(len(single)))]
    types = ["B-ADVP", "B-NP", "B-PP", "B-VP"]
    others = [tag for tag in types if tag != tags[t]]
    tokens[t] = (*tokens[t][:2], _pick(random, others))


def make_trees(n: int = 300, seed: int = 0) -> list[Tree]:
    """Constituent trees of generated sentences.

    Whether "saw" is a noun or a verb depends on its neighbours. The preposition decides whether a
    phrase such as "near the river" belongs to the noun or to the verb before it. Some nouns are
    invented.

    Parameters
    ----------
    n : int
        Number of sentences.
    seed : int
        Seed of the random number generator.

    Returns
    -------
    list of Tree

    Examples
    --------
    >>> trees = make_trees(2)
    >>> [(tree.label, [part.label for part in tree.children]) for tree in trees]
    [('S', ['NP', 'VP']), ('S', ['NP', 'VP'])]
    """
    random = np.random.default_rng(seed)
    return [Tree("S", [_noun_tree(random), _verb_tree(random)]) for _ in range(n)]


def _tag(random: np.random.Generator, tag: str, words: list[str]) -> Tree:
    return Tree(tag, [_pick(random, words)])


def _noun_tree(random: np.random.Generator, nested: bool = False) -> Tree:
    """A noun phrase; a phrase inside another one (``nested``) ends with its noun."""
    if random.random() < 0.15:
        return Tree("NP", [_tag(random, "NNP", _NAMES)])
    parts = [_tag(random, "DT", _TREE_DETERMINERS)]
    if random.random() < 0.4:
        parts.append(_tag(random, "JJ", _ADJECTIVES))
    if random.random() < 0.12:  # as in "the garden saw"
        parts.append(_tag(random, "NN", _TREE_NOUNS))
    invented = random.random() < 0.1
    parts.append(_tag(random, "NN", [_invent(random)] if invented else _TREE_NOUNS))
    phrase = Tree("NP", parts)
    kind = 1.0 if nested else random.random()
    if kind < 0.15:
        clause = Tree("SBAR", [Tree("WDT", ["that"]), _verb_tree(random, nested=True)])
        return Tree("NP", [phrase, clause])
    if kind < 0.4:
        return Tree("NP", [phrase, _preposition_tree(random, _OF_NOUNS)])
    return phrase


def _verb_tree(random: np.random.Generator, nested: bool = False) -> Tree:
    parts = [_tag(random, "VBD", _TREE_VERBS)]
    kind = 0.0 if nested else random.random()
    if kind < 0.8:
        parts.append(_noun_tree(random, nested))
    if kind > 0.5:
        parts.append(_preposition_tree(random, _OF_VERBS))
    return Tree("VP", parts)


def _preposition_tree(random: np.random.Generator, words: list[str]) -> Tree:
    return Tree("PP", [_tag(random, "IN", words), _noun_tree(random, nested=True)])
