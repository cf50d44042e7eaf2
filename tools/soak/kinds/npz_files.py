"""Altered ``.npz`` files of training data: refused with a DataError, or used."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import maxmargin as mm

from ..alter import alter_array, alter_bytes
from ..trial import Kind, Trial


def prepare(folder: Path) -> list[tuple[dict[str, np.ndarray], Any]]:
    """Dense rows, a CSR matrix, and sequences, each with an estimator."""
    random = np.random.RandomState(0)
    X, y = random.randn(10, 4).round(2), np.arange(10) % 3
    M = sp.csr_matrix(X * (X > 0))
    csr = {"data": M.data, "indices": M.indices, "indptr": M.indptr, "shape": np.array(M.shape)}
    offsets = np.array([0, 4, 5, 10])
    cases = [
        ({"X": X, "y": y, "weight": np.ones(10)}, mm.MulticlassSVC),
        ({**csr, "y": y % 2, "weight": np.ones(10)}, mm.BinarySVC),
        ({**csr, "y": y}, mm.MulticlassSVC),
        ({"X": X, "y": y, "offsets": offsets}, mm.ChainSVC),
        ({**csr, "y": y, "offsets": offsets, "weight": np.ones(3)}, mm.ChainSVC),
    ]
    for k, (arrays, estimator) in enumerate(cases):  # loads what is compiled, once for all trials
        np.savez(folder / f"{k}.npz", **arrays)
        estimator().fit(mm.Files(folder / f"{k}.npz", cache=folder))
    return cases


def trial(trial: Trial) -> None:
    """Alter arrays or bytes, and train and predict. Data may ask for more memory than there is."""
    random, path = trial.random, trial.folder / "data.npz"
    arrays, estimator = random.choice(trial.ready)
    arrays = dict(arrays)
    by_bytes = random.random() < 0.2
    for _ in range(0 if by_bytes else random.choice((1, 1, 2))):
        name = random.choice(sorted(arrays))
        arrays[name] = alter_array(random, arrays[name])
        if random.random() < 0.05:
            del arrays[name]
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    content = buffer.getvalue()
    path.write_bytes(alter_bytes(random, content) if by_bytes else content)
    trial.count("altered files")
    with trial.refusals(MemoryError):
        files = mm.Files(path, cache=trial.folder / "cache")
        estimator(C=0.5, max_iter=20).fit(files).predict(files)


KIND = Kind(
    "altered npz files",
    "`.npz` files of rows, CSR matrices and sequences with altered arrays or bytes, for training "
    "and prediction",
    trial, share=1.5, prepare=prepare, batch=200,
)  # fmt: skip
