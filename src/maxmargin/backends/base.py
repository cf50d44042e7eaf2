"""The base class of backends: splits examples into shards, and trains and predicts on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..data.checked import check_vector
from ..data.source import n_examples, take
from ..objective import check_integer
from ..problem import CompiledProblem, Pack
from ..result import Result
from .crew import Crew, Pool
from .files import FileData
from .worker import Source


class Memory(NamedTuple):
    """Examples in the memory of the driver, which are sent to a worker."""

    problem: CompiledProblem
    X: Any
    Y: Any
    weight: np.ndarray | None

    def load(self, shared: Any) -> tuple[CompiledProblem, Pack]:
        """Pack the examples."""
        return self.problem, self.problem.pack(self.X, self.Y, self.weight)


class Backend:
    """Where training runs; the parameter ``backend`` of ``mm.train`` and of the estimators.

    Subclasses implement ``_pool``.
    """

    def __init__(
        self,
        num_shards: int | None = None,
        cache: Any = None,
    ):
        if num_shards is not None:
            check_integer("num_shards", num_shards, 1, 2**31)
        self.num_shards, self.cache = num_shards, cache

    def _pool(self) -> Pool:
        """A new pool of workers."""
        raise NotImplementedError

    def _size(self, pool: Pool) -> int:
        """The number of shards, by default 1."""
        return self.num_shards or 1

    @contextmanager
    def crew(
        self,
        problem: CompiledProblem,
        X: Any,
        Y: Any = None,
        weight: np.ndarray | None = None,
        deterministic: bool = True,
    ) -> Iterator[Crew]:
        """Workers that hold these examples; they are stopped at the end of the context."""
        pool = self._pool()
        try:
            K, shared = self._size(pool), None
            if isinstance(X, FileData):
                sources: Sequence[Source] = X.sources(problem, K)
                shared = pool.share(X.plan)
            else:
                sources = split(problem, X, Y, weight, K)
            yield Crew(pool, problem, sources, shared, deterministic)
        finally:
            pool.close()

    def map(
        self, function: Callable[..., Any], jobs: list[tuple[Any, ...]], shared: Any = None
    ) -> list[Any]:
        """``function(*job)`` of each job on the workers' machines; ``shared`` is added last."""
        pool = self._pool()
        try:
            common = () if shared is None else (pool.share(shared),)
            return pool.map(function, [(*job, *common) for job in jobs])
        finally:
            pool.close()

    def train(
        self,
        problem: CompiledProblem,
        X: Any,
        Y: Any,
        weight: Any,
        C: float,
        solver: Any,
        *settings: Any,
        deterministic: bool = True,
    ) -> Result:
        """Train on the workers; ``settings`` are passed on to ``training.train_shard``."""
        from ..solvers import get_solver
        from ..training import train_shard
        from .shared import distribute

        with self.crew(problem, X, Y, weight, deterministic) as crew:
            shard: Any = crew
            chosen = distribute(get_solver(solver, shard))
            result = train_shard(shard, C, chosen, *settings)
            result.workers = crew.report()
        return result

    def predict(self, problem: CompiledProblem, X: Any, w: np.ndarray) -> list[Any]:
        """The best output of each example, in the form that ``problem.unpack`` returns."""
        outputs: list[Any] = [None] * n_examples(X)
        if not outputs:
            return outputs
        with self.crew(problem, X) as crew:
            if all(fact.compiled for fact in crew.facts):
                w = check_vector(w, crew.pack.dim)
            parts = crew.call("predict", w=w)
        for k, part in enumerate(parts):
            outputs[k :: len(parts)] = part
        return outputs


def split(
    problem: CompiledProblem, X: Any, Y: Any, weight: np.ndarray | None, K: int
) -> Sequence[Source]:
    """Put every K-th example into a shard, as neighbours are often similar and shards should be."""
    n = n_examples(X)
    if weight is not None and not all(weight[k::K].any() for k in range(min(K, n))):
        keep = np.flatnonzero(weight)  # a shard without any weight has no average gap
        X, Y, weight = take(X, keep), take(Y, keep), weight[keep]
        n = len(keep)
    K = max(1, min(K, n))
    return [
        Memory(
            problem, X if K == 1 else X[k::K], Y if Y is None or K == 1 else Y[k::K],
            None if weight is None else weight[k::K],
        )
        for k in range(K)
    ]  # fmt: skip
