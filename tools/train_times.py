"""CPU seconds of training with two versions of the sources in turn: old, new, old, and again.

    python tools/train_times.py OLD/src NEW/src [case ...] --data DIR [--rounds 7]

Each run is a process of its own that loads the same arrays, trains on a few examples, so that all
code is compiled and loaded, and then measures ``fit`` on all of them, on one core. The ratio of old
to old says what the machine's noise is.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

LOAD = """
import sys, time, numpy as np, scipy.sparse as sp, maxmargin as mm
with np.load(sys.argv[1]) as file:
    data = {key: file[key] for key in file.files}
def rows():
    if "dense" in data:
        return data["dense"]
    return sp.csr_array((data["data"], data["indices"], data["indptr"]), tuple(data["shape"]))
def sequences():
    X, cut = rows(), data["offsets"]
    ends = list(zip(cut[:-1], cut[1:]))
    return [X[a:b] for a, b in ends], [data["y"][a:b].tolist() for a, b in ends]
def trees():
    Y = mm.io.read_trees(str(data["path"]))[1]
    return None, Y
def measure(clf, X, Y, few):
    clf.fit(None if X is None else X[:few], Y[:few])
    before = time.process_time()
    clf.fit(X, Y)
    print(time.process_time() - before, clf.result_.primal)
"""

CASES = {
    "chunking": "measure(mm.ChainSVC(C=0.1, solver='sdm', tol=0.01), *sequences(), 200)",
    "letters": "measure(mm.ChainSVC(C=0.1, solver='sdm', tol=0.1), *sequences(), 200)",
    "covertype": "measure(mm.MulticlassSVC(C=1, tol=0.02, solver='sdm'), rows(), data['y'], 500)",
    "parsing": "measure(mm.CFGSVC(C=0.1, tol=0.01, solver='sdm'), *trees(), 50)",
}


def write_data(case: str, folder: Path, directory: Path) -> Path:
    """The arrays of a case in one file."""
    from benchmarks.framework.data import find_file, load
    from benchmarks.framework.sequences import load_tagged

    arrays: dict[str, Any]
    if case == "parsing":
        arrays = {"path": str(find_file("wsj_cfg", directory, "le15.unary.train.txt.gz"))}
    elif case == "covertype":
        whole = load("covertype", directory)
        arrays = {**_matrix(whole.X[:300_000]), "y": whole.y[:300_000]}
    else:
        tagged = load_tagged("chunking" if case == "chunking" else "OCR letters", directory)
        arrays = {
            **_matrix(tagged.X.matrix),
            "y": np.concatenate(tagged.Y),
            "offsets": tagged.X.offsets,
        }
    path = folder / f"{case}.npz"
    np.savez(path, **arrays)
    return path


def _matrix(X: Any) -> dict[str, Any]:
    from scipy import sparse

    if not sparse.issparse(X):
        return {"dense": X}
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}


def run(source: Path, case: str, data: Path) -> tuple[float, float]:
    """CPU seconds and the primal value of one run."""
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-c", LOAD + CASES[case], str(data)], check=True, text=True,
        env={**os.environ, **one, "PYTHONPATH": str(source.resolve())},
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    seconds, primal = done.stdout.split()[-2:]
    return float(seconds), float(primal)


def main() -> None:
    """Print medians of the seconds, and of the ratios new/old and old/old within each round."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(CASES)}")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parents[1]))
    print(f"{'':<10} {'old':>7} {'new':>7} {'new/old':>8} {'old/old':>8}  primal old, new")
    with tempfile.TemporaryDirectory() as folder:
        for case in given.cases or CASES:
            data = write_data(case, Path(folder), given.data)
            for source in (given.old, given.new):
                run(source, case, data)  # compiles
            rounds = [
                [run(source, case, data) for source in (given.old, given.new, given.old)]
                for _ in range(given.rounds)
            ]
            old, new, again = ([r[k][0] for r in rounds] for k in range(3))
            ratio = statistics.median(n / ((o + a) / 2) for o, n, a in zip(old, new, again))
            noise = statistics.median(a / o for o, a in zip(old, again))
            print(
                f"{case:<10} {statistics.median(old + again):7.2f} {statistics.median(new):7.2f} "
                f"{ratio:8.3f} {noise:8.3f}  {rounds[0][0][1]:.2f}, {rounds[0][1][1]:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
