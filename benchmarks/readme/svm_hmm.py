"""SVM-HMM's own program, where a user has it: its licence forbids to ship or install it here."""

from __future__ import annotations

import resource
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import MaxMarginError

if TYPE_CHECKING:
    from ..framework.sequences import Tagged
    from ..framework.session import Group, Session


def measure_svm_hmm(session: Session, program: str, n: int, c: float, e: float) -> Group:
    """CPU seconds of ``svm_hmm_learn -c C -e E`` on the chunking task."""

    def once(seed: int) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            data, model = Path(folder) / "train.dat", Path(folder) / "model"
            write_hmm(data, session.tagged("chunking", n))
            before = _children()
            done = subprocess.run(
                [program, "-c", str(c), "-e", str(e), str(data), str(model)],
                capture_output=True,
                text=True,
            )
            if done.returncode or not model.exists():
                raise MaxMarginError(f"{program} failed: {(done.stderr or done.stdout)[-300:]}")
            return {"time": _children() - before}

    config = {"program": "SVM-HMM", "n": n, "c": c, "e": e}
    return session.measure(config, once, repeats=1)


def write_hmm(path: Path, data: Tagged) -> None:
    """The training sequences in SVM-HMM's format; labels and features are numbered from 1."""
    X: Any = data.X.matrix
    with path.open("w", encoding="ascii") as file:
        labels = np.concatenate(data.Y)
        for i in range(data.n):
            for t in range(data.X.offsets[i], data.X.offsets[i + 1]):
                row = slice(X.indptr[t], X.indptr[t + 1])
                order = np.argsort(X.indices[row])
                entries = zip(X.indices[row][order] + 1, X.data[row][order], strict=True)
                text = " ".join(f"{k}:{value:g}" for k, value in entries)
                file.write(f"{labels[t] + 1} qid:{i + 1} {text}\n")


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
