"""Altered checkpoints: refused, or the run that resumes has a true certificate."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import maxmargin as mm
from maxmargin.registry import all_structures

from ..alter import alter_bytes
from ..archives import Archive
from ..certify import check_certificate
from ..problems import SOLVERS, Planes, optimum, trains, warm_up
from ..trial import Kind, Trial

C, TOL = 0.5, 1e-3


@dataclass
class Case:
    """A run that was stopped after a few iterations."""

    name: str
    tiny: Any
    solver: Any
    content: bytes
    archive: Archive
    planes: Planes
    bounds: tuple[float, float]

    def resume(self, path: Path) -> Any:
        """Continue the run."""
        return train(self.tiny, self.solver, path, 40)


def train(tiny: Any, solver: Any, path: Path, max_iter: int) -> Any:
    """A run with a checkpoint, from which it resumes."""
    return mm.train(
        tiny.problem, tiny.X, tiny.Y, C=C, solver=solver, tol=TOL, max_iter=max_iter,
        checkpoint=path, resume=True,
    )  # fmt: skip


def prepare(folder: Path) -> list[Case]:
    """Every solver and variant on a tiny example of every structure."""
    return all_cases()


@cache
def all_cases() -> list[Case]:
    """Made once, also for the truncations."""
    warm_up()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        return [case for structure in all_structures() for case in _cases(structure, Path(folder))]


def _cases(structure: Any, folder: Path) -> Iterator[Case]:
    tiny, path = structure.examples()[0], folder / "run.ck"
    planes = Planes.of(tiny, tiny.X, tiny.Y, "margin", np.ones(len(tiny.X)))
    bounds = optimum(planes, C)
    for name, solver in SOLVERS.items():
        if not trains(solver, tiny):
            continue
        path.unlink(missing_ok=True)
        train(tiny, solver, path, 3)
        content, archive = path.read_bytes(), Archive.read(path)
        yield Case(f"{structure.name} {name}", tiny, solver, content, archive, planes, bounds)


def trial(trial: Trial) -> None:
    """Alter the checkpoint of one run, and resume."""
    random, path = trial.random, trial.folder / "run.ck"
    case = random.choice(trial.ready)
    if random.random() < 0.1:
        path.write_bytes(alter_bytes(random, case.content))
    else:
        archive = case.archive
        for _ in range(random.choice((1, 1, 2))):
            archive = archive.altered(random)
        archive.write(path)
    trial.count("altered files")
    with trial.refusals():
        check_certificate(case.resume(path), case.planes, C, TOL, case.bounds, case.name)
        trial.count("certificates")


KIND = Kind(
    "altered checkpoints",
    "checkpoints of every solver and structure with altered JSON and arrays under right checksums, "
    "or altered bytes; refused, or resumed to a certificate that is true",
    trial, share=2.0, prepare=prepare, batch=300,
)  # fmt: skip
