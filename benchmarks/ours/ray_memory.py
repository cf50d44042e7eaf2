"""Peak memory of driver and workers while the data on disk grow by ten.

``python -m benchmarks.ours.ray_memory FOLDER SOLVER`` trains on the files of a folder in a separate
process and prints the peaks as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import MaxMarginError

from ..framework.display import Column, count
from ..framework.registry import Verdict, experiment

if TYPE_CHECKING:
    from ..framework.session import Group, Session

#: The synthetic chains: features, labels, features of a token, tokens of a sequence.
FEATURES, LABELS, PER_TOKEN, LENGTH = 50_000, 10, 20, 25

#: Numbers of files, and the workers that share them.
SIZES, WORKERS = (2, 6, 20), 2

#: Bytes by which a worker may grow per token of its shard.
BYTES_A_TOKEN = 64


@experiment(
    "ray-memory",
    title="Synthetic chains on disk: peak memory of each process as n grows by ten",
    claim="The driver's own memory does not depend on n, and a worker's grows by less than "
    f"{BYTES_A_TOKEN} bytes per token; the examples themselves stay on disk.",
    peers=("ray",),
)
def run(session: Session) -> Verdict:
    """The sizes with one-slack, whose state is smallest, and the largest with SDM."""
    sizes = SIZES[::2] if session.quick else SIZES
    groups = [measure(session, "one-slack", size) for size in sizes]
    groups.append(measure(session, "sdm", SIZES[-1]))
    columns = [
        Column("solver", "solver"),
        Column("files", "files", count),
        Column("tokens", "tokens", count),
        Column("disk_mb", "MB on disk", count),
        Column("driver_mb", "driver MB", count),
        Column("worker_mb", "largest worker MB", count),
    ]
    session.table(groups, columns, "peak anonymous memory; mapped files can be dropped at any time")
    return judge(groups[:-1])


def measure(session: Session, solver: str, files: int) -> Group:
    """Write the files, train in a fresh process, and take its peaks."""
    tokens = 20_000 if session.quick else 200_000

    def once(seed: int) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            for k in range(files):
                write_part(Path(folder) / f"part-{k}.npz", tokens, seed + k)
            command = [sys.executable, "-m", __name__, folder, solver]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise MaxMarginError(f"the measurement failed: {done.stderr.strip()[-500:]}")
        return json.loads(done.stdout.splitlines()[-1]) | {"tokens": files * tokens}

    config = {"solver": solver, "files": files, "tokens of a file": tokens}
    return session.measure(config, once, repeats=1)


def write_part(path: Path, tokens: int, seed: int) -> None:
    """A file of chains whose labels follow from the first feature of a token."""
    random = np.random.RandomState(seed)
    indices = random.randint(FEATURES, size=(tokens, PER_TOKEN)).astype(np.int32)
    indices.sort(axis=1)
    np.savez(
        path,
        data=np.ones(tokens * PER_TOKEN, np.float32),
        indices=indices.ravel(),
        indptr=np.arange(tokens + 1) * PER_TOKEN,
        shape=np.array([tokens, FEATURES]),
        y=(indices[:, 0] + random.randint(2, size=tokens)) % LABELS,
        offsets=np.append(np.arange(0, tokens, LENGTH), tokens),
    )


def judge(groups: list[Group]) -> Verdict:
    """Growth from the smallest to the largest."""
    first, last = groups[0], groups[-1]
    more = (last.median("tokens") - first.median("tokens")) / WORKERS
    growth = 1e6 * (last.median("worker_mb") - first.median("worker_mb")) / more
    driver = last.median("driver_mb") / first.median("driver_mb")
    passed = growth <= BYTES_A_TOKEN and driver <= 1.1
    return Verdict(passed, f"driver {driver:.2f} times, worker {growth:.0f} bytes per token")


class Sampler(threading.Thread):
    """Peaks of the anonymous memory of this process and of the actors."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.driver = self.worker = 0.0
        self.over = threading.Event()

    def run(self) -> None:
        """Sample ten times per second."""
        while not self.over.wait(0.1):
            self.driver = max(self.driver, anonymous("self"))
            self.worker = max([self.worker, *map(anonymous, actors())])


def anonymous(pid: str) -> float:
    """Private memory of a process in megabytes; 0 if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    line = next((line for line in status.splitlines() if line.startswith("RssAnon")), "x 0")
    return int(line.split()[1]) * 1024 / 1e6


def actors() -> list[str]:
    """The processes of actors."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"ray::_Actor" in (process / "cmdline").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


def main(folder: str, solver: str) -> None:
    """Pack first, so that peaks are those of training; then train, and print the peaks."""
    from maxmargin.backends.files import FileData, Files
    from maxmargin.backends.ray import Ray, connect, import_ray
    from maxmargin.structures.chain.problem import Chain
    from maxmargin.training import train

    backend = Ray(num_shards=WORKERS, init={"num_cpus": WORKERS, "object_store_memory": 10**8})
    connect(import_ray(), backend)  # once for all steps; it ends with this process
    files = Files(f"{folder}/part-*.npz", cache=f"{folder}/cache")
    data = FileData(files, backend)
    backend.map(pack, [(s,) for s in data.sources(Chain(LABELS), WORKERS)], data.plan)
    sampler = Sampler()
    sampler.start()
    start = time.perf_counter()
    train(Chain(LABELS), data, C=1e-5, solver=solver, tol=1e-9, max_iter=5, backend=backend)
    sampler.over.set()
    disk = sum(path.stat().st_size for path in Path(folder, "cache").rglob("*.npy")) / 1e6
    peaks = {"driver_mb": sampler.driver, "worker_mb": sampler.worker, "disk_mb": disk}
    print(json.dumps(peaks | {"time": time.perf_counter() - start}))


def pack(source: Any, plan: Any) -> None:
    """Pack a shard, in a process that ends."""
    source.load(plan)


if __name__ == "__main__":
    main(*sys.argv[1:])
