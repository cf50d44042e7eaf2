"""The base class of all estimators."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..backends.files import Files, predict_file
from ..backends.sources import find_paths
from ..data.source import n_examples
from ..errors import DataError
from ..result import Result
from ..saving.checkpoint import as_checkpoint
from ..training import train
from .answers import Answers
from .parameters import TrainingParameters
from .warm import Memory, check_width, join, join_weights


class _SVC(TrainingParameters, Answers, BaseEstimator):
    """Base class of all estimators: the parameters of training and the result."""

    C: float

    result_: Result
    n_iter_: int

    #: The format of the training files of ``maxmargin train``, to read other files in it.
    _data_format: dict[str, Any] | None = None

    #: The end of the last training, from which ``warm_start`` and ``partial_fit`` begin.
    _memory: Memory | None = None

    #: The examples of ``fit`` and ``partial_fit``.
    _seen: tuple[Any, Any, Any] | None = None

    #: Whether ``fit`` is called by ``partial_fit``.
    _more = False

    @contextmanager
    def _keeping_model(self) -> Iterator[None]:
        """If training fails, leave the estimator as it was, with the model that it had."""
        before = vars(self).copy()
        try:
            yield
        except BaseException:
            vars(self).clear()
            # A run that was begun has changed the state from which another could begin.
            vars(self).update(before | {"_memory": None})
            raise

    def _train(self, problem: Any, X: Any, Y: Any, sample_weight: Any) -> Result:
        wanted = (getattr(self, "warm_start", False) or self._more) and self.backend is None
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
            backend=self.backend,
            **self._options(),
        )
        if wanted:
            self._memory = Memory.of(self, result)
        self._finish(result)
        return result

    def _options(self) -> dict[str, Any]:
        """The parameters that are passed to ``train``."""
        names = (
            "C", "solver", "tol", "rescaling", "max_iter", "max_time", "n_jobs", "deterministic",
            "random_state", "verbose",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names} | {"tol": self._tolerance()}

    def _tolerance(self) -> float:
        """The parameter ``tol``, or what ``fit`` has taken in its place."""
        return getattr(self, "tol_", self.tol)

    def _finish(self, result: Result) -> None:
        """Store the result; warn if training ended before the stopping rule was met."""
        if not result.as_asked:
            gap = f"{result.gap:.4g} {result.bounds}".rstrip()
            warnings.warn(
                f"{type(self).__name__}: {result.status.value} (gap {gap}, "
                f"primal {result.primal:.6g}, after {result.n_iter} iterations)",
                ConvergenceWarning,
                stacklevel=4,
            )
        self.result_ = result
        self.n_iter_ = result.n_iter
        vars(self).pop("calibration_", None)  # it was that of other weights

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Train on additional examples, starting from the dual variables of the earlier ones.

        The model is optimal, within ``tol``, for all examples since the last ``fit`` together;
        the estimator keeps references to them, so they must not change. The new examples may have
        new classes, and new features if features have names.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.
        classes : optional
            Ignored; only there for compatibility with scikit-learn.
        """
        if self._seen is not None:
            old_X, old_y, weight = self._seen
            check_width(old_X, X, type(self).__name__)
            sample_weight = join_weights(weight, n_examples(old_y), sample_weight, n_examples(y))
            X, y = join(old_X, X), join(old_y, y)
        elif hasattr(self, "result_"):
            raise DataError(
                "partial_fit needs the earlier examples, and this model does not have them "
                "because it was loaded, copied or trained with token_weight: fit it on all examples"
            )
        self._more = True
        try:
            self.fit(X, y, sample_weight=sample_weight)  # type: ignore[attr-defined]
        finally:
            del self._more
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Pickle and copy the model without its training examples."""
        left_out = ("_memory", "_seen")
        return {k: v for k, v in super().__getstate__().items() if k not in left_out}

    def _predict_files(self, files: Files) -> list[Any]:
        """The predictions for each file, made by the workers of the backend if there is one."""
        check_is_fitted(self)
        alone = copy.copy(self)
        alone.backend = None
        layout = files.layout(getattr(self, "template", None))
        jobs = [(path, layout) for path, _ in find_paths(files.paths)]
        if self.backend is None:
            return [predict_file(*job, alone) for job in jobs]
        return self.backend.map(predict_file, jobs, alone)

    def save(self, path: str | Path) -> None:
        """Write the model to a file that ``mm.load`` reads, completely or not at all."""
        from ..saving.models import save_model

        check_is_fitted(self)
        save_model(self, path)
