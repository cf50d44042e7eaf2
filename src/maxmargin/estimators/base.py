"""What all estimators share."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..checkpoint import as_checkpoint
from ..errors import DataError
from ..result import Result
from ..training import train
from .warm import Memory, join, join_weights


class _SVC(BaseEstimator):
    """What all estimators share: the parameters of training and the result."""

    result_: Result
    n_iter_: int

    #: What the last training has left for the next, with ``warm_start`` or ``partial_fit``.
    _memory: Memory | None = None

    #: Whether ``fit`` is called by ``partial_fit``.
    _more = False

    def _train(self, problem: Any, X: Any, Y: Any, sample_weight: Any) -> Result:
        wanted = getattr(self, "warm_start", False) or self._more
        memory, self._memory = self._memory if wanted else None, None
        start = {} if memory is None else memory.start(self, self._more)
        result = train(
            problem,
            X,
            Y,
            sample_weight=sample_weight,
            checkpoint=as_checkpoint(getattr(self, "checkpoint", None)),
            keep=wanted,
            **start,
            **{
                name: getattr(self, name)
                for name in (
                    "C", "solver", "tol", "rescaling", "max_iter", "max_time", "n_jobs",
                    "random_state", "verbose",
                )
            },
        )  # fmt: skip
        if wanted:
            self._memory = Memory.of(self, result)
        self._finish(result)
        return result

    def _finish(self, result: Result) -> None:
        """Keep the result; warn if it is not what was asked for."""
        if not result.converged:
            warnings.warn(
                f"{type(self).__name__}: {result.status.value} (gap {result.gap:.4g}, "
                f"primal {result.primal:.6g}, after {result.n_iter} iterations)",
                ConvergenceWarning,
                stacklevel=4,
            )
        self.result_ = result
        self.n_iter_ = result.n_iter

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on more examples, from the dual variables of those seen before.

        The model is the optimum of all examples that ``partial_fit`` was ever given, within
        ``tol``; for that it keeps them. New classes and new features may come with them.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.
        """
        seen = self._memory.seen if self._memory is not None else None
        if seen is None and hasattr(self, "result_"):
            raise DataError(
                "partial_fit needs the examples that this model was trained on, and fit keeps "
                "none: use partial_fit from the first examples on"
            )
        if seen is None:
            seen = (X, y, sample_weight)
        else:
            weight = join_weights(seen[2], len(seen[1]), sample_weight, len(y))
            seen = (join(seen[0], X), join(seen[1], y), weight)
        self._more = True
        try:
            self.fit(*seen)  # type: ignore[attr-defined]
        finally:
            del self._more
        assert self._memory is not None  # fit has kept it
        self._memory.seen = seen
        return self

    def __getstate__(self) -> dict[str, Any]:
        """A copy of the estimator in another process does not need what training has left."""
        return {k: v for k, v in super().__getstate__().items() if k != "_memory"}

    def save(self, path: str | Path) -> None:
        """Write the model to a file that ``mm.load`` reads; never half of it."""
        from ..io.models import save_model

        check_is_fitted(self)
        save_model(self, path)
