"""``ProblemSVC``: the estimator of any problem, from which those of new structures derive."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..engine.python import as_compiled_problem
from ..engine.shard import predict_labels
from ..outputs.explain import Suspects, find_suspects
from ..outputs.m_best import predict_m_best
from ..problem import CompiledProblem, Pack
from ..training import check_examples
from .base import _SVC


class ProblemSVC(_SVC):
    """Training, prediction and scores through the problem alone.

    A subclass with the decorator ``estimator`` declares its parameters and writes ``_problem``.
    Where inputs need checks, or ``fit`` learns more than weights, it overrides ``_prepare`` and
    ``_read`` as well.

    Attributes
    ----------
    coef_ : array (dim,)
        The weights w.
    result_ : Result
        The certificate and the history.
    """

    coef_: np.ndarray

    def _problem(self) -> Any:
        """The problem, made from parameters and what ``_prepare`` set; a loaded model has these."""
        raise NotImplementedError

    def _prepare(self, X: Any, Y: Any, sample_weight: Any = None) -> tuple[Any, Any, Any, Any]:
        """What ``train`` needs: the problem, inputs, outputs and weights."""
        return self._problem(), X, Y, sample_weight

    def _read(self, X: Any) -> Any:
        """Inputs of a fitted estimator, checked."""
        return X

    def _n_weights(self) -> int | None:
        """The length of w, so that a model file of another one is refused; None if unknown."""
        return None

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Train on inputs X with true outputs Y."""
        with self._keeping_model():
            self._set_weights(self._train(*self._prepare(X, Y, sample_weight)).w)
            self._seen = (X, Y, sample_weight)
        return self

    def _set_weights(self, w: np.ndarray) -> None:
        self.coef_ = w

    def predict(self, X: Any) -> Any:
        """The best output of each input."""
        check_is_fitted(self)
        problem, X = as_compiled_problem(self._problem()), self._read(X)
        if self.backend is not None:
            return self.backend.predict(problem, X, self.coef_)
        pack = problem.pack(X)
        return problem.unpack(pack, predict_labels(problem, pack, self.coef_, self.n_jobs or 1))

    def _m_best(self, X: Any, m: int, diversity: float) -> list[list[tuple[Any, float]]]:
        """By the problem's own m-best decoder, or else approximately through its ``decode``.

        Scores of a ``CompiledProblem`` without the function ``m_best`` are differences from the
        best.
        """
        check_is_fitted(self)
        problem, X = as_compiled_problem(self._problem()), self._read(X)
        pack, found = predict_m_best(problem, X, self.coef_, m, diversity, self.n_jobs or 1)
        outputs = [problem.unpack(pack, labels) for labels in found.labels]
        return [
            [(outputs[r][i], float(found.score[i, r])) for r in range(found.count[i])]
            for i in range(pack.n)
        ]

    def score(self, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """Minus the average loss of the predictions: 0 is perfect."""
        check_is_fitted(self)
        problem, pack = self._packed(X, Y, sample_weight)
        labels = predict_labels(problem, pack, self.coef_, self.n_jobs or 1)
        loss = [
            problem.functions.loss(pack.data, i, labels[pack.offsets[i] : pack.offsets[i + 1]])
            for i in range(pack.n)
        ]
        return -float(np.average(loss, weights=pack.weight))

    def _suspects(self, X: Any, Y: Any, n: int) -> Suspects:
        problem, pack = self._packed(X, Y)
        return find_suspects(problem, pack, self.coef_, self.rescaling, n)

    def _packed(self, X: Any, Y: Any, sample_weight: Any = None) -> tuple[CompiledProblem, Pack]:
        """The problem and examples of a fitted estimator, with their true outputs."""
        problem, X = as_compiled_problem(self._problem()), self._read(X)
        return problem, problem.pack(X, Y, check_examples(X, Y, sample_weight))
