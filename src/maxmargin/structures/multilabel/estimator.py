"""The estimator for sets of labels."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ...engine.shard import predict_labels, predict_with_bounds
from ...errors import DataError
from ...estimators.base import _SVC
from ...estimators.classifier import check_range, read_matrix
from ...estimators.cv import PathCV
from ...estimators.parameters import WarmStartParameters, estimator
from ...objective import check_factor
from ...outputs.explain import Explanation, explain, largest_weights
from ...outputs.m_best import predict_m_best
from ...training import check_examples
from . import STRUCTURE
from .indicators import read_indicators
from .interactions import find_pairs
from .problem import LabelSets


@estimator
class MultilabelSVC(ClassifierMixin, WarmStartParameters, _SVC):
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
    interactions : {"none", "tree", "full"}
        The pairs of labels that have weights. "none": labels are predicted independently, as by one
        ``BinarySVC`` per label; "tree": the pairs of a tree, which is learnt from the training
        labels; "full": all pairs.
    label_cost : array (n_labels,) or (n_labels, 2), optional
        The cost of an error for each label; with two columns, of a label that is predicted wrongly
        and of one that is missed. 1 by default.
    label_names : list, optional
        The names of the columns of Y; by default their numbers, or the columns of a data frame.
    inference : str
        How the best set is found: "auto", or the name of a decoder. Without interactions and for a
        tree "auto" is exact; otherwise it is approximate, and bounds how far it is from the best.
    {max_iter, max_time, n_jobs, random_state, warm_start, checkpoint, backend, verbose}

    Attributes
    ----------
    classes_ : array (n_labels,)
        The names of the labels.
    coef_ : array (n_labels, d)
    intercept_ : array (n_labels,)
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

    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray
    pairs_: np.ndarray
    pairwise_: np.ndarray
    inference_: str
    n_features_in_: int

    #: Whether the indicator matrix of training was sparse, so that predictions are too.
    _sparse = False

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Train on the rows of X (n, d) with an indicator matrix Y (n, n_labels), dense or sparse.

        Parameters
        ----------
        X : array or scipy sparse matrix (n, d)
        Y : array or scipy sparse matrix (n, n_labels)
            1 for the labels that an example has, else 0; as scikit-learn's
            ``MultiLabelBinarizer`` makes it.
        sample_weight : array (n,), optional
            Weights >= 0 of the examples.
        """
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
        self.inference_ = problem.kind
        return problem, X, Y, check_examples(X, Y, sample_weight)

    def predict(self, X: Any, return_bound: bool = False) -> Any:
        """The indicator matrix (n, n_labels) of the best sets; sparse if that of ``fit`` was.

        With ``return_bound`` it is followed by ``<w, phi>`` of the sets (n,), and upper bounds on
        that of any other set (n,): where both are equal, no set has a higher score.
        """
        check_is_fitted(self)
        X, problem, w = read_matrix(self, X, reset=False), self._problem(), self._w()
        pack = problem.pack(X)
        if not return_bound:
            return self._outputs(predict_labels(problem, pack, w, self.n_jobs or 1))
        found, bound = predict_with_bounds(problem, pack, w, self.n_jobs or 1)
        score = problem.first_scores(pack, w, found)
        bound = np.where(np.isnan(bound), score, np.maximum(bound, score))
        return self._outputs(found), score, bound

    def _outputs(self, labels: np.ndarray) -> Any:
        from scipy.sparse import csr_array

        found = labels.reshape(-1, len(self.classes_)).astype(np.int64)
        return csr_array(found) if self._sparse else found

    def _m_best(self, X: Any, m: int, diversity: float) -> list[list[tuple[Any, float]]]:
        check_is_fitted(self)
        X, L = read_matrix(self, X, reset=False), len(self.classes_)
        _, found = predict_m_best(self._problem(), X, self._w(), m, diversity, self.n_jobs or 1)
        outputs = [labels.reshape(-1, L).astype(np.int64) for labels in found.labels]
        return [
            [(outputs[r][i], float(found.score[i, r])) for r in range(found.count[i])]
            for i in range(X.shape[0])
        ]

    def score(self, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """The fraction of examples whose set of labels is right as a whole."""
        found = self.predict(X)
        found = found.toarray() if hasattr(found, "toarray") else found
        right = (read_indicators(Y, len(found), found.shape[1]) == found).all(axis=1)
        return float(np.average(right, weights=sample_weight))

    def explain(self, n: int = 10) -> Explanation:
        """The n largest weights of each label, and the pairs that attract each other most."""
        names = [str(name) for name in self.classes_.tolist()]
        a, b = self.pairs_.T
        pairs = [f"{names[i]} and {names[j]}" for i, j in self.pairs_.tolist()]
        values = self.interactions_[a, b]
        shown = largest_weights("pairs of labels", values, pairs, n) if len(pairs) else None
        return Explanation(explain(self, n).labels, shown)

    @property
    def interactions_(self) -> np.ndarray:
        """How much two labels attract each other, array (n_labels, n_labels)."""
        check_is_fitted(self)
        found = np.zeros((len(self.classes_), len(self.classes_)))
        w, (a, b) = self.pairwise_, self.pairs_.T
        found[a, b] = found[b, a] = w[:, 0, 0] + w[:, 1, 1] - w[:, 0, 1] - w[:, 1, 0]
        return found

    def _problem(self) -> LabelSets:
        bias = check_factor("intercept_scaling", self.intercept_scaling)
        return LabelSets(
            len(self.classes_), self.pairs_, self.label_cost, bias * bool(self.fit_intercept),
            self.inference,
        )  # fmt: skip

    def _set_weights(self, w: np.ndarray) -> None:
        """Set coef_, intercept_ and pairwise_ from w."""
        L, d = len(self.classes_), self.n_features_in_
        self.coef_, rest = w[: d * L].reshape(d, L).T, w[d * L :]
        self.intercept_ = np.zeros(L)
        if self.fit_intercept:
            self.intercept_, rest = rest[:L] * self.intercept_scaling, rest[L:]
        self.pairwise_ = rest.reshape(-1, 2, 2)

    def _w(self) -> np.ndarray:
        """The weights in the order of the problem."""
        parts = [self.coef_.T.ravel(), self.pairwise_.ravel()]
        if self.fit_intercept:
            parts.insert(1, self.intercept_ / self.intercept_scaling)
        return np.concatenate(parts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags


class MultilabelSVCCV(PathCV):
    """``MultilabelSVC`` whose C is chosen by cross-validation; see ``PathCV``."""

    default = MultilabelSVC
