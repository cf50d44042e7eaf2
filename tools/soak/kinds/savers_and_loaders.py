"""Processes that save and load one file at once: every load gives one of the models."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

import maxmargin as mm

from ..children import end, fork
from ..trial import LEFT, FoundError, Kind, Trial

SECONDS = 0.5


def prepare(folder: Path) -> list[Any]:
    """Models of different sizes."""
    random = np.random.RandomState(0)
    models = []
    for d in (5, 50, 500):
        X = random.randn(20, d)
        models.append(mm.MulticlassSVC(max_iter=2).fit(X, np.arange(20) % 4))
    return models


def trial(trial: Trial) -> None:
    """Two processes save, two load; all of them count on a pipe."""
    path, models, random = trial.folder / "model.mm", trial.ready, trial.random
    known = {model.coef_.tobytes() for model in models}
    models[0].save(path)
    receive, send = os.pipe()
    limit = time.monotonic() + SECONDS

    def save(first: int) -> None:
        k = first
        while time.monotonic() < limit:
            models[k % len(models)].save(path)
            k += 1
            os.write(send, b"s")

    def load() -> None:
        while time.monotonic() < limit:
            if mm.load(path).coef_.tobytes() not in known:
                raise AssertionError("a model that was never saved")
            os.write(send, b"l")

    pids = [fork(lambda k=k: save(k)) for k in random.sample(range(3), 2)]
    pids += [fork(load) for _ in range(2)]
    os.close(send)
    counted = b"".join(iter(lambda: os.read(receive, 65536), b""))
    os.close(receive)
    for pid in pids:
        end(pid)
    trial.count("saves", counted.count(b"s"))
    trial.count("loads during saves", counted.count(b"l"))
    left = sorted(p.name for p in trial.folder.iterdir() if p != path)
    if left:
        raise FoundError(LEFT, str(left))


KIND = Kind(
    "savers and loaders",
    "two processes save to one file while two others load it",
    trial, share=0.5, prepare=prepare, batch=10,
)  # fmt: skip
