"""A run that is killed and resumed ends exactly as one that was left alone."""

import os
import signal
import subprocess
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from typer.testing import CliRunner

import maxmargin as mm
from maxmargin.cli.app import app
from maxmargin.datasets import make_multiclass
from maxmargin.errors import CheckpointError, DataError
from maxmargin.saving.checkpoint import Checkpoint
from maxmargin.saving.container import read_container, write_container
from maxmargin.saving.state import join_arrays, split_arrays
from maxmargin.solvers.subgradient import SubgradientState
from solver_tables import all_solvers
from tests.solvers.test_solvers import EXACT, SUBLINEAR, C, example

SOLVERS = EXACT | SUBLINEAR
CASES = [
    ("multiclass", "slack"), ("wide chain", "margin"), ("wide chain", "slack"),
    ("chain in Python", "margin"),
]  # fmt: skip


class KilledError(Exception):
    """Stands for the death of the process."""


def fit(data, solver, **options):
    options = {"tol": 1e-5, "max_iter": 10, "C": C, **options}
    return mm.train(
        data.problem, data.X, data.Y, sample_weight=data.weight, solver=solver, **options
    )


def fit_with_deaths(data, solver, path, step, **options):
    """Die after every ``step`` iterations, and resume with another seed."""
    for life in range(100):
        left = [step]

        def die(record, state, left=left):
            if left[0] == 0:
                raise KilledError
            left[0] -= 1

        try:
            return fit(
                data, solver, checkpoint=path, every=0, resume=True, callbacks=[die],
                random_state=life, **options,
            )  # fmt: skip
        except KilledError:
            continue
    raise AssertionError("training does not come forward")


def assert_same(a, b):
    """Equal to the last bit, but for the time."""
    np.testing.assert_array_equal(a.w, b.w)
    assert (a.primal, a.dual, a.status, a.n_oracle) == (b.primal, b.dual, b.status, b.n_oracle)
    assert [r[2:] for r in a.history] == [r[2:] for r in b.history]
    assert [r.iteration for r in a.history] == list(range(1, len(a.history) + 1))
    times = [r.time for r in a.history]
    assert times == sorted(times)


@pytest.mark.parametrize(("name", "rescaling"), CASES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_death_at_every_iteration_changes_nothing(solver, name, rescaling, tmp_path):
    data = example(name)
    whole = fit(data, SOLVERS[solver], rescaling=rescaling)
    step = 1 if whole.n_iter < 6 else 3
    resumed = fit_with_deaths(data, SOLVERS[solver], tmp_path / "run.ck", step, rescaling=rescaling)
    assert_same(resumed, whole)
    assert [p.name for p in tmp_path.iterdir()] == ["run.ck"]


@dataclass
class ManyArrays(SubgradientState):
    """A state with more arrays than a file has entries, of several types and shapes."""

    more: list = field(default_factory=list)


@dataclass(frozen=True)
class Collector(mm.Subgradient):
    """Subgradient descent whose steps depend on hundreds of small arrays."""

    def init(self, task):
        return ManyArrays(**vars(super().init(task)))

    def step_once(self, task, state):
        for k in range(260):
            state.more.append(np.full((k % 3, 2), k % 7, [np.float64, np.int32, np.int64][k % 3]))
        state.w *= 1.0 + 1e-3 * sum(k * a.sum() for k, a in enumerate(state.more)) / 1e7
        return super().step_once(task, state)


def test_a_state_of_many_arrays_comes_back(tmp_path):
    data, path = example("chain"), tmp_path / "run.ck"
    whole = fit(data, Collector(), max_iter=5)
    resumed = fit_with_deaths(data, Collector(), path, 1, max_iter=5)
    np.testing.assert_array_equal(resumed.w, whole.w)
    names = set(read_container(path)[1])
    assert {"joined.f8", "joined.i4"} <= names and len(names) < 600


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), n=st.integers(0, 40), entries=st.integers(0, 10))
def test_arrays_that_are_joined_are_split_again(seed, n, entries):
    random = np.random.RandomState(seed)
    arrays = [
        random.randint(0, 100, random.randint(0, 4, random.randint(0, 3))).astype(kind)
        for kind in random.choice(["f8", "i4", "u1", "?"], n)
    ]
    found = split_arrays(*join_arrays(arrays, entries))
    assert len(found) == n
    for a, b in zip(arrays, found, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("solver", [*all_solvers(), "one-slack, cached"])
def test_a_run_that_reached_its_limit_goes_on_as_a_longer_one(solver, tmp_path):
    data, path = example("chain"), tmp_path / "run.ck"
    for limit in (1, 2, 5, 12):
        found = fit(data, SOLVERS[solver], max_iter=limit, checkpoint=path, resume=True)
    assert_same(found, fit(data, SOLVERS[solver], max_iter=12))


@pytest.mark.parametrize("solver", ["one-slack", "sdm"])
def test_a_run_whose_optimum_is_zero_can_be_resumed(solver, tmp_path):
    """The summands of w cancel: rounding is relative to them, not to w."""
    for seed in range(3):
        random = np.random.RandomState(seed)
        X = [random.randn(random.randint(1, 6), 4) for _ in range(40)]
        Y = [["abc"[k] for k in random.randint(0, 3, len(x))] for x in X]
        options = {"C": 10.0, "solver": solver, "rescaling": "slack", "max_iter": 150}
        options["checkpoint"] = tmp_path / f"{seed}.ck"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            first = mm.ChainSVC(tol=1e-3, **options).fit(X, Y).result_
            second = mm.ChainSVC(tol=1e-5, **options).fit(X, Y).result_
        assert second.dual >= first.dual - 1e-9 * first.primal


def test_a_finished_run_is_not_repeated(tmp_path):
    data, path = example("chain"), tmp_path / "run.ck"
    first = fit(data, mm.SDM(), checkpoint=path, max_iter=1000)
    again = fit(data, mm.SDM(), checkpoint=path, resume=True, max_iter=1000)
    assert first.converged
    assert_same(again, first)
    finer = fit(data, mm.SDM(), checkpoint=path, resume=True, tol=1e-7, max_iter=1000)
    assert finer.converged
    assert finer.n_iter > first.n_iter


def test_without_resume_training_starts_again(tmp_path):
    data, path = example("chain"), tmp_path / "run.ck"
    fit(data, mm.SDM(), checkpoint=path)
    path.with_name("run.ck.tmp").write_bytes(b"left by a killed process")
    other = fit(data, mm.SDM(), checkpoint=path, resume=False, C=2 * C)
    assert_same(other, fit(data, mm.SDM(), C=2 * C))
    assert not path.with_name("run.ck.tmp").exists()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"C": 1.0}, "C = 0.3, and this run has C = 1.0"),
        ({"rescaling": "slack"}, "rescaling = margin"),
        ({"solver": mm.SDM(inner=3)}, "inner=20"),
        ({"solver": "bcfw"}, r"solver = SDM\("),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(change, reason, tmp_path):
    data, path = example("chain"), tmp_path / "run.ck"
    fit(data, mm.SDM(), checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=reason) as error:
        fit(data, change.pop("solver", mm.SDM()), checkpoint=path, resume=True, **change)
    assert "run.ck" in str(error.value)
    assert path.read_bytes() == before


def test_a_checkpoint_of_other_data_is_refused(tmp_path):
    path = tmp_path / "run.ck"
    X, y = np.random.RandomState(0).randn(30, 4), np.arange(30) % 3
    clf = mm.MulticlassSVC(checkpoint=path).fit(X, y)
    np.testing.assert_array_equal(clf.coef_, mm.MulticlassSVC(checkpoint=path).fit(X, y).coef_)
    X[7, 2] += 1e-12
    with pytest.raises(CheckpointError, match="other training data"):
        clf.fit(X, y)


def test_other_versions_models_and_damaged_files_are_refused(tmp_path, monkeypatch):
    data, path = example("chain"), tmp_path / "run.ck"
    fit(data, mm.SDM(), checkpoint=path)
    whole = path.read_bytes()
    with pytest.raises(mm.ModelFileError, match="is a checkpoint"):
        mm.load(path)
    monkeypatch.setattr("maxmargin.saving.checkpoint.__version__", "99.0")
    with pytest.raises(CheckpointError, match=r"was written by maxmargin 0.* and this is 99.0"):
        fit(data, mm.SDM(), checkpoint=path, resume=True)
    monkeypatch.undo()
    for damaged in (whole[:-40], whole[: len(whole) // 2], b"", b"PK\3\4" + whole[4:200]):
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=r"run\.ck: .*start again with resume=False"):
            fit(data, mm.SDM(), checkpoint=path, resume=True)
    mm.BinarySVC().fit([[0.0], [1.0]], [0, 1]).save(path)
    with pytest.raises(CheckpointError, match="is a model"):
        fit(data, mm.SDM(), checkpoint=path, resume=True)


def test_altered_descriptions_are_refused(tmp_path):
    data, path = example("chain"), tmp_path / "run.ck"
    fit(data, mm.OneSlack(cache=0), checkpoint=path)
    meta, entries = read_container(path)
    for change in ({"about": []}, {"about": None}, {"run": 3}):
        write_container(path, meta | change, entries)
        with pytest.raises(CheckpointError, match=r"run\.ck: is damaged or was altered"):
            fit(data, mm.OneSlack(cache=0), checkpoint=path, resume=True)
    meta["run"]["state"]["object"]["cuts"]["object"]["diverse"] = 1
    write_container(path, meta, entries)
    with pytest.raises(CheckpointError, match="one cut per iteration"):
        fit(data, mm.OneSlack(cache=0), checkpoint=path, resume=True)


def test_every_is_a_time():
    assert [Checkpoint("a", every).seconds() for every in ("30s", "5min", "1 h", 2, 0.5, "0")] == [
        30, 300, 3600, 2, 0.5, 0,
    ]  # fmt: skip
    for wrong in ("5 weeks", "-1s", "", True, None):
        with pytest.raises(DataError, match="every must be a time"):
            Checkpoint("a", wrong)
    with pytest.raises(DataError, match="must be a file name"):
        Checkpoint(3)


class Opaque:
    """An output that no file can hold."""


def test_outputs_that_cannot_be_stored_are_named(tmp_path):
    class Odd(mm.Problem):
        def features(self, x, y):
            return x if y == "yes" else -x

        def loss(self, y_true, y):
            return float(y_true != y)

        def decode(self, x, w, y_true=None, rescaling="margin"):
            return Opaque()

    with pytest.raises(CheckpointError, match=r"Opaque.*let decode return str"):
        mm.train(
            Odd(), np.eye(3), ["yes"] * 3, checkpoint=tmp_path / "a.ck", every=0, max_iter=5,
            solver="one-slack",
        )  # fmt: skip
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("solver", ["sdm", "one-slack"])
def test_kill_9_at_random_moments(solver, tmp_path):
    """One process starts the others, so that the package is loaded once."""
    script = Path(__file__).with_name("kill_and_resume.py")
    done = subprocess.run(
        [sys.executable, script, tmp_path, solver, "8"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    expected, found = (np.load(tmp_path / f"{name}.npy") for name in ("whole", "killed"))
    np.testing.assert_array_equal(found, expected)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "killed.ck", "killed.npy", "whole.ck", "whole.npy",
    ]  # fmt: skip


def test_an_exception_in_a_callback_leaves_a_checkpoint(tmp_path, capsys):
    data, path = example("chain"), tmp_path / "run.ck"
    whole = fit(data, mm.SDM())

    def fail(record, state):
        if record.iteration == 2:
            raise RuntimeError("a mistake in the callback")

    with pytest.raises(RuntimeError, match="a mistake in the callback"):
        fit(data, mm.SDM(), checkpoint=path, callbacks=[fail])
    assert "resumed" not in capsys.readouterr().err
    assert_same(fit(data, mm.SDM(), checkpoint=path), whole)
    assert "run.ck: resumed after iteration 2" in capsys.readouterr().err


def test_the_time_limit_leaves_a_checkpoint(tmp_path):
    data, path = example("chain"), tmp_path / "run.ck"
    whole = fit(data, mm.SDM(), tol=1e-7)
    done = [fit(data, mm.SDM(), tol=1e-7, checkpoint=path, max_time=t) for t in (1e-6, 2e-6)]
    assert [result.status for result in done] == 2 * [mm.Status.MAX_TIME]
    assert_same(fit(data, mm.SDM(), tol=1e-7, checkpoint=path), whole)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_model_of_a_run_that_was_long_before_it_was_resumed_can_be_loaded(tmp_path):
    X, y = make_multiclass(60, 5, 3)
    path = tmp_path / "run.ck"
    mm.MulticlassSVC(checkpoint=path, max_iter=2).fit(X, y)
    meta, arrays = read_container(path)
    meta["run"]["time"] = {"float": (3601.0).hex()}
    write_container(path, meta, arrays)
    clf = mm.MulticlassSVC(checkpoint=path).fit(X, y)
    assert clf.result_.time > 3600 and clf.result_.earlier_time > 3600
    assert 0 <= clf.result_.prepare_time < 3600
    clf.save(tmp_path / "model.mm")
    assert mm.load(tmp_path / "model.mm").result_.time == clf.result_.time


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_signal_leaves_a_checkpoint_of_a_whole_iteration(number, tmp_path):
    X, y = make_multiclass(2000, 50, 8)
    dump_svmlight_file(X, y, str(tmp_path / "data"), zero_based=False)
    command = [sys.executable, "-m", "maxmargin", "train", "multiclass", "data", "--tol", "1e-12"]
    with subprocess.Popen(
        [*command, "-o", "m", "--checkpoint", "run.ck"], cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        # Tests that a shell runs in the background ignore Ctrl-C, and so would their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:  # fmt: skip
        while not (line := process.stderr.readline()).startswith("maxmargin: iteration"):
            assert line, "training ended before it could be interrupted"
        process.send_signal(number)
        _, messages = process.communicate(timeout=60)
    assert "saving after this iteration" in messages
    assert "Traceback" not in messages
    assert process.returncode == (0 if number == signal.SIGINT else -signal.SIGTERM)

    clf = mm.MulticlassSVC(tol=1e-12, max_iter=3, checkpoint=tmp_path / "run.ck")
    X, y = mm.io.read_svmlight(tmp_path / "data")
    reached = clf.fit(X, y).result_.n_iter
    limits = {"tol": 1e-12, "max_iter": reached + 3}
    resumed = mm.MulticlassSVC(checkpoint=tmp_path / "run.ck", **limits).fit(X, y)
    whole = mm.MulticlassSVC(**limits).fit(X, y)
    assert reached > 3
    assert resumed.result_.n_iter == whole.result_.n_iter == reached + 3
    np.testing.assert_array_equal(resumed.coef_, whole.coef_)


def test_the_command_line_resumes(tmp_path):
    data, model, path = tmp_path / "a.txt", tmp_path / "a.mm", tmp_path / "a.ck"
    data.write_text("1 1:1 2:.5\n2 1:-1\n1 2:1\n2 2:-2\n")
    command = ["train", "multiclass", str(data), "-o", str(model), "-q"]
    saved = ["--checkpoint", str(path), "--every", "1s"]

    def run(*options, code=0):
        done = CliRunner().invoke(app, [*command, *options])
        assert done.exit_code == code, done.output
        return done.output

    assert "there is no checkpoint to resume" in run(*saved, "--resume", code=1)
    assert "resumed" not in run(*saved)
    for options in ([], ["--resume"], ["--tol", "0.001"]):
        assert "resumed after iteration" in run(*saved, *options)
    refused = run(*saved, "--C", "3", code=1)
    assert "is the checkpoint of another run" in refused
    assert "use another file, or start again with --restart" in refused
    assert "resumed" not in run(*saved, "--C", "3", "--restart")
    assert "resumed after iteration" in run(*saved, "--C", "3")
    assert "give --checkpoint" in run("--resume", code=1)
    assert "exclude each other" in run(*saved, "--resume", "--restart", code=1)
    assert "every must be a time" in run("--checkpoint", str(path), "--every", "x", code=1)
