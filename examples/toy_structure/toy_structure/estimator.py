"""The scikit-learn estimator."""

from typing import Any

import numpy as np

from maxmargin.estimators.classifier import read_matrix
from maxmargin.estimators.structured import ProblemSVC

from . import STRUCTURE
from .problem import Levels


class ToySVC(ProblemSVC):
    """Predicts a level on a scale.

    Parameters
    ----------
    zero_one : bool
        Whether all errors cost the same; otherwise the number of levels between.

    The others are those of all estimators.

    Attributes
    ----------
    classes_ : array (K,)
        The levels, from the lowest to the highest.
    coef_ : array (d + K - 1,)
        Weights of the features, then one for each step of the scale.
    """

    structure = STRUCTURE
    zero_one: bool
    classes_: np.ndarray
    n_features_in_: int

    def __init__(
        self,
        C: float = 1.0,
        *,
        solver: Any = "auto",
        tol: float = 1e-2,
        rescaling: str = "margin",
        zero_one: bool = False,
        max_iter: int = 10_000,
        max_time: float | None = None,
        n_jobs: int | None = 1,
        random_state: Any = 0,
        checkpoint: Any = None,
        backend: Any = None,
        verbose: int = 0,
    ):
        self._keep(locals())

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
