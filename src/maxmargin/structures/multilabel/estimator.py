"""The estimator for sets of labels."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np

from ...errors import DataError
from ...estimators.classifier import check_range, read_matrix
from ...estimators.cv import PathCV
from ...estimators.parameters import estimator
from ...training import check_examples
from . import STRUCTURE
from .fitted import _MultilabelModel
from .indicators import read_indicators
from .interactions import find_pairs
from .relaxed import RelaxedLabelSets


@estimator
class MultilabelSVC(_MultilabelModel):
    """Multi-label classifier with weights for pairs of labels.

    Parameters
    ----------
    {C, solver}
    tol : float
        Stop when P/(C n) is certified to be within ``tol`` of its minimum, in units of loss: wrong
        labels per example.
    rescaling : "margin"
        How the loss enters the hinge loss: added to the margin.
    fit_intercept : bool
        Add a constant feature with value ``intercept_scaling``; its weights are regularized too.
    intercept_scaling : float
        The value of the constant feature.
    interactions : {"none", "tree", "full", "associative"}
        The pairs of labels that have weights. "none": labels are predicted independently, as by one
        ``BinarySVC`` per label; "tree": the pairs of a tree, which is learned from the training
        labels; "full": all pairs; "associative": all pairs, but with one weight >= 0 each, for both
        labels being present: labels can only attract each other, and inference is exact.
    label_cost : array (n_labels,) or (n_labels, 2), optional
        The cost of an error for each label; with two columns, of a label that is predicted wrongly
        and of one that is missed. 1 by default.
    label_names : list, optional
        The names of the columns of Y; by default their numbers, or the columns of a data frame.
    inference : str
        How the best set is found: "auto", or the name of a decoder. "auto" is exact but for "full"
        interactions of more than 20 labels, for which it is approximate, and bounds how far it is
        from the best.
    relax : bool
        Train the relaxed problem, in which labels can also be half present. Its objective is an
        upper bound on that of the exact problem, and the certificate proves how far the weights are
        from the optimum of the relaxed one. ``predict`` returns whole labels, as without it.
    {max_iter, max_time, n_jobs, deterministic}
    {random_state, warm_start, checkpoint, backend, verbose}

    Attributes
    ----------
    classes_ : array (n_labels,)
        The names of the labels.
    coef_ : array (n_labels, d)
        Weights of the features.
    intercept_ : array (n_labels,)
        The constants of the labels.
    pairs_ : int array (m, 2)
        The pairs of labels that have weights.
    pairwise_ : array (m, 2, 2)
        The weights of each pair, ``[pair, first label present, second label present]``.
    interactions_ : array (n_labels, n_labels)
        How much two labels attract each other, 0 for pairs without weights: the weights of both and
        of neither, minus those of one without the other.
    inference_ : str
        The decoder that was used in training.
    {result_}

    Examples
    --------
    >>> import numpy as np, maxmargin as mm
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    >>> clf = mm.MultilabelSVC(C=10.0, interactions="tree").fit(X, X.astype(int))
    >>> clf.predict(X).tolist()
    [[1, 0], [0, 1], [1, 1], [0, 0]]
    """

    structure = STRUCTURE

    C: float = 1.0
    _: KW_ONLY
    fit_intercept: bool = False
    intercept_scaling: float = 1.0
    interactions: str = "none"
    label_cost: Any = None
    label_names: Any = None
    inference: str = "auto"
    relax: bool = False

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Train on the rows of X (n, d) with an indicator matrix Y (n, n_labels), dense or sparse.

        Parameters
        ----------
        X : array or scipy sparse matrix (n, d)
            The features.
        Y : array or scipy sparse matrix (n, n_labels)
            1 for the labels that an example has, else 0; as scikit-learn's
            ``MultiLabelBinarizer`` makes it.
        sample_weight : array (n,), optional
            Weights >= 0 of the examples.
        """
        with self._keeping_model():
            prepared = self._prepare(X, Y, sample_weight)
            self._seen = (X, Y, sample_weight)
            self._set_weights(self._train(*prepared).w)
        return self

    def _prepare(self, X: Any, Y: Any, sample_weight: Any = None) -> tuple[Any, Any, Any, Any]:
        """The arguments of ``train``: problem, inputs, outputs and weights."""
        names = getattr(Y, "columns", None) if self.label_names is None else self.label_names
        self._sparse = hasattr(Y, "tocsr")
        X = read_matrix(self, X)
        check_range(X)
        Y = read_indicators(Y, X.shape[0])
        self.classes_ = np.arange(Y.shape[1]) if names is None else np.asarray(names)
        if len(self.classes_) != Y.shape[1]:
            raise DataError(f"there are {len(self.classes_)} label_names for {Y.shape[1]} labels")
        self.pairs_ = find_pairs(self.interactions, Y)
        problem = self._problem()
        if self.relax and not problem.associative:  # whose relaxation has the same optimum
            problem = RelaxedLabelSets(problem.n_labels, problem.pairs, problem.cost, problem.bias)
        self.inference_ = problem.kind
        return problem, X, Y, check_examples(X, Y, sample_weight)


class MultilabelSVCCV(PathCV):
    """``MultilabelSVC`` whose C is chosen by cross-validation; see ``PathCV``."""

    default = MultilabelSVC
