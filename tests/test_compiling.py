"""What is loaded, compiled and kept on disk."""

import os
import subprocess
import sys

from maxmargin.engine.compiled_cache import MARK, clean, kernel_hash


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
from maxmargin import compiled
X = np.eye(4)
mm.MulticlassSVC(solver=mm.OneSlack(cache=2)).fit(X, [0, 1, 2, 3])
mm.BinarySVC(solver=mm.OneSlack(cache=2)).fit(X, [0, 1, 0, 1])
for solver in (mm.OneSlack(cache=2), mm.SDM()):
    mm.ChainSVC(solver=solver).fit([X], [[0, 1, 0, 1]])
used = [getattr(compiled, f"{p}_{l}") for p in ("multiclass", "binary", "chain")
        for l in ("decode", "collect", "recall", "remember")]
used += [compiled.chain_ascend, compiled.chain_sum]
print(sum(sum(f.stats.cache_hits.values()) for f in used),
      sum(sum(f.stats.cache_misses.values()) for f in used))
"""


def test_the_second_process_compiles_nothing():
    run(FIT)
    hits, misses = map(int, run(FIT).split())
    assert (hits, misses) == (14, 0)


def test_code_of_other_sources_is_deleted(tmp_path):
    stale = [tmp_path / name for name in ("compiled.old-1.py311.nbi", "compiled.old-1.1.nbc")]
    (tmp_path / "loops.cpython-311.pyc").write_bytes(b"kept")
    for wanted, survives in (("first", False), ("first", True), ("second", False)):
        for path in stale:
            path.write_bytes(b"an index that names a type which is gone")
        clean(tmp_path, wanted)
        assert [path.exists() for path in stale] == [survives, survives]
    assert (tmp_path / "loops.cpython-311.pyc").exists()


def test_an_index_that_cannot_be_read_does_no_harm(tmp_path):
    """As an upgrade leaves it, when a type that compiled code names has moved."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    code = "import maxmargin as mm; mm.BinarySVC(solver='one-slack').fit([[0.0], [1.0]], [0, 1])"
    command = [sys.executable, "-c", code]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    mark, *more = tmp_path.rglob(MARK)
    assert not more
    mark.write_text("another version")
    for index in mark.parent.glob("*.nbi"):
        index.write_bytes(index.read_bytes()[:-20])
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert mark.read_text() == kernel_hash()
