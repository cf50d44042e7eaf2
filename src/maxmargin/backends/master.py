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
(``hearsay.py``), so that theta is nearly always 1.

BCFW and n-slack make an exchange after every pass, and in the first iterations several in a pass
that calls the oracle. There a shard's local model of w moves sigma' times as far as its own
w(alpha), because the others move too (as in CoCoA+ by Ma, Smith, Jaggi et al., 2015, where
sigma' = K is needed). Here any sigma' will do; it is learned: it grows while the driver keeps
little of the steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..engine.bounds import Hinge
from ..engine.exchange import SHORT
from ..engine.sparse import sparse_axpy
from ..engine.vectors import Vector, total
from ..objective import dual
from ..solvers import working_sets as sets
from ..solvers.base import BoundedStep, Solver, State, Step, certified
from ..solvers.checking import require
from ..solvers.task import Task
from .combine import Exchange, warm_up_combine
from .crew import Crew, WorkersLost
from .draws import random_states
from .hearsay import ALWAYS, PLACES
from .moves import places_type
from .worker import Round

#: An empty array of places.
NOWHERE = np.zeros(0, np.int32)

#: In each of the first passes that call the oracle there are this many exchanges per shard, but no
#: more than MOST; later there is one. If shards tell each other about changes, only the first pass.
EARLY_PASSES, PER_SHARD, MOST = 3, 2, 16

#: Shards tell each other about changes this many times in a pass with and in one without the
#: oracle, but not more often than every LEAST of their examples.
OFTEN, LEAST = (16, 8), 16

#: Messages of more bytes are sent to all shards by one copy that they share.
LARGE = 100_000

#: sigma' grows by this factor if the mean part that is kept of the steps is below LOW, and shrinks
#: if it is above HIGH.
LOW, HIGH, FACTOR = 0.65, 0.9, 1.1

#: Maximum number of rounds in which n-slack solves the QP over all shards.
SETTLE = 20

#: After a loss of workers, the dual value must come back to within this fraction of the tolerance.
REGAINED = 0.1


@dataclass
class MasterState(State):
    """The driver's state of the working sets: w and sums, but no values per example.

    ``clock`` and ``lag`` are for the average of w, as in ``engine.arrays.Visits``. ``places`` are
    the weights that shards tell each other about, ``messages`` counts how often. ``received`` and
    ``sent`` count bytes, those sent to all shards once.
    """

    scratch = ("exchange",)
    grows = ("places",)

    w: np.ndarray
    lag: np.ndarray
    clock: np.ndarray
    exchange: Exchange
    places: np.ndarray
    sigma: float = 1.0
    exchanges: int = 0
    messages: int = 0
    received: int = 0
    sent: int = 0
    loss: float = 0.0
    n_planes: int = 0
    iterations: int = 0
    looks: int = 0
    next_look: int = 3
    gap: float = np.inf
    finished: bool = False
    complete: bool = True
    eps: float = np.inf
    wake: bool = False
    regain: float = -np.inf
    seen: sets.Seen = field(default_factory=sets.Seen)
    parts: list[dict[str, Any]] = field(default_factory=list)

    @property
    def recovering(self) -> bool:  # type: ignore[override]
        """Whether dual variables were lost and D is still below its previous value."""
        return self.regain > -np.inf

    def check_restored(self, task: Task) -> None:
        """Check the places after a checkpoint was read: compiled code uses them."""
        inside = (self.places >= 0) & (self.places < len(self.w))
        require(inside.all(), "a place of a weight is out of range")


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
            clock=np.array([0.0, 0.0, power or 0.0]),
            exchange=Exchange(0 if alone else dim, crew.K),
            places=np.empty(0, places_type(dim)),
        )

    def step_once(self, task: Task, state: MasterState) -> Step:
        """One round, and in some iterations a certificate."""
        before = self._dual(task, state)
        try:
            with task.share("oracle"):
                self._run(task, state, "ascend")
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

    def _run(self, task: Task, state: MasterState, method: str) -> list[Round]:
        """Run a method of the solver in every shard, and add the changes to w."""
        crew = crew_of(task)
        controls = {name: getattr(state, name) for name in self.solver.controls}
        talks = crew.K > 1 and self.solver.together and state.iterations > 0
        blocks, places = self._blocks(task, state, talks), state.places if talks else None
        crew.call("start", method, blocks, controls, places, w=state.w, again=False)
        where, parts, heard, gap = None if crew.K == 1 else NOWHERE, None, None, None
        while True:
            news = {} if talks else {"w": state.w, "where": where}
            rounds: list[Round] = crew.call(
                "ascend", state.sigma, parts, heard, gap, again=False, **news
            )
            done = all(r.done for r in rounds)
            if crew.K == 1:
                rounds[0].change.set_in(state.w)
            elif talks and not done:
                heard = self._pass_on(task, state, rounds)
            else:
                parts, where = self._exchange(task, state, rounds)
            if done:
                break
            if crew.K > 1 and self.solver.together:
                gap = sum(p * r.pass_gap for p, r in zip(crew.parts, rounds, strict=True))
        self._finish(task, state, rounds, parts, where)
        return rounds

    def _blocks(self, task: Task, state: MasterState, talks: bool) -> tuple[int, int]:
        """How often a pass with and one without the oracle stop."""
        crew = crew_of(task)
        if talks:
            most = crew.n // (crew.K * LEAST)
            return tuple(max(min(often, most), 1) for often in OFTEN)  # type: ignore[return-value]
        early = state.iterations < (1 if self.solver.together else EARLY_PASSES)
        return min(PER_SHARD * crew.K, MOST) if early else 1, 1

    def _pass_on(self, task: Task, state: MasterState, rounds: list[Round]) -> Any:
        """The sum of what the shards have said; None if they are not in the same turn."""
        if len({r.turn for r in rounds}) > 1:
            return None
        heard = np.zeros(len(rounds[0].said))
        for r in rounds:
            heard += r.said
        heard = heard.astype(np.float32)
        state.messages += 1
        state.received += sum(r.said.nbytes for r in rounds)
        state.sent += heard.nbytes
        return crew_of(task).share(heard) if heard.nbytes > LARGE else heard

    def _finish(
        self,
        task: Task,
        state: MasterState,
        rounds: list[Round],
        parts: np.ndarray | None,
        where: np.ndarray | None,
    ) -> None:
        """End an iteration: the shards keep their parts, and the driver adds up what they saw."""
        crew = crew_of(task)
        news = {} if crew.K == 1 else {"w": state.w, "where": where}
        ends = crew.call("finish", parts, again=False, **news)
        state.loss = sum(loss for loss, _ in ends)
        state.n_planes = sum(planes for _, planes in ends)
        state.gap = sum(part * r.gap for part, r in zip(crew.parts, rounds, strict=True))
        state.finished = all(r.finished for r in rounds)
        state.complete = all(r.complete for r in rounds)
        state.seen = sets.Seen(
            hinge=float(sum(r.hinge for r in rounds)),
            bound=float(sum(r.bound for r in rounds)),
            violation=max(r.violation for r in rounds),
            added=sum(r.added for r in rounds),
        )

    def _exchange(
        self, task: Task, state: MasterState, rounds: list[Round]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Keep the best part of each shard's steps; returns the parts, and the places changed."""
        losses = np.array([r.loss_change for r in rounds])
        changes = [r.change for r in rounds]
        parts, where, step = state.exchange.combine(state.w, changes, task.C * losses)
        visits = sum(r.visits for r in rounds)
        if visits == 0:
            return parts, where
        state.loss += float(parts @ losses)
        state.exchanges += 1
        state.received += sum(change.nbytes for change in changes)
        state.sent += Vector(where, step).nbytes
        if len(state.lag):
            sparse_axpy(state.clock[1], where, step, len(where), state.lag)
        t, power = state.clock[0], state.clock[2] + 1
        state.clock[:2] += visits, ((t + visits) ** power - t**power) / power
        if self.solver.together:
            state.places = state.exchange.crossing(PLACES, ALWAYS)
        else:
            self._learn(state, parts[[len(change.value) > 0 for change in changes]])
        return parts, where

    def _learn(self, state: MasterState, parts: np.ndarray) -> None:
        """Adapt sigma' to the parts that were kept of the steps of shards that have moved."""
        if len(parts):
            mean = parts.mean()
            factor = FACTOR if mean < LOW else 1 / FACTOR if mean > HIGH else 1.0
            state.sigma = min(max(state.sigma * factor, 1.0), float(state.exchange.K))

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
                rounds = self._run(task, state, "settle")
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
            hinge = Hinge.sum(crew.call("hinge", at, add, w=state.w, again=False))
            return certified(task, w, hinge, self._dual(task, state))

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
        state.loss = sum(loss for _, loss in parts)

    def _recover(self, task: Task, state: MasterState, before: float) -> None:
        """After a loss: new workers start at the true outputs, and w is summed again.

        Earlier certificates still hold; reaching the optimum only takes longer.
        """
        state.regain = max(state.regain, before - REGAINED * task.tol * task.N)
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
        return dual(state.w, state.loss, task.C)


def crew_of(task: Task) -> Crew:
    """The workers of a distributed task."""
    crew: Any = task.shard
    assert isinstance(crew, Crew)
    return crew


def begin_all(task: Task, solver: Any, how: str) -> None:
    """Start the solver in every worker, and in later replacements."""
    crew = crew_of(task)

    def begin(k: int, random: Any) -> None:
        crew.call("begin", solver, task.C, task.mode, task.tol, random, who=[k])
        crew.call(how, *((k, crew.K) if how == "begin_duals" else ()), who=[k])

    crew.on_replace = lambda k: begin(k, random_states(task, 2)[1])
    for k, random in enumerate(random_states(task, crew.K)):
        begin(k, random)
