"""Shards in this process, one after the other: the distributed methods without a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .base import Backend
from .crew import Pool
from .worker import Reply, Source, Worker


class LocalPool:
    """Workers that are plain objects."""

    def __init__(self, n_jobs: int = 1):
        self.n_jobs = n_jobs

    def start(self, sources: Sequence[Source], shared: Any) -> list[Any]:
        """New workers."""
        return [Worker(source, shared, self.n_jobs) for source in sources]

    def share(self, value: Any) -> Any:
        """Nothing has to be sent."""
        return value

    def submit(self, member: Any, method: str, args: tuple[Any, ...], w: Any) -> Any:
        """The call itself."""
        return member.call(method, args, w)

    def gather(self, tickets: Sequence[Any], check: Callable[[], None]) -> list[Reply | None]:
        """All answers are there."""
        check()
        return list(tickets)

    def map(self, function: Callable[..., Any], jobs: list[tuple[Any, ...]]) -> list[Any]:
        """One after the other."""
        return [function(*job) for job in jobs]

    def stop(self, member: Any) -> None:
        """It holds nothing but memory."""

    def close(self) -> None:
        """They end with the last reference."""


class InProcess(Backend):
    """``num_shards`` shards in this process: to see what CoCoA+ does to the number of iterations.

    Parameters
    ----------
    num_shards : int
    sigma : float, optional
        As of ``mm.Ray``.
    """

    def _pool(self) -> Pool:
        return LocalPool()
