"""Actors of Ray that are killed or stopped in the middle of a round, again and again."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from maxmargin.backends.crew import Crew
from maxmargin.backends.ray import Ray
from maxmargin.structures.multiclass.problem import Multiclass
from maxmargin.training import train

from ..framework.display import Column, count, seconds
from ..framework.registry import Verdict, experiment

if TYPE_CHECKING:
    from ..framework.session import Group, Session

C, TOL, N = 0.1, 1e-3, 600

#: Runs with one fault each: the process is killed, or stopped and never continued.
FAULTS = {"killed": (25, signal.SIGKILL), "stopped": (25, signal.SIGSTOP)}

#: A stopped worker counts as lost after this many seconds.
SILENCE = 1.5

SOLVERS = ("sdm", "n-slack")


class Watched(Ray):
    """A backend that tells the processes of its workers."""

    current: Crew | None = None

    @contextmanager
    def crew(self, *args: Any, **options: Any) -> Iterator[Crew]:
        """The workers, which can be seen from outside while they train."""
        with super().crew(*args, **options) as crew:
            self.current = crew
            yield crew

    def strike(self, draw: random.Random, how: int) -> None:
        """Send a signal to one of the workers."""
        assert self.current is not None
        os.kill(draw.choice(self.current.facts).pid, how)


@experiment(
    "ray-faults",
    title="Actors killed and stopped in the middle of rounds",
    claim="Each of 50 runs in which an actor is killed or stopped at a random moment ends with a "
    "certificate of the optimum of a run without faults, and the lost worker is replaced.",
    data=("digits",),
    peers=("ray",),
)
def run(session: Session) -> Verdict:
    """25 runs with a killed and 25 with a stopped actor."""
    import ray

    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False,
        object_store_memory=80 * 2**20,
    )  # fmt: skip
    try:
        groups = {name: measure(session, name) for name in FAULTS}
    finally:
        ray.shutdown()
    columns = [
        Column("fault", "fault"),
        Column("runs", "runs", count),
        Column("certified", "certified", count),
        Column("same", "same optimum", count),
        Column("replaced", "workers replaced", count),
        Column("longest", "longest run", seconds),
    ]
    session.table(groups.values(), columns, "digits, 600 examples, two actors")
    return judge(groups)


def measure(session: Session, name: str) -> Group:
    """Runs with this fault."""
    runs, how = FAULTS[name]
    runs = 2 if session.quick else runs

    def once(seed: int) -> dict[str, Any]:
        data = session.load("digits")
        X, y = data.X[:N], data.y[:N]
        optimum = train(Multiclass(data.classes), X, y, C=C, tol=1e-6, solver="sdm")
        results = [
            one(Multiclass(data.classes), X, y, SOLVERS[r % len(SOLVERS)], how, 1000 * seed + r)
            for r in range(runs)
        ]
        slack = TOL * C * N
        same = [
            r.dual <= optimum.primal + 1e-6 and r.primal <= optimum.primal + slack for r in results
        ]
        return {
            "runs": runs,
            "certified": sum(r.converged for r in results),
            "same": sum(same),
            "replaced": sum(w.restarts for r in results for w in r.workers),
            "longest": max(r.time for r in results),
        }

    return session.measure({"fault": name, "runs": runs, "tol": TOL}, once, repeats=1)


def one(problem: Multiclass, X: Any, y: Any, solver: str, how: int, seed: int) -> Any:
    """One run, struck by a timer at a random moment after its first iteration."""
    draw, backend = random.Random(seed), Watched(num_shards=2, silence=SILENCE)
    timers: list[threading.Timer] = []

    def callback(record: Any, state: Any) -> None:
        if not timers:
            timers.append(threading.Timer(draw.uniform(0.0, 0.1), backend.strike, (draw, how)))
            timers[0].start()

    return train(
        problem, X, y, C=C, tol=TOL, solver=solver, random_state=seed, backend=backend,
        callbacks=[callback],
    )  # fmt: skip


def judge(groups: dict[str, Group]) -> Verdict:
    """Every run is certified at the same optimum, and every fault was noticed."""
    numbers = [(name, group.values[0]) for name, group in groups.items()]
    passed = all(
        v["certified"] == v["same"] == v["runs"] and v["replaced"] >= v["runs"] for _, v in numbers
    )
    words = [
        f"{v['runs']} {name}: {v['certified']} certified, {v['same']} at the same optimum, "
        f"{v['replaced']} workers replaced"
        for name, v in numbers
    ]
    return Verdict(passed, "\n".join(words))
