"""Threads that predict with one estimator at once: what one thread would predict."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

import maxmargin as mm

from ..models import samples
from ..trial import WRONG, FoundError, Kind, Trial


def prepare(folder: Path) -> list[tuple[Any, Path, str]]:
    """Saved models: an estimator that was just loaded has predicted nothing yet."""
    found = []
    for k, sample in enumerate(samples()):
        path = folder / f"{k}.mm"
        sample.estimator.save(path)
        found.append((sample, path, repr(list(sample.estimator.predict(sample.X)))))
    return found


def trial(trial: Trial) -> None:
    """Predict in eight threads that start at the same time."""
    random = trial.random
    sample, path, expected = random.choice(trial.ready)
    estimator = mm.load(path, problem=sample.problem)
    if "n_jobs" in estimator.get_params() and random.random() < 0.3 and sample.problem is None:
        estimator.set_params(n_jobs=2)
    sys.setswitchinterval(10.0 ** random.uniform(-6, -2))
    gate, wrong = threading.Barrier(8), []

    def predict() -> None:
        gate.wait()
        try:
            found = [repr(list(estimator.predict(sample.X))) for _ in range(10)]
            wrong.extend(other for other in found if other != expected)
        except Exception as error:
            wrong.append(repr(error))

    threads = [threading.Thread(target=predict, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    trial.count("predictions in threads", 80)
    if wrong:
        raise FoundError(WRONG, f"{sample.name}: {wrong[0]}, expected {expected}")


KIND = Kind(
    "threads",
    "eight threads that predict with one estimator at once",
    trial, share=0.5, prepare=prepare, batch=50,
)  # fmt: skip
