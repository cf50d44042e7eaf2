"""Altered packed shards and surveys of ``mm.Files``: refused with a DataError, or used."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import maxmargin as mm

from ..alter import alter_array, alter_bytes, alter_json, dump_json
from ..trial import Kind, Trial


@dataclass
class Case:
    """Data files, an estimator for them, and the files of the cache that a first fit has left."""

    source: dict[str, bytes]
    pattern: str
    estimator: Any
    shard: dict[str, bytes]

    def fit(self, folder: Path, altered: dict[str, bytes]) -> Any:
        """Train from the cache with some of its files altered."""
        place = folder / "data"
        for name, content in (self.source | self.shard | altered).items():
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return self.estimator().fit(mm.Files(str(place / self.pattern), cache=place / "cache"))


def prepare(folder: Path) -> list[Case]:
    """Rows from svmlight and dense npz files, and sequences from CoNLL files."""
    text = "".join(f"{1 + k % 3} {1 + k % 4}:{k / 7:.3f} 5:1\n" for k in range(12)).encode()
    words = "".join(f"w{k % 5} {'AB'[k % 2]}\n" + "\n" * (k % 3 == 2) for k in range(12)).encode()
    dense = io.BytesIO()
    np.savez(dense, X=np.arange(24.0).reshape(8, 3) % 5, y=np.arange(8) % 2, weight=np.ones(8))

    def rows() -> Any:
        return mm.MulticlassSVC(C=0.5, max_iter=20)

    def chains() -> Any:
        return mm.ChainSVC(C=0.5, max_iter=20, template="word[0]\nword[-1]")

    sources = [
        ({"a.svm": text}, "*.svm", rows),
        ({"a.npz": dense.getvalue()}, "*.npz", rows),
        ({"a.conll": words, "b.conll": words[:20] + b"\n\n"}, "*.conll", chains),
    ]
    return [_first(folder / str(k), *source) for k, source in enumerate(sources)]


def _first(folder: Path, source: dict[str, bytes], pattern: str, estimator: Any) -> Case:
    case = Case(source, pattern, estimator, {})
    case.fit(folder, {})
    place = folder / "data"
    cache = [path for path in (place / "cache").rglob("*") if path.is_file()]
    case.shard = {str(path.relative_to(place)): path.read_bytes() for path in cache}
    return case


def alter(random: Any, name: str, content: bytes) -> bytes:
    """Alter what the file holds, or its bytes."""
    if random.random() < 0.25:
        return alter_bytes(random, content)
    if name.endswith(".json"):
        import json

        return dump_json(alter_json(random, json.loads(content)))
    buffer = io.BytesIO()
    array = np.load(io.BytesIO(content), allow_pickle=False)
    np.save(buffer, alter_array(random, array), allow_pickle=False)
    return buffer.getvalue()


def trial(trial: Trial) -> None:
    """Alter one or two files of a cache, and train from it."""
    random = trial.random
    case = random.choice(trial.ready)
    names = random.choices(sorted(case.shard), k=random.choice((1, 1, 2)))
    altered = {name: alter(random, name, case.shard[name]) for name in names}
    trial.count("altered files", len(altered))
    with trial.refusals():
        case.fit(trial.folder, altered)


KIND = Kind(
    "altered packed shards",
    "the arrays and JSON of the cache of `mm.Files`, altered, then used for training",
    trial, share=1.5, prepare=prepare, batch=200,
)  # fmt: skip
