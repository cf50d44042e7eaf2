"""Training that is killed 50 times and resumed: nothing is lost, and the result is the same."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..framework.display import Column, count, seconds
from ..framework.registry import Verdict, experiment

if TYPE_CHECKING:
    from ..framework.session import Group, Session

KILLS, QUICK = 13, 1
SOLVERS = ("sdm", "one-slack", "n-slack", "bcfw", "subgradient")


@experiment(
    "kill-resume",
    title="kill -9 at random moments of a checkpointed run, each resumed",
    claim="No checkpoint is lost or corrupt, and the weights are those of an undisturbed "
    "run to the last bit, with every solver.",
)
def run(session: Session) -> Verdict:
    """Each solver is killed at moments spread over its whole run."""
    groups = [measure(session, solver) for solver in SOLVERS]
    columns = [
        Column("solver", "solver"),
        Column("alone", "s alone", seconds),
        Column("kills", "killed", count),
        Column("resumed", "resumed", count),
        Column("refused", "refused", count),
        Column("in_writing", "while writing", count),
    ]
    session.table(groups, columns, "synthetic chains; a checkpoint after every iteration")
    same = all(g.every("same") for g in groups)
    refused = sum(int(g.median("refused")) for g in groups)
    kills = sum(int(g.median("kills")) for g in groups)
    resumed = sum(int(g.median("resumed")) for g in groups)
    return Verdict(
        same and refused == 0,
        f"{kills} kills, {resumed} starts from a checkpoint, {refused} corrupt; weights "
        + ("equal to the last bit" if same else "NOT equal"),
    )


def measure(session: Session, solver: str) -> Group:
    """Run without kills first, then with them."""
    kills = QUICK if session.quick else KILLS

    def once(seed: int) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            return kill_often(Path(folder), solver, kills, seed)

    return session.measure({"solver": solver, "planned": kills}, once, repeats=1)


def kill_often(folder: Path, solver: str, kills: int, seed: int) -> dict[str, Any]:
    """Start, kill, and start again; the last start may run to its end."""
    moments = random.Random(seed)
    begin = time.perf_counter()
    whole = start(folder / "whole.ck", solver)
    whole.wait()
    alone = time.perf_counter() - begin
    killed = resumed = refused = in_writing = 0
    path = folder / "killed.ck"
    while killed < kills:
        child = start(path, solver)
        resumed += path.exists()
        wait_for(path, child)
        time.sleep(moments.uniform(0.0, 0.1))
        if child.poll() is None:
            child.kill()
            killed += 1
            in_writing += path.with_name("killed.ck.tmp").exists()
        elif child.returncode == 0:  # it ended before the kill: start from the beginning
            path.unlink()
            path.with_suffix(".npy").unlink()
        else:
            refused += 1
            break
        child.wait()
    refused += start(path, solver).wait() != 0
    results = [folder / f"{name}.npy" for name in ("whole", "killed")]
    same = all(p.exists() for p in results) and results[0].read_bytes() == results[1].read_bytes()
    return {
        "alone": alone, "kills": killed, "resumed": resumed, "refused": refused,
        "in_writing": in_writing, "same": same,
    }  # fmt: skip


def wait_for(path: Path, child: subprocess.Popen[bytes]) -> None:
    """Until the child has written its first checkpoint: before that there is nothing to lose."""
    before = path.stat().st_mtime_ns if path.exists() else None
    while child.poll() is None:
        if path.exists() and path.stat().st_mtime_ns != before:
            return
        time.sleep(0.001)


def start(path: Path, solver: str) -> subprocess.Popen[bytes]:
    """A process that trains."""
    code = "from benchmarks.ours.kill_resume import train; import sys; train(*sys.argv[1:])"
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen([sys.executable, "-c", code, str(path), solver], env=env)


def train(path: str, solver: str) -> None:
    """Train with a checkpoint after every iteration; write the weights in the end."""
    import numpy as np

    from maxmargin.structures.chain.problem import Chain
    from maxmargin.training import train as train_problem

    draw = np.random.RandomState(0)
    X = [draw.randn(12, 40) for _ in range(400)]
    Y = [draw.randint(0, 8, 12) for _ in X]
    result = train_problem(
        Chain(8), X, Y, C=1.0, tol=1e-4, max_iter=40, solver=solver, checkpoint=path, every=0,
        resume=True,
    )  # fmt: skip
    np.save(Path(path).with_suffix(".npy"), np.append(result.w, result.primal))
