"""Comparison of predicted with true trees, by the rules of ``evalb``.

The rules are those of evalb with its parameter file COLLINS.prm, which all published figures use:

- A bracket is the label and the span of a constituent; tags are not brackets. Equal brackets are
  counted separately: if a bracket occurs twice in one tree and once in the other, one is correct.
- Roots (TOP, ROOT, S1) are not counted. Labels end at the first ``-`` or ``=``.
- Words tagged as punctuation (``,`` ``:`` `````` ``''`` ``.``) or as traces (``-NONE-``) are left
  out of spans and of the tagging accuracy, and so are constituents that contain only such words. A
  word is left out if it is tagged so in both trees, as in the versions of evalb that fix quotes.
- PRT equals ADVP.
- A bracket crosses if it overlaps with a true one and neither contains the other.
- An exact match is a tree with all brackets correct; its tags may be wrong.

Unlike in evalb, a sentence without a predicted tree is not left out: all of its brackets and tags
count as missed. Different words in the two trees are an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, Self

import numpy as np

from ..data.brackets import as_tree
from ..data.trees import Tree
from ..errors import DataError
from .counts import Counts

ROOTS = frozenset({"TOP", "ROOT", "S1"})
PUNCTUATION = frozenset({",", ":", "``", "''", "."})
TRACES = frozenset({"-NONE-"})

_COLUMNS = ("correct", "found", "support", "crossing", "tags", "words", "missing")
Bracket = tuple[str, int, int]


@dataclass(frozen=True)
class BracketEvaluation:
    """Counts of predicted trees; ``print`` shows them like evalb's summary.

    Attributes
    ----------
    trees : int array (n, 7)
        For each sentence the number of correct, predicted and true brackets, of predicted brackets
        that cross true ones, of words with the correct tag and of words; and 1 if no tree was
        predicted.
    labels : Counts
        Counts of brackets per label.

    Examples
    --------
    >>> true = "(TOP (S (NP (PRP She)) (VP (VBZ eats) (NP (NN fish)))))"
    >>> found = "(TOP (S (NP (PRP She)) (VP (VBZ eats) (PP (NN fish)))))"
    >>> evaluation = BracketEvaluation.of([true], [found])
    >>> evaluation.precision, evaluation.f1, evaluation.tagging_accuracy
    (0.75, 0.75, 1.0)
    """

    trees: np.ndarray
    labels: Counts

    @classmethod
    def of(
        cls,
        truth: Iterable[Any],
        predicted: Iterable[Any],
        *,
        punctuation: bool = False,
        particles: bool = False,
    ) -> Self:
        """Compare predicted with true trees.

        Parameters
        ----------
        truth, predicted : iterables of Tree, nltk.Tree or str
            A prediction may be None if there is no tree.
        punctuation : bool
            Whether to count punctuation like other words.
        particles : bool
            Whether PRT and ADVP are different labels.

        Raises
        ------
        DataError
            If the numbers of trees, or the words of two trees, differ.
        """
        there = [as_tree(tree) for tree in truth]
        given = [None if tree is None else as_tree(tree) for tree in predicted]
        if len(there) != len(given):
            raise DataError(
                f"there are {len(there)} true trees and {len(given)} predicted ones: "
                "the numbers must agree"
            )
        ignored = TRACES if punctuation else TRACES | PUNCTUATION
        rows = np.zeros((len(there), len(_COLUMNS)), np.int64)
        totals = Counter(), Counter(), Counter()
        for i, (a, b) in enumerate(zip(there, given, strict=True)):
            true, found, tags = _compare(i, a, b, ignored, particles)
            both = true & found
            rows[i] = (both.total(), found.total(), true.total(), _crossing(true, found), *tags,
                       b is None)  # fmt: skip
            for total, brackets in zip(totals, (both, found, true), strict=True):
                for (label, _, _), n in brackets.items():
                    total[label] += n
        names = sorted({*totals[1], *totals[2]}, key=lambda name: (-totals[2][name], name))
        counts = (np.array([total[name] for name in names], np.int64) for total in totals)
        return cls(rows, Counts(names, *counts))

    @cached_property
    def totals(self) -> dict[str, int]:
        """The sums of the columns of ``trees``."""
        return dict(zip(_COLUMNS, self.trees.sum(axis=0).tolist(), strict=True))

    def __len__(self) -> int:
        return len(self.trees)

    @property
    def precision(self) -> float:
        """Fraction of the predicted brackets that are correct; 0 if there are none."""
        return self.totals["correct"] / max(self.totals["found"], 1)

    @property
    def recall(self) -> float:
        """Fraction of the true brackets that are found; 0 if there are none."""
        return self.totals["correct"] / max(self.totals["support"], 1)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return float(_f1(self.trees.sum(axis=0)))

    @property
    def exact_match(self) -> float:
        """Fraction of the trees with all brackets correct."""
        correct, found, support = self.trees[:, :3].T
        right = (correct == found) & (correct == support) & (self.trees[:, 6] == 0)
        return int(right.sum()) / max(len(self), 1)

    @property
    def tagging_accuracy(self) -> float:
        """Fraction of the words with the correct tag."""
        return self.totals["tags"] / max(self.totals["words"], 1)

    @property
    def crossing(self) -> float:
        """Average number of crossing brackets per tree."""
        return self.totals["crossing"] / max(len(self), 1)

    def crossing_at_most(self, n: int) -> float:
        """Fraction of the trees with at most n crossing brackets."""
        return int((self.trees[:, 3] <= n).sum()) / max(len(self), 1)

    def interval(self, level: float = 0.95, n: int = 2000, seed: int = 0) -> tuple[float, float]:
        """A bootstrap confidence interval of F1, which resamples sentences with replacement.

        Parameters
        ----------
        level : float
            Probability that the interval contains the F1 of the population.
        n : int
            Number of bootstrap samples.
        seed : int
            Seed of the random number generator.
        """
        return _quantiles(_f1(self._draw(n, seed) @ self.trees), level)

    def difference(
        self, other: BracketEvaluation, level: float = 0.95, n: int = 2000, seed: int = 0
    ) -> tuple[float, float]:
        """A bootstrap interval of this F1 minus that of other predictions of the same sentences.

        Both are evaluated on the same samples, so the interval is shorter than the separate
        intervals of the two F1 suggest.
        """
        if len(self) != len(other):
            raise DataError(
                f"there are {len(self)} and {len(other)} trees: compare the same sentences"
            )
        drawn = self._draw(n, seed)
        return _quantiles(_f1(drawn @ self.trees) - _f1(drawn @ other.trees), level)

    def _draw(self, n: int, seed: int) -> np.ndarray:
        """How often each sentence is drawn in each sample."""
        if len(self) == 0:
            raise DataError("there are no trees to draw samples from")
        share = np.full(len(self), 1 / len(self))
        return np.random.default_rng(seed).multinomial(len(self), share, size=n)

    def to_dict(self) -> dict[str, Any]:
        """All numbers as JSON types."""
        return {
            "trees": len(self),
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "exact_match": self.exact_match,
            "tagging_accuracy": self.tagging_accuracy,
            "crossing": self.crossing,
            "no_crossing": self.crossing_at_most(0),
            "two_or_less_crossing": self.crossing_at_most(2),
            "brackets": {key: self.totals[key] for key in ("correct", "found", "support")},
            "words": self.totals["words"],
            "without_tree": self.totals["missing"],
            "labels": self.labels.rows(),
        }

    def __str__(self) -> str:
        t = self.totals
        rows = [
            ("bracketing recall", self.recall, f"{t['correct']:,} of {t['support']:,} brackets"),
            ("bracketing precision", self.precision, f"{t['correct']:,} of {t['found']:,}"),
            ("bracketing F1", self.f1, ""),
            ("exact match", self.exact_match, f"of {len(self):,} trees"),
            ("tagging accuracy", self.tagging_accuracy, f"{t['tags']:,} of {t['words']:,} words"),
            ("no crossing", self.crossing_at_most(0), f"{self.crossing:.2f} crossing per tree"),
            ("2 or less crossing", self.crossing_at_most(2), ""),
        ]  # fmt: skip
        if t["missing"]:
            rows.append(("without a tree", t["missing"] / len(self), f"{t['missing']:,} sentences"))
        return "\n".join(f"{name:<20}  {100 * x:6.2f} %  {more}".rstrip() for name, x, more in rows)


def bracket_f1(truth: Iterable[Any], predicted: Iterable[Any]) -> float:
    """F1 of labelled brackets over all trees, by evalb's rules.

    Parameters
    ----------
    truth, predicted : iterables of Tree, nltk.Tree or str
        A prediction may be None if there is no tree.

    Examples
    --------
    >>> bracket_f1(["(S (NP (PRP I)) (VP (VBP am)))"], ["(S (NP (PRP I)) (NP (VBP am)))"])
    0.6666666666666666
    """
    return BracketEvaluation.of(truth, predicted).f1


def _quantiles(values: np.ndarray, level: float) -> tuple[float, float]:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _f1(sums: np.ndarray) -> np.ndarray:
    return 2 * sums[..., 0] / np.maximum(sums[..., 1] + sums[..., 2], 1)


def _compare(
    i: int, a: Tree, b: Tree | None, ignored: frozenset[str], particles: bool
) -> tuple[Counter[Bracket], Counter[Bracket], tuple[int, int]]:
    """True and predicted brackets, and the numbers of words with the correct tag and of words."""
    true = a.pos()
    found = true if b is None else b.pos()
    if [word for word, _ in true] != [word for word, _ in found]:
        raise DataError(
            f"tree {i}: the words differ: {_difference(true, found)}; compare trees of the same "
            "sentences, in the same order"
        )
    pairs = [(s, t) for (_, s), (_, t) in zip(true, found, strict=True)]
    kept = [s not in ignored or t not in ignored for s, t in pairs]
    place = [0, *accumulate(kept)]
    words = place[-1]
    if b is None:
        return _brackets(a, place, particles), Counter(), (0, words)
    right = sum(s == t for (s, t), keep in zip(pairs, kept, strict=True) if keep)
    return _brackets(a, place, particles), _brackets(b, place, particles), (right, words)


def _difference(true: list[tuple[str, str]], found: list[tuple[str, str]]) -> str:
    for place, ((a, _), (b, _)) in enumerate(zip(true, found, strict=False)):
        if a != b:
            return f"word {place} is {a!r} in the true tree and {b!r} in the predicted one"
    return f"the true tree has {len(true)} words, the predicted one {len(found)}"


def _brackets(tree: Tree, place: list[int], particles: bool) -> Counter[Bracket]:
    """The brackets that count, with positions among the words that count."""
    found: Counter[Bracket] = Counter()
    for label, start, end in tree.spans():
        start, end = place[start], place[end]
        label = _cut(label)
        if start < end and label not in ROOTS:
            found["ADVP" if label == "PRT" and not particles else label, start, end] += 1
    return found


def _cut(label: str) -> str:
    return label.partition("-")[0].partition("=")[0]


def _crossing(true: Counter[Bracket], found: Counter[Bracket]) -> int:
    """Predicted brackets that overlap with a true one without one containing the other."""
    spans = {(start, end) for _, start, end in true}
    return sum(
        n for (_, s, e), n in found.items() if any(a < s < b < e or s < a < e < b for a, b in spans)
    )
