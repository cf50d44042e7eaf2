"""``train --solver-option``: options of solvers on the command line."""

from __future__ import annotations

import pytest

import maxmargin as mm
from command_line import error_of, passed, run
from maxmargin.solvers import solver_names
from maxmargin.solvers.from_text import make_solver, option_types
from maxmargin.structures.options import SOLVER_OPTIONS


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("options") / "data"
    path.write_text("1 1:1 2:0.5\n2 1:-1\n3 2:-1\n1 1:2\n2 1:-2 2:0.1\n" * 4)
    return path


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("one-slack", ["cache=10"], mm.OneSlack(cache=10)),
        ("one-slack", ["cache=none", "step=1"], mm.OneSlack(step=1.0)),
        ("one-slack", ["m_cuts=3", "combine=ordering"], mm.OneSlack(m_cuts=3, combine="ordering")),
        ("one-slack", ["m-cuts=2", "qp=exact"], mm.OneSlack(m_cuts=2)),
        ("one-slack", ["diversity=auto"], mm.OneSlack(diversity="auto")),
        ("one-slack", ["diversity=0.5", "diversity=0.25"], mm.OneSlack(diversity=0.25)),
        ("one-slack", ["qp=line-search"], mm.OneSlack(qp="line-search")),
        ("n-slack", ["batch=20", "shrink=yes"], mm.NSlack(batch=20, shrink=True)),
        ("sdm", ["paper=yes"], mm.SDM.from_paper()),
        ("sdm", ["paper=no", "tau=0.5"], mm.SDM(tau=0.5)),
        ("bcfw", ["average=False", "sampling=gap"], mm.BCFW(average=False, sampling="gap")),
        ("subgradient", ["batch=5"], mm.Subgradient(batch=5)),
        ("sampled-linear", ["r=30", "rates=1,0.5"], mm.SampledCuts(r=30, rates=(1.0, 0.5))),
        ("sampled-constant", ["r=30"], mm.SampledCuts(kind="constant", r=30)),
    ],
)
def test_options_become_a_solver(name, settings, expected):
    assert make_solver(name, settings) == expected


def test_paper_settings_can_be_changed():
    solver = make_solver("sdm", ["tau=0.1", "paper=yes"])
    assert (solver.tau, solver.first) == (0.1, mm.SDM.from_paper().first)


def test_the_solver_of_the_command_is_trained(data, tmp_path):
    options = ["--solver", "one-slack", "--solver-option", "cache=3", "--solver-option", "step=0.5"]
    passed("train", "multiclass", data, "-qo", tmp_path / "m", *options)
    assert mm.load(tmp_path / "m").solver == mm.OneSlack(cache=3, step=0.5)
    assert "OneSlack(cache=3, step=0.5" in passed("info", tmp_path / "m").stdout


@pytest.mark.parametrize(
    ("solver", "setting", "message"),
    [
        ("auto", "cache=10", "--solver-option needs a solver, because options differ"),
        ("one-slack", "cache", "--solver-option cache: write it as name=value, as in cache=10"),
        ("one-slack", "size=3", "one-slack has no option 'size': use one of cache, step, qp"),
        ("one-slack", "cache=many", "cache=many: 'many' is not an integer or none"),
        ("one-slack", "cache=-1", "cache must be a number of outputs >= 0, got -1"),
        ("one-slack", "qp=good", "qp must be 'exact' or 'line-search'"),
        ("n-slack", "shrink=maybe", "shrink=maybe: 'maybe' is not yes or no"),
        ("sampled-linear", "rates=1", "rates=1: '1' is not two numbers, as in 1,2 or none"),
        ("newton", "t=1", "newton has no option 't': it has none"),
        ("magic", "x=1", "solver 'magic' is not one of"),
    ],
)
def test_unusable_options_are_refused(data, tmp_path, solver, setting, message):
    options = ["--solver", solver, "--solver-option", setting]
    outcome = run("train", "multiclass", data, "-o", tmp_path / "m", *options)
    assert message in error_of(outcome)
    assert not (tmp_path / "m").exists()


def test_the_help_lists_all_options():
    listed = {name: names.split(", ") for name, names in SOLVER_OPTIONS.items()}
    expected = {}
    for name, (cls, _) in solver_names().items():
        if cls.__module__.startswith("maxmargin.") and name != "sampled-constant":
            expected[name] = list(option_types(cls))
    assert listed == {name: options for name, options in expected.items() if options}
    text = passed("train", "chain", "--help").stdout
    assert "--solver-option" in text and "NAME=VALUE" in text and "m_cuts" in text
