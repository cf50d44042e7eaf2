"""A checkpoint with altered arrays is refused, or the run that follows has a true certificate."""

from pathlib import Path

import pytest

from plugins import ROOT, run_python
from tests.saving.alter_checkpoints import SOLVERS


@pytest.fixture(scope="module", params=["multiclass", "wide chain"])
def lines(request, tmp_path_factory):
    """What came of each alteration, in another process: unchecked, many are crashes."""
    script = Path(__file__).with_name("alter_checkpoints.py")
    folder = tmp_path_factory.mktemp("checkpoints")
    done = run_python(script, folder, request.param, paths=(ROOT / "tests",))
    assert done.returncode == 0, done.stdout[-300:] + done.stderr[-2000:]
    return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_altered_checkpoint_crashes_or_deceives(solver, lines):
    mine = [(how, found) for name, _, how, found in lines if name == solver]
    assert len(mine) > 30
    known = {"all -1", "all 2**30", "as float32", "shorter", "a number 0", f"a number {2**31}"}
    assert {how for how, _ in mine} >= known
    assert not [found for _, found in mine if not found.startswith(("refused", "honest"))]
    assert sum(found.startswith("refused") for _, found in mine) > len(mine) / 2
