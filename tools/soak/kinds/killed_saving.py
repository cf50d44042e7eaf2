"""Savers that are killed: the file is the old one or the new one, and nothing else is left."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import maxmargin as mm
from maxmargin.io import save_svm_struct, write_conll

from ..children import end, fork
from ..trial import LEFT, WRONG, FoundError, Kind, Trial

Writer = Callable[[Path], Any]


def writers() -> list[tuple[Writer, Writer]]:
    """Pairs of writers: an old and a new content of one file."""
    random = np.random.RandomState(0)
    X, y = random.randn(30, 300), random.randint(0, 9, 30)
    models = [mm.MulticlassSVC(C=C, max_iter=2).fit(X, 1 + y) for C in (0.01, 0.1)]
    chains = [mm.ChainSVC(C=C, max_iter=2).fit([X], [list(1 + y)]) for C in (0.01, 0.1)]
    rows = [[(f"w{k}", "x" * 40) for k in range(n)] for n in (2000, 3000)]
    for estimator in (*models, *chains):
        estimator.predict(X if estimator in models else [X])
    return [
        tuple(model.save for model in models),
        tuple(chain.save for chain in chains),
        tuple(lambda path, model=model: save_svm_struct(model, path) for model in models),
        tuple(lambda path, row=row: write_conll(path, [row]) for row in rows),
    ]  # type: ignore[return-value]


def prepare(folder: Path) -> list[tuple[tuple[Writer, Writer], tuple[bytes, bytes]]]:
    """The writers, and what they write."""
    found = []
    for pair in writers():
        contents = []
        for write in pair:
            write(folder / "file")
            contents.append((folder / "file").read_bytes())
        found.append((pair, tuple(contents)))
    return found  # type: ignore[return-value]


def trial(trial: Trial) -> None:
    """Kill a process that saves again and again."""
    random, path = trial.random, trial.folder / "file"
    pair, contents = random.choice(trial.ready)
    pair[0](path)

    def save() -> None:
        for k in range(10_000):
            pair[1 - k % 2](path)

    for _ in range(random.randint(1, 3)):
        pid = fork(save)
        time.sleep(random.uniform(0.0, 0.03))
        if end(pid, kill=True):
            trial.count("kills")
        if path.read_bytes() not in contents:
            raise FoundError(WRONG, "the file is neither the old one nor the new one")
    pair[1](path)
    if path.read_bytes() != contents[1]:
        raise FoundError(WRONG, "the file is not what was saved last")
    left = sorted(p.name for p in trial.folder.iterdir() if p != path)
    if left:
        raise FoundError(LEFT, f"after the next save: {left}")


KIND = Kind(
    "killed while saving",
    "processes that save models, SVM-struct models and CoNLL files, killed (-9) at random moments; "
    "the file is the old or the new one, and the next save leaves nothing else behind",
    trial, share=1.0, prepare=prepare, batch=50,
)  # fmt: skip
