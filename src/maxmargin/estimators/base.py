"""What all estimators share."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..m_best import check_diversity, check_m
from ..result import Result
from ..training import train


class _SVC(BaseEstimator):
    """What all estimators share: the parameters of training and the result."""

    result_: Result
    n_iter_: int

    def _train(self, problem: Any, X: Any, Y: Any, sample_weight: Any) -> Result:
        result = train(
            problem,
            X,
            Y,
            sample_weight=sample_weight,
            **{
                name: getattr(self, name)
                for name in (
                    "C", "solver", "tol", "rescaling", "max_iter", "max_time", "n_jobs",
                    "random_state", "verbose",
                )
            },
        )  # fmt: skip
        if not result.converged:
            warnings.warn(
                f"{type(self).__name__}: {result.status.value} (gap {result.gap:.4g}, "
                f"primal {result.primal:.6g}, after {result.n_iter} iterations)",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.result_ = result
        self.n_iter_ = result.n_iter
        return result

    def predict_m_best(
        self, X: Any, m: int = 5, diversity: float = 0.0
    ) -> list[list[tuple[Any, float]]]:
        """Up to m different outputs of each example with their scores ``<w, phi>``, best first.

        Parameters
        ----------
        X : as for ``predict``
        m : int
            An example with fewer outputs gets them all.
        diversity : float
            0 for the m best. Otherwise each next output is the best new one of score plus
            ``diversity`` times the number of labels in which it differs from each one before it;
            the scores are still plain ones. Classes all differ alike: no effect on them.

        Returns
        -------
        list of lists of ``(output, score)``
            The first output is that of ``predict``.
        """
        check_m(m)
        check_diversity(diversity)
        return self._m_best(X, m, diversity)

    def confidence(self, X: Any) -> np.ndarray:
        """By how much the best output of each example beats the second best, in units of score.

        Infinite where there is only one output. ``mm.calibrate`` turns it into probabilities.
        """
        return np.array([margin_of(found) for found in self._m_best(X, 2, 0.0)], float)

    def _m_best(self, X: Any, m: int, diversity: float) -> list[list[tuple[Any, float]]]:
        raise NotImplementedError

    def save(self, path: str | Path) -> None:
        """Write the model to a file that ``mm.load`` reads; never half of it."""
        from ..io.models import save_model

        check_is_fitted(self)
        save_model(self, path)


def margin_of(found: list[tuple[Any, float]]) -> float:
    """The difference of the two best scores."""
    return found[0][1] - found[1][1] if len(found) > 1 else float("inf")
