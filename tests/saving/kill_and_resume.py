"""Train in child processes that are killed at random moments; called by test_checkpoint.

python kill_and_resume.py FOLDER SOLVER KILLS
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

import maxmargin as mm


def train(path: Path, solver: str) -> None:
    """Train with a checkpoint after every iteration; write the weights and the objective."""
    rng = np.random.RandomState(0)
    X = [rng.randn(6, 8) for _ in range(100)]
    Y = [rng.randint(0, 4, 6) for _ in range(100)]
    checkpoint = mm.Checkpoint(path, every=0)
    clf = mm.ChainSVC(C=5.0, tol=1e-4, solver=solver, checkpoint=checkpoint).fit(X, Y)
    np.save(path.with_suffix(".npy"), np.append(clf.result_.w, clf.result_.primal))


def start(path: Path, solver: str) -> int:
    """A child that trains; returns its process id."""
    pid = os.fork()
    if pid == 0:
        try:
            train(path, solver)
        finally:
            os._exit(int(not path.with_suffix(".npy").exists()))
    return pid


def kill_soon(pid: int, seconds: float) -> None:
    """End the child, if it has not ended by itself."""
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


if __name__ == "__main__":
    folder, solver, kills = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    moments = random.Random(0)
    train(folder / "whole.ck", solver)  # compiles, too
    begin = time.perf_counter()
    train(folder / "killed.ck", solver)
    alone = time.perf_counter() - begin
    for name in ("killed.ck", "killed.npy"):
        (folder / name).unlink()
    for _ in range(kills):
        kill_soon(start(folder / "killed.ck", solver), moments.uniform(0.0, 2 * alone / kills))
    _, status = os.waitpid(start(folder / "killed.ck", solver), 0)
    sys.exit(status)
