"""Shards in this process, called one after the other: distributed methods without a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from .base import Backend
from .crew import Pool
from .worker import Reply, Source, Worker

#: Threads are started when they are needed.
MOST_THREADS = 4096

#: A call in which workers wait for each other: they are called at the same time.
LINKED = "ascend_linked"


class LocalPool:
    """Workers that are plain objects in this process."""

    def __init__(self, n_jobs: int = 1):
        self.n_jobs = n_jobs
        self.members: list[Worker] = []
        self.threads = ThreadPoolExecutor(MOST_THREADS)

    def start(self, sources: Sequence[Source], shared: Any) -> list[Any]:
        """Create workers."""
        new = [Worker(source, shared, self.n_jobs) for source in sources]
        self.members += new
        return new

    def share(self, value: Any) -> Any:
        """Return the value, as nothing has to be sent."""
        return value

    def submit(self, member: Any, method: str, args: tuple[Any, ...], w: Any) -> Any:
        """Make the call at once, or start it; returns the answer, or a future."""
        if method == LINKED:
            return self.threads.submit(member.call, method, args, w)
        return member.call(method, args, w)

    def gather(self, tickets: Sequence[Any], check: Callable[[], None]) -> list[Reply | None]:
        """Wait for the answers that are not complete."""
        check()
        wait([ticket for ticket in tickets if isinstance(ticket, Future)])
        return [t.result() if isinstance(t, Future) else t for t in tickets]

    def map(self, function: Callable[..., Any], jobs: list[tuple[Any, ...]]) -> list[Any]:
        """Run the jobs one after the other."""
        return [function(*job) for job in jobs]

    def stop(self, member: Any) -> None:
        """Close its connections; otherwise a worker holds only memory."""
        member.hang_up()
        self.members.remove(member)

    def close(self) -> None:
        """Stop all workers."""
        for member in list(self.members):
            self.stop(member)
        self.threads.shutdown()


class InProcess(Backend):
    """Shards in this process, to see how their number changes that of passes.

    Parameters
    ----------
    num_shards : int
        Number of shards.
    num_cpus : int
        Number of threads of each shard.
    """

    def __init__(self, num_shards: int | None = None, cache: Any = None, num_cpus: int = 1):
        super().__init__(num_shards, cache)
        self.num_cpus = num_cpus

    def _pool(self) -> Pool:
        return LocalPool(self.num_cpus)
