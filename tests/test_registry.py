"""The registries: names are cheap, broken plug-ins are skipped, the stub follows."""

import json
import sys

import pytest

import maxmargin as mm
from plugins import ROOT, run_python, write_metadata

HEAVY = ("numba", "numpy", "pydantic", "scipy", "sklearn")
LIST = f"""
import json, sys
from maxmargin.registry import structure_names
names = structure_names()
print(json.dumps([names, [m for m in {HEAVY!r} if m in sys.modules]]))
"""
HELP = f"""
import sys
from maxmargin.cli.app import app
sys.argv = ["maxmargin", *sys.argv[1:]]
try:
    app()
finally:
    print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)
"""
BROKEN = {
    "maxmargin.structures": {"broken": "broken_structure:STRUCTURE", "odd": "json:loads"},
    "maxmargin.solvers": {"broken": "broken_solver:Solver", "odd": "json:loads"},
}


def test_names_are_listed_without_importing_anything_heavy():
    done = run_python("-c", LIST)
    assert done.returncode == 0, done.stderr
    names, heavy = json.loads(done.stdout)
    assert {"binary", "cfg", "chain", "multiclass", "own"} <= set(names) and heavy == []


@pytest.mark.parametrize("arguments", [["--help"], ["train", "--help"], ["train", "chain", "-h"]])
def test_help_imports_nothing_heavy(arguments):
    done = run_python("-c", HELP, *arguments)
    assert done.returncode == 0 and "Usage" in done.stdout, done.stderr
    assert done.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", ["chain", "cfg", "multiclass-intercept"])
def test_describing_a_model_imports_neither_numba_nor_scipy(tmp_path, name):
    mm.load(ROOT / f"tests/frozen/models/{name}.mm").save(tmp_path / "model.mm")  # all parameters
    done = run_python("-c", HELP, "info", str(tmp_path / "model.mm"))
    assert done.returncode == 0 and "Converged" in done.stdout, done.stderr
    found = done.stderr.splitlines()[-1]
    assert not any(word in found for word in ("numba", "scipy", "sklearn")), found


@pytest.fixture
def broken(tmp_path):
    """Run Python where two plug-ins cannot be imported, and two are something else."""
    write_metadata(tmp_path, BROKEN)
    for name in ("broken_structure", "broken_solver"):
        (tmp_path / f"{name}.py").write_text("import something_that_does_not_exist\n")
    return lambda *arguments: run_python(*arguments, paths=(tmp_path,), cwd=tmp_path)


def test_broken_structures_are_reported_and_skipped(broken):
    done = broken(
        "-c", "from maxmargin.registry import all_structures as a; print([s.name for s in a()])"
    )
    assert done.returncode == 0 and "'chain'" in done.stdout and "broken" not in done.stdout
    assert "'broken' cannot be imported" in done.stderr and "it is skipped" in done.stderr
    assert "not a Structure" in done.stderr
    done = broken("-m", "maxmargin", "train", "--help")
    assert done.returncode == 0 and "chain" in done.stdout and "broken" not in done.stdout
    assert "'broken' cannot be imported" in done.stderr


def test_broken_solvers_are_reported_and_skipped(broken):
    done = broken("-c", "import maxmargin.solvers as s; print(list(s.solver_names()))")
    assert done.returncode == 0 and "'sdm'" in done.stdout and "broken" not in done.stdout
    assert "'broken' cannot be imported" in done.stderr
    assert "'odd' is no solver" in done.stderr


def test_a_broken_structure_that_is_asked_for_says_why(broken):
    done = broken("-c", "from maxmargin.registry import get_structure as g; g('broken')")
    assert done.returncode != 0 and "something_that_does_not_exist" in done.stderr


def test_the_stub_is_what_the_registries_say(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    monkeypatch.delitem(sys.modules, "write_stub", raising=False)
    import write_stub

    assert write_stub.STUB.read_text(encoding="utf8") == write_stub.stub_text(), (
        "run python tools/write_stub.py"
    )
