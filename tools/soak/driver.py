"""A driver whose workers are killed or stopped, or which is killed; called by trials.

python -m tools.soak.driver MODE SEED FOLDER

MODE is "kill" or "stop" (of Ray's workers), "wait" (with Ray's workers) or "wait-processes" (with
worker processes of an oracle in plain Python), until the driver is killed.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import maxmargin as mm
from maxmargin.structures.multiclass.problem import Multiclass
from tools.soak.children import marked

C, TOL = 0.1, 1e-3


def data() -> tuple[np.ndarray, np.ndarray]:
    """Rows of six classes, in clusters that overlap."""
    numbers = np.random.RandomState(0)
    y = numbers.randint(0, 6, 300)
    return numbers.randn(6, 20)[y] + numbers.randn(300, 20), y


def train(**options: Any) -> Any:
    """Train on the data."""
    X, y = data()
    return mm.train(Multiclass(6), X, y, **{"C": C, "tol": TOL} | options)


class Slow(mm.Problem):
    """An oracle in plain Python that takes its time."""

    n_features = 2

    def features(self, x: Any, y: Any) -> np.ndarray:
        """Any features."""
        return np.array([y, 1.0])

    def loss(self, y_true: Any, y: Any) -> float:
        """0 or 1."""
        return float(y_true != y)

    def decode(self, x: Any, w: Any, y_true: Any = None, rescaling: str = "margin") -> int:
        """Always 1."""
        time.sleep(0.05)
        return 1


def actors() -> list[int]:
    """Our workers that are alive."""
    found = []
    for pid in marked(os.environ["SOAK_MARK"]):
        try:
            if b"ray::_Actor" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
        except OSError:
            continue
    return found


def disturb(mode: str, draw: random.Random, done: list[int]) -> Any:
    """A callback that kills or stops one of the workers in some iterations."""
    moments = {draw.randint(1, 6) for _ in range(draw.randint(1, 2))}

    def callback(record: Any, state: Any) -> None:
        if record.iteration not in moments:
            return
        victim = draw.choice(sorted(actors()))
        os.kill(victim, signal.SIGKILL if mode == "kill" else signal.SIGSTOP)
        if mode == "stop":
            wake = threading.Timer(draw.uniform(0.5, 3.0), os.kill, (victim, signal.SIGCONT))
            wake.daemon = True
            wake.start()
        done.append(victim)

    return callback


def main(mode: str, seed: str, folder: Path) -> None:
    """Train; the answer is one line of JSON."""
    ready = folder / "ready"
    if mode == "wait-processes":
        threading.Timer(1.5, ready.touch).start()
        mm.train(Slow(), list(range(2000)), [0] * 2000, n_jobs=2)
        return
    init = {"_temp_dir": str(folder / "ray"), "object_store_memory": 80 * 2**20, "num_cpus": 2}
    backend, done = mm.Ray(num_shards=2, init=init), []
    if mode == "wait":

        def callback(record: Any, state: Any) -> None:
            ready.touch()
            time.sleep(0.2)

        train(solver="subgradient", backend=backend, callbacks=[callback], max_iter=10**6)
        return
    solver = random.Random(seed).choice(["sdm", "one-slack", "n-slack"])
    callback = disturb(mode, random.Random(seed), done)
    result = train(solver=solver, backend=backend, callbacks=[callback])
    numbers = {"primal": result.primal, "dual": result.dual, "converged": result.converged}
    print(json.dumps({**numbers, "disturbed": len(done), "solver": solver}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
