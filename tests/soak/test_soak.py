"""The long test can fail: planted faults are found, and attributed to their trials."""

import ctypes
import dataclasses
import time

import numpy as np
import pytest

import maxmargin as mm
from maxmargin.structures.multiclass.problem import Multiclass
from reference import enumerate_optimum, multiclass_planes
from tools.soak import page
from tools.soak.alter import alter_array, alter_bytes, alter_json, alter_text
from tools.soak.certify import check_certificate
from tools.soak.problems import Planes, optimum
from tools.soak.results import Run, add_up, append_run, read_runs
from tools.soak.schedule import Schedule, summary
from tools.soak.trial import CRASH, FALSE, HANG, RAW, FoundError, Kind, Trial, all_kinds
from tools.soak.worker import run_trials

C, TOL = 0.5, 1e-3


def fault(trial):
    """Every third trial is wrong, each in another way."""
    trial.count("tried")
    if trial.number == 1:
        ctypes.string_at(0)
    elif trial.number == 4:
        time.sleep(100)
    elif trial.number == 7:
        while True:
            trial.random.random()
    elif trial.number == 10:
        return {}["no such key"]
    elif trial.number == 13:
        raise FoundError(FALSE, "planted")
    elif trial.number == 16:
        np.zeros(2**34)
    elif trial.number == 19:
        raise mm.DataError("what users see", path="a.txt", line=3)
    return None


FAULTY = Kind("faulty", "planted faults", fault, batch=24, seconds=0.5, memory=2**30)


def test_planted_faults_are_found(tmp_path):
    found = {o.number: o for o in run_trials(FAULTY, None, 0, range(24), tmp_path)}
    assert sorted(found) == list(range(24))
    failures = {number: o.failure for number, o in found.items() if o.failure}
    assert failures == {
        1: CRASH, 4: HANG, 7: HANG, 10: RAW, 13: FALSE, 16: RAW, 19: RAW,
    }  # fmt: skip
    assert "SIGSEGV" in found[1].message
    assert "KeyError" in found[10].message
    assert "MemoryError" in found[16].place
    assert all(o.counts == {"tried": 1} for o in found.values() if o.number not in (1, 4, 7))


def test_errors_for_users_are_no_failures(tmp_path):
    def trial(trial):
        with trial.refusals():
            raise mm.ModelFileError("m.mm: is damaged")

    kind = Kind("refusing", "", trial)
    (outcome,) = run_trials(kind, None, 0, range(1), tmp_path)
    assert (outcome.failure, outcome.counts) == ("", {"refused": 1})


def test_a_run_counts_and_tells_its_first_failure(tmp_path, capsys):
    schedule = Schedule({"faulty": FAULTY}, seed=3)
    schedule._batch(FAULTY, tmp_path)
    run = schedule.run
    assert run.tallies["faulty"].trials == 24
    assert "again: python -m tools.soak --seed 3 --kind 'faulty' --trial 1" in "\n".join(
        summary(run)
    )
    assert capsys.readouterr().err.count("FAILURE") == 6  # both hangs are at one place
    for _ in range(2):
        append_run(run, tmp_path / "results.json")
    runs = read_runs(tmp_path / "results.json")
    assert {"date", "version", "commit", "seed"} <= runs[0].keys()
    assert add_up(runs)["faulty"].failures == {CRASH: 2, HANG: 4, RAW: 6, FALSE: 2}


def test_a_run_without_failures_says_so():
    assert summary(Run(0)) == []


def test_trials_are_determined_by_seed_and_number(tmp_path):
    def draws(seed, number):
        random = Trial("kind", seed, number, tmp_path).random
        array = alter_array(random, np.arange(6.0).reshape(2, 3))
        return (
            alter_bytes(random, bytes(range(50))), alter_text(random, b"1 2:3\n4 5:6\n"),
            repr(alter_json(random, {"a": [1, {"b": None}]})), array.tobytes(),
        )  # fmt: skip

    assert draws(1, 2) == draws(1, 2)
    assert len({draws(seed, number) for seed in range(3) for number in range(3)}) == 9


@pytest.fixture(scope="module")
def trained():
    random = np.random.RandomState(0)
    X, y = np.repeat(random.randn(8, 3), 2, 0), random.randint(0, 3, 16)
    planes = Planes(*multiclass_planes(X, y, 1 - np.eye(3), slack=False), np.ones(16))
    result = mm.train(Multiclass(3), X, y, C=C, solver="one-slack", tol=TOL)
    exact = enumerate_optimum(planes.planes, planes.losses, C)
    return result, planes, (exact.primal, exact.dual)


def test_true_certificates_pass(trained):
    result, planes, bounds = trained
    check_certificate(result, planes, C, TOL, bounds, "")


@pytest.mark.parametrize(
    "change",
    [
        lambda r, best: {"dual": best + 1e-4, "gap": r.primal - best - 1e-4},
        lambda r, best: {"primal": r.primal - 1e-4, "gap": r.gap - 1e-4},
        lambda r, best: {"w": 0.99 * r.w},
        lambda r, best: {"gap": 0.0},
        lambda r, best: {"dual": r.dual - 1.0, "gap": r.gap + 1.0},
        lambda r, best: {"dual": np.nan},
    ],
    ids=["D too high", "P too low", "another w", "another gap", "gap above tol", "nan"],
)
def test_false_certificates_are_found(trained, change):
    result, planes, bounds = trained
    wrong = dataclasses.replace(result, **change(result, bounds[0]))
    with pytest.raises(FoundError) as error:
        check_certificate(wrong, planes, C, TOL, bounds, "")
    assert error.value.outcome == FALSE


def test_the_independent_qp(trained):
    pytest.importorskip("cvxopt", reason="pip install 'maxmargin[soak]'")
    _, planes, (primal, dual) = trained
    upper, lower = optimum(planes, C)
    assert upper == pytest.approx(primal, rel=1e-7)
    assert lower == pytest.approx(dual, rel=1e-7)


def test_every_kind_is_found():
    kinds = all_kinds()
    assert len(kinds) >= 16
    assert all(kind.about and kind.share > 0 for kind in kinds.values())


def test_the_page_has_the_counts_of_the_results_file():
    text = page.PAGE.read_text(encoding="utf8")
    assert page.fill(text) == text, "run python -m tools.soak.page"
