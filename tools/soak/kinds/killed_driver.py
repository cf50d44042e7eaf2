"""A driver that is killed: its workers end, and no file of ours is left."""

from __future__ import annotations

import secrets
import tempfile
import time
from pathlib import Path

from ..children import commands, remove_folder, remove_marked, start_python, wait_until_gone
from ..trial import HANG, LEFT, FoundError, Kind, Trial


def trial(trial: Trial) -> None:
    """Kill a driver with worker processes, or with Ray's workers."""
    mode = trial.random.choice(("wait-processes", "wait-processes", "wait"))
    mark, folder = secrets.token_hex(8), Path(tempfile.mkdtemp(prefix="soak-", dir="/tmp"))
    (folder / "tmp").mkdir()
    driver = start_python(
        "-m", "tools.soak.driver", mode, trial.number, folder, mark=mark, TMPDIR=str(folder / "tmp")
    )
    try:
        begin = time.monotonic()
        while not (folder / "ready").exists():
            if driver.poll() is not None or time.monotonic() > begin + 60:
                driver.kill()
                raise FoundError(HANG, f"{mode}: the driver is not ready: {driver.stderr.read()}")
            time.sleep(0.05)
        time.sleep(trial.random.uniform(0.0, 1.0))
        driver.kill()
        trial.count("kills")
        left = wait_until_gone(mark, 60.0)
        if left:
            raise FoundError(LEFT, f"{mode}: alive a minute later: {commands(left)}")
        files = [str(path) for path in (folder / "tmp").iterdir()]
        if files:
            raise FoundError(LEFT, f"{mode}: {files}")
    finally:
        driver.kill()
        driver.communicate()
        remove_marked(mark)
        remove_folder(folder)


KIND = Kind(
    "killed drivers",
    "training with worker processes or with Ray, killed (-9): no process and no temporary file of "
    "ours is left a minute later",
    trial, share=0.5, batch=1, seconds=200.0, memory=None,
)  # fmt: skip
