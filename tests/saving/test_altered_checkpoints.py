"""A checkpoint with altered arrays is refused, or the run that follows has a true certificate."""

from pathlib import Path

import pytest

from plugins import ROOT, run_python
from tests.saving.alter_checkpoints import SOLVERS


@pytest.mark.parametrize("kind", ["multiclass", "wide chain"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_no_altered_checkpoint_crashes_or_deceives(solver, kind, tmp_path):
    """In another process: unchecked, many of them are segmentation faults."""
    script = Path(__file__).with_name("alter_checkpoints.py")
    done = run_python(script, tmp_path, kind, solver, paths=(ROOT / "tests",))
    assert done.returncode == 0, done.stdout[-300:] + done.stderr[-2000:]
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert len(lines) > 30
    assert {how for _, how, _ in lines} >= {"all -1", "all 2**30", "as float32", "shorter"}
    wrong = [line for line in lines if not line[2].startswith(("refused", "honest"))]
    assert not wrong
    assert sum(found.startswith("refused") for _, _, found in lines) > len(lines) / 2
