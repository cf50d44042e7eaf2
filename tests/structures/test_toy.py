"""A structure in one folder and a solver in one file work everywhere, with no other file touched.

They are found by entry points, as an installed package has them.
"""

import re
import tomllib

import pytest

from plugins import EXAMPLES, ROOT, TOY, TOY_PATHS, run_python, write_metadata

DATA = "1 0.1 1\n2 0.9 -1\n3 1.8 0.5\n4 3.2 0\n4 2.1 -0.5\n1 0.3 0.2\n"

PROGRAM = """
import numpy as np, maxmargin as mm
from toy_structure.estimator import ToySVC

table = np.array([line.split() for line in open("data.txt")], float)
X, Y = table[:, 1:], table[:, 0].astype(int)
toy = ToySVC(solver="toy", tol=1e-3).fit(X, Y)
toy.save("python.mm")
again = mm.load("python.mm")
assert type(again) is ToySVC and (again.predict(X) == toy.predict(X)).all()
other = ToySVC(solver="sdm", tol=1e-3).fit(X, Y)
assert max(toy.result_.dual, other.result_.dual) <= min(toy.result_.primal, other.result_.primal)
toy.report("report.html", X, Y, test=(X, Y))
"""

COMMANDS = """
from command_line import passed

def said(*arguments):
    return passed(*arguments).stdout

assert "a level on a scale" in said("train", "--help")
assert "--zero-one" in said("train", "toy", "--help")
train = ("train", "toy", "data.txt", "-o", "model.mm")
assert "Converged" in said(*train, "--solver", "toy", "--zero-one", "--report", "page.html")
assert "Converged" in said(*train)
assert len(said("predict", "model.mm", "data.txt").split()) == 6
assert "score" in said("evaluate", "model.mm", "data.txt")
assert "ToySVC" in said("info", "model.mm")
assert "at least 4" in said("explain", "model.mm")
"""


@pytest.fixture
def toy(tmp_path):
    """Run Python where the toys are installed."""
    write_metadata(tmp_path / "installed", TOY)
    (tmp_path / "data.txt").write_text(DATA)

    paths = (tmp_path / "installed", *TOY_PATHS, ROOT / "tests")

    def run(*arguments):
        done = run_python(*arguments, paths=paths, cwd=tmp_path)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        return done.stdout

    return run


def test_the_entry_points_are_those_of_the_examples():
    project = tomllib.loads((EXAMPLES / "toy_structure" / "pyproject.toml").read_text())["project"]
    points = project["entry-points"]["maxmargin.structures"]
    assert points == TOY["maxmargin.structures"]
    assert 'toy = "toy_solver:ToySolver"' in (EXAMPLES / "toy_solver.py").read_text()


def test_from_fit_to_the_report(toy, tmp_path):
    toy("-c", PROGRAM)
    page = (tmp_path / "report.html").read_text(encoding="utf8")
    assert "ToySVC" in page and "at least 4" in page


def test_on_the_command_line(toy):
    toy("-c", COMMANDS)


@pytest.mark.parametrize(
    ("chosen", "least"), [("[toy", 40), ("-toy] and multiclass", 2)], ids=["structure", "solver"]
)
def test_the_tests_of_every_structure(toy, chosen, least):
    """The toy structure with all solvers, and the toy solver on one more structure."""
    tests = ROOT / "tests" / "structures" / "test_every_structure.py"
    said = toy("-m", "pytest", tests, "-q", "-x", "-k", chosen, "--rootdir", ROOT, "-c",
        ROOT / "pyproject.toml", "-p", "no:cacheprovider")  # fmt: skip
    passed = re.search(r"(\d+) passed", said)
    assert passed and int(passed[1]) >= least, said
