"""The scikit-learn estimator."""

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from maxmargin.estimators.classifier import read_matrix
from maxmargin.estimators.parameters import estimator
from maxmargin.estimators.structured import ProblemSVC

from . import STRUCTURE
from .problem import Levels


@estimator
class ToySVC(ProblemSVC):
    """Predicts a level on a scale.

    Parameters
    ----------
    {C, solver, tol, rescaling}
    zero_one : bool
        Whether all errors cost the same; otherwise the number of levels between.
    {max_iter, max_time, n_jobs, random_state, checkpoint, backend, verbose}

    Attributes
    ----------
    classes_ : array (K,)
        The levels, from the lowest to the highest.
    coef_ : array (d + K - 1,)
        Weights of the features, then one for each step of the scale.
    """

    structure = STRUCTURE

    C: float = 1.0
    _: KW_ONLY
    zero_one: bool = False

    def _prepare(self, X: Any, Y: Any, sample_weight: Any = None) -> tuple[Any, Any, Any, Any]:
        X = read_matrix(self, X)  # this also sets n_features_in_
        self.classes_ = np.unique(Y)
        return self._problem(), X, Y, sample_weight

    def _problem(self) -> Levels:
        return Levels(self.classes_, self.zero_one)

    def _read(self, X: Any) -> Any:
        return read_matrix(self, X, reset=False)

    def _n_weights(self) -> int:
        return self.n_features_in_ + len(self.classes_) - 1

    @property
    def feature_names_(self) -> list[str]:
        """The names of the weights, for ``explain`` and reports."""
        features = [f"feature {j + 1}" for j in range(self.n_features_in_)]
        return features + [f"at least {level}" for level in self.classes_[1:]]
