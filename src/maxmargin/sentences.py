"""Sentences of a small grammar, with parts of speech and chunks: a CoNLL file out of nothing.

They are there so that a tagger can be tried without any download. Words are ambiguous ("saw" and
"run" are nouns and verbs), new words appear in every file, some parts of speech are wrong, and some
chunk tags can be made wrong too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np


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

#: Parts of invented words: every file has some that no other has.
_SYLLABLES = _words("ba de fi go lu mo na pe ri so tu va ze ki")

#: Parts of speech that are sometimes taken for one another.
_CONFUSED = {"NN": "VB", "VB": "NN", "JJ": "NN", "RB": "JJ"}

Token = tuple[str, str, str]


def make_conll(n: int = 300, seed: int = 0, noise: float = 0.0) -> list[str]:
    """Lines of a CoNLL file: word, part of speech and chunk tag, with blank lines in between.

    Parameters
    ----------
    n : int
        Number of sentences.
    seed : int
    noise : float
        Part of the sentences in which one chunk tag is wrong.

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
    from .io import write_lines_atomic

    write_lines_atomic(path, make_conll(n, seed, noise))


def _pick(random: np.random.Generator, words: list[str]) -> str:
    return words[int(random.integers(len(words)))]


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
        noun = "".join(_pick(random, _SYLLABLES) for _ in range(3))
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
    """Parts of speech as a program finds them: some nouns are taken for verbs, and others."""
    word, pos, tag = token
    if pos in _CONFUSED and random.random() < 0.08:
        pos = _CONFUSED[pos]
    return word, pos, tag


def _spoil(random: np.random.Generator, tokens: list[Any]) -> None:
    """A chunk of one token gets a wrong type: the tags are wrong, but still possible."""
    tags = [tag for _, _, tag in tokens]
    single = [t for t in range(len(tags) - 1) if not tags[t + 1].startswith("I-")]
    t = single[int(random.integers(len(single)))]
    types = ["B-ADVP", "B-NP", "B-PP", "B-VP"]
    others = [tag for tag in types if tag != tags[t]]
    tokens[t] = (*tokens[t][:2], _pick(random, others))
