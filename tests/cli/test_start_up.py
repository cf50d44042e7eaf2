"""What commands import before they answer: this, and not the clock, says how fast they start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import error_of, run

MODELS = Path(__file__).parents[1] / "frozen" / "models"
SRC = str(Path(__file__).parents[2] / "src")
ASK = """
import sys
from maxmargin.cli.app import app
try:
    app(sys.argv[1:])
finally:
    print("IMPORTED", *({"numba", "numpy", "sklearn"} & set(sys.modules)))
"""


def imported(*arguments: object) -> set[str]:
    """The slow packages that a command has imported when it ends."""
    command = [sys.executable, "-c", ASK, *map(str, arguments)]
    env = {**os.environ, "PYTHONPATH": SRC}
    found = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    return set(found.stdout.splitlines()[-1].split()) - {"IMPORTED"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["train", "chain", "--help"],
        ["train", "chain", "missing.txt", "-o", "x.mm"],
        ["predict", MODELS / "cfg.mm", "missing.txt"],
        ["info", "missing.mm"],
    ],
    ids=str,
)
def test_help_and_missing_files_need_nothing_slow(arguments):
    assert imported(*arguments) == set()


@pytest.mark.parametrize("name", ["cfg", "multiclass", "structured"])
def test_info_does_not_need_scikit_learn(name):
    assert "sklearn" not in imported("info", MODELS / f"{name}.mm")


def test_what_scikit_learn_imports_in_vain_is_postponed():
    """It is imported when it is used, and then complete."""
    code = """
from maxmargin.cli.postponed import postpone_imports
postpone_imports()
import sys
import maxmargin as mm
assert mm.ChainSVC and "sklearn" in sys.modules
assert not {"scipy.stats.distributions", "pandas.core"} & set(sys.modules)
import pandas, scipy.stats
assert pandas.DataFrame({"a": [1]}).shape == (1, 1) and scipy.stats.norm.cdf(0) == 0.5
"""
    env = {**os.environ, "PYTHONPATH": SRC}
    subprocess.run([sys.executable, "-c", code], env=env, check=True)


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "multiclass", "missing", "-o", "m"],
        ["train", "cfg", "present", "-o", "m", "--report", "r.html", "--test", "missing"],
        ["predict", "missing", "present"],
        ["predict", "present", "missing"],
        ["evaluate", "present", "missing"],
        ["explain", "missing"],
        ["suspects", "present", "missing"],
        ["info", "missing"],
    ],
    ids=" ".join,
)
def test_missing_files_are_named(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    Path("present").touch()
    expected = "error: missing: cannot be read: No such file or directory"
    assert error_of(run(*arguments)) == expected


def test_a_folder_is_not_a_file(tmp_path):
    message = error_of(run("train", "chain", tmp_path, "-o", tmp_path / "m"))
    assert message == f"error: {tmp_path}: cannot be read: Is a directory"
