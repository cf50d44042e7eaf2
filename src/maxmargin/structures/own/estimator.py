"""The estimator for problems defined by the user."""

from __future__ import annotations

from typing import Any

from ...estimators.structured import ProblemSVC
from . import STRUCTURE


class StructuredSVC(ProblemSVC):
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

    def _problem(self) -> Any:
        return self.problem
