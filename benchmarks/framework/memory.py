"""Peak memory of a training run, measured in a separate process.

Both commands print the numbers as JSON:

    python -m benchmarks.framework.memory covertype DIRECTORY N SEED SECONDS
    python -m benchmarks.framework.memory TASK DIRECTORY N C TARGET SOLVER SECONDS
"""

from __future__ import annotations

import ctypes
import gc
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from maxmargin.errors import MaxMarginError

from .child import run_module
from .data import load
from .runs import stop_at, train_chain, train_multiclass
from .sequences import load_tagged

_STATUS = Path("/proc/self/status")


def peak_growth(directory: Path | None, n: int, seed: int, max_time: float) -> dict[str, Any]:
    """Train on n examples of Covertype in a fresh process; see ``measure``."""
    if not _STATUS.exists():
        # Other systems cannot reset the peak, so loading the data would hide the training.
        return {"data_mb": None, "growth_mb": None, "multiple": None}
    return run_module(__name__, "covertype", directory, n, seed, max_time)


def peak_of_chain(
    task: str, directory: Path | None, n: int, C: float, target: float, solver: str, max_time: float
) -> dict[str, Any]:
    """Train a chain in a fresh process; see ``measure_chain``."""
    if not _STATUS.exists():
        return {"peak_mb": None, "loaded_mb": None}
    return run_module(__name__, task, directory, n, C, target, solver, max_time)


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
        ctypes.CDLL(None).malloc_trim(0)  # otherwise training would reuse what loading has freed
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    start = _memory("VmRSS")
    train_multiclass(data, C=1.0, tol=1e-6, max_time=max_time)
    growth = _memory("VmHWM") - start
    size = sum(a.nbytes for a in (data.X.data, data.X.indices, data.X.indptr, data.y)) / 1e6
    return {"data_mb": size, "growth_mb": growth, "multiple": growth / size}


def measure_chain(
    task: str, directory: Path, n: int, C: float, target: float, solver: str, max_time: float
) -> dict[str, Any]:
    """The peak of a whole process that reads a task, extracts features and trains to a primal.

    The peak is that of /proc: the one of getrusage includes the memory of the process that
    started this one.

    Returns
    -------
    dict
        ``peak_mb`` at the end and ``loaded_mb``, the peak before training.
    """
    data = load_tagged(task, directory, n)
    load_tagged.cache_clear()
    loaded = _memory("VmHWM")
    train_chain(data, C=C, tol=1e-7, solver=solver, max_time=max_time, callbacks=[stop_at(target)])
    return {"peak_mb": _memory("VmHWM"), "loaded_mb": loaded}


def _memory(field: str) -> float:
    """A field of the process status, in megabytes."""
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise MaxMarginError(f"{_STATUS} has no field {field}")


def main(kind: str, directory: str, n: str, *options: str) -> None:
    """Print one measurement."""
    if kind == "covertype":
        seed, limit = options
        values = measure(Path(directory), int(n), int(seed), float(limit))
    else:
        C, target, solver, limit = options
        values = measure_chain(
            kind, Path(directory), int(n), float(C), float(target), solver, float(limit)
        )
    print(json.dumps(values))


if __name__ == "__main__":
    main(*sys.argv[1:])
