"""The estimator for problems defined by the user."""

from __future__ import annotations

from typing import Any

from ...estimators.parameters import WarmStartParameters, estimator
from ...estimators.structured import ProblemSVC
from . import STRUCTURE


@estimator
class StructuredSVC(WarmStartParameters, ProblemSVC):
    """Estimator for a structure defined by the user.

    Parameters
    ----------
    problem : Problem or CompiledProblem
        The structure: its features, loss and oracle.
    {C, solver, tol, rescaling}
    {max_iter, max_time}
    n_jobs : int
        Number of threads for compiled problems, or of worker processes for the oracle of a plain
        Python problem. The model does not depend on it.
    {deterministic, random_state, warm_start, checkpoint, backend, verbose}

    Attributes
    ----------
    coef_ : array (dim,)
        The weights w.
    {result_}
    """

    structure = STRUCTURE

    problem: Any
    C: float = 1.0

    def _problem(self) -> Any:
        return self.problem
