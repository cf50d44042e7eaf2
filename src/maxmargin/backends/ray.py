"""Shards in the actors of a Ray cluster: the only file that imports ray."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import DataError, MaxMarginError
from .base import Backend
from .crew import Pool
from .worker import Reply, Source, Worker

#: Seconds between two looks at the clock and at Ctrl-C while workers are busy.
CHECK_EVERY = 0.1

#: Seconds after which workers that cannot all have CPUs of their own share them.
CROWDED = 10.0


class Ray(Backend):
    """Workers in a Ray cluster, or in processes of this machine.

    Parameters
    ----------
    address : str, optional
        Of a running cluster, or "auto". By default the cluster that ``ray.init`` has connected to,
        and else a new one on this machine, for as long as training lasts.
    num_shards : int, optional
        Parts of the data, each with a worker of its own. By default as many as fit the CPUs of the
        cluster.
    num_cpus : int
        CPUs of a worker: the threads that its oracles run in.
    sigma : float, optional
        sigma' of CoCoA+, from 1 to ``num_shards``: the dual methods take shorter steps when it is
        larger. By default ``num_shards``, with which the dual can never become worse. A smaller one
        is often faster; should the dual become worse it is doubled.
    blocks : int
        With the dual methods workers exchange what they did to w so many times in a pass over
        their examples. One needs far more passes; more than a few take more time to send.
    cache : path, optional
        Where workers keep packed shards of ``mm.Files``: a directory that exists on every machine,
        or that all share.
    patience : float
        Seconds to wait for free CPUs, and in place of a lost machine for another one; workers that
        have found none by then share the CPUs of others.
    options : dict, optional
        More options of the actors, such as ``{"resources": {"big": 1}}``.
    init : dict, optional
        Arguments of ``ray.init``, where it is called here: ``{"object_store_memory": 10**9}``.
    """

    def __init__(
        self,
        address: str | None = None,
        num_shards: int | None = None,
        *,
        num_cpus: int = 1,
        sigma: float | None = None,
        blocks: int = 4,
        cache: Any = None,
        patience: float = 60.0,
        options: dict[str, Any] | None = None,
        init: dict[str, Any] | None = None,
    ):
        super().__init__(num_shards, sigma, blocks, cache)
        if isinstance(num_cpus, bool) or int(num_cpus) != num_cpus or num_cpus < 1:
            raise DataError(f"num_cpus is an integer >= 1, got {num_cpus!r}")
        self.address = address
        self.num_cpus = int(num_cpus)
        self.patience = patience
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
    """Actors, each with a ``Worker``."""

    def __init__(self, backend: Ray):
        self.ray = import_ray()
        self.backend = backend
        self.members: list[Any] = []
        self.owner = connect(self.ray, backend)
        self.actor = self.ray.remote(_Actor)

    def start(self, sources: Sequence[Source], shared: Any) -> list[Any]:
        """New actors; they load their examples all at once, and are not waited for."""
        actors = self._place(len(sources))
        for actor, source in zip(actors, sources, strict=True):
            actor.load.remote(source, shared, self.backend.num_cpus)
        self.members += actors
        return actors

    def share(self, value: Any) -> Any:
        """One copy in the object store of each machine."""
        return self.ray.put(value)

    def submit(self, member: Any, method: str, args: tuple[Any, ...], w: Any) -> Any:
        """Arguments that are references are fetched by the worker's machine."""
        return member.call.remote(method, w, *args)

    def gather(self, tickets: Sequence[Any], check: Callable[[], None]) -> list[Reply | None]:
        """Wait for all, with a look at the clock now and then."""
        pending = list(tickets)
        while pending:
            _, pending = self.ray.wait(pending, num_returns=len(pending), timeout=CHECK_EVERY)
            check()
        return [self._answer(ticket) for ticket in tickets]

    def map(self, function: Callable[..., Any], jobs: list[tuple[Any, ...]]) -> list[Any]:
        """As tasks; those of a lost machine are repeated by Ray itself."""
        task = self.ray.remote(function)
        calls = [task.remote(*job) for job in jobs]
        try:
            return self.ray.get(calls)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from None

    def stop(self, member: Any) -> None:
        """End an actor, whatever it is doing."""
        self.ray.kill(member)
        self.members.remove(member)

    def close(self) -> None:
        """End all actors, and Ray if it was started here."""
        for member in list(self.members):
            self.stop(member)
        if self.owner:
            self.owner = False
            self.ray.shutdown()

    def _place(self, n: int) -> list[Any]:
        """n actors that run; where CPUs are missing for long, beside others."""
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
        return actors

    def _runs(self, call: Any) -> bool:
        """Whether an actor has said hello."""
        try:
            return bool(self.ray.wait([call], timeout=0)[0]) and self.ray.get(call)
        except self.ray.exceptions.RayError:
            return False

    def _answer(self, ticket: Any) -> Reply | None:
        """The answer, the worker's own exception, or None if the worker is lost."""
        errors = self.ray.exceptions
        try:
            return self.ray.get(ticket)
        except errors.RayTaskError as error:
            raise error.cause from None
        except errors.RayError:
            return None


class _Actor:
    """A worker in a process of its own."""

    def __init__(self) -> None:
        from threadpoolctl import threadpool_limits

        threadpool_limits(1, "blas")
        self.worker: Worker | None = None
        self.error: Exception | None = None

    def hello(self) -> bool:
        """Say that it runs."""
        return True

    def load(self, source: Source, shared: Any, n_jobs: int) -> None:
        """Get the examples; what goes wrong is told to the first who asks."""
        try:
            self.worker = Worker(source, shared, n_jobs)
        except Exception as error:
            self.error = error

    def call(self, method: str, w: Any, *args: Any) -> Reply:
        """What ``Worker.call`` answers."""
        if self.error is not None:
            raise self.error
        assert self.worker is not None
        return self.worker.call(method, args, w)


def import_ray() -> Any:
    """Ray, which is an extra; it reports no usage unless somebody has said so."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise MaxMarginError(
            "backend=mm.Ray() needs the package ray: pip install 'maxmargin[ray]'"
        ) from error
    return ray


def connect(ray: Any, backend: Ray) -> bool:
    """Connect to a cluster, or start one on this machine; whether that happened here."""
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
