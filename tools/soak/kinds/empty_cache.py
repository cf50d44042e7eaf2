"""Two processes that compile into one empty cache at the same time."""

from __future__ import annotations

import secrets
import signal
import time

from ..children import remove_marked, start_python
from ..trial import CRASH, LEFT, RAW, WRONG, FoundError, Kind, Trial

CODE = """
import numpy as np, maxmargin as mm
clf = mm.BinarySVC(C=0.3, solver="one-slack", tol=1e-6).fit(np.eye(4), [0, 1, 1, 0])
print(clf.coef_.tobytes().hex())
"""


def trial(trial: Trial) -> None:
    """Start two (one may be killed), then a third one."""
    cache, mark = trial.folder / "cache", secrets.token_hex(8)
    cache.mkdir()

    def start() -> object:
        return start_python("-c", CODE, mark=mark, NUMBA_CACHE_DIR=str(cache))

    try:
        pair = [start(), start()]
        if trial.random.random() < 0.5:
            time.sleep(trial.random.uniform(0.0, 12.0))
            if pair[0].poll() is None:
                pair[0].kill()
                pair[0].communicate()
                trial.count("kills")
                pair.pop(0)
        answers = {_answer(process) for process in [*pair, start()]}
    finally:
        remove_marked(mark)
    trial.count("processes", 3)
    if len(answers) != 1:
        raise FoundError(WRONG, f"different results: {answers}")
    left = [p.name for p in cache.rglob("*") if ".tmp" in p.name]
    if left and not trial.counts["kills"]:
        raise FoundError(LEFT, str(left))


def _answer(process: object) -> str:
    out, err = process.communicate()
    if process.returncode < 0:
        raise FoundError(CRASH, signal.Signals(-process.returncode).name)
    if process.returncode > 0:
        raise FoundError(RAW, err[-3000:])
    return out.strip()


KIND = Kind(
    "empty compile cache",
    "two processes that compile into one empty cache at once, one of them killed in half of the "
    "trials, and a third one afterwards",
    trial, share=0.4, batch=1, seconds=200.0, memory=None,
)  # fmt: skip
