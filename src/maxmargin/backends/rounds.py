"""One iteration of a dual method in all shards: stops, messages and exchanges.

A shard stops several times in an iteration. At a stop shards either tell each other about some
weights (``hearsay.py``), without the driver (``links.py``), or the driver exchanges all changes.
``master.py`` explains both.
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..engine.long_vectors import square
from ..engine.sparse import sparse_axpy
from ..engine.vectors import Vector
from ..solvers import working_sets as sets
from ..solvers.base import State
from ..solvers.checking import require
from ..solvers.task import Task
from .ascending import Round
from .combine import Exchange
from .crew import Crew
from .hearsay import ALWAYS, PLACES
from .links import HEADS, head_of

#: An empty array of places.
NOWHERE = np.zeros(0, np.int32)

#: In each of the first passes that call the oracle there are this many exchanges per shard, but no
#: more than MOST; later there is one. If shards tell each other about changes, only the first pass.
EARLY_PASSES, PER_SHARD, MOST = 3, 2, 16

#: Shards tell each other about changes this many times in a pass with and in one without the
#: oracle, but not more often than every LEAST of their examples.
OFTEN, LEAST = (16, 16), 16

#: sigma' grows by this factor if the mean part that is kept of the steps is below LOW, and shrinks
#: if it is above HIGH.
LOW, HIGH, FACTOR = 0.65, 0.9, 1.1


@dataclass
class MasterState(State):
    """The driver's state of the working sets: w and sums, but no values per example.

    ``clock`` and ``lag`` are for the average of w over visits, as in ``engine.arrays.Visits``, and
    ``smooth`` that over iterations. ``places`` are the weights that shards tell each other about.
    ``messages`` counts how often they do, ``told`` the bytes that one shard has sent for it;
    ``received`` and ``sent`` are the bytes of the exchanges, those sent to all shards counted once.
    ``smooth_known`` says whether the workers have the same ``smooth``, ``square`` is |w|^2 if it is
    known, and ``crossing`` finds the next ``places`` while the workers go on.
    """

    scratch = ("exchange", "smooth_known", "square", "crossing")
    grows = ("places",)

    w: np.ndarray
    lag: np.ndarray
    smooth: np.ndarray
    clock: np.ndarray
    exchange: Exchange
    places: np.ndarray
    sigma: float = 1.0
    exchanges: int = 0
    messages: int = 0
    told: int = 0
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
    deterministic: bool = True
    eps: float = np.inf
    wake: bool = False
    regain: float = -np.inf
    smooth_known: bool = False
    square: float | None = None
    crossing: Future[np.ndarray] | None = None
    seen: sets.Seen = field(default_factory=sets.Seen)
    parts: list[dict[str, Any]] = field(default_factory=list)

    @property
    def recovering(self) -> bool:  # type: ignore[override]
        """Whether dual variables were lost and D is still below its previous value."""
        return self.regain > -np.inf

    def find_places(self) -> None:
        """Wait for the next places."""
        if self.crossing is not None:
            self.places, self.crossing = self.crossing.result(), None

    def check_restored(self, task: Task) -> None:
        """Check the places after a checkpoint was read: compiled code uses them."""
        inside = (self.places >= 0) & (self.places < len(self.w))
        require(inside.all(), "a place of a weight is out of range")


def run_in_shards(solver: Any, task: Task, state: MasterState, method: str) -> list[Round]:
    """Run a method of the solver in every shard, and add the changes to w."""
    crew = crew_of(task)
    controls = {name: getattr(state, name) for name in solver.controls}
    state.square = None
    if crew.K > 1 and solver.in_step and state.iterations > 0 and crew.link():
        return _run_linked(solver, task, state, method, controls)
    crew.call("start", method, _blocks(solver, task, state), controls, w=state.w, again=False)
    where, parts, gap = NOWHERE, None, None
    while True:
        rounds: list[Round] = crew.call(
            "ascend", state.sigma, parts, gap, w=state.w, where=where, again=False
        )
        if crew.K == 1:
            rounds[0].change.set_in(state.w)  # the worker has the same w already
        else:
            parts, where = _exchange(solver, task, state, rounds)
        if all(r.done for r in rounds):
            break
        if crew.K > 1 and solver.in_step:
            gap = sum(p * r.pass_gap for p, r in zip(crew.parts, rounds, strict=True))
    _finish(task, state, rounds, parts, where)
    return rounds


def _run_linked(
    solver: Any, task: Task, state: MasterState, method: str, controls: dict[str, Any]
) -> list[Round]:
    """The same for shards that tell each other about changes, with one exchange at the end."""
    crew = crew_of(task)
    most = crew.n // (crew.K * LEAST)
    blocks = tuple(max(min(often, most), 1) for often in OFTEN)
    state.find_places()
    places = crew.share(state.places)
    rounds: list[Round] = crew.call_linked(
        "ascend_linked", method, blocks, controls, places, w=state.w
    )
    state.messages += rounds[0].messages
    state.told += rounds[0].told
    parts, where = _exchange(solver, task, state, rounds, linked=True)
    _finish(task, state, rounds, parts, where)
    return rounds


def _blocks(solver: Any, task: Task, state: MasterState) -> tuple[int, int]:
    """How often a pass with and one without the oracle stop for an exchange."""
    early = state.iterations < (1 if solver.in_step else EARLY_PASSES)
    return min(PER_SHARD * crew_of(task).K, MOST) if early else 1, 1


def _finish(
    task: Task,
    state: MasterState,
    rounds: list[Round],
    parts: np.ndarray | None,
    where: np.ndarray,
) -> None:
    """End an iteration: the shards keep their parts, and the driver adds up what they saw."""
    crew = crew_of(task)
    share = sets.SHARE if len(state.smooth) else None
    own = crew.aside.submit(_end, task, state)
    try:
        ends = crew.call("finish", parts, share, w=state.w, where=where, again=False)
    finally:
        own.result()
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


def _end(task: Task, state: MasterState) -> None:
    """What the driver does with the new w while the workers end the iteration."""
    sets.smooth_out(task, state)
    state.square = square(state.w, task.shard.threads)


def _exchange(
    solver: Any, task: Task, state: MasterState, rounds: list[Round], linked: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Keep the best part of each shard's steps; returns the parts, and the places changed.

    If the workers are linked, the first of them have added up the steps of the others, and shards
    whose steps were added up keep the same part.
    """
    heads = rounds[:HEADS] if linked else rounds
    losses = np.array([r.loss_change for r in heads])
    changes = [r.change for r in heads]
    parts, where, step = state.exchange.combine(state.w, changes, task.C * losses)
    visits = sum(r.visits for r in heads)
    everyone = parts[[head_of(k) for k in range(len(rounds))]] if linked else parts
    if visits == 0:
        return everyone, where
    state.loss += float(parts @ losses)
    state.exchanges += 1
    state.received += sum(change.nbytes for change in changes)
    state.sent += Vector(where, step).nbytes
    if len(state.lag):
        sparse_axpy(state.clock[1], where, step, len(where), state.lag)
    t, power = state.clock[0], state.clock[2] + 1
    state.clock[:2] += visits, ((t + visits) ** power - t**power) / power
    if solver.in_step:
        last = state.exchange.last
        state.crossing = crew_of(task).aside.submit(Exchange.crossing, last, PLACES, ALWAYS)
    else:
        _learn(state, parts[[len(change.value) > 0 for change in changes]])
    return everyone, where


def _learn(state: MasterState, parts: np.ndarray) -> None:
    """Adapt sigma' to the parts that were kept of the steps of shards that have moved."""
    if len(parts):
        mean = parts.mean()
        factor = FACTOR if mean < LOW else 1 / FACTOR if mean > HIGH else 1.0
        state.sigma = min(max(state.sigma * factor, 1.0), float(state.exchange.K))


def crew_of(task: Task) -> Crew:
    """The workers of a distributed task."""
    crew: Any = task.shard
    assert isinstance(crew, Crew)
    return crew
