"""The estimator for parsing: one constituent tree per sentence."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

from ...data.source import list_of
from ...data.trees import Tree
from ...errors import DataError
from ...estimators.parameters import estimator
from ...training import check_examples, tolerance
from . import STRUCTURE
from .fitted import _CFGModel, as_inputs
from .problem import CFG


@estimator
class CFGSVC(_CFGModel):
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
    tol : float, optional
        Stop when P/(C n) is certified to be within ``tol`` of its minimum, in units of loss: with
        the bracket loss, wrong constituents per sentence. By default a hundredth of the number of
        words of an average sentence, and 0.01 for the other losses, which are at most 1.
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
    {max_iter, max_time, n_jobs, deterministic}
    {random_state, checkpoint, backend, verbose}

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

    C: float = 0.1
    _: KW_ONLY
    tol: Any = None
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
            Weights >= 0 of the examples.
        """
        with self._keeping_model():
            weight = check_examples(Y if X is None else X, Y, sample_weight)
            self._data_format, Y = None, list_of(Y, "Y")
            self._nltk = not isinstance(Y[0], Tree | str)
            problem = CFG.read(
                X, Y, loss=self.loss, features=self.features, input=self.input,
                horizontal=self.horizontal, vertical=self.vertical, rare=self.rare,
            )  # fmt: skip
            self.grammar_, self.lexicon_ = problem.grammar, problem.lexicon
            sentences, trees = as_inputs(X, Y, self.input)
            words = sum(map(len, sentences)) / len(sentences)
            self.tol_ = tolerance(self.tol, words if self.loss == "bracket" else 1.0)
            self.coef_ = self._train(problem, sentences, trees, weight).w
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Not supported, because the grammar depends on all trees."""
        raise DataError("partial_fit is not supported: a grammar depends on all trees, use fit")
