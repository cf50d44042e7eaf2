"""Max-marginals of the tags and constituents of sentences, for their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...data.checked import check_vector
from ...problem import Pack
from .outside import fill_marginals, outside_work

#: A constituent: its label, first word and the word after its last.
Constituent = tuple[str, int, int]


class TreeMarginals(NamedTuple):
    """Probabilities of the parts of a predicted tree.

    Attributes
    ----------
    tags : array (L, n_tags)
        Probabilities of the tags of each word, in the order of ``grammar_.tags``; rows sum to 1.
    constituents : dict
        The probability of each constituent ``(label, start, end)`` of the predicted tree.
    """

    tags: np.ndarray
    constituents: dict[Constituent, float]


class TreeScores(NamedTuple):
    """Max-marginals of one sentence.

    Attributes
    ----------
    tags : array (L, n_tags)
        The best score of a tree with this tag at this word; -inf if there is none. If the grammar
        has no tree for the sentence, the score of the tag alone.
    margins : array (m,)
        For each of the given constituents, the best score of a tree with it minus that of a tree
        without it; NaN if the grammar has no tree for the sentence.
    """

    tags: np.ndarray
    margins: np.ndarray


def constituents_of(tree: Any) -> list[Constituent]:
    """The constituents of a tree without repetitions; none for an empty sentence."""
    return [] if tree is None else sorted(set(tree.spans()), key=lambda c: (c[1], -c[2], c[0]))


def score_trees(
    problem: Any, pack: Pack, w: np.ndarray, constituents: Sequence[Sequence[Constituent]]
) -> list[TreeScores]:
    """Max-marginals of packed sentences, and of some constituents of each.

    Parameters
    ----------
    problem : CFG
    pack : Pack
    w : array (dim,)
    constituents : list of lists of (label, start, end)
    """
    w, data = check_vector(w, pack.dim), pack.data
    number = {label: k for k, label in enumerate(problem.grammar.labels)}
    lengths, K = np.diff(data.offsets), len(problem.grammar.tags)
    work = np.empty(outside_work(data.table, int(lengths.max(initial=0))))
    found = []
    for i, L in enumerate(lengths.tolist()):
        query = np.array([(a, b, number.get(name, -1)) for name, a, b in constituents[i]], np.int64)
        query, tags = query.reshape(-1, 3), np.empty(L * K)
        margins = np.full(len(query), np.nan)
        if L > 0:
            fill_marginals(data, w, i, query, tags, margins, work)
        found.append(TreeScores(tags.reshape(L, K), margins))
    return found
