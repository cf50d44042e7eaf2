"""What all estimators share."""

from __future__ import annotations

import copy
import warnings
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..backends.files import Files, predict_file
from ..backends.sources import find_paths
from ..checkpoint import as_checkpoint
from ..result import Result
from ..training import train


class _SVC(BaseEstimator):
    """What all estimators share: the parameters of training and the result."""

    backend: Any
    result_: Result
    n_iter_: int

    def _train(
        self, problem: Any, X: Any, Y: Any, sample_weight: Any, train: Any = train
    ) -> Result:
        result = train(
            problem,
            X,
            Y,
            sample_weight=sample_weight,
            checkpoint=as_checkpoint(getattr(self, "checkpoint", None)),
            **{
                name: getattr(self, name)
                for name in (
                    "C", "solver", "tol", "rescaling", "max_iter", "max_time", "n_jobs",
                    "random_state", "backend", "verbose",
                )
            },
        )  # fmt: skip
        if not result.as_asked:
            warnings.warn(
                f"{type(self).__name__}: {result.status.value} (gap {result.gap:.4g}, "
                f"primal {result.primal:.6g}, after {result.n_iter} iterations)",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.result_ = result
        self.n_iter_ = result.n_iter
        return result

    def _predict_files(self, files: Files) -> list[Any]:
        """Predictions for each file, made where the backend's workers are."""
        check_is_fitted(self)
        alone = copy.copy(self)
        alone.backend = None
        layout = files.layout(getattr(self, "template", None))
        jobs = [(path, layout) for path, _ in find_paths(files.paths)]
        if self.backend is None:
            return [predict_file(*job, alone) for job in jobs]
        return self.backend.map(predict_file, jobs, alone)

    def save(self, path: str | Path) -> None:
        """Write the model to a file that ``mm.load`` reads; never half of it."""
        from ..io.models import save_model

        check_is_fitted(self)
        save_model(self, path)

    def report(
        self, path: str | Path, X: Any = None, Y: Any = None, *, test: Any = None, n: int = 10
    ) -> None:
        """Write a report on training and on the model: one HTML file that needs no network.

        Parameters
        ----------
        path : str or path
            A .html file.
        X, Y : optional
            The training examples: with them the report has results by label and the examples with
            the largest slacks.
        test : (X, Y), optional
            Other examples, to see how well they are predicted.
        n : int
            Weights of each sign that are shown for a label.

        Raises
        ------
        MaxMarginError
            If bokeh is missing (``pip install maxmargin[plot]``), or the file cannot be written.
        """
        from ..report.fitted import report_estimator

        check_is_fitted(self)
        report_estimator(path, self, X, Y, test, n)
