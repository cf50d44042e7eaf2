"""A trained parser: predictions, probabilities and suspects."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...data.brackets import as_tree
from ...data.probabilities import Sigmoid, Softmax
from ...data.trees import Tree, fold, to_nltk
from ...engine.shard import predict_labels
from ...estimators.base import _SVC
from ...estimators.calibrated import get_curve, if_calibrated
from ...estimators.prunable import Prunable
from ...metrics.brackets import bracket_f1
from ...outputs.calibration import Decisions
from ...outputs.explain import Suspects, find_suspects
from ...outputs.m_best import predict_m_best
from ...training import check_examples
from .grammar import Grammar
from .input import read_examples
from .lexicon import Lexicon
from .marginals import TreeMarginals, TreeScores, constituents_of, score_trees
from .problem import CFG


class _CFGModel(Prunable, _SVC):
    """The methods of a trained ``CFGSVC``."""

    loss: str
    input: str
    beam: float | None

    coef_: np.ndarray
    grammar_: Grammar
    lexicon_: Lexicon

    #: Whether predicted trees are those of NLTK.
    _nltk = False

    def predict(self, X: Any) -> list[Any]:
        """The best tree of each sentence; None for an empty sentence.

        They are NLTK trees if the first training tree was one.
        """
        return [self._own(tree) for tree in self._parse(X)[2]]

    def _m_best(self, X: Any, m: int, diversity: float) -> list[list[tuple[Any, float]]]:
        """Fewer trees if the grammar has fewer; one if it cannot derive a sentence."""
        problem = self._problem()
        pack, found = predict_m_best(problem, X, self.coef_, m, diversity, self.n_jobs or 1)
        outputs = [problem.unpack(pack, labels) for labels in found.labels]
        return [
            [
                (self._own(tree), float(found.score[i, r]))
                for r in range(found.count[i])
                if (tree := outputs[r][i]) is not None
            ]
            for i in range(pack.n)
        ]

    @if_calibrated
    def predict_marginals(self, X: Any) -> list[TreeMarginals]:
        """Probabilities of the tags of words, and of the constituents of the predicted trees.

        They come from max-marginals: the best score of a tree with a tag at a word, and the best
        score with a constituent minus the best without it. ``mm.calibrate`` fits to held-out trees
        a temperature for tags and a curve for constituents (or step functions).

        Returns
        -------
        list of TreeMarginals
            ``tags``: array (L, n_tags), in the order of ``grammar_.tags``, whose rows sum to 1;
            ``constituents``: dict from ``(label, start, end)`` to a probability. A sentence that
            the grammar cannot derive has no constituents here, and tags are judged by their words
            alone. If tags are given, or no held-out tag was wrong, the best one has probability 1.
        """
        found, scores = self._scored(X)
        tags = self.calibration_.curves.get("tags", _always_first)
        curve = get_curve(self, "constituents")
        return [
            TreeMarginals(
                tags(each.tags),
                {
                    constituent: float(p)
                    for constituent, p in zip(spans, curve(each.margins), strict=True)
                    if not np.isnan(p)
                },
            )
            for spans, each in zip(found, scores, strict=True)
        ]

    def _scored(self, X: Any) -> tuple[list[Any], list[TreeScores]]:
        """The constituents of the predicted trees, and the max-marginals of the sentences."""
        problem, pack, trees = self._parse(X)
        spans = [constituents_of(tree) for tree in trees]
        return spans, score_trees(problem, pack, self.coef_, spans)

    def _decisions(self, X: Any, Y: Any) -> dict[str, Any]:
        spans, scores = self._scored(X)
        trees = [as_tree(tree) for tree in Y]
        true = [set(tree.spans()) for tree in trees]
        right = [c in there for there, each in zip(true, spans, strict=True) for c in each]
        margins = np.concatenate([np.zeros(0), *(each.margins for each in scores)])
        number = {tag: k for k, tag in enumerate(self.grammar_.tags)}
        tags = [number.get(tag, -1) for tree in trees for tag in tree.tags()]
        table = np.concatenate([np.zeros((0, len(number))), *(each.tags for each in scores)])
        return {
            "constituents": Decisions(margins, np.array(right, bool)),
            "tags": Decisions(table, np.array(tags, int)),
        }

    def _curves(self) -> dict[str, type]:
        return super()._curves() | {"constituents": Sigmoid, "tags": Softmax}

    def _examples(self, X: Any, Y: Any) -> tuple[Any, Any]:
        sentences, trees = as_inputs(X, Y, self.input)
        if self.input == "tags":  # the words of predicted trees are tags
            trees = [with_words(tree, tree.tags()) for tree in trees]
        return sentences, [self._own(tree) for tree in trees]

    def _training(self, X: Any, Y: Any, sample_weight: Any) -> tuple[Any, Any, np.ndarray]:
        problem, (sentences, trees) = self._problem(), as_inputs(X, Y, self.input)
        weight = check_examples(sentences, trees, sample_weight)
        return problem, problem.pack(sentences, trees, weight), self.coef_

    def _replace_weights(self, w: np.ndarray) -> tuple[int, int]:
        self.coef_ = w
        self.result_ = replace(self.result_, w=w)
        return len(w), len(w)

    def _suspects(self, X: Any, Y: Any, n: int) -> Suspects:
        """Trees with rules that the grammar does not have are skipped, with a warning."""
        problem, (sentences, trees) = self._problem(), as_inputs(X, Y, self.input)
        kept = [i for i, tree in enumerate(trees) if problem.grammar.derives(tree)]
        if len(kept) < len(trees):
            warnings.warn(
                f"{len(trees) - len(kept):,} of {len(trees):,} trees are skipped: they have rules "
                "that the training trees do not have",
                stacklevel=3,
            )
        if not kept:
            return Suspects()
        pack = problem.pack([sentences[i] for i in kept], [trees[i] for i in kept])
        found = find_suspects(problem, pack, self.coef_, self.rescaling, n)
        for suspect in found:
            suspect["index"] = kept[suspect["index"]]
            suspect |= {key: self._own(suspect[key]) for key in ("truth", "worst")}
        return found

    def score(self, X: Any, Y: Any) -> float:
        """Labelled bracket F1 of the predictions by evalb's rules, from 0 to 1; X may be None."""
        sentences, trees = as_inputs(X, Y, self.input)
        if self.input == "tags":  # the words of these trees are tags
            trees = [with_words(tree, tree.tags()) for tree in trees]
        return bracket_f1(trees, self._parse(sentences)[2])

    def _parse(self, X: Any) -> tuple[CFG, Any, list[Tree | None]]:
        """The problem, the packed sentences and their best trees."""
        problem = self._problem()
        pack = problem.pack(X)
        labels = predict_labels(problem, pack, self.coef_, self.n_jobs or 1)
        return problem, pack, problem.unpack(pack, labels)

    def _problem(self) -> CFG:
        check_is_fitted(self)
        return CFG(self.grammar_, self.lexicon_, self.loss, self.beam)

    def _own(self, tree: Tree | None) -> Any:
        """The tree in the form of the training trees."""
        return to_nltk(tree) if self._nltk and tree is not None else tree


def as_inputs(X: Any, Y: Any, input: str) -> tuple[list[Any], list[Tree]]:
    """Sentences and trees; if X is None, the sentences are those of the trees."""
    sentences, trees = read_examples(X, Y, input)
    if input == "tagged":
        return [list(zip(s.words, s.tags or (), strict=True)) for s in sentences], trees
    return [s.words for s in sentences], trees


def _always_first(scores: np.ndarray) -> np.ndarray:
    """Probability 1 for the best class of each row."""
    return (np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None]).astype(float)


def with_words(tree: Tree, words: list[str]) -> Tree:
    """The same tree with other words."""
    rest = iter(words)
    return fold(
        tree,
        lambda node: node.children,
        lambda node, values: Tree(node.label, [next(rest)] if node.preterminal else values),
    )
