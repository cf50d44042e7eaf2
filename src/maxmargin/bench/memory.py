"""Peak memory of a training run, measured in a process of its own.

``python -m maxmargin.bench.memory DIRECTORY N SEED SECONDS`` prints the numbers as JSON.
"""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import MaxMarginError
from .data import load
from .runs import train_multiclass

_STATUS = Path("/proc/self/status")


def peak_growth(directory: Path | None, n: int, seed: int, max_time: float) -> dict[str, Any]:
    """Train on n examples of Covertype in a fresh process; see ``measure``."""
    if not _STATUS.exists():
        # Other systems cannot reset the peak, so that loading the data would hide the training.
        return {"data_mb": None, "growth_mb": None, "multiple": None}
    command = [sys.executable, "-m", __name__, str(directory), str(n), str(seed), str(max_time)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MaxMarginError(f"the memory measurement failed: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def measure(directory: Path, n: int, seed: int, max_time: float) -> dict[str, Any]:
    """How far the peak of training rises above imports, compiled code and loaded data.

    Returns
    -------
    dict
        ``data_mb``, ``growth_mb`` and ``multiple``, their ratio.
    """
    data = load("covertype", directory, seed).first(n)
    load.cache_clear()
    # Loads libraries and compiled code; enough examples for the same solver to be chosen.
    train_multiclass(data.first(5000), C=1.0, tol=0.5)
    gc.collect()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)  # else training would reuse what loading has freed
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    start = _memory("VmRSS")
    train_multiclass(data, C=1.0, tol=1e-6, max_time=max_time)
    growth = _memory("VmHWM") - start
    size = sum(a.nbytes for a in (data.X.data, data.X.indices, data.X.indptr, data.y)) / 1e6
    return {"data_mb": size, "growth_mb": growth, "multiple": growth / size}


def _memory(field: str) -> float:
    """A field of the process status, in megabytes."""
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise MaxMarginError(f"{_STATUS} has no field {field}")


if __name__ == "__main__":
    where, n, seed, limit = sys.argv[1:]
    print(json.dumps(measure(Path(where), int(n), int(seed), float(limit))))
