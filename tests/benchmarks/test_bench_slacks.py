"""The experiments of section 5 of Joachims et al. (2009), on digits in place of the real data."""

import json

import numpy as np
import pytest

from benchmarks import run_benchmarks
from benchmarks.framework.data import FILES
from benchmarks.joachims_2009 import slack_scaling, slacks
from benchmarks.joachims_2009.slacks import Application, Examples, support_vectors, train_once
from maxmargin.structures.multiclass.problem import Multiclass


def load_digits(session, n, seed):
    data = session.load("digits", seed).first(n)
    return Examples(Multiclass(10), data.X, data.y, lambda w: 0.5)


@pytest.fixture
def digits(monkeypatch, tmp_path):
    application = Application(300, 120, 200, (100, 200), 10.0, 20.0, 0.01, load_digits, "digits")
    for module in ("slacks", "slack_scaling", "slack_table", "slack_limits"):
        monkeypatch.setattr(
            f"benchmarks.joachims_2009.{module}.APPLICATIONS", {"MultiC": application}
        )
    for name in slacks.DATA:
        (tmp_path / name).mkdir()
        for file in FILES.get(name, (f"{name}.npz",)):
            (tmp_path / name / file).touch()
    return tmp_path


def test_every_experiment_runs(digits, capsys):
    names = [
        "joachims-2009-table1-slacks",
        "joachims-2009-fig7-solutions",
        "joachims-2009-fig1-scaling",
        "joachims-2009-fig2-tuned-c",
        "joachims-2009-fig8-precision",
        "joachims-2009-fig9-c",
    ]
    out = digits / "out"
    assert run_benchmarks(names, data=digits, out=out, quick=True, repeats=1) == 0
    shown = capsys.readouterr().out
    assert shown.count("MultiC") > 40 and "n-slack" in shown
    assert len(list(out.glob("*.png"))) == 5
    (file,) = out.glob("*.jsonl")
    runs = [json.dumps(json.loads(line)["config"]) for line in file.read_text().splitlines()]
    assert len(runs) == len(set(runs))  # what several experiments show is measured once


def test_both_programs_find_the_same_optimum_with_very_different_support():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 5)), rng.integers(0, 3, 80)
    examples = Examples(Multiclass(3), X, y, lambda w: float(np.linalg.norm(w)))
    runs = {p: train_once(examples, p, 0.1, 1e-4, 60.0, 0) for p in slacks.programs()}
    duals = [run["dual"] for run in runs.values()]
    assert max(duals) - min(duals) <= 2e-4 * 0.1 * 80
    # 1-slack: a few cuts; n-slack: at least one output for most examples.
    assert runs[slacks.CACHED]["support"] < 20 < runs[slacks.N_SLACK]["support"]
    assert runs[slacks.CACHED]["oracle_calls"] < runs[slacks.PLAIN]["oracle_calls"]


def test_support_vectors_leave_out_the_truth():
    from types import SimpleNamespace as Object

    beta = np.array([0.5, 0.0, 0.3, 0.2])
    assert support_vectors(Object(model=Object(beta=beta))) == 2
    alpha = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 9.0], [0.0, 0.4, 0.6]])
    duals = Object(alpha=alpha, count=np.array([3, 2, 3]))
    assert support_vectors(Object(duals=duals)) == 3


def test_exponents_are_of_the_runs_that_ended():
    from benchmarks.framework.session import Group

    groups = [
        Group({"n": n}, [{"time": 0.5 * n**1.5, "converged": n < 1000}]) for n in (10, 100, 1000)
    ]
    assert slack_scaling.slope(groups) == pytest.approx(1.5)
    assert np.isnan(slack_scaling.slope(groups[:1]))
