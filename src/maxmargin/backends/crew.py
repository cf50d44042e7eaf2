"""Workers that share one training problem; to a solver they look like one shard.

Nothing here depends on where the workers run: a ``Pool`` handles that. Sums over the workers are
made in a fixed order, so that results do not depend on which worker finishes first.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..engine.threads import Threads
from ..engine.vectors import Vector, changed, warm_up_exchange, warm_up_vectors
from ..errors import DataError, MaxMarginError
from ..problem import CompiledProblem
from ..result import WorkerReport
from .links import TOKEN
from .worker import Facts, Reply, Source

#: A worker that is lost this many times in a row without an answer is not replaced again.
PATIENCE = 3


#: Maximum number of threads in which the driver adds up long vectors while the workers wait.
DRIVER_THREADS = 4


class WorkersLost(MaxMarginError):
    """Workers were lost; new ones have taken their places, without any state."""

    def __init__(self, who: list[int]):
        super().__init__(f"workers {who} were lost")
        self.who = who


class Pool(Protocol):
    """Starts workers somewhere, and sends calls to them."""

    def start(self, sources: Sequence[Source], shared: Any) -> list[Any]:
        """Start new workers, which load their examples."""
        ...

    def share(self, value: Any) -> Any:
        """Prepare a value for several workers, so that it is sent only once."""
        ...

    def submit(self, member: Any, method: str, args: tuple[Any, ...], w: Any) -> Any:
        """Start a call of ``Worker.call``; returns a ticket for its answer."""
        ...

    def gather(self, tickets: Sequence[Any], check: Callable[[], None]) -> list[Reply | None]:
        """The answers to calls, with None for each lost worker."""
        ...

    def map(self, function: Callable[..., Any], jobs: list[tuple[Any, ...]]) -> list[Any]:
        """``function(*job)`` of each job, on any machine with free CPUs."""
        ...

    def stop(self, member: Any) -> None:
        """Stop a worker, even if it is busy."""
        ...

    def close(self) -> None:
        """Stop all workers."""
        ...


class Outline(NamedTuple):
    """The parts of a ``Pack`` that solvers use, for all workers together."""

    dim: int
    width: int
    truth: np.ndarray | None = None


class Loops(NamedTuple):
    """The facts about passes that ``solvers.choose`` uses."""

    compiled: bool


class Crew:
    """K workers, each with a shard.

    Parameters
    ----------
    pool : Pool
    problem : CompiledProblem
    sources : sequence of Source
        The source of each worker's examples.
    shared : optional
        What the sources have in common, as returned by ``pool.share``.
    deterministic : bool
        With False the threads of a worker change w at the same time.
    """

    #: As for a ``Shard``: no weights that must be >= 0, see ``Worker.begin``.
    positive = np.empty(0, np.int64)

    #: As for a ``Shard``: no threads of the driver share w. Those of workers may (``Facts``).
    together = None

    def __init__(
        self,
        pool: Pool,
        problem: CompiledProblem,
        sources: Sequence[Source],
        shared: Any = None,
        deterministic: bool = True,
    ):
        self.pool, self.problem, self.sources = pool, problem, list(sources)
        self.shared, self.deterministic = shared, deterministic
        self.K = len(self.sources)
        self.bounded, self.bounds = problem.functions.bounded, problem.bounds
        self.check: Callable[[], None] = lambda: None
        self.threads = Threads(min(os.cpu_count() or 1, DRIVER_THREADS))  # while the workers wait
        self.aside = ThreadPoolExecutor(2)  # for what the driver does while the workers work
        self.n_oracle = 0
        self.busy = np.zeros(self.K)
        self.restarts, self._failures = [0] * self.K, [0] * self.K
        self.on_replace: Callable[[int], None] = lambda k: None
        self._stale: set[int] = set()
        self._sent = np.zeros(0)
        self._linked: list[int] | None = None  # the restarts when workers were connected
        self._broken = 0
        self.members = pool.start(self.sources, shared)
        self._learn_facts()

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.close()
        self.threads.close()
        self.aside.shutdown()

    def _learn_facts(self) -> None:
        self.facts: list[Facts] = self.call("facts", self.deterministic)
        dims = {fact.dim for fact in self.facts}
        if len(dims) > 1:
            raise DataError(
                f"the shards have weights of different lengths, {sorted(dims)}: all parts of the "
                "data need the same features and labels"
            )
        self.n = sum(fact.n for fact in self.facts)
        self.total_weight = float(sum(fact.total_weight for fact in self.facts))
        self.parts = [fact.total_weight / self.total_weight for fact in self.facts]
        self.pack = Outline(self.facts[0].dim, max(fact.width for fact in self.facts))
        self.loops = Loops(self.facts[0].compiled)
        self._sent = np.zeros(self.pack.dim)

    @property
    def together_anywhere(self) -> bool:
        """Whether threads of a worker change w at the same time."""
        return any(fact.together for fact in self.facts)

    def fingerprint(self) -> str:
        """A hash of the examples of all workers, and of their distribution over the workers."""
        from ..engine.fingerprint import fingerprint

        return fingerprint(*self.call("fingerprint"))

    def operations(self) -> float | None:
        """Estimated number of operations of one pass of the oracle, or None if unknown."""
        known = [fact.operations for fact in self.facts if fact.operations is not None]
        return sum(known) if len(known) == self.K else None

    def warm_up(self, mode: int, names: tuple[str, ...]) -> float:
        """Compile these passes in every worker; returns the time it took, in seconds."""
        start = time.perf_counter()
        warm_up_exchange()
        if "collect" in names:
            warm_up_vectors()
        self.call("warm_up", mode, names)
        self.busy[:] = 0.0
        return time.perf_counter() - start

    def call(
        self,
        method: str,
        *args: Any,
        w: np.ndarray | None = None,
        where: np.ndarray | None = None,
        who: Iterable[int] | None = None,
        again: bool = True,
        each: Sequence[tuple[Any, ...]] | None = None,
    ) -> list[Any]:
        """Call a method of the workers; returns their answers in order.

        Parameters
        ----------
        w : array (dim,), optional
            Weights to send to the workers first; entries that they already have are not sent.
        where : int array, optional
            The places where w may differ from what was sent last, if known. From then on this array
            itself counts as sent, and must not change anywhere else.
        who : iterable of int
            Numbers of the workers to call, by default all.
        again : bool
            Repeat the call on the replacements of lost workers; otherwise raise ``WorkersLost``.
        each : sequence of tuples, optional
            More arguments for each of the workers.
        """
        everyone = list(range(self.K)) if who is None else list(who)
        news = self._news(w, where, everyone)
        more = [()] * len(everyone) if each is None else each
        tickets = [
            self.pool.submit(self.members[k], method, (*args, *own), v)
            for k, v, own in zip(everyone, news, more, strict=True)
        ]
        replies = self.pool.gather(tickets, self.check)
        answers = {}
        for k, reply in zip(everyone, replies, strict=True):
            if reply is not None:
                answers[k] = reply.value
                if who is None:  # calls that set up a new worker do not count
                    self._failures[k] = 0
                self.busy[k] += reply.seconds
                self.n_oracle += reply.n_oracle
        lost = [k for k in everyone if k not in answers]
        self._replace(lost)
        if lost and not again:
            raise WorkersLost(lost)
        if lost:
            answers.update(zip(lost, self.call(method, *args, who=lost), strict=True))
        return [answers[k] for k in everyone]

    def link(self) -> bool:
        """Connect the workers with each other, if they are not; False if that is not possible."""
        if self._linked == self.restarts:
            return True
        if self._broken >= PATIENCE:
            return False
        token = secrets.token_bytes(TOKEN)
        addresses = self.call("listen", again=False)
        errors = self.call("reach", addresses, token, again=False)
        if not any(errors):
            errors = self.call("meet", token, again=False)
        if any(errors):
            self._broken = PATIENCE
            print(
                "maxmargin: the workers cannot connect to each other "
                f"({next(filter(None, errors))}): training takes longer",
                file=sys.stderr, flush=True,
            )  # fmt: skip
            return False
        self._linked = list(self.restarts)
        return True

    def call_linked(self, method: str, *args: Any, w: np.ndarray) -> list[Any]:
        """Call a method in which all workers wait for each other; the last argument is their part.

        If one of them is lost, ``WorkersLost`` is raised, and the others are as after an error.
        """
        answers = self.call(method, *args, w=w, again=False, each=[(part,) for part in self.parts])
        if any(answer is None for answer in answers):  # a connection was lost, but no worker
            self._linked = None
            self._broken += 1
            raise WorkersLost([])
        self._broken = 0
        return answers

    def share(self, value: Any) -> Any:
        """Prepare a value as an argument for all workers."""
        return self.pool.share(value)

    def report(self) -> list[WorkerReport]:
        """How long each worker was busy, which shows slow workers."""
        return [
            WorkerReport(k, fact.host, fact.pid, fact.n, float(self.busy[k]), self.restarts[k])
            for k, fact in enumerate(self.facts)
        ]

    def _news(
        self, w: np.ndarray | None, where: np.ndarray | None, everyone: list[int]
    ) -> list[Any]:
        """The entries of w that are new to each worker, or None."""
        stale = self._stale & set(everyone) if len(self._sent) else set()
        change = None
        if w is not None:
            if where is not None:
                change, self._sent = Vector.of(w, where), w
            elif w is not self._sent:
                change = changed(w, self._sent)
                change.set_in(self._sent)
            self._stale |= set(range(self.K)) - set(everyone)
        new = None if change is None else self.pool.share(change)
        full = self.pool.share(Vector.of(self._sent)) if stale else None
        self._stale -= set(everyone)
        return [full if k in stale else new for k in everyone]

    def _replace(self, lost: list[int]) -> None:
        """Replace lost workers by new ones."""
        for k in lost:
            self._failures[k] += 1
            if self._failures[k] >= PATIENCE:
                raise MaxMarginError(
                    f"worker {k} was lost {PATIENCE} times in a row without an answer: "
                    "it may need more memory than its machine has (use more shards), or its data "
                    "cannot be read there"
                )
            self.restarts[k] += 1
            self._stale.add(k)
            self.pool.stop(self.members[k])
        new = self.pool.start([self.sources[k] for k in lost], self.shared) if lost else []
        for k, member in zip(lost, new, strict=True):
            self.members[k] = member
        for k in lost:
            if hasattr(self, "facts"):
                self.facts[k] = self.call("facts", self.deterministic, who=[k])[0]
            self.on_replace(k)
