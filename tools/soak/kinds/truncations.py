"""Files that end too early, at every byte: refused, never read as if they were whole."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import maxmargin as mm
from maxmargin.errors import CheckpointError, DataError, ModelFileError

from ..models import samples
from ..trial import WRONG, FoundError, Kind, Trial
from . import checkpoints, packed_shards


class Whole(NamedTuple):
    """A file, how it is read, and the error that the reader must raise."""

    name: str
    content: bytes
    read: Any
    error: type[Exception]


def prepare(folder: Path) -> list[Whole]:
    """Models, checkpoints, and the arrays of packed shards."""
    return [*_models(folder), *_checkpoints(), *_arrays(folder)]


def _models(folder: Path) -> Iterator[Whole]:
    for sample in samples():
        path = folder / "model.mm"
        sample.estimator.save(path)
        read = partial(mm.load, problem=sample.problem)
        yield Whole("models", path.read_bytes(), read, ModelFileError)


def _checkpoints() -> Iterator[Whole]:
    for case in checkpoints.all_cases():
        yield Whole("checkpoints", case.content, case.resume, CheckpointError)


def _arrays(folder: Path) -> Iterator[Whole]:
    for case in packed_shards.prepare(folder):
        for name, content in case.shard.items():
            if "shard-" in name:  # a survey that is cut off is made again

                def fit(path: Path, case: Any = case, name: str = name) -> None:
                    case.fit(path.parent, {name: path.read_bytes()})

                yield Whole("packed arrays", content, fit, DataError)


def trial(trial: Trial) -> None:
    """Trial after trial one byte further, through all files, from a place that the seed gives."""
    total = sum(len(whole.content) for whole in trial.ready)
    at = (trial.seed * 7919 * 1000 + trial.number) % total
    for whole in trial.ready:
        if at < len(whole.content):
            break
        at -= len(whole.content)
    path = trial.folder / "file"
    path.write_bytes(whole.content[:at])
    trial.count("truncations")
    trial.count(f"truncated {whole.name}")
    try:
        whole.read(path)
    except whole.error:
        return
    raise FoundError(WRONG, f"{whole.name}: the first {at} bytes were taken for the whole file")


KIND = Kind(
    "truncations",
    "models, checkpoints and packed shards cut off at one byte after the other, from a place "
    "that the seed gives; all of these files together have 1.4 million bytes",
    trial, share=2.0, prepare=prepare, batch=2000,
)  # fmt: skip
