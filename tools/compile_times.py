"""CPU seconds until first use on an empty cache, of two versions of the sources in turn.

    python tools/compile_times.py OLD/src NEW/src [--rounds 1] [case ...]

Each case runs in a new process with an empty NUMBA_CACHE_DIR. Imports are not counted.
``parser-predict`` loads a model that another process has trained, with another cache.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

IMPORTS = """
import resource, sys
def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(u.ru_utime + u.ru_stime for u in used)
import numpy as np, scipy.sparse, sklearn.utils, numba, threadpoolctl
import maxmargin as mm
mm.ChainSVC, mm.MulticlassSVC, mm.CFGSVC, mm.train, mm.SDM, mm.OneSlack  # imports them
random = np.random.RandomState(0)
before = cpu()
"""

SENTENCES = """
X = [random.randn(5, 4) for _ in range(30)]
Y = [random.randint(0, 3, 5).tolist() for _ in range(30)]
"""

TREES = """
T = mm.Tree
noun = T("NP", [T("D", ["the"]), T("N", ["dog"])])
verbs = T("VP", [T("V", ["saw"]), noun]), T("VP", [T("V", ["ran"])])
trees = [T("S", [noun, verb]) for verb in verbs]
"""

CASES = {
    "chain-one-slack": SENTENCES + "mm.ChainSVC(solver='one-slack').fit(X, Y)",
    "chain-sdm": SENTENCES + "mm.ChainSVC(solver='sdm').fit(X, Y)",
    "multiclass-sdm": (
        "X, y = random.randn(60, 4), random.randint(0, 3, 60)\n"
        "mm.MulticlassSVC(solver='sdm').fit(X, y)"
    ),
    "parser": TREES + "clf = mm.CFGSVC().fit(None, 5 * trees); clf.save(sys.argv[1])",
    "parser-predict": "mm.load(sys.argv[1]).predict([['the', 'dog', 'ran']])",
}


def measure(source: Path, case: str, model: Path) -> float:
    """CPU seconds of a case beyond its imports, children included."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": cache}
        code = IMPORTS + CASES[case] + "\nprint(cpu() - before)"
        done = subprocess.run(
            [sys.executable, "-c", code, str(model)], env=environment, check=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
    return float(done.stdout.split()[-1])


def main() -> None:
    """Print a table: a line for each case, the least of all rounds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(CASES)}")
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    print(f"{'CPU seconds':<18} {'old':>7} {'new':>7} {'new/old':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for case in arguments.cases or CASES:
            times: list[list[float]] = [[], []]
            for _ in range(arguments.rounds):
                for which, source in enumerate((arguments.old, arguments.new)):
                    model = Path(folder) / f"{which}.mm"
                    if case == "parser-predict" and not model.exists():
                        measure(source, "parser", model)
                    times[which].append(measure(source, case, model))
            old, new = map(min, times)
            print(f"{case:<18} {old:7.1f} {new:7.1f} {new / old:8.2f}", flush=True)


if __name__ == "__main__":
    main()
