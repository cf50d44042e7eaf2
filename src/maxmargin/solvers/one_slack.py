"""The 1-slack cutting-plane method: Algorithms 3 and 4 of Joachims, Finley and Yu (2009).

All examples share one slack variable, so that the working set is a small number of aggregated cuts,
which does not depend on n.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.long_vectors import square
from ..engine.several_outputs import check_diversity
from ..engine.sparse import go_towards
from ..errors import DataError
from ..objective import primal
from .base import Solver, State, Step
from .bundle import Bundle, LineSearch
from .checking import ROUNDING, close, require
from .contradiction import check_finite
from .cuts import CutMaker
from .diverse import COMBINE, DiverseCuts, Options
from .signed_bundle import SignedBundle
from .task import Task, is_tiny
from .warm import WarmStart

#: Use a cut from the caches if its violation is at least this fraction of the last complete cut's.
CACHED_ENOUGH = 0.1

#: Solve the QP to this fraction of the current gap.
QP_PRECISION = 0.01


@dataclass
class OneSlackState(State):
    """The working set, and the best weights for which a complete pass has computed P."""

    model: Bundle | LineSearch
    cuts: CutMaker
    query: np.ndarray
    best: np.ndarray
    best_primal: float = np.inf
    violation: float = np.inf

    def check_restored(self, task: Task) -> None:
        """The next query point lies between the best weights and the solution of the QP."""
        way, done = self.model.w - self.best, self.query - self.best
        length = float(way @ way)
        part = float(way @ done) / length if length > 0 else 0.0
        size = np.abs([self.model.w, self.best]).max(initial=0)
        on_way = -ROUNDING <= part <= 1 + ROUNDING and close(done, part * way, size)
        require(on_way, "the next query point is not between the best point and the QP's solution")

    def check_restored_run(self, task: Task, run: Any) -> None:
        """The best point is that of the run, and the cuts are below the model."""
        if run.best.w is None:
            return
        require(close(self.best, run.best.weights(len(self.best))), "it has two best points")
        if isinstance(self.model, Bundle) and run.history:
            # The first iteration leaves no larger violation than its primal value.
            first = max(record.primal for record in run.history if np.isfinite(record.primal))
            self.model.check_violations(first / task.N + task.tol)


@dataclass(frozen=True)
class OneSlack(Solver):
    """1-slack cutting planes, for every problem and both rescalings.

    Parameters
    ----------
    cache : int, optional
        Number of cached outputs per example, which are tried before the oracle. By default the
        ``cache`` of the problem: 0 if the oracle is as cheap as the cache. On tiny data it is 0 for
        compiled problems.
    step : float, optional
        Position of the next cut on the segment from the best weights so far (0) to the solution of
        the QP (1, as in the paper). Short steps avoid the extreme first solutions of the QP and
        need far fewer cuts if C is large. By default 0.1, and 1 with a line search.
    qp : {"exact", "line-search"}
        Solve the QP over the working set, or only do a line search towards each new cut.
    share : float
        With a cache: fraction of the examples whose oracle is called before all oracles are.
    select : {"cyclic", "gain"}
        Which examples these are: the next ones in a fixed random order, or those for which the
        oracle improved most on the cache at its last call.
    m_cuts : int
        Number of cuts added per iteration that calls all oracles (DivMCuts): the most violated cut,
        and others from the next best or diverse outputs of each example.
    combine : {"greedy", "ordering", "ilp", "relaxed", "none"}
        How outputs of different examples are combined into the other cuts. "greedy": each next cut
        is the most violated one after solving the QP with the cuts before it; it needs by far the
        fewest iterations. The others are from the DivMCuts paper (``solvers/combine.py``):
        "ordering" makes one cut from all second outputs, one from all third outputs, and so on;
        "ilp" and "relaxed" choose the outputs by optimization. "none" makes no other cuts; the
        outputs are only put into the cache.
    diversity : float, "auto" or None
        Reward per label in which an output differs from each output before it, in units of the
        score. By default 0: the best outputs, however similar. "auto" chooses among a few values by
        the weights of the resulting cuts in the QP. For a problem without an m-best decoder it is
        the length of the steps that find other outputs, by default 0.1.
    reuse_map : bool
        With "ilp" and "relaxed": the most violated output of an example may also be used in another
        cut, in place of one of the others.
    """

    cache: int | None = None
    step: float | None = None
    qp: str = "exact"
    share: float = 1.0
    select: str = "cyclic"
    m_cuts: int = 1
    combine: str = "greedy"
    diversity: float | str | None = None
    reuse_map: bool = False

    name = "one-slack"
    for_bounds = True
    keeps_sums = True
    for_signs = True

    def __post_init__(self) -> None:
        for name, value in (("step", self.step), ("share", self.share)):
            if value is not None and not 0 < value <= 1:
                raise DataError(f"{name} must be in (0, 1], got {value}")
        if self.qp not in ("exact", "line-search"):
            raise DataError(f"qp must be 'exact' or 'line-search', got {self.qp!r}")
        if self.select not in ("cyclic", "gain"):
            raise DataError(f"select must be 'cyclic' or 'gain', got {self.select!r}")
        if self.cache is not None and self.cache < 0:
            raise DataError(f"cache must be a number of outputs >= 0, got {self.cache}")
        if isinstance(self.m_cuts, bool) or int(self.m_cuts) != self.m_cuts or self.m_cuts < 1:
            raise DataError(f"m_cuts must be a number of cuts >= 1, got {self.m_cuts!r}")
        if self.combine not in COMBINE:
            raise DataError(f"combine must be one of {', '.join(COMBINE)}, got {self.combine!r}")
        if self.diversity is not None and self.diversity != "auto":
            check_diversity(self.diversity)
        if self.m_cuts > 1 and self.qp == "line-search":
            raise DataError("m_cuts > 1 needs qp='exact': a line search uses one cut")

    def slots(self, task: Task) -> int:
        """Number of cached outputs per example."""
        if self.cache is not None:
            return self.cache
        shard = task.shard
        simple = self.m_cuts == 1 and self.share == 1.0 and shard.loops.compiled
        simple &= not shard.bounded  # the cache knows outputs that an inexact oracle misses
        # Oracle calls for tiny data take less time than compiling what a cache needs.
        return 0 if simple and is_tiny(shard) else shard.problem.cache

    def loops(self, task: Task) -> tuple[str, ...]:
        """The compiled passes it calls."""
        if self.slots(task):
            return ("decode", "collect", "recall", "remember")
        greedy = self.m_cuts > 1 and self.combine == "greedy"
        return ("decode", "collect") + (("recall",) if greedy else ())

    def warm_up(self, task: Task) -> float:
        """Compile the passes over several outputs, if they are used; returns the seconds."""
        start = time.perf_counter()
        diverse = self._diverse(task, Bundle(0, 1.0))
        if diverse is not None:
            diverse.several.warm_up(task.mode)
        return time.perf_counter() - start

    def init(self, task: Task) -> OneSlackState:
        """Lines 1 and 2: an empty working set, w = 0."""
        if self.share < 1 and not self.slots(task):
            raise DataError("share needs a cache: mm.OneSlack(cache=5, share=...)")
        model = self._model(task)
        _give_threads(task, model)
        state = OneSlackState(model, self.cut_maker(task, model), query=model.w, best=model.w)
        return self._begin_at_model(task, state)

    def _model(self, task: Task) -> Bundle | LineSearch:
        """An empty working set."""
        dim, positive = task.shard.pack.dim, task.shard.positive
        if len(positive) and self.qp != "exact":
            raise DataError("weights that must be >= 0 (positive) need qp='exact'")
        if len(positive):
            return SignedBundle(dim, task.N, positive)
        return Bundle(dim, task.N) if self.qp == "exact" else LineSearch(dim, task.N)

    def cut_maker(self, task: Task, model: Bundle | LineSearch) -> CutMaker:
        """The object that makes cuts; they are added to ``model``."""
        diverse = self._diverse(task, model) if isinstance(model, Bundle) else None
        return CutMaker(task, self.slots(task), self.share, self.select, diverse)

    def restart(self, task: Task, state: OneSlackState, C: float) -> OneSlackState:
        """From a run with another C, whose cuts remain valid."""
        _give_threads(task, state.model)
        state.model.adapt(task.N, 1.0, QP_PRECISION * task.tol)
        state.cuts.task = task
        state.best_primal = state.violation = np.inf
        return self._begin_at_model(task, state)

    def extend(
        self, task: Task, state: OneSlackState, kept: WarmStart, relabel: np.ndarray | None
    ) -> OneSlackState | None:
        """From a run on the first of these examples; its cuts have the others at the truth."""
        if not kept.trusted or task.shard.pack.dim != kept.dim or relabel is not None:
            return None  # the cuts are valid only for the same examples and weights
        fresh = self.init(task)
        fresh.model = state.model
        _give_threads(task, fresh.model)
        fresh.model.adapt(task.N, kept.total_weight / task.n, QP_PRECISION * task.tol)
        return self._begin_at_model(task, fresh)

    def _begin_at_model(self, task: Task, state: OneSlackState) -> OneSlackState:
        """Make the first cut at the solution of the QP, for any step."""
        w = state.model.w
        state.best = w.copy()
        state.query = w if self._length(task) == 1 else w.copy()
        if state.cuts.diverse is not None and isinstance(state.model, Bundle):
            state.cuts.diverse.model = state.model
        return state

    def step_once(self, task: Task, state: OneSlackState) -> Step:
        """One iteration of the loop in lines 3 to 9.

        Returns ``(w, P(w), D, upper bound of P(w))``; w is None unless a complete pass has found a
        better w.
        """
        model = state.model
        # Lines 5 to 7: the most violated outputs, from the caches if their cut is violated enough.
        enough = max(CACHED_ENOUGH * state.violation, task.tol)
        cut, violation = None, -np.inf
        for cut in state.cuts.attempts(state.query):
            violation = model.violation(cut.plane, cut.loss)
            if violation > enough:
                break
        assert cut is not None  # the last attempt calls every oracle
        point, value, upper = None, np.inf, np.inf
        if cut.complete:
            state.violation = max(violation, 0.0)
            hinge = cut.hinge
            if cut.bound > hinge:  # the oracle is not exact: earlier cuts may be higher
                hinge = max(hinge, model.highest(state.query))
            size = square(state.query, task.shard.threads)
            told = primal(state.query, hinge * task.n, task.C, size)
            check_finite(state.query, told, model.dual)
            if told < state.best_primal:
                np.copyto(state.best, state.query)
                state.best_primal = told
                point, value = state.best, told
                upper = max(primal(state.query, cut.bound * task.n, task.C, size), told)
        with task.share("qp"):
            model.add(cut.plane, cut.loss)  # line 8
        # Line 4, to a precision relative to the current gap.
        precision = QP_PRECISION * max((state.best_primal - model.dual) / task.N, task.tol)
        diverse = state.cuts.diverse if cut.complete else None
        if diverse is not None:
            with task.share("diverse"):
                diverse.add_planes(state.query, cut.plane, violation, precision)
        with task.share("qp"):
            model.solve(precision)
        length = self._length(task)
        if length == 1:
            state.query = model.w
        elif cut.complete and point is None and violation <= precision:
            # An oracle that is not exact may find nothing near the best point: nothing has changed,
            # and the same query would find nothing again.
            np.copyto(state.query, model.w)
        else:
            go_towards(state.best, model.w, length, state.query)
        return point, value, model.dual, upper

    def planes(self, state: OneSlackState) -> int:
        """Size of the working set."""
        return len(state.model)

    def _diverse(self, task: Task, model: Bundle) -> DiverseCuts | None:
        """The object that makes several cuts; None if it is not needed."""
        if self.m_cuts == 1 or (self.combine == "none" and not self.slots(task)):
            return None
        options = Options(int(self.m_cuts), self.combine, self.diversity, self.reuse_map)
        return DiverseCuts(task, model, options)

    def _length(self, task: Task) -> float:
        """The step; by default 1 with a line search, which has no extreme solutions."""
        if self.step is not None:
            return self.step
        return 1.0 if self.qp == "line-search" else 0.1


def _give_threads(task: Task, model: Bundle | LineSearch) -> None:
    """Let the sums over cuts use the threads of this run."""
    if isinstance(model, Bundle):
        model.threads = task.shard.threads
