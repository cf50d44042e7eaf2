"""Dual methods over several shards, with an exact master.

Between two exchanges every shard moves its own dual variables, by an unchanged pass of SDM, BCFW or
n-slack, and does not see what the others do. Shard k thus asks for a change v_k of w and l_k of the
loss term of D. All changes together may overshoot, so that the driver keeps a part of each:

    theta = argmax over [0, 1]^K of D(alpha + sum_k theta_k d_alpha_k)

a concave QP with K variables (``combine.py``). Every shard then has the dual variables
(1 - theta_k) old + theta_k new, and w moves by sum_k theta_k v_k. So D never decreases and
w = w(alpha), for any data. The points to certify are the last w and, if w is not long, the average
of w over the exchanges. K = 1 is the sequential method.

SDM makes one exchange per iteration, and several in the first pass. In between, shards tell each
other many times in a pass how they change the few weights where they disturb each other
(``hearsay.py``), so that theta is nearly always 1. They do it over connections between workers, a
tree without the driver (``links.py``); if there are many workers, the exchange itself is added up
in the lower part of the tree, and shards whose steps were added up there have the same theta.

BCFW and n-slack make an exchange after every pass, and in the first iterations several in a pass
that calls the oracle. There a shard's local model of w moves sigma' times as far as its own
w(alpha), because the others move too (as in CoCoA+ by Ma, Smith, Jaggi et al., 2015, where
sigma' = K is needed). Here any sigma' will do; it is learned: it grows while the driver keeps
little of the steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.bounds import Hinge
from ..engine.exchange import SHORT
from ..engine.long_vectors import square
from ..engine.vectors import Vector, total
from ..objective import dual
from ..solvers import working_sets as sets
from ..solvers.base import BoundedStep, Solver, Step, certified
from ..solvers.task import Task
from .combine import Exchange, warm_up_combine
from .crew import WorkersLost
from .draws import random_states
from .moves import places_type
from .rounds import MasterState, crew_of, run_in_shards

#: Squares of equal vectors differ by at most this, relatively: other machines add differently.
SAME = 1e-10

#: Maximum number of rounds in which n-slack solves the QP over all shards.
SETTLE = 20

#: After a loss of workers, the dual value must come back to within this fraction of the tolerance.
REGAINED = 0.1


@dataclass(frozen=True)
class Master(Solver):
    """A dual method (``solver``) over the shards of a crew."""

    solver: Any

    for_bounds = True

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the method."""
        return self.solver.name

    def loops(self, task: Task) -> tuple[str, ...]:
        """The passes that the method calls, and what exchanges need."""
        crew, names = crew_of(task), self.solver.loops(task)
        if crew.K == 1:
            return names
        warm_up_combine()
        return (*names, "mark") if crew.pack.dim > SHORT else names

    def init(self, task: Task) -> MasterState:
        """The initial state: alpha_i is 1 at the true output of each example, and w = 0."""
        crew = crew_of(task)
        alone = crew.K == 1
        begin_all(task, self.solver if alone else self.solver.without_average(), "begin_duals")
        dim = crew.pack.dim
        power = self.solver.average_power(task)
        return MasterState(
            np.zeros(dim),
            lag=np.zeros(0 if alone or power is None else dim),
            smooth=np.zeros(dim if self.solver.smooths(task) else 0),
            clock=np.array([0.0, 0.0, power or 0.0]),
            exchange=Exchange(0 if alone else dim, crew.K),
            places=np.empty(0, places_type(dim)),
        )

    def step_once(self, task: Task, state: MasterState) -> Step:
        """One round, and in some iterations a certificate."""
        before = self._dual(task, state)
        try:
            if crew_of(task).together_anywhere:
                state.deterministic = False
                crew_of(task).call("note", before, again=False)
            with task.share("oracle"):
                run_in_shards(self.solver, task, state, "ascend")
            state.iterations += 1
            self._watch(task, state)
            which = self.solver.wanted(task, state)
            w, value, D, upper = self._look(task, state, which)
            if w is not None and self.solver.settles:
                w = w.copy()
                self.solver.refine(task, state, value - D)
                self._settle(task, state)
            return w, value, D, upper
        except WorkersLost:
            self._recover(task, state, before)
            return None, np.inf, -np.inf

    def freeze(self, task: Task, state: MasterState) -> None:
        """Collect the workers' states before a checkpoint is written."""
        before = self._dual(task, state)
        state.find_places()
        while True:
            try:
                state.parts = crew_of(task).call("freeze", again=False)
                return
            except WorkersLost:
                self._recover(task, state, before)

    def thaw(self, task: Task, state: MasterState) -> None:
        """Send the states back to the workers, in their order, after a checkpoint was read."""
        for k, frozen in enumerate(state.parts):
            crew_of(task).call("thaw", frozen, who=[k])
        state.parts = []

    def exact_dual(self, task: Task, state: MasterState) -> float:
        """D(alpha), with w(alpha) summed again; lower than before if workers were lost."""
        before = self._dual(task, state)
        try:
            self._sum_duals(task, state)
        except WorkersLost:
            self._recover(task, state, before)
        return self._dual(task, state)

    def hinge_at(
        self, task: Task, state: MasterState, w: np.ndarray, order: np.ndarray | None = None
    ) -> Hinge:
        """sum_i weight_i H_i(w) over all examples, which are in the workers."""
        crew = crew_of(task)
        return Hinge.sum(crew.call("hinge", crew.share(Vector.of(w)), False))

    def planes(self, state: MasterState) -> int:
        """Number of non-zero dual variables, without those of the true outputs."""
        return state.n_planes

    def _watch(self, task: Task, state: MasterState) -> None:
        """Whether D is back at its value before a loss of workers."""
        if self._dual(task, state) >= state.regain:
            state.regain = -np.inf

    def _settle(self, task: Task, state: MasterState) -> None:
        """Solve the QP over the known outputs of all shards; a single shard solves it alone."""
        crew = crew_of(task)
        with task.share("qp"):
            for _ in range(1 if crew.K == 1 else SETTLE):
                seen, gap, complete = state.seen, state.gap, state.complete
                rounds = run_in_shards(self.solver, task, state, "settle")
                state.seen, state.gap, state.complete = seen, gap, complete
                left = sum(p * r.settled for p, r in zip(crew.parts, rounds, strict=True))
                if left <= state.eps / 2:
                    break

    def _look(self, task: Task, state: MasterState, which: str | None) -> BoundedStep:
        """A certificate like that of ``working_sets.certify``, from sums over the shards."""
        crew = crew_of(task)
        if which is None:
            return None, np.inf, self._dual(task, state), np.inf
        if which == sets.SEEN:
            seen = Hinge(state.seen.hinge, state.seen.bound)
            return certified(task, state.w, seen, self._dual(task, state))
        with task.share("certificate"):
            if crew.K == 1 and state.gap <= 2 * task.tol:  # as in a local run
                self._sum_duals(task, state)
            w, at = state.w, None
            if which == sets.AVERAGE:
                w = self._average(task, state)
                at = crew.share(Vector.of(w))
            state.looks += 1
            add = not self.solver.settles
            if which == sets.SMOOTH:
                hinge = self._hinge_smooth(task, state, add)
                return certified(task, state.smooth, hinge, self._dual(task, state))
            hinge = Hinge.sum(crew.call("hinge", at, add, w=state.w, again=False))
            return certified(task, w, hinge, self._dual(task, state))

    def _hinge_smooth(self, task: Task, state: MasterState, add: bool) -> Hinge:
        """The sum of losses at the average over the iterations, which workers keep themselves."""
        crew = crew_of(task)
        size = crew.aside.submit(square, state.smooth, crew.threads)  # while the workers look
        while True:
            at = None if state.smooth_known else crew.share(Vector.of(state.smooth))
            found = crew.call("hinge_smooth", at, add, w=state.w, again=False)
            state.smooth_known = True
            own_size = size.result()
            if at is not None or all(abs(s - own_size) <= SAME * own_size for _, s in found):
                return Hinge.sum([hinge for hinge, _ in found])
            state.smooth_known = False  # a certificate of another point would be worth nothing

    def _average(self, task: Task, state: MasterState) -> np.ndarray:
        """The average of w over all visits; that of several shards, over the exchanges."""
        crew = crew_of(task)
        if crew.K == 1:
            return total(crew.call("average_minus_w", again=False), crew.pack.dim) + state.w
        return state.w - state.lag / max(state.clock[1], 1.0)

    def _sum_duals(self, task: Task, state: MasterState) -> None:
        """Compute w(alpha) from its definition."""
        crew = crew_of(task)
        parts = crew.call("sum_duals", again=False)
        state.w = total((v for v, _ in parts), crew.pack.dim)  # a new array: see ``Crew.call``
        state.square = None
        state.loss = sum(loss for _, loss in parts)

    def _recover(self, task: Task, state: MasterState, before: float) -> None:
        """After a loss: new workers start at the true outputs, and w is summed again.

        Earlier certificates still hold; reaching the optimum only takes longer.
        """
        state.regain = max(state.regain, before - REGAINED * task.tol * task.N)
        state.smooth_known = False
        w = state.w.copy()
        while True:
            try:
                self._sum_duals(task, state)
                break
            except WorkersLost:
                continue
        if len(state.lag):  # the average stays where it is
            state.lag += state.clock[1] * (state.w - w)

    def _dual(self, task: Task, state: MasterState) -> float:
        if state.square is None:
            state.square = square(state.w, task.shard.threads)
        return dual(state.w, state.loss, task.C, state.square)


def begin_all(task: Task, solver: Any, how: str) -> None:
    """Start the solver in every worker, and in later replacements."""
    crew = crew_of(task)

    def begin(k: int, random: Any) -> None:
        crew.call("begin", solver, task.C, task.mode, task.tol, random, who=[k])
        crew.call(how, *((k, crew.K) if how == "begin_duals" else ()), who=[k])

    crew.on_replace = lambda k: begin(k, random_states(task, 2)[1])
    for k, random in enumerate(random_states(task, crew.K)):
        begin(k, random)
