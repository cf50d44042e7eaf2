"""Altered ``.mm`` files: refused with a ModelFileError, or a model that works."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import maxmargin as mm
from maxmargin.errors import ModelFileError
from maxmargin.registry import summary

from ..alter import alter_bytes
from ..archives import Archive
from ..models import samples
from ..trial import Kind, Trial


def prepare(folder: Path) -> list[tuple[Any, Archive, bytes]]:
    """The files of all models."""
    found = []
    for k, sample in enumerate(samples()):
        path = folder / f"{k}.mm"
        sample.estimator.save(path)
        found.append((sample, Archive.read(path), path.read_bytes()))
    return found


def trial(trial: Trial) -> None:
    """Alter a file; read it, predict with it, describe it, save it again."""
    random, path = trial.random, trial.folder / "model.mm"
    sample, archive, content = random.choice(trial.ready)
    if random.random() < 0.15:
        path.write_bytes(alter_bytes(random, content))
    else:
        for _ in range(random.choice((1, 1, 2))):
            archive = archive.altered(random)
        archive.write(path)
    trial.count("altered files")
    with trial.refusals():
        use(path, sample, random.random())


def use(path: Path, sample: Any, how: float) -> None:
    """What users do with a model file."""
    try:
        model = mm.load(path, problem=sample.problem)
    except ModelFileError:
        summary_or_refusal(path)
        raise
    model.predict(sample.X)
    repr(model), str(model.result_)
    if how < 0.3:
        summary(path)
    if how < 0.1:
        again = path.with_name("again.mm")
        model.save(again)
        mm.load(again, problem=sample.problem).predict(sample.X)
    elif how < 0.12:
        from command_line import run

        outcome = run("info", path)
        if outcome.exception is not None and not isinstance(outcome.exception, SystemExit):
            raise outcome.exception


def summary_or_refusal(path: Path) -> None:
    """``info`` reads less than ``load`` does: it may accept the file."""
    try:
        summary(path)
    except ModelFileError:
        pass


KIND = Kind(
    "altered model files",
    "`.mm` files of every structure with altered JSON, arrays and descriptions under right "
    "checksums, or altered bytes; loaded, used, described and saved again",
    trial, share=3.0, prepare=prepare, batch=500,
)  # fmt: skip
