"""What is loaded, compiled and kept on disk."""

import subprocess
import sys


def run(code, *arguments):
    """Run Python in a new process, with warnings as errors."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments], capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    return done.stdout


def test_importing_loads_nothing_heavy():
    heavy = ["numba", "scipy", "sklearn", "rich", "typer", "matplotlib"]
    code = f"import sys, maxmargin; print([m for m in {heavy} if m in sys.modules])"
    assert run(code).strip() == "[]"


def test_help_loads_nothing_heavy():
    heavy = ["numpy", "numba", "scipy", "sklearn", "matplotlib"]
    code = (
        "import sys\nfrom maxmargin.cli.app import main\nsys.argv = ['maxmargin', '--help']\n"
        f"try: main()\nexcept SystemExit: pass\nprint([m for m in {heavy} if m in sys.modules])"
    )
    assert run(code).strip().splitlines()[-1] == "[]"


FIT = """
import numpy as np, maxmargin as mm
from maxmargin.engine.bind import bind
from maxmargin.structures.binary import problem as binary
from maxmargin.structures.chain import problem as chain
from maxmargin.structures.multiclass import problem as multiclass
X = np.eye(4)
mm.MulticlassSVC(solver=mm.OneSlack(cache=2)).fit(X, [0, 1, 2, 3])
mm.BinarySVC(solver=mm.OneSlack(cache=2)).fit(X, [0, 1, 0, 1])
for solver in (mm.OneSlack(cache=2), mm.SDM()):
    mm.ChainSVC(solver=solver).fit([X], [[0, 1, 0, 1]])
problems = {"Binary": binary.Binary.functions, "Multiclass": multiclass.Multiclass.functions,
            "Chain": chain.Chain.sums}
used = [f for name, kernels in problems.items() for f in bind(kernels, name)[:-1]]
print(sum(sum(f.stats.cache_hits.values()) for f in used),
      sum(sum(f.stats.cache_misses.values()) for f in used))
"""


def test_the_second_process_compiles_nothing():
    exec(FIT, {})
    hits, misses = map(int, run(FIT).split())
    assert hits > 0 and misses == 0
