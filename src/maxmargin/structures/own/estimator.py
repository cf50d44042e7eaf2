"""The estimator for problems defined by the user."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...engine.python import as_compiled_problem
from ...engine.shard import predict_labels
from ...estimators.base import _SVC
from ...outputs.m_best import predict_m_best
from ...training import check_examples
from . import STRUCTURE


class StructuredSVC(_SVC):
    """Estimator for a structure defined by the user.

    Parameters
    ----------
    problem : Problem or CompiledProblem
        The structure: its features, loss and oracle.
    C : float
        Weight of the sum of the losses.
    solver : str or solver object
        "auto", "sdm", "one-slack", or an object such as ``mm.OneSlack(cache=10)``.
    tol : float
        Stop when P/(C n) is certified to be within ``tol`` of its minimum, in units of loss.
    rescaling : {"margin", "slack"}
        How the loss enters the hinge loss: added to the margin, or as a factor of the slack.
    max_iter : int
        Maximum number of iterations.
    max_time : float, optional
        Maximum time in the solver, in seconds. If a limit is reached, the best weights so far are
        kept, with a ConvergenceWarning.
    n_jobs : int
        Number of threads for compiled problems, or of worker processes for the oracle of a plain
        Python problem. The model does not depend on it.
    random_state : int
    warm_start : bool
        Start from the dual variables of the last ``fit`` on the same data, with another C or tol.
    checkpoint : path or Checkpoint, optional
        A file to which training is saved every 5 minutes, and from which it continues if the file
        exists.
    backend : optional
        Where training runs: ``mm.Ray(...)`` for the workers of a cluster.
    verbose : int
        1 shows progress.

    Attributes
    ----------
    coef_ : array (dim,)
        The weights w.
    result_ : Result
        The certificate and the history.
    """

    structure = STRUCTURE
    problem: Any
    coef_: np.ndarray

    def __init__(
        self,
        problem: Any,
        C: float = 1.0,
        *,
        solver: Any = "auto",
        tol: float = 1e-2,
        rescaling: str = "margin",
        max_iter: int = 10_000,
        max_time: float | None = None,
        n_jobs: int | None = 1,
        random_state: Any = 0,
        warm_start: bool = False,
        checkpoint: Any = None,
        backend: Any = None,
        verbose: int = 0,
    ):
        self._keep(locals())

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Train on inputs X with true outputs Y."""
        self._set_weights(self._train(*self._prepare(X, Y, sample_weight)).w)
        self._seen = (X, Y, sample_weight)
        return self

    def _prepare(self, X: Any, Y: Any, sample_weight: Any = None) -> tuple[Any, Any, Any, Any]:
        """The arguments of ``train``: problem, inputs, outputs and weights."""
        return self.problem, X, Y, sample_weight

    def _set_weights(self, w: np.ndarray) -> None:
        self.coef_ = w

    def predict(self, X: Any) -> Any:
        """The best output of each input."""
        check_is_fitted(self)
        problem = as_compiled_problem(self.problem)
        if self.backend is not None:
            return self.backend.predict(problem, X, self.coef_)
        pack = problem.pack(X)
        return problem.unpack(pack, predict_labels(problem, pack, self.coef_, self.n_jobs or 1))

    def _m_best(self, X: Any, m: int, diversity: float) -> list[list[tuple[Any, float]]]:
        """Outputs of the problem's m-best decoder, or approximate ones found with ``decode``.

        Scores of a ``CompiledProblem`` without ``m_best`` are differences from the best score.
        """
        check_is_fitted(self)
        problem = as_compiled_problem(self.problem)
        pack, found = predict_m_best(problem, X, self.coef_, m, diversity, self.n_jobs or 1)
        outputs = [problem.unpack(pack, labels) for labels in found.labels]
        return [
            [(outputs[r][i], float(found.score[i, r])) for r in range(found.count[i])]
            for i in range(pack.n)
        ]

    def score(self, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """Minus the average loss of the predictions: 0 is perfect."""
        check_is_fitted(self)
        problem = as_compiled_problem(self.problem)
        weight = check_examples(X, Y, sample_weight)
        pack = problem.pack(X, Y, weight)
        labels = predict_labels(problem, pack, self.coef_, self.n_jobs or 1)
        loss = [
            problem.functions.loss(pack.data, i, labels[pack.offsets[i] : pack.offsets[i + 1]])
            for i in range(pack.n)
        ]
        return -float(np.average(loss, weights=pack.weight))
