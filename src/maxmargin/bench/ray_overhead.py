"""What the workers of Ray cost: actors against threads, one actor against none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .display import Column, count, percent, seconds
from .registry import Verdict, experiment
from .runs import run_values, train_chain

if TYPE_CHECKING:
    from .session import Group, Session

#: Precisions that take long enough: the start of Ray is not in the solver's time.
TOL = {"sdm": 2e-3, "one-slack": 1e-1}

C = 0.1

#: How the examples are worked on.
WAYS = ("1 thread", "1 actor", "2 threads", "2 actors")

#: Two actors may take so much longer than two threads.
ALLOWED = 1.15


@experiment(
    "ray-overhead",
    title="Chunking: actors of Ray against threads, on one machine",
    claim="One actor makes the local run's iterates; two actors take at most 15 % longer than two "
    "threads to the same certified gap.",
    data=("conll2000",),
    peers=("ray",),
)
def run(session: Session) -> Verdict:
    """Both kinds of solvers, all ways."""
    groups = {(solver, way): measure(session, solver, way) for solver in TOL for way in WAYS}
    columns = [
        Column("solver", "solver"),
        Column("way", "on"),
        Column("time", "seconds", seconds, "converged"),
        Column("iterations", "iterations", count),
        Column("oracle_calls", "oracle calls", count),
        Column("idle", "workers idle", percent),
    ]
    session.table(groups.values(), columns, f"C = {C}, tol = {TOL}")
    return judge(groups)


def measure(session: Session, solver: str, way: str) -> Group:
    """One way of one solver."""
    n = 500 if session.quick else None
    limit = 60.0 if session.quick else 300.0
    tol = TOL[solver] * (20 if session.quick else 1)

    def once(seed: int) -> dict[str, Any]:
        data = session.tagged("chunking", n)
        workers = int(way.split()[0])
        options: dict[str, Any] = {"n_jobs": workers}
        if "actor" in way:
            options = {"backend": _ray(workers)}
        result = train_chain(
            data, C=C, solver=solver, tol=tol, max_time=limit, random_state=seed, **options
        )
        busy = [worker.busy for worker in result.workers]
        idle = 1 - sum(busy) / (len(busy) * result.time) if busy else 0.0
        return {**run_values(result), "idle": max(idle, 0.0)}

    return session.measure(
        {"solver": solver, "way": way, "n": n or 0, "tol": tol, "cap": limit}, once
    )


def _ray(workers: int) -> Any:
    from ..backends.ray import Ray

    return Ray(num_shards=workers, init={"num_cpus": 2, "object_store_memory": 10**9})


def judge(groups: dict[tuple[str, str], Group]) -> Verdict:
    """The same number of iterations with one actor; time with two."""
    parts, passed = [], True
    for solver in TOL:
        one, alone = groups[solver, "1 actor"], groups[solver, "1 thread"]
        same = one.numbers("primal") == alone.numbers("primal")
        two = groups[solver, "2 actors"].median("time") / groups[solver, "2 threads"].median("time")
        passed &= same and two <= ALLOWED
        parts.append(f"{solver}: same iterates {same}, 2 actors / 2 threads {two:.2f}")
    return Verdict(passed, "; ".join(parts))
