"""Dual methods over several shards: CoCoA+ (Ma, Smith, Jaggi et al., 2015) around any of them.

In a round every shard moves its own dual variables by an unchanged iteration of SDM, BCFW or
n-slack, on a local model u of w. Because the other shards move too, u moves sigma' times as far as
w(alpha) does:

    u = w + sigma' C sum_ir d_alpha_ir plane_ir,    and the shard's part of the change is
    (u - w) / sigma'

and the sum of these changes over the shards is added to w. With sigma' = K, the number of shards, a
round never decreases the dual on any data (their Lemma 4, with gamma = 1). A smaller sigma' takes
longer steps, which are better if shards share few features. If the dual decreases, sigma' is
doubled, up to K. For every sigma' alpha stays feasible and w = w(alpha), so every certificate
holds. K = 1 is the sequential method.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..engine.bounds import Hinge
from ..engine.vectors import Vector, total
from ..objective import dual
from ..solvers import working_sets as sets
from ..solvers.base import BoundedStep, Solver, State, Step, certified
from ..solvers.task import Task
from .crew import Crew, WorkersLost
from .draws import random_states
from .worker import Round

#: An empty array of places.
NOWHERE = np.zeros(0, np.int32)

#: Maximum number of rounds in which n-slack solves the QP over all shards.
SETTLE = 20

#: After a loss of workers, the dual value must come back to within this fraction of the tolerance.
REGAINED = 0.1


@dataclass
class CoCoAState(State):
    """The driver's state of the working sets: w and sums, but no values per example."""

    w: np.ndarray
    sigma: float
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


@dataclass(frozen=True)
class CoCoA(Solver):
    """A dual method (``solver``) over the shards of a crew."""

    solver: Any

    for_bounds = True

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the method."""
        return self.solver.name

    def loops(self, task: Task) -> tuple[str, ...]:
        """The passes that the method calls."""
        return self.solver.loops(task)

    def init(self, task: Task) -> CoCoAState:
        """The initial state: alpha_i is 1 at the true output of each example, and w = 0."""
        crew = crew_of(task)
        begin_all(task, self.solver, "begin_duals")
        sigma = crew.K if crew.sigma is None else min(crew.sigma, crew.K)
        return CoCoAState(np.zeros(crew.pack.dim), float(sigma))

    def step_once(self, task: Task, state: CoCoAState) -> Step:
        """One round, and in some iterations a certificate."""
        before = self._dual(task, state)
        try:
            with task.share("oracle"):
                self._run(task, state, "ascend")
            state.iterations += 1
            self._watch(task, state, before)
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

    def freeze(self, task: Task, state: CoCoAState) -> None:
        """Collect the workers' states before a checkpoint is written."""
        before = self._dual(task, state)
        while True:
            try:
                state.parts = crew_of(task).call("freeze", again=False)
                return
            except WorkersLost:
                self._recover(task, state, before)

    def thaw(self, task: Task, state: CoCoAState) -> None:
        """Send the states back to the workers, in their order, after a checkpoint was read."""
        for k, frozen in enumerate(state.parts):
            crew_of(task).call("thaw", frozen, state.sigma, who=[k])
        state.parts = []

    def exact_dual(self, task: Task, state: CoCoAState) -> float:
        """D(alpha), with w(alpha) summed again; lower than before if workers were lost."""
        before = self._dual(task, state)
        try:
            self._sum_duals(task, state)
        except WorkersLost:
            self._recover(task, state, before)
        return self._dual(task, state)

    def hinge_at(
        self, task: Task, state: CoCoAState, w: np.ndarray, order: np.ndarray | None = None
    ) -> Hinge:
        """sum_i weight_i H_i(w) over all examples, which are in the workers."""
        crew = crew_of(task)
        return Hinge.sum(crew.call("hinge", crew.share(Vector.of(w)), False))

    def planes(self, state: CoCoAState) -> int:
        """Number of non-zero dual variables, without those of the true outputs."""
        return state.n_planes

    def _run(self, task: Task, state: CoCoAState, method: str) -> list[Round]:
        """Run a method of the solver in every shard, and add the changes to w."""
        crew = crew_of(task)
        controls = {name: getattr(state, name) for name in self.solver.controls}
        blocks = 1 if crew.K == 1 else crew.blocks
        crew.call("start", method, state.sigma, blocks, controls, w=state.w, again=False)
        where: Any = NOWHERE
        while True:
            rounds: list[Round] = crew.call(
                "ascend", blocks == 1, w=state.w, where=where, again=False
            )
            changes = [r.change for r in rounds]
            where = move(state.w, changes, state.sigma)
            if all(r.done for r in rounds):
                break
        state.loss = sum(r.loss for r in rounds)
        state.n_planes = sum(r.planes for r in rounds)
        state.gap = sum(part * r.gap for part, r in zip(crew.parts, rounds, strict=True))
        state.finished = all(r.finished for r in rounds)
        state.complete = all(r.complete for r in rounds)
        state.seen = sets.Seen(
            hinge=float(sum(r.hinge for r in rounds)),
            bound=float(sum(r.bound for r in rounds)),
            violation=max(r.violation for r in rounds),
            added=sum(r.added for r in rounds),
        )
        return rounds

    def _watch(self, task: Task, state: CoCoAState, before: float) -> None:
        """Take shorter steps if the dual has decreased, which cannot happen with sigma' = K."""
        crew, now = crew_of(task), self._dual(task, state)
        if now < before and state.sigma < crew.K:
            state.sigma = min(2 * state.sigma, float(crew.K))
        if now >= state.regain:
            state.regain = -np.inf

    def _settle(self, task: Task, state: CoCoAState) -> None:
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

    def _look(self, task: Task, state: CoCoAState, which: str | None) -> BoundedStep:
        """A certificate like that of ``working_sets.certify``, from sums over the shards."""
        crew = crew_of(task)
        if which is None:
            return None, np.inf, self._dual(task, state), np.inf
        if which == sets.SEEN:
            seen = Hinge(state.seen.hinge, state.seen.bound)
            return certified(task, state.w, seen, self._dual(task, state))
        with task.share("certificate"):
            if state.gap <= 2 * task.tol:
                self._sum_duals(task, state)
            w, at = state.w, None
            if which == sets.AVERAGE:
                w = total(crew.call("average_minus_w", again=False), crew.pack.dim)
                w += state.w
                at = crew.share(Vector.of(w))
            state.looks += 1
            add = not self.solver.settles
            hinge = Hinge.sum(crew.call("hinge", at, add, w=state.w, again=False))
            return certified(task, w, hinge, self._dual(task, state))

    def _sum_duals(self, task: Task, state: CoCoAState) -> None:
        """Compute w(alpha) from its definition."""
        crew = crew_of(task)
        parts = crew.call("sum_duals", again=False)
        state.w[:] = total((v for v, _ in parts), crew.pack.dim)
        state.loss = sum(loss for _, loss in parts)

    def _recover(self, task: Task, state: CoCoAState, before: float) -> None:
        """After a loss: new workers start at the true outputs, and w is summed again.

        Earlier certificates still hold; reaching the optimum only takes longer.
        """
        state.regain = max(state.regain, before - REGAINED * task.tol * task.N)
        while True:
            try:
                self._sum_duals(task, state)
                return
            except WorkersLost:
                continue

    def _dual(self, task: Task, state: CoCoAState) -> float:
        return dual(state.w, state.loss, task.C)


def move(w: np.ndarray, changes: list[Vector], sigma: float) -> np.ndarray | None:
    """w += sum_k (u_k - w) / sigma, given u_k where it differs from w.

    Returns the places where w may have changed, or None for all places.
    """
    if len(changes) == 1:
        changes[0].set_in(w)  # bit-equal to the sequential method
        return changes[0].where
    steps = []
    for change in changes:
        old = w if change.where is None else w[change.where]
        steps.append(change._replace(value=(change.value - old) / sigma))
    for step in steps:
        step.add_to(w)
    places = [change.where for change in changes if change.where is not None]
    return np.concatenate(places) if len(places) == len(changes) else None


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
        crew.call(how, who=[k])

    crew.on_replace = lambda k: begin(k, random_states(task, 2)[1])
    for k, random in enumerate(random_states(task, crew.K)):
        begin(k, random)
