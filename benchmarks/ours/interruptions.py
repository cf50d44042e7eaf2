"""Runs that are interrupted in several ways and started again: what is left, and how they end.

Each way of training (an estimator, ``mm.train``, the command line) is run once without
interruption. Then it is interrupted while it trains, and the same program is started again. The
final weights are compared bit by bit.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from itertools import count as count_from
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..framework.display import Column, count
from ..framework.registry import Verdict, experiment

if TYPE_CHECKING:
    from ..framework.session import Group, Session

#: Seconds between two saves, so that there is a regular checkpoint when a run is killed.
EVERY = 0.05
#: Iterations of a whole run, and those and the oracle calls after which exceptions are raised.
ITERATIONS, FAIL_AFTER, FAIL_AFTER_CALLS = 40, 7, 600
#: Wait this long (seconds) after the first checkpoint, so that later iterations are not saved yet.
WAIT = 0.02

SIGNALS = {"Ctrl-C": signal.SIGINT, "SIGTERM": signal.SIGTERM, "kill -9": signal.SIGKILL}
FAILING = "exception in decode"
WAYS = {
    "estimator": [*SIGNALS, "max_time"],
    "mm.train": [*SIGNALS, "max_time", "exception in a callback", FAILING],
    "command line": [*SIGNALS, "max_time"],
}


@experiment(
    "interruptions",
    title="Runs interrupted by signals, limits and exceptions, and started again",
    claim="Every interrupted run leaves a checkpoint from which the same program continues, and "
    "the weights in the end are those of a run without interruption, to the last bit.",
)
def run(session: Session) -> Verdict:
    """All ways of training, interrupted in all ways."""
    groups = [measure(session, way, how) for way, names in WAYS.items() for how in names]
    columns = [
        Column("way", "training"),
        Column("how", "interrupted by"),
        Column("code", "exit code", count),
        Column("left", "checkpoint after iteration", count),
        Column("model", "result written", count),
        Column("resumed", "resumed after", count),
        Column("same", "bit-equal", count),
    ]
    session.table(groups, columns, f"a checkpoint every {EVERY:g} s")
    good = [g for g in groups if g.every("same") and g.median("resumed") > 0]
    return Verdict(
        len(good) == len(groups),
        f"{len(good)} of {len(groups)} continued, with the same weights in the end",
    )


def measure(session: Session, way: str, how: str) -> Group:
    """One way of training, interrupted once."""

    def once(seed: int) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            return interrupt(Path(folder), way, how)

    return session.measure({"way": way, "how": how}, once, repeats=1)


def interrupt(folder: Path, way: str, how: str) -> dict[str, Any]:
    """Train with an interruption, and once more after it; compare with a run without one."""
    plain = "decode" if how == FAILING else ""
    child = start(folder, way, how if how not in SIGNALS else "")
    if how in SIGNALS:
        wait_for(folder / "run.ck", child)
        child.send_signal(SIGNALS[how])
    child.communicate()
    left = iterations(folder / "run.ck")
    model = (folder / "end.mm").exists() or (folder / "end.npy").exists()
    text = start(folder, way, plain).communicate()[1].decode()
    resumed = re.search(r"resumed after iteration (\d+)", text)
    return {
        "code": child.returncode,
        "left": left,
        "model": model,
        "resumed": int(resumed[1]) if resumed else 0,
        "same": weights(folder) == weights_without(way, plain),
    }


@cache
def weights_without(way: str, plain: str) -> bytes | None:
    """The weights at the end of a run without interruption."""
    with tempfile.TemporaryDirectory() as folder:
        start(Path(folder), way, plain).communicate()
        return weights(Path(folder))


def start(place: Path, way: str, how: str) -> subprocess.Popen[bytes]:
    """A process that trains in a folder."""
    if way == "command line":
        if not (place / "train.txt").exists():
            write_data(place / "train.txt")
        limit = ["--max-time", "0.2"] if how == "max_time" else []
        words = ["maxmargin", "train", "chain", "train.txt", "-o", "end.mm", "--tol", "1e-9"]
        words += ["--max-iter", str(ITERATIONS), "--checkpoint", "run.ck", "--every", f"{EVERY:g}s"]
        command = [sys.executable, "-m", *words, *limit]
    else:
        code = "from benchmarks.ours.interruptions import train; import sys; train(*sys.argv[1:])"
        command = [sys.executable, "-c", code, way, how]
    top = str(Path(__file__).parents[2])
    path = os.pathsep.join([top, *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": path}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=place, env=env, **quiet)


def write_data(path: Path) -> None:
    """A file of sentences, some of which have wrong labels."""
    from maxmargin.datasets import write_conll

    write_conll(path, 400, seed=1, noise=0.3)


def wait_for(path: Path, child: subprocess.Popen[bytes]) -> None:
    """Until there is a checkpoint, and some time more."""
    while child.poll() is None and not path.exists():
        time.sleep(0.001)
    time.sleep(WAIT)


def iterations(path: Path) -> int:
    """The number of iterations in a checkpoint; 0 without one."""
    from maxmargin.saving.container import read_container

    if not path.exists():
        return 0
    meta, arrays = read_container(path)
    from maxmargin.saving.state import Reader, split_arrays

    reader = Reader(split_arrays(arrays, meta["arrays"]), meta["outputs"], None)
    return len(reader.fill(None, meta["run"]["history"]))


def weights(place: Path) -> bytes | None:
    """The weights at the end of a run; None without a result."""
    import numpy as np

    from maxmargin import load

    if (place / "end.mm").exists():
        return load(place / "end.mm").result_.w.tobytes()
    return np.load(place / "end.npy").tobytes() if (place / "end.npy").exists() else None


def train(way: str, how: str) -> None:
    """Train with a checkpoint in the current folder, and write the weights in the end."""
    import numpy as np

    import maxmargin as mm
    from maxmargin.structures.chain.problem import Chain

    draw = np.random.RandomState(0)
    X = [draw.randn(10, 40) for _ in range(200)]
    Y = [draw.randint(0, 8, 10) for _ in X]
    limits: dict[str, Any] = {"tol": 1e-9, "max_iter": ITERATIONS}
    if how == "max_time":
        limits["max_time"] = 0.2
    saved = mm.Checkpoint("run.ck", EVERY)
    if way == "estimator":
        w = mm.ChainSVC(C=1.0, checkpoint=saved, **limits).fit(X, Y).result_.w
    elif "decode" in how:
        problem = classes(fails=how == FAILING)
        w = mm.train(
            problem, [x[0] for x in X], [int(y[0]) for y in Y], checkpoint=saved, **limits
        ).w
    else:
        callbacks = [fail] if how == "exception in a callback" else []
        w = mm.train(Chain(8), X, Y, C=1.0, checkpoint=saved, callbacks=callbacks, **limits).w
    np.save("end.npy", w)


def fail(record: Any, state: Any) -> None:
    """A callback with a mistake."""
    if record.iteration == FAIL_AFTER:
        raise RuntimeError("a mistake in a callback")


def classes(fails: bool) -> Any:
    """Eight classes in plain Python; ``decode`` may fail after some passes."""
    import numpy as np

    import maxmargin as mm

    calls = count_from(1)

    class Classes(mm.Problem):
        n_features = 8 * 40

        def features(self, x: Any, y: int) -> Any:
            return np.arange(40 * y, 40 * y + 40), x

        def loss(self, y_true: int, y: int) -> float:
            return float(y != y_true)

        def decode(self, x: Any, w: Any, y_true: Any = None, rescaling: str = "margin") -> int:
            if fails and next(calls) > FAIL_AFTER_CALLS:
                raise RuntimeError("a mistake in decode")
            scores = w.reshape(8, 40) @ x
            if y_true is not None:
                scores = scores + (np.arange(8) != y_true)
            return int(scores.argmax())

    return Classes()
