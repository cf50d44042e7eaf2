"""The estimator for parsing: one constituent tree per sentence."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...data.brackets import as_tree
from ...data.probabilities import Sigmoid, Softmax
from ...data.trees import Tree, fold, to_nltk
from ...engine.shard import predict_labels
from ...errors import DataError
from ...estimators.base import _SVC
from ...estimators.calibrated import get_curve, if_calibrated
from ...estimators.parameters import estimator
from ...metrics.brackets import bracket_f1
from ...outputs.calibration import Decisions
from ...outputs.m_best import predict_m_best
from ...training import check_examples
from . import STRUCTURE
from .input import read_examples
from .marginals import TreeMarginals, TreeScores, constituents_of, score_trees
from .problem import CFG


@estimator
class CFGSVC(_SVC):
    """Parser that predicts constituent trees, with a grammar read from the training trees.

    The grammar consists of all rules of the training trees. Internally rules are binary and a
    unary chain is a single step (see ``structures/cfg/binary_rules.py``; the conversion loses
    nothing). Trees with other rules or other unary chains cannot be predicted, unless
    ``horizontal`` allows new rules to be composed.

    Parameters
    ----------
    {C}
    solver : str or solver object
        "auto", "sdm", "bcfw", "n-slack", "one-slack", "subgradient", or an object such as
        ``mm.OneSlack(cache=10)``.
    tol : float
        Stop when P/(C n) is certified to be within ``tol`` of its minimum, in units of loss: with
        the bracket loss, wrong constituents per sentence.
    rescaling : {"margin", "slack"}
        How the loss enters the hinge loss: added to the margin, or as a factor of the slack. With
        "slack" the oracles of the bracket loss and of F1 take many times as long.
    loss : {"bracket", "zero-one", "f1"}
        "bracket": the number of constituents (label, start, end) that only one of the two trees
        has, plus the number of wrong tags. A constituent that occurs twice over the same words, as
        in a unary chain, counts once. "zero-one": 1 for a tree with any error. "f1": 1 - F1, where
        F1 is the harmonic mean of precision and recall of these constituents; tags do not count.
    features : {"rules", "rich"}
        "rules": counts of rules, including the rules of words. "rich": in addition prefixes,
        suffixes, shape and neighbours of each word with its tag, and the width of each constituent
        and the words or tags inside and outside its ends with its label.
    input : {"words", "tags", "tagged"}
        The form of a sentence: a list of words, of tags, or of pairs (word, tag). Given tags are
        used as the tags of the tree, except tags that are not in the training data.
    horizontal : int or None
        The number of following children that a binary rule remembers; None for all, so that only
        rules of the training trees are possible (see ``structures/cfg/binary_rules.py``).
    vertical : {1, 2}
        With 2, rules also depend on the label of the parent constituent.
    rare : int
        Words that occur at most this often in the training data are used to learn the weights of
        unknown words.
    beam : float, optional
        Prune constituents whose score is lower than the best one over the same words by more than
        this. Prediction is faster but may miss the best tree; training never prunes.
    {max_iter, max_time, n_jobs, random_state, checkpoint, backend, verbose}

    Attributes
    ----------
    coef_ : array (dim,)
        The weights w, in the order of ``maxmargin.structures.cfg.functions``.
    grammar_ : Grammar
        The ``rules``, ``chains`` and ``symbols``, and the names of the first weights,
        ``features``.
    lexicon_ : Lexicon
        The words with their tags, and the names of features.
    {result_}

    Notes
    -----
    *Unknown words* are treated by class: the kinds of their characters (capitals, digits, ...) and
    their last two letters. A sentence that *the grammar cannot derive* is covered by as few
    subtrees as possible, which become children of the most frequent root label. The tree of an
    *empty sentence* is None.

    Examples
    --------
    >>> import maxmargin as mm
    >>> trees = ["(S (NP (D the) (N dog)) (VP (V barks)))", "(S (NP (D a) (N cat)) (VP (V sees)))"]
    >>> clf = mm.CFGSVC(C=1.0).fit(None, trees)
    >>> print(clf.predict(["the cat barks"])[0])
    (S (NP (D the) (N cat)) (VP (V barks)))
    """

    structure = STRUCTURE
    _nltk = False

    C: float = 0.1
    _: KW_ONLY
    loss: str = "bracket"
    features: str = "rules"
    input: str = "words"
    horizontal: int | None = None
    vertical: int = 1
    rare: int = 1
    beam: float | None = None

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Train on sentences X with trees Y.

        Parameters
        ----------
        X : list of sentences, or None
            Each sentence is a list of str (or of pairs, see ``input``), or a str that is split at
            blanks. If X is None, the sentences are those of the trees.
        Y : list of Tree, nltk.Tree or str
            Strings are in Penn style: ``(S (NP (D the) (N dog)) (VP (V barks)))``.
        sample_weight : array (n,), optional
        """
        weight = check_examples(Y if X is None else X, Y, sample_weight)
        self._data_format = None
        self._nltk = not isinstance(Y[0], Tree | str)
        problem = CFG.read(
            X, Y, loss=self.loss, features=self.features, input=self.input,
            horizontal=self.horizontal, vertical=self.vertical, rare=self.rare,
        )  # fmt: skip
        self.grammar_, self.lexicon_ = problem.grammar, problem.lexicon
        self.coef_ = self._train(problem, *as_inputs(X, Y, self.input), weight).w
        return self

    def predict(self, X: Any) -> list[Any]:
        """The best tree of each sentence; None for an empty sentence.

        They are NLTK trees if the first training tree was one.
        """
        return [self._own(tree) for tree in self._parse(X)[2]]

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Not supported, because the grammar depends on all trees."""
        raise DataError("partial_fit is not supported: a grammar depends on all trees, use fit")

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
