"""Shards in this process, called one after the other: distributed methods without a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .base import Backend
from .crew import Pool
from .worker import Reply, Source, Worker


class LocalPool:
    """Workers that are plain objects in this process."""

    def __init__(self, n_jobs: int = 1):
        self.n_jobs = n_jobs

    def start(self, sources: Sequence[Source], shared: Any) -> list[Any]:
        """Create workers."""
        return [Worker(source, shared, self.n_jobs) for source in sources]

    def share(self, value: Any) -> Any:
        """Return the value, as nothing has to be sent."""
        return value

    def submit(self, member: Any, method: str, args: tuple[Any, ...], w: Any) -> Any:
        """Make the call at once; returns the answer."""
        return member.call(method, args, w)

    def gather(self, tickets: Sequence[Any], check: Callable[[], None]) -> list[Reply | None]:
        """Return the answers, which are complete."""
        check()
        return list(tickets)

    def map(self, function: Callable[..., Any], jobs: list[tuple[Any, ...]]) -> list[Any]:
        """Run the jobs one after the other."""
        return [function(*job) for job in jobs]

    def stop(self, member: Any) -> None:
        """Do nothing: a worker holds only memory."""

    def close(self) -> None:
        """Do nothing: workers are freed with the last reference."""


class InProcess(Backend):
    """Shards in this process, to see how their number changes that of passes.

    Parameters
    ----------
    num_shards : int
        Number of shards.
    """

    def _pool(self) -> Pool:
        return LocalPool()
