"""Shards in the actors of a Ray cluster. This is the only file that imports ray."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import MaxMarginError
from ..objective import check_integer, check_positive
from .base import Backend
from .crew import Pool
from .worker import Reply, Source, Worker

#: Seconds between checks for time limits and Ctrl-C while workers are busy.
CHECK_EVERY = 0.1

#: Seconds between questions to workers that take long whether they are alive.
ASK_EVERY = 1.0

#: Seconds after which workers share CPUs, if the cluster has too few for all of them.
CROWDED = 10.0


class Ray(Backend):
    """Workers in a Ray cluster, or in processes of this machine.

    Parameters
    ----------
    address : str, optional
        Address of a running cluster, or "auto". By default the cluster that ``ray.init`` has
        connected to, or else a new one on this machine that is stopped after training.
    num_shards : int, optional
        Number of parts of the data, each with its own worker. By default as many as the CPUs of the
        cluster allow.
    num_cpus : int
        Number of CPUs per worker, which is the number of threads of its oracles, and with
        ``deterministic=False`` of the steps of dual methods.
    cache : path, optional
        Directory for the packed shards of ``mm.Files``. It must exist on every machine, or be
        shared by all.
    patience : float
        Seconds to wait for free CPUs, or for another machine in place of a lost one. After that,
        workers without free CPUs share those of other workers.
    silence : float
        Seconds after which a worker that does not answer at all (its process was stopped, or its
        machine hangs) counts as lost and is replaced; a busy worker does answer.
    options : dict, optional
        More options for the actors, such as ``{"resources": {"big": 1}}``.
    init : dict, optional
        Arguments for ``ray.init`` if it is called here, such as
        ``{"object_store_memory": 10**9}``.
    """

    def __init__(
        self,
        address: str | None = None,
        num_shards: int | None = None,
        *,
        num_cpus: int = 1,
        cache: Any = None,
        patience: float = 60.0,
        silence: float = 60.0,
        options: dict[str, Any] | None = None,
        init: dict[str, Any] | None = None,
    ):
        super().__init__(num_shards, cache)
        self.address = address
        self.num_cpus = check_integer("num_cpus", num_cpus, 1, 2**31)
        self.patience = check_positive("patience", patience)
        self.silence = check_positive("silence", silence)
        self.options = options
        self.init = init

    def __repr__(self) -> str:
        return f"Ray(address={self.address!r}, num_shards={self.num_shards!r})"

    def _pool(self) -> Pool:
        return RayPool(self)

    def _size(self, pool: Pool) -> int:
        if self.num_shards is not None:
            return self.num_shards
        cpus = import_ray().cluster_resources().get("CPU", 1)
        return max(1, int(cpus) // self.num_cpus)


class RayPool:
    """Ray actors, each with a ``Worker``."""

    def __init__(self, backend: Ray):
        self.ray = import_ray()
        self.backend = backend
        self.members: list[Any] = []
        self.hellos: dict[Any, Any] = {}
        self.owner = connect(self.ray, backend)
        method = self.ray.method(concurrency_group="alive")
        actor = type("_Actor", (_Actor,), {"alive": method(_alive), "hang_up": method(_hang_up)})
        self.actor = self.ray.remote(concurrency_groups={"alive": 1})(actor)

    def start(self, sources: Sequence[Source], shared: Any) -> list[Any]:
        """Start actors, which load their examples in parallel; does not wait for them."""
        actors = self._place(len(sources))
        for actor, source in zip(actors, sources, strict=True):
            actor.load.remote(source, shared, self.backend.num_cpus)
        self.members += actors
        return actors

    def share(self, value: Any) -> Any:
        """Put the value into the object store: one copy per machine."""
        return self.ray.put(value)

    def submit(self, member: Any, method: str, args: tuple[Any, ...], w: Any) -> Any:
        """Start a call; arguments that are references are fetched by the worker's machine."""
        return member, member.call.remote(method, w, *args)

    def gather(self, tickets: Sequence[Any], check: Callable[[], None]) -> list[Reply | None]:
        """Wait for all answers, and regularly check time limits, Ctrl-C and signs of life."""
        pending = [call for _, call in tickets]
        watch = Watch(self.ray, self.backend.silence)
        lost: set[Any] = set()
        while pending:
            _, pending = self.ray.wait(pending, num_returns=len(pending), timeout=CHECK_EVERY)
            check()
            if pending:
                silent = watch.silent([member for member, call in tickets if call in pending])
                for member in silent:
                    self._end_process(member)
                if silent:  # the others may wait for them
                    for member, _ in tickets:
                        member.hang_up.remote()
                lost |= silent
                pending = [
                    call for member, call in tickets if call in pending and member not in lost
                ]
        return [None if member in lost else self._answer(call) for member, call in tickets]

    def map(self, function: Callable[..., Any], jobs: list[tuple[Any, ...]]) -> list[Any]:
        """Run the jobs as Ray tasks; Ray repeats those of a lost machine."""
        task = self.ray.remote(function)
        calls = [task.remote(*job) for job in jobs]
        try:
            return self.ray.get(calls)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from None

    def stop(self, member: Any) -> None:
        """Stop an actor, even if it is busy."""
        self.ray.kill(member)
        self.members.remove(member)
        self.hellos.pop(member, None)

    def close(self) -> None:
        """Stop all actors, and Ray if it was started here."""
        for member in list(self.members):
            self.stop(member)
        if self.owner:
            self.owner = False
            self.ray.shutdown()

    def _place(self, n: int) -> list[Any]:
        """Start n actors; after a long wait for CPUs, they share the CPUs of others."""
        options = {"num_cpus": self.backend.num_cpus, **(self.backend.options or {})}
        actors = [self.actor.options(**options).remote() for _ in range(n)]
        calls = [actor.hello.remote() for actor in actors]
        have = self.ray.cluster_resources().get("CPU", 0)
        enough = have >= self.backend.num_cpus * (n + len(self.members))
        self.ray.wait(calls, num_returns=n, timeout=self.backend.patience if enough else CROWDED)
        for k, call in enumerate(calls):
            if not self._runs(call):
                self.ray.kill(actors[k])
                anywhere = {**options, "num_cpus": 0, "scheduling_strategy": "SPREAD"}
                actors[k] = self.actor.options(**anywhere).remote()
                calls[k] = actors[k].hello.remote()
        self.hellos |= dict(zip(actors, calls, strict=True))
        return actors

    def _runs(self, call: Any) -> bool:
        """Whether an actor is running: it has answered to ``hello``."""
        try:
            return bool(self.ray.wait([call], timeout=0)[0]) and bool(self.ray.get(call))
        except self.ray.exceptions.RayError:
            return False

    def _end_process(self, member: Any) -> None:
        """End a process that does not answer: Ray only asks it to, and it would keep its CPUs."""
        hello = self.hellos.pop(member, None)
        if hello is None or not self._runs(hello):
            return
        process, node = self.ray.get(hello)
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        there = NodeAffinitySchedulingStrategy(node, soft=False)
        kill = self.ray.remote(num_cpus=0, max_retries=0, scheduling_strategy=there)(_kill)
        self.ray.wait([kill.remote(process)], timeout=CROWDED)

    def _answer(self, ticket: Any) -> Reply | None:
        """The answer, or None if the worker is lost; raises the worker's exception."""
        errors = self.ray.exceptions
        try:
            return self.ray.get(ticket)
        except errors.RayTaskError as error:
            raise error.cause from None
        except errors.RayError:
            return None


class Watch:
    """Asks workers that take long for a sign of life; a stopped process does not answer."""

    def __init__(self, ray: Any, silence: float):
        self.ray, self.silence = ray, silence
        self.asked: dict[Any, tuple[float, Any]] = {}
        self.next = time.monotonic() + ASK_EVERY

    def silent(self, members: list[Any]) -> set[Any]:
        """Those of these workers that have not answered for too long."""
        now, found = time.monotonic(), set()
        if now < self.next:
            return found
        self.next = now + ASK_EVERY
        for member in members:
            since, question = self.asked.get(member, (now, None))
            if question is None or self.ray.wait([question], timeout=0)[0]:
                self.asked[member] = now, member.alive.remote()
            elif now - since > self.silence:
                print(
                    f"maxmargin: a worker has not answered for {now - since:.0f} s: it is replaced",
                    file=sys.stderr, flush=True,
                )  # fmt: skip
                found.add(member)
        return found


def _kill(process: int) -> None:
    """End a process of this machine."""
    os.kill(process, signal.SIGKILL)


def _alive(self: Any) -> bool:
    """Answer while another method runs: it has a separate thread."""
    return True


def _hang_up(self: Any) -> None:
    """Close the connections to other workers, while another method waits for them."""
    if self.worker is not None:
        self.worker.hang_up()


class _Actor:
    """A worker in a separate process."""

    def __init__(self) -> None:
        from threadpoolctl import threadpool_limits

        threadpool_limits(1, "blas")
        self.worker: Worker | None = None
        self.error: Exception | None = None

    def hello(self) -> tuple[int, str]:
        """The process and the node where the actor is running."""
        import ray

        return os.getpid(), ray.get_runtime_context().get_node_id()

    def load(self, source: Source, shared: Any, n_jobs: int) -> None:
        """Load the examples; an error is raised by the first call."""
        from ray.util import get_node_ip_address

        try:
            self.worker = Worker(source, shared, n_jobs, get_node_ip_address())
        except Exception as error:
            self.error = error

    def call(self, method: str, w: Any, *args: Any) -> Reply:
        """The answer of ``Worker.call``."""
        if self.error is not None:
            raise self.error
        assert self.worker is not None
        return self.worker.call(method, args, w)


def import_ray() -> Any:
    """Import the optional package ray, with its usage reports off unless the user wants them."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise MaxMarginError("backend=mm.Ray() needs the package ray: pip install ray") from error
    return ray


def connect(ray: Any, backend: Ray) -> bool:
    """Connect to a cluster, or start one; returns False if ``ray.init`` was called before."""
    if ray.is_initialized():
        return False
    settings: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    if backend.address is None:
        settings |= {"include_dashboard": False, "address": "local"}
    else:
        settings |= {"address": backend.address}
    try:
        ray.init(**settings | (backend.init or {}))
    except (ConnectionError, ValueError) as error:
        raise MaxMarginError(f"no Ray cluster at {backend.address!r}: {error}") from error
    return True
