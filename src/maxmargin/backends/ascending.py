"""The part of a worker that runs a dual method on its shard (``master.py``)."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from ..data.checked import check_like
from ..engine.arrays import GAP
from ..engine.bounds import Hinge
from ..engine.shard import Shard
from ..engine.sparse import blend_and_square
from ..engine.vectors import Vector, changed
from ..solvers import working_sets as sets
from ..solvers.slots import repair_alpha
from ..solvers.task import Task
from .hearsay import Hearsay
from .links import Address, LinkLost, Links
from .moves import NOTHING, Moves

#: Parts of the state of a dual method that can be computed from the others.
REMADE = ("block", "labels", "w", "average")


class Round(NamedTuple):
    """The answer of a worker that has moved its dual variables.

    ``change`` is the change of w(alpha) that its steps ask for, and ``loss_change`` that of
    the loss term; a single worker sends the new entries of w. ``visits`` is the number of examples
    visited, ``messages`` that of the sums that workers have made without the driver, and ``told``
    the bytes of one shard in them. ``pass_gap`` is the gap of the pass so far, ``gap`` that of the
    last one that has called the oracle.
    """

    change: Vector
    loss_change: float
    visits: int
    messages: int
    told: int
    done: bool
    pass_gap: float
    gap: float
    violation: float
    hinge: float
    bound: float
    added: float
    finished: bool
    complete: bool
    settled: float


class Ascending:
    """The dual variables of one shard, a copy of w, and the connections to other workers.

    ``host`` is the address of this machine, ``waited`` the seconds spent on sums with others.
    """

    shard: Shard
    w: np.ndarray
    host: str
    solver: Any
    C: float
    task: Task
    state: Any = None
    links: Links | None = None
    hearsay: Hearsay | None = None
    smooth: np.ndarray = np.empty(0)
    smooth_square: float = 0.0
    waited: float = 0.0

    def begin_duals(self, k: int, K: int) -> None:
        """Start with alpha_i = 1 at the true output of each example; this is shard k of K."""
        self.k, self.K, self.hearsay, self.smooth = k, K, None, np.empty(0)
        self.task.shards, self.task.moves = K, Moves(self.shard) if K > 1 else None
        self.state = self.solver.init(self.task)
        np.copyto(self.state.w, self.w)
        if self.shard.together is not None:
            self.shard.together.exchanged = True

    def note(self, dual: float) -> None:
        """The dual value of all shards, for threads that change w at the same time."""
        if self.shard.together is not None:
            self.shard.together.note(dual)

    def listen(self) -> Address:
        """Wait for connections of other workers; returns the address."""
        self.hang_up()
        self.links = Links(self.host)
        return self.links.address

    def reach(self, addresses: list[Address], token: bytes) -> str:
        """Connect to other workers; returns the error, if any."""
        assert self.links is not None
        try:
            self.links.reach(self.k, addresses, token)
        except OSError as error:
            return f"from {self.host} to {addresses[(self.k - 1) // 2]}: {error}"
        return ""

    def meet(self, token: bytes) -> str:
        """Wait for the connections of other workers; returns the error, if any."""
        assert self.links is not None
        try:
            self.links.meet(self.k, self.K, token)
        except OSError as error:
            return f"no worker has connected to {self.links.address}: {error}"
        return ""

    def hang_up(self) -> None:
        """Close the connections to other workers; may be called while ``ascend_linked`` waits."""
        if self.links is not None:
            self.links.close()

    def start(
        self,
        step: str,
        blocks: tuple[int, int],
        controls: dict[str, Any],
        places: np.ndarray | None = None,
    ) -> None:
        """Start the solver's ``step``; passes with and without the oracle stop ``blocks`` times.

        If ``places`` are given, shards tell each other about the weights there at every stop.
        """
        task, state = self.task, self.state
        self.hearsay = None
        if places is not None:  # a copy: arrays of other processes are read-only
            self.hearsay = Hearsay(places.copy(), self.K, state.w)
        for name, value in controls.items():
            setattr(state, name, value)
        task.blocks, task.gap = blocks, None
        self.steps = getattr(self.solver, step)(task, state)
        self.settled, self.done = 0.0, False

    def ascend(self, sigma: float, parts: np.ndarray | None, gap: float | None) -> Round:
        """Keep the part of the last steps that the driver has chosen, and move until the next stop.

        Parameters
        ----------
        sigma : float
            The local model of w moves this many times as far as w(alpha) does, because the other
            shards move too.
        parts : array (K,), optional
            What to keep of each shard's steps, after an exchange of all changes.
        gap : float, optional
            That of the last pass in all shards, if they make their passes together.
        """
        self.keep(parts)
        if self.done:  # it waits for the others
            return self.last._replace(change=NOTHING, loss_change=0.0, visits=0)
        self._move(sigma, gap)
        self.last = self._round(sigma, 0)
        return self.last

    def ascend_linked(
        self,
        step: str,
        blocks: tuple[int, int],
        controls: dict[str, Any],
        places: np.ndarray,
        part: float,
    ) -> Round | None:
        """The solver's ``step`` to its end; at every stop shards tell each other about changes.

        ``part`` is this shard's part of all examples. It returns None if another worker is lost.
        """
        links = self.links
        assert links is not None
        try:
            self.start(step, blocks, controls, places)
            hearsay = self.hearsay
            assert hearsay is not None
            message, gap, messages = np.empty(hearsay.size + 2, np.float32), None, 0
            while True:
                self._move(1.0, gap)
                message[:-2] = hearsay.say()
                message[-2:] = self.state.visits.total[GAP] / self.task.n * part, not self.done
                begun = time.perf_counter()
                links.add_up(message)
                self.waited += time.perf_counter() - begun
                messages += 1
                if message[-1] == 0:  # all are done
                    return self._fold(self._round(1.0, messages, message.nbytes))
                hearsay.hear(message[:-2])
                gap = float(message[-2])
        except LinkLost:
            return None
        except BaseException:
            links.close()  # or the others would wait
            raise

    def _move(self, sigma: float, gap: float | None) -> None:
        """Move until the next stop, unless the last one was the end."""
        if self.done:
            return
        task = self.task
        if self.shard.together is not None:
            self.shard.together.copies.forget()  # w has changed since the last stop
        task.C, task.gap = sigma * self.C, gap
        try:
            next(self.steps)
        except StopIteration as end:
            self.done = True
            self.settled = float(end.value or 0.0)
        task.C = self.C

    def _round(self, sigma: float, messages: int, size: int = 0) -> Round:
        """What the driver is told; w and its model are those of the last exchange again."""
        change, loss, visits = self._take(sigma)
        state = self.state
        return Round(
            change=change,
            loss_change=loss,
            visits=visits,
            messages=messages,
            told=messages * size,
            done=self.done,
            pass_gap=state.visits.total[GAP] / self.task.n,
            gap=state.gap,
            violation=state.seen.violation,
            hinge=state.seen.hinge,
            bound=state.seen.bound,
            added=state.seen.added,
            finished=state.finished,
            complete=state.complete,
            settled=self.settled,
        )

    def _fold(self, own: Round) -> Round:
        """With the changes of the workers below this one, or without any if they were sent up."""
        assert self.links is not None
        sums = np.array([own.loss_change, own.visits])
        change, sums = self.links.fold_up(self.k, own.change, sums)
        return own._replace(change=change, loss_change=float(sums[0]), visits=int(sums[1]))

    def _take(self, sigma: float) -> tuple[Vector, float, int]:
        """All changes since the last exchange; w and its model are those of that moment again."""
        if self.hearsay is not None:
            self.hearsay.forget()
            self.hearsay = None
        if self.task.moves is None:  # the only shard
            change = changed(self.state.w, self.w)
            change.set_in(self.w)
            return change, 0.0, 0
        return self.task.moves.take(self.state, self.w, 1.0 / sigma)

    def keep(self, parts: np.ndarray | None) -> None:
        """Keep the part of the last steps that the driver has chosen."""
        if self.task.moves is not None and parts is not None:
            self.task.moves.keep(self.state.duals, float(parts[self.k]))

    def finish(self, parts: np.ndarray | None, share: float | None) -> tuple[float, int]:
        """End an iteration; returns the shard's part of the loss term of D, and its planes.

        The average of w over the iterations, if it is known here, moves by ``share``.
        """
        self.keep(parts)
        if share is not None and len(self.smooth):
            self.smooth_square = blend_and_square(self.smooth, self.w, share)
        return sets.dual_loss(self.task, self.state), self.solver.planes(self.state)

    def sum_duals(self) -> tuple[Vector, float]:
        """The shard's part of w(alpha), and of the loss term of D."""
        task, w = self.task, self.state.w  # only its memory: new memory is slow
        if task.moves is not None:  # steps that the driver has not seen: another worker was lost
            self._take(1.0)
            task.moves.keep(self.state.duals, 0.0)
        repair_alpha(self.state.duals)
        w[:] = 0.0
        self.shard.sum_duals(self.C, task.mode, self.state.duals, w, task.frank_wolfe)
        total = Vector.of(w)
        if total.where is None:
            total = total._replace(value=w.copy())
        np.copyto(w, self.w)
        return total, sets.dual_loss(self.task, self.state)

    def average_minus_w(self) -> Vector:
        """The average of this shard's part of w minus its last value."""
        return Vector.of(sets.average_minus_w(self.state))

    def hinge(self, at: Vector | None, add: bool) -> Hinge:
        """sum_i weight_i H_i at w, or at the point ``at``."""
        w = self.w if at is None else self._dense(at)
        return sets.hinge_at(self.task, self.state, w, add)

    def hinge_smooth(self, at: Vector | None, add: bool) -> tuple[Hinge, float]:
        """The same at the average of w over the iterations, and its square.

        ``at`` is this average, or None if it is known here: it need not be sent every time.
        """
        if at is not None:
            self.smooth = self._dense(at)
            self.smooth_square = float(self.smooth @ self.smooth)
        return sets.hinge_at(self.task, self.state, self.smooth, add), self.smooth_square

    def freeze(self) -> dict[str, Any]:
        """Everything that the next iterations depend on, as named arrays and numbers."""
        kept = {name: v for name, v in vars(self.state).items() if name not in REMADE}
        kept |= {name: kept[name]._asdict() for name in ("duals", "visits", "seen")}
        random = self.task.random.get_state(legacy=False)
        return {"state": kept, "random": random, "messages": self.shard.messages}

    def thaw(self, frozen: dict[str, Any]) -> None:
        """Continue from what ``freeze`` returned, here or in another worker of the same shard."""
        from ..saving.restored import thaw_working_sets

        thaw_working_sets(self.task, self.state, frozen["state"], frozen["random"])
        self.state.block = self.shard.new_block(self.state.duals.loss.shape[1])
        if self.shard.messages is not None:
            self.shard.messages[:] = check_like(frozen["messages"], self.shard.messages, "messages")

    def _dense(self, v: Vector) -> np.ndarray:
        """A writable copy: arrays shared between processes are read-only, a different type."""
        w = np.zeros(self.shard.pack.dim)
        v.add_to(w)
        return w
