"""The lexicon of a parser: tags of words, classes of unknown words, and features of tokens.

An unknown word is treated by its class: the kinds of its characters and its last two letters
(``signature``), or only the kinds of its characters. Words that occur at most ``rare`` times in the
training data also have the features of their class, so that these are learned from rare words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from ...features import Vocabulary
from ...features.functions import short_shape, word_class
from .input import Sentence

#: Numbers of the most frequent words and signatures that have a separate group.
FREQUENT_WORDS, FREQUENT_SIGNATURES = 80, 60

#: With rich features, words with at most this count may have other tags than those seen.
UNSURE = 5

END = "\n"  # before and after a sentence; no word contains a newline


@lru_cache(maxsize=2**16)
def signature(word: str) -> str:
    """The class of a word, and its last two letters if it has four or more characters."""
    kind = word_class(word)
    return f"{kind} {word[-2:].lower()}" if len(word) > 3 and word[-2:].isalpha() else kind


class Lexicon:
    """Words of the training data with their counts and the numbers of their tags.

    Parameters
    ----------
    counts : dict of str to int
    tags : dict of str to list of int
        Numbers of the tags of each word in the training data.
    names : list of str
        All tags.
    input : {"words", "tags", "tagged"}
    rich : bool
        Whether there are features of prefixes, suffixes, shapes, neighbours and edges of spans.
    rare : int
    """

    def __init__(
        self,
        counts: dict[str, int],
        tags: dict[str, list[int]],
        names: Sequence[str],
        input: str = "words",
        rich: bool = False,
        rare: int = 1,
    ):
        self.counts, self.tags, self.input, self.rich, self.rare = counts, tags, input, rich, rare
        self.words, self.edges = Vocabulary([]), Vocabulary([])
        self.tag_number = {name: k for k, name in enumerate(names)}
        self._class_tags: dict[str, set[int]] = {}
        unknown: set[int] = set()
        for word, count in counts.items():
            if count <= max(rare, 1):
                unknown.update(tags[word])
                for name in (signature(word), word_class(word)):
                    self._class_tags.setdefault(name, set()).update(tags[word])
        self._open = unknown or set(range(len(names)))
        self._groups = self._find_groups()

    @classmethod
    def read(
        cls, sentences: Sequence[Sentence], gold: Iterable[Sequence[int]], names: Sequence[str],
        input: str, rich: bool, rare: int,
    ) -> Lexicon:  # fmt: skip
        """The lexicon of the training data, with the names of all its features."""
        counts: dict[str, int] = {}
        tags: dict[str, dict[int, None]] = {}
        for sentence, numbers in zip(sentences, gold, strict=True):
            for word, k in zip(sentence.words, numbers, strict=True):
                counts[word] = counts.get(word, 0) + 1
                tags.setdefault(word, {})[k] = None
        lexicon = cls(counts, {w: sorted(t) for w, t in tags.items()}, names, input, rich, rare)
        lexicon.words = Vocabulary(seen(map(lexicon.word_names, sentences), 1))
        lexicon.edges = Vocabulary(seen(map(lexicon.edge_names, sentences), 2))
        return lexicon

    @property
    def n_groups(self) -> int:
        """The number of groups of tokens, including those of ends and of unknown tokens."""
        return len(self._groups) + 2

    def allowed(self, sentence: Sentence) -> list[list[int]]:
        """The numbers of the possible tags of each token, at least one."""
        if sentence.tags is None:
            return [self._allowed(word) for word in sentence.words]
        everything = list(range(len(self.tag_number)))
        known = (self.tag_number.get(tag) for tag in sentence.tags)
        return [everything if k is None else [k] for k in known]

    def groups(self, sentence: Sentence) -> list[int]:
        """The group of each token: that of its tag if given, otherwise of its word or signature."""
        find = self._groups.get
        if sentence.tags is not None:
            return [find(tag, 1) for tag in sentence.tags]
        return [find(self._group(word), 1) for word in sentence.words]

    def word_names(self, sentence: Sentence) -> list[list[str]]:
        """The features of each token; none if tags are given."""
        words = sentence.words
        if sentence.tags is not None:
            return [[] for _ in words]
        found = []
        for t, word in enumerate(words):
            names = [f"word {word}"]
            if self.rich or self.counts.get(word, 0) <= self.rare:
                names += [f"signature {signature(word)}", f"class {word_class(word)}"]
            if self.rich:
                names += [f"suffix {word[-n:].lower()}" for n in (1, 2, 3, 4) if len(word) > n]
                names += [f"prefix {word[:n].lower()}" for n in (1, 2, 3) if len(word) > n]
                names += [f"shape {short_shape(word)}", f"lower {word.lower()}"]
                before = words[t - 1] if t > 0 else END
                after = words[t + 1] if t + 1 < len(words) else END
                names += [f"before {before}", f"after {after}"]
                names += [
                    f"group before {self._group(before)}",
                    f"group after {self._group(after)}",
                ]
            found.append(names)
        return found

    def edge_names(self, sentence: Sentence) -> list[list[str]]:
        """Features of the L + 1 positions between tokens, at which constituents begin or end."""
        if not self.rich:
            return [[] for _ in range(len(sentence.words) + 1)]
        words = [END, *sentence.words, END]
        if sentence.tags is None:
            kinds = [self._group(word) for word in words]
        else:
            kinds = [END, *sentence.tags, END]
        found = []
        for b, ((left, right), (a, c)) in enumerate(
            zip(pairwise(words), pairwise(kinds), strict=True)
        ):
            names = [f"left {a}", f"right {c}", f"both {a} {c}"]
            if b > 0:
                names.append(f"left two {kinds[b - 1]} {a}")
            if b + 2 < len(kinds):
                names.append(f"right two {c} {kinds[b + 2]}")
            if self.input != "tags":
                names += [f"left word {left}", f"right word {right}"]
                names += [f"left word {left} and {c}", f"right word {right} and {a}"]
            found.append(names)
        return found

    def _allowed(self, word: str) -> list[int]:
        seen, count = self.tags.get(word), self.counts.get(word, 0)
        if seen is not None and (count > UNSURE or not self.rich):
            return seen
        named = self._class_tags.get(signature(word)) or self._class_tags.get(word_class(word))
        return sorted((named or self._open).union(seen or ()))

    def _group(self, word: str) -> str:
        if word == END or f"word {word}" in self._groups:
            return f"word {word}"
        kind = signature(word)
        return kind if kind in self._groups else word_class(word)

    def _find_groups(self) -> dict[str, int]:
        """Numbers of groups; 0 is the end of the sentence, and 1 an unknown token."""
        if self.input != "words":
            return {tag: k + 2 for tag, k in self.tag_number.items()}
        frequent = sorted(self.counts, key=lambda word: (-self.counts[word], word))
        names = [f"word {word}" for word in frequent[:FREQUENT_WORDS]]
        kinds: Counter[str] = Counter()
        for word in frequent[FREQUENT_WORDS:]:
            kinds[signature(word)] += self.counts[word]
        names += sorted(kinds, key=lambda kind: (-kinds[kind], kind))[:FREQUENT_SIGNATURES]
        names += [word_class(word) for word in frequent]
        return {name: k + 2 for k, name in enumerate(dict.fromkeys(names))}


def seen(tokens: Iterable[list[list[str]]], least: int) -> list[str]:
    """Names that occur at least ``least`` times, the most frequent first."""
    counts = Counter(name for names in tokens for each in names for name in each)
    kept = [name for name, count in counts.items() if count >= least]
    return sorted(kept, key=lambda name: (-counts[name], name))


def find_rows(
    vocabulary: Vocabulary, names: Iterable[list[list[str]]]
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the known names of all rows as one array, and the positions of the rows."""
    rows = [each for sentence in names for each in sentence]
    sizes = np.fromiter(map(len, rows), np.int64, len(rows))
    numbers = vocabulary.lookup((name for each in rows for name in each), int(sizes.sum()))
    known = np.concatenate([[0], np.cumsum(numbers >= 0)])
    return numbers[numbers >= 0], known[np.concatenate([[0], np.cumsum(sizes)])]
