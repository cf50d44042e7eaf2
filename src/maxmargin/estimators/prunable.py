"""Estimators whose small weights can be removed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import MaxMarginError
from ..outputs.pruning import Pruning, check_same_data, objective, without_small
from ..problem import CompiledProblem, Pack
from ..result import Result, Status


class Prunable:
    """The method ``prune`` of estimators with many weights, most of them small."""

    C: float
    rescaling: str
    n_jobs: int | None
    result_: Result

    def prune(self, X: Any, Y: Any, below: float = 0.01, sample_weight: Any = None) -> Pruning:
        """Set small weights to zero, so that the model and its file become smaller.

        The certificate stays valid: ``result_.primal`` and ``result_.gap`` are computed again for
        the pruned weights. Features without any weight are removed if features have names. The
        calibration is removed, because scores have changed.

        Parameters
        ----------
        X, Y, sample_weight
            The training examples, to compute the objective.
        below : float
            Remove weights that are smaller than this fraction of the largest one, in absolute
            value.

        Returns
        -------
        Pruning
            Numbers of weights and features, and the objective, before and after.
        """
        if hasattr(self, "dual_coef_"):
            raise MaxMarginError("a model with a kernel has no weights of features to prune")
        problem, pack, w = self._training(X, Y, sample_weight)
        pruned = without_small(w, below)
        before, after = (
            objective(problem, pack, v, self.C, self.rescaling, self.n_jobs or 1)
            for v in (w, pruned)
        )
        check_same_data(self.result_.primal, before)
        weights = int(np.count_nonzero(w)), int(np.count_nonzero(pruned))
        features = self._replace_weights(pruned)
        self._certify(after)
        return Pruning(weights, features, (before, after), self.result_.dual)

    def _certify(self, primal: float) -> None:
        """The certificate of pruned weights: another primal, the same lower bound."""
        result, gap = self.result_, primal - self.result_.dual
        target = result.target
        within = target is not None and gap <= target
        status = result.status if within or not result.converged else Status.PRUNED
        self.result_ = replace(result, primal=primal, gap=gap, status=status)
        vars(self).pop("calibration_", None)
        vars(self).pop("_memory", None)

    def _training(
        self, X: Any, Y: Any, sample_weight: Any
    ) -> tuple[CompiledProblem, Pack, np.ndarray]:
        """The problem, the packed training examples, and w."""
        raise NotImplementedError

    def _replace_weights(self, w: np.ndarray) -> tuple[int, int]:
        """Set other weights of the same length; returns numbers of features, before and after."""
        raise NotImplementedError
