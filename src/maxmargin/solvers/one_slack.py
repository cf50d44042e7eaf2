"""The 1-slack cutting-plane method: Algorithms 3 and 4 of Joachims, Finley and Yu (2009).

One slack variable is shared by all examples, so that the working set is a small bundle of
aggregated cuts whose number does not depend on n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import DataError
from ..linalg import go_towards
from ..objective import primal
from .bundle import Bundle, LineSearch
from .cuts import CutMaker
from .task import Task

#: A cut from the caches is used while it is violated by this part of the last complete one.
CACHED_ENOUGH = 0.1

#: The QP is solved to this part of the present gap.
QP_PRECISION = 0.01


@dataclass
class OneSlackState:
    """The working set, and the best point seen by a complete pass."""

    model: Bundle | LineSearch
    cuts: CutMaker
    query: np.ndarray
    best: np.ndarray
    best_primal: float = np.inf
    violation: float = np.inf


@dataclass(frozen=True)
class OneSlack:
    """1-slack cutting planes, for every problem and both rescalings.

    Parameters
    ----------
    cache : int, optional
        Outputs kept for each example and tried before the oracle. By default what the problem
        suggests: none where the oracle is as cheap as the look-up, 5 otherwise.
    step : float, optional
        Where the next cut is made, on the way from the best point so far (0) to the solution of
        the QP (1, the algorithm as printed). Short steps avoid the wild first solutions of the QP
        and need far fewer cuts when C is large. By default 0.1, and 1 with a line search.
    qp : {"exact", "line-search"}
        Solve the QP over the working set, or only search the line towards each new cut.
    share : float
        With a cache: part of the examples whose oracle is asked before all are.
    select : {"cyclic", "gain"}
        Which examples these are: the next in a fixed random order, or those where the oracle
        improved most on the cache when it was asked last.
    """

    cache: int | None = None
    step: float | None = None
    qp: str = "exact"
    share: float = 1.0
    select: str = "cyclic"

    name = "one-slack"

    def __post_init__(self) -> None:
        for name, value in (("step", self.step), ("share", self.share)):
            if value is not None and not 0 < value <= 1:
                raise DataError(f"{name} lies in (0, 1], got {value}")
        if self.qp not in ("exact", "line-search"):
            raise DataError(f"qp is 'exact' or 'line-search', got {self.qp!r}")
        if self.select not in ("cyclic", "gain"):
            raise DataError(f"select is 'cyclic' or 'gain', got {self.select!r}")
        if self.cache is not None and self.cache < 0:
            raise DataError(f"cache is a number of outputs >= 0, got {self.cache}")

    def slots(self, task: Task) -> int:
        """Outputs cached for each example."""
        return task.shard.problem.cache if self.cache is None else self.cache

    def loops(self, task: Task) -> tuple[str, ...]:
        """The loops it calls."""
        return ("decode", "collect") + (("recall", "remember") if self.slots(task) else ())

    def init(self, task: Task) -> OneSlackState:
        """Lines 1 and 2: an empty working set, w = 0."""
        if self.share < 1 and not self.slots(task):
            raise DataError("share needs a cache: mm.OneSlack(cache=5, share=...)")
        dim = task.shard.pack.dim
        model = Bundle(dim, task.N) if self.qp == "exact" else LineSearch(dim, task.N)
        query = model.w if self._length(task) == 1 else np.zeros(dim)
        return OneSlackState(model, self.cut_maker(task), query, best=np.zeros(dim))

    def cut_maker(self, task: Task) -> CutMaker:
        """Where the cuts come from."""
        return CutMaker(task, self.slots(task), self.share, self.select)

    def step_once(self, task: Task, state: OneSlackState) -> tuple[np.ndarray | None, float, float]:
        """One pass of the loop in lines 3 to 9.

        Returns ``(w, P(w), D)``; w is None when no complete pass has found a better one.
        """
        model = state.model
        # Lines 5 to 7: the most violated outputs, from the caches if these violate enough.
        enough = max(CACHED_ENOUGH * state.violation, task.tol)
        cut, violation = None, -np.inf
        for cut in state.cuts.attempts(state.query):
            violation = model.violation(cut.plane, cut.loss)
            if violation > enough:
                break
        assert cut is not None  # the last attempt asks every oracle
        point, value = None, np.inf
        if cut.complete:
            state.violation = max(violation, 0.0)
            told = primal(state.query, cut.hinge * task.n, task.C)
            if told < state.best_primal:
                np.copyto(state.best, state.query)
                state.best_primal = told
                point, value = state.best, told
        with task.share("qp"):
            model.add(cut.plane, cut.loss)  # line 8
            # Line 4, to a precision that follows the progress.
            model.solve(QP_PRECISION * max((state.best_primal - model.dual) / task.N, task.tol))
        length = self._length(task)
        if length == 1:
            state.query = model.w
        else:
            go_towards(state.best, model.w, length, state.query)
        return point, value, model.dual

    def planes(self, state: OneSlackState) -> int:
        """Size of the working set."""
        return len(state.model)

    def _length(self, task: Task) -> float:
        """How far to go from the best point; a line search has no wild solutions to avoid."""
        if self.step is not None:
            return self.step
        return 1.0 if self.qp == "line-search" else 0.1
