"""Ray workers that are killed or stopped: training ends at the optimum all the same."""

from __future__ import annotations

import json
import secrets
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from ..children import commands, remove_folder, remove_marked, start_python, wait_until_gone
from ..driver import TOL, C, train
from ..trial import FALSE, HANG, LEFT, RAW, FoundError, Kind, Trial

SECONDS = 120.0


def prepare(folder: Path) -> Any:
    """The optimum."""
    return train(solver="sdm", tol=1e-6)


def trial(trial: Trial) -> None:
    """A driver that disturbs its own workers."""
    mode, mark = trial.random.choice(("kill", "kill", "stop")), secrets.token_hex(8)
    # A short name: the addresses of sockets have at most 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="soak-", dir="/tmp"))
    driver = start_python("-m", "tools.soak.driver", mode, trial.number, folder, mark=mark)
    try:
        out, err = driver.communicate(timeout=SECONDS)
        if driver.returncode != 0:
            raise FoundError(RAW, f"{mode}: exit code {driver.returncode}\n{err[-3000:]}")
        answer = json.loads(out.splitlines()[-1])
        trial.count("kills" if mode == "kill" else "stops", answer["disturbed"])
        check(answer, trial.ready)
        left = wait_until_gone(mark, 60.0)
        if left:
            raise FoundError(LEFT, f"{mode}: alive a minute later: {commands(left)}")
    except subprocess.TimeoutExpired:
        raise FoundError(HANG, f"{mode}: no end within {SECONDS:g} s") from None
    finally:
        driver.kill()
        driver.communicate()
        remove_marked(mark)
        remove_folder(folder)


def check(answer: dict[str, Any], best: Any) -> None:
    """Raise unless the run has converged to the optimum."""
    near = best.primal + TOL * C * 300
    true = best.dual - 1e-9 <= answer["primal"] <= near and answer["dual"] <= best.primal + 1e-9
    if not (answer["converged"] and true):
        raise FoundError(FALSE, f"{answer}, the optimum is {best.primal!r}")


KIND = Kind(
    "ray workers",
    "workers of a Ray cluster on this machine, killed (-9) or stopped for a while during training; "
    "the run converges to the optimum and leaves no process",
    trial, share=0.7, prepare=prepare, batch=1, seconds=200.0, memory=None,
)  # fmt: skip
