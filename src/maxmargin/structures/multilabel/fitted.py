"""A trained model of label sets: predictions, weights and explanations."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ...data.probabilities import Sigmoid
from ...engine.shard import predict_labels, predict_with_bounds
from ...estimators.base import _SVC
from ...estimators.calibrated import get_curve, if_calibrated
from ...estimators.classifier import read_matrix
from ...estimators.parameters import WarmStartParameters
from ...objective import check_factor
from ...outputs.calibration import Decisions
from ...outputs.explain import Explanation, Suspects, explain, find_suspects, largest_weights
from ...outputs.m_best import predict_m_best
from .indicators import read_indicators
from .problem import LabelSets
from .several import label_scores, several_sets


class _MultilabelModel(ClassifierMixin, WarmStartParameters, _SVC):
    """The methods of a trained ``MultilabelSVC``."""

    fit_intercept: bool
    intercept_scaling: float
    label_cost: Any
    interactions: str
    inference: str

    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray
    pairs_: np.ndarray
    pairwise_: np.ndarray
    inference_: str
    n_features_in_: int

    #: Whether the indicator matrix of training was sparse, so that predictions are too.
    _sparse = False

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
        """Exact where inference is."""
        check_is_fitted(self)
        X, L, problem, w = read_matrix(self, X, reset=False), len(self.classes_), *self._both()
        several = several_sets(problem, problem.pack(X), w, m, diversity)
        if several is not None:
            return [[(y.astype(np.int64), score) for y, score in found] for found in several]
        _, found = predict_m_best(problem, X, w, m, diversity, self.n_jobs or 1)
        outputs = [labels.reshape(-1, L).astype(np.int64) for labels in found.labels]
        return [
            [(outputs[r][i], float(found.score[i, r])) for r in range(found.count[i])]
            for i in range(X.shape[0])
        ]

    def decision_function(self, X: Any) -> np.ndarray:
        """How much each label is preferred, array (n, n_labels): > 0 for predicted labels.

        It is the best score of a set with the label, minus the best score of a set without it.
        Not available with ``interactions="full"`` and more than 20 labels, where these are not
        known.
        """
        check_is_fitted(self)
        problem, w = self._both()
        return label_scores(problem, problem.pack(read_matrix(self, X, reset=False)), w)

    @if_calibrated
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each label, array (n, n_labels), from ``decision_function``.

        ``mm.calibrate`` fits one curve for all labels to held-out examples: of the labels with
        probability 0.9, about 90 % should be right.
        """
        return get_curve(self, "labels")(self.decision_function(X))

    def _examples(self, X: Any, Y: Any) -> tuple[Any, Any]:
        return X, read_indicators(Y, X.shape[0] if hasattr(X, "shape") else len(X))

    def _decisions(self, X: Any, Y: Any) -> dict[str, Any]:
        """Single labels, where their scores are known."""
        if self._problem().kind not in ("forest", "branch"):
            return {}
        return {"labels": Decisions(self.decision_function(X).ravel(), np.ravel(Y) == 1)}

    def _curves(self) -> dict[str, type]:
        return super()._curves() | {"labels": Sigmoid}

    def _both(self) -> tuple[LabelSets, np.ndarray]:
        """The problem and the weights in its order."""
        return self._problem(), self._w()

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The fraction of examples whose set of labels is right as a whole."""
        found = self.predict(X)
        found = found.toarray() if hasattr(found, "toarray") else found
        right = (read_indicators(y, len(found), found.shape[1]) == found).all(axis=1)
        return float(np.average(right, weights=sample_weight))

    def explain(self, n: int = 10) -> Explanation:
        """The n largest weights of each label, and the pairs that attract each other most."""
        check_is_fitted(self)
        names = [str(name) for name in self.classes_.tolist()]
        a, b = self.pairs_.T
        pairs = [f"{names[i]} and {names[j]}" for i, j in self.pairs_.tolist()]
        values = self.interactions_[a, b]
        shown = largest_weights("pairs of labels", values, pairs, n) if len(pairs) else None
        return Explanation(explain(self, n).labels, shown)

    def _suspects(self, X: Any, Y: Any, n: int) -> Suspects:
        X, problem, names = read_matrix(self, X, reset=False), self._problem(), self.classes_
        pack = problem.pack(X, read_indicators(Y, X.shape[0], len(names)))
        found = find_suspects(problem, pack, self._w(), self.rescaling, n)
        for suspect in found:  # the names of the labels in each set
            suspect |= {
                name: names[np.flatnonzero(suspect[name])].tolist() for name in ("truth", "worst")
            }
        return found

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
            self.inference, self._associative(),
        )  # fmt: skip

    def _set_weights(self, w: np.ndarray) -> None:
        """Set coef_, intercept_ and pairwise_ from w."""
        L, d = len(self.classes_), self.n_features_in_
        self.coef_, rest = w[: d * L].reshape(d, L).T, w[d * L :]
        self.intercept_ = np.zeros(L)
        if self.fit_intercept:
            self.intercept_, rest = rest[:L] * self.intercept_scaling, rest[L:]
        if self._associative():
            self.pairwise_ = np.zeros((len(rest), 2, 2))
            self.pairwise_[:, 1, 1] = rest
        else:
            self.pairwise_ = rest.reshape(-1, 2, 2)

    def _associative(self) -> bool:
        """Whether pairs have one weight >= 0, for both labels."""
        return self.interactions == "associative"

    def _w(self) -> np.ndarray:
        """The weights in the order of the problem."""
        pairs = self.pairwise_[:, 1, 1] if self._associative() else self.pairwise_.ravel()
        parts = [self.coef_.T.ravel(), pairs]
        if self.fit_intercept:
            parts.insert(1, self.intercept_ / self.intercept_scaling)
        return np.concatenate(parts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags
