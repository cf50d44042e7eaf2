"""The command line: the real program in processes of its own, and typer's runner for the rest."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

import maxmargin as mm
from command_line import error_of, run
from maxmargin.datasets import make_multiclass
from maxmargin.metrics.classes import Evaluation

SRC = str(Path(__file__).parents[2] / "src")
ENV = {**os.environ, "PYTHONPATH": SRC, "COLUMNS": "100"}
N_FEATURES = 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """train.txt, test.txt and a model of them."""
    folder = tmp_path_factory.mktemp("cli")
    X, y = make_multiclass(300, N_FEATURES, 4)
    dump_svmlight_file(X[:200], y[:200], str(folder / "train.txt"), zero_based=False)
    dump_svmlight_file(X[200:], y[200:], str(folder / "test.txt"), zero_based=False)
    outcome = run("train", "multiclass", folder / "train.txt", "-o", folder / "model.mm", "-C", 0.1)
    assert outcome.exit_code == 0, outcome.output
    return folder


def program(*arguments, **options):
    command = [sys.executable, "-m", "maxmargin", *map(str, arguments)]
    options = {"env": ENV, "capture_output": True, "timeout": 120, **options}
    return subprocess.run(command, check=False, **options)


# Round trips


def test_threads_that_share_w_are_reported(folder, tmp_path):
    outcome = run(
        "train", "multiclass", folder / "train.txt", "-o", tmp_path / "m.mm", "--solver", "sdm",
        "--jobs", 2, "--no-deterministic",
    )  # fmt: skip
    assert outcome.exit_code == 0, outcome.output
    assert mm.load(tmp_path / "m.mm").deterministic is False
    for text in (outcome.output, run("info", tmp_path / "m.mm").output):
        assert "changed the weights at the same time" in text


def test_train_predict_evaluate_info_agree_with_python(folder, tmp_path):
    X, y = mm.io.read_svmlight(folder / "test.txt", n_features=N_FEATURES)
    model = mm.load(folder / "model.mm")
    expected = model.predict(X)

    outcome = run("predict", folder / "model.mm", folder / "test.txt", "-o", tmp_path / "out.txt")
    assert (outcome.exit_code, outcome.output) == (0, "")
    assert (tmp_path / "out.txt").read_text().split() == [str(label) for label in expected]

    outcome = run("evaluate", folder / "model.mm", folder / "test.txt", "--json")
    found = json.loads(outcome.stdout)
    assert found["accuracy"] == pytest.approx(model.score(X, y))
    assert found["n"] == 100
    assert np.sum(found["confusion"]) == 100

    found = json.loads(run("info", folder / "model.mm", "--json").stdout)
    assert found["estimator"] == "MulticlassSVC"
    assert found["classes"] == [0, 1, 2, 3]
    assert found["parameters"]["C"] == 0.1
    assert found["result"]["status"] == "converged"
    assert found["result"]["primal"] == model.result_.primal


def test_tables_for_people(folder):
    outcome = run("evaluate", folder / "model.mm", folder / "test.txt")
    assert outcome.exit_code == 0
    for word in ("accuracy", "precision", "recall", "F1", "support", "predicted (columns)"):
        assert word in outcome.stdout
    outcome = run("info", folder / "model.mm")
    assert "MulticlassSVC" in outcome.stdout
    assert "Converged: the objective is" in outcome.stdout


def test_scores(folder):
    outcome = run("predict", folder / "model.mm", folder / "test.txt", "--scores")
    X, _ = mm.io.read_svmlight(folder / "test.txt", n_features=N_FEATURES)
    rows = np.array([line.split("\t") for line in outcome.stdout.splitlines()], float)
    expected = mm.load(folder / "model.mm").decision_function(X)
    assert np.array_equal(rows[:, 1:], expected)
    assert np.array_equal(rows[:, 0], expected.argmax(axis=1))


def test_binary_with_all_options(folder, tmp_path):
    X, y = make_multiclass(100, 5, 2)
    dump_svmlight_file(X, 2 * y - 1, str(tmp_path / "data"), zero_based=False)
    outcome = run(
        "train", "binary", tmp_path / "data", "-o", tmp_path / "m", "--C", 0.5, "--solver",
        "one-slack", "--tol", 0.001, "--rescaling", "slack", "--class-weight", "balanced",
        "--intercept", "--max-iter", 5000, "--max-time", 60, "--jobs", 2, "--seed", 3, "--plot",
        tmp_path / "m.svg",
    )  # fmt: skip
    assert outcome.exit_code == 0, outcome.output
    assert b"<svg" in (tmp_path / "m.svg").read_bytes()
    model = mm.load(tmp_path / "m")
    given = {"C": 0.5, "solver": "one-slack", "tol": 0.001, "rescaling": "slack", "max_iter": 5000}
    assert given.items() <= model.get_params().items()
    assert model.intercept_[0] != 0
    assert model.classes_.tolist() == [-1, 1]
    outcome = run("predict", tmp_path / "m", tmp_path / "data", "--scores")
    assert len(outcome.stdout.splitlines()[0].split("\t")) == 2


def test_cost_of_a_line_is_its_weight(tmp_path):
    X, y = make_multiclass(60, 4, 2)
    dump_svmlight_file(X, y, str(tmp_path / "plain"), zero_based=False)
    lines = (tmp_path / "plain").read_text().splitlines()
    weighted = [line.replace(" ", " cost:2 ", 1) for line in lines]
    (tmp_path / "weighted").write_text("\n".join(weighted))
    found = []
    for name, C in (("plain", 1.0), ("weighted", 0.5)):
        outcome = run("train", "binary", tmp_path / name, "-o", tmp_path / "m", "-C", C)
        assert outcome.exit_code == 0, outcome.output
        found.append(mm.load(tmp_path / "m").coef_)
    np.testing.assert_allclose(found[0], found[1], atol=1e-8)


def test_gzip_stdin_and_stdout_in_a_real_process(folder, tmp_path):
    packed = gzip.compress((folder / "train.txt").read_bytes())
    (tmp_path / "train").write_bytes(packed)
    outcome = run("train", "multiclass", tmp_path / "train", "-o", tmp_path / "a", "-C", "0.1")
    assert outcome.exit_code == 0
    assert "Wrote" in outcome.stdout
    outcome = program("train", "multiclass", "-", "-o", tmp_path / "b", "-qC", "0.1", input=packed)
    assert (outcome.returncode, outcome.stdout) == (0, b"")
    assert all(line.startswith(b"maxmargin: compiling") for line in outcome.stderr.splitlines())
    coef = mm.load(folder / "model.mm").coef_
    assert np.array_equal(mm.load(tmp_path / "a").coef_, coef)
    assert np.array_equal(mm.load(tmp_path / "b").coef_, coef)

    examples = (folder / "test.txt").read_bytes()
    outcome = program("predict", tmp_path / "a", "-", "-o", "-", input=examples)
    assert outcome.returncode == 0
    assert len(outcome.stdout.splitlines()) == 100
    outcome = run("evaluate", tmp_path / "a", "-", "--json", input=gzip.compress(examples))
    assert json.loads(outcome.stdout)["n"] == 100


def test_unseen_labels_count_as_errors_and_unseen_features_are_dropped(folder, tmp_path):
    lines = (folder / "test.txt").read_text().splitlines()
    more = [f"{line} 999:5" for line in lines] + ["77 1:1", "[bold]x 1:1"]
    (tmp_path / "test").write_text("\n".join(more))
    accuracy = json.loads(
        run("evaluate", folder / "model.mm", folder / "test.txt", "--json").stdout
    )["accuracy"]
    found = json.loads(run("evaluate", folder / "model.mm", tmp_path / "test", "--json").stdout)
    # The word among the labels makes all of them words, and they are recognised all the same.
    assert found["n_unseen_labels"] == 2
    assert found["accuracy"] == pytest.approx(accuracy * 100 / 102)
    outcome = run("evaluate", folder / "model.mm", tmp_path / "test")
    assert "2 examples have labels that were not in the training data" in outcome.stdout
    assert len(run("predict", folder / "model.mm", tmp_path / "test").stdout.splitlines()) == 102


def test_labels_that_look_like_markup(tmp_path):
    (tmp_path / "data").write_text("[bold] 1:1\n[/red] 1:-1\n" * 10)
    assert run("train", "binary", tmp_path / "data", "-o", tmp_path / "m").exit_code == 0
    outcome = run("evaluate", tmp_path / "m", tmp_path / "data")
    assert "[bold]" in outcome.stdout and "[/red]" in outcome.stdout
    assert "[bold]" in run("info", tmp_path / "m").stdout


def test_evaluation_counts():
    y = np.array([0, 0, 1, 2, 9])
    counts = Evaluation.of(y, np.array([0, 1, 1, 1, 0]), np.array([0, 1, 2]))
    assert (counts.accuracy, counts.unseen, counts.n) == (0.4, 1, 5)
    np.testing.assert_allclose(counts.by_class.precision, [1 / 2, 1 / 3, 0])
    np.testing.assert_allclose(counts.by_class.recall, [1 / 2, 1, 0])
    np.testing.assert_allclose(counts.by_class.f1, [1 / 2, 1 / 2, 0])


# Limits and interruption


@pytest.mark.parametrize("limit", [("--max-iter", 3), ("--max-time", 1e-6)])
def test_a_limit_writes_the_model_and_warns(folder, tmp_path, limit):
    outcome = run("train", "multiclass", folder / "train.txt", "-qo", tmp_path / "m", *limit)
    assert outcome.exit_code == 0
    assert outcome.stdout == ""
    assert outcome.stderr.startswith("warning: stopped at the ")
    assert "with a gap of" in outcome.stderr
    model = mm.load(tmp_path / "m")
    assert not model.result_.converged
    assert ("all weights are zero" in outcome.stderr) == (not model.coef_.any())


@pytest.mark.skipif(os.name == "nt", reason="SIGINT is a POSIX signal")
def test_ctrl_c_in_training_writes_the_certified_model(tmp_path):
    X, y = make_multiclass(4000, 100, 10)
    dump_svmlight_file(X, y, str(tmp_path / "data"), zero_based=False)
    command = [sys.executable, "-m", "maxmargin", "train", "multiclass", "data", "-o", "m"]
    with subprocess.Popen(
        [*command, "--tol", "1e-9"], cwd=tmp_path, env=ENV, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        # Tests that a shell runs in the background ignore Ctrl-C, and so would their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:  # fmt: skip
        try:
            while not (line := process.stderr.readline()).startswith("maxmargin: iteration"):
                assert line, "training ended before it could be interrupted"
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0, stderr
    assert "Interrupted: the objective is" in stdout
    assert "warning: interrupted with a gap of" in stderr
    assert "Traceback" not in stderr
    result = mm.load(tmp_path / "m").result_
    assert result.status is mm.Status.INTERRUPTED
    assert 0 < result.gap < result.primal


def test_ctrl_c_before_a_result_ends_with_130(folder, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("maxmargin.structures.rows.read_examples", interrupted)
    outcome = run("train", "binary", folder / "train.txt", "-o", tmp_path / "m")
    assert error_of(outcome, 130) == "error: interrupted, nothing was written"
    assert not list(tmp_path.iterdir())


# Mistakes


def test_a_broken_line_is_named_in_a_real_process(folder, tmp_path):
    lines = (folder / "train.txt").read_text().splitlines()
    lines[99] = "1 3:0.5 x7:1"
    (tmp_path / "train.txt").write_text("\n".join(lines))
    outcome = program("train", "multiclass", "train.txt", "-o", "m", cwd=tmp_path, text=True)
    assert outcome.returncode == 1
    assert outcome.stderr.startswith("error: train.txt, line 100: ")
    assert "'x7'" in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["train.txt"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 1:1\n2 1:nan\n", "line 2: the value of '1:nan' is not a finite"),
        ("1 1:1\nnan 1:2\n", "line 2: the target 'nan'"),
        ("1 1:1\n1 1:2\n", "all examples have the label 1"),
        ("1 1:1\n2 1:1\n0.5 1:2\n", "line 3: the target 0.5 is not a class"),
        ("1\n2\n", "no line has a feature"),
        ("", "contains no examples"),
        ("1 1:1\n2 1:2\n3 1:3\n", "has 3 classes: use 'maxmargin train multiclass'"),
        ("1 1:1 cost:0\n2 1:2 cost:0\n", "all sample weights are zero"),
    ],
)
def test_unusable_data(tmp_path, content, message):
    (tmp_path / "data").write_text(content)
    outcome = run("train", "binary", tmp_path / "data", "-o", tmp_path / "m")
    assert message in error_of(outcome)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-C", "0"], "C must be a finite number > 0"),
        (["--tol", "nan"], "tol must be"),
        (["--max-iter", "0"], "max_iter must be an integer in 1 to"),
        (["--max-time", "-1"], "max_time must be"),
        (["--solver", "magic"], "solver 'magic' is not one of"),
        (["--plot", "picture.gif"], "a picture is one of .png, .svg, .pdf"),
        (["--plot", "nowhere/picture.png"], "nowhere"),
    ],
)
def test_unusable_options_are_refused_before_the_data_are_read(tmp_path, options, message):
    (tmp_path / "data").write_text("this is not an example file")
    outcome = run("train", "binary", tmp_path / "data", "-o", tmp_path / "m", *options)
    assert message in error_of(outcome)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nowhere/m", "cannot write to"),
        (".", "is a directory"),
        ("-", "cannot be written to standard output"),
        ("data", "is also the input file"),
    ],
)
def test_unusable_targets_are_refused_before_training(tmp_path, monkeypatch, target, message):
    monkeypatch.chdir(tmp_path)
    Path("data").write_text("this is not an example file")  # which is not noticed
    assert message in error_of(run("train", "binary", "data", "-o", target))
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
    if target != "-":
        assert message in error_of(run("predict", "data", "data", "-o", target))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk(folder):
    train, test, model = folder / "train.txt", folder / "test.txt", folder / "model.mm"
    outcome = run("train", "multiclass", train, "-qo", "/dev/full")
    assert error_of(outcome) == "error: /dev/full: cannot be written: No space left on device"
    outcome = run("predict", model, test, "-o", "/dev/full")
    assert "No space left on device" in error_of(outcome)
    with open("/dev/full", "wb") as full:
        options = {"stdout": full, "stderr": subprocess.PIPE, "capture_output": False}
        for arguments in (("evaluate", model, test), ("predict", model, test)):
            outcome = program(*arguments, **options)
            assert outcome.returncode == 1
            assert outcome.stderr.strip().splitlines() == [
                b"error: output: No space left on device"
            ]


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_reader_that_goes_away(folder, command):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        outcome = program(
            command, folder / "model.mm", folder / "test.txt",
            stdout=writer, stderr=subprocess.PIPE, capture_output=False, text=True,
        )  # fmt: skip
    finally:
        os.close(writer)
    assert outcome.returncode == 1
    assert outcome.stderr == "error: standard output was closed before everything was written\n"


@pytest.mark.parametrize("command", ["predict", "evaluate", "info"])
def test_damaged_and_missing_models(folder, tmp_path, command):
    content = (folder / "model.mm").read_bytes()
    (tmp_path / "half").write_bytes(content[: len(content) // 2])
    data = [] if command == "info" else [folder / "test.txt"]
    assert "truncated or damaged" in error_of(run(command, tmp_path / "half", *data))
    assert "No such file" in error_of(run(command, tmp_path / "missing", *data))
    assert "not a maxmargin model" in error_of(run(command, folder / "train.txt", *data))


def test_a_model_too_large_for_memory(folder, tmp_path, monkeypatch):
    def too_large(*_, **__):
        raise MemoryError("Unable to allocate 48.0 GiB")

    monkeypatch.setattr(mm.MulticlassSVC, "fit", too_large)
    outcome = run("train", "multiclass", folder / "train.txt", "-o", tmp_path / "m", "-q")
    assert error_of(outcome) == "error: not enough memory: Unable to allocate 48.0 GiB"


def test_wrong_usage_ends_with_2(folder):
    assert run("train", "multiclass", folder / "train.txt").exit_code == 2
    assert run("train", "tree", folder / "train.txt", "-o", "m").exit_code == 2
    assert run("train", "binary", "data", "-o", "m", "--seed", "-1").exit_code == 2
    assert run("frobnicate").exit_code == 2


# The program itself


def test_version_and_help_in_a_real_process():
    outcome = program("--version", text=True)
    assert outcome.stdout == f"maxmargin {mm.__version__}\n"
    outcome = program("--help", text=True)
    for command in ("demo", "train", "predict", "evaluate", "info"):
        assert command in outcome.stdout


def test_importing_the_commands_loads_nothing_heavy():
    heavy = "{'numpy', 'scipy', 'sklearn', 'numba', 'matplotlib'}"
    code = f"import sys, maxmargin.cli.app; print({heavy} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], env=ENV, capture_output=True, text=True)
    assert found.stdout == "set()\n", found


def test_demo(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = run("demo")
    assert outcome.exit_code == 0, outcome.output
    page = (tmp_path / "maxmargin-demo.html").read_text(encoding="utf8")
    assert "Why structure matters" in page
    assert not list(tmp_path.glob("*.png"))
    for words in ("LinearSVC", "whole codes", "Converged: the objective", "maxmargin-demo.html"):
        assert words in outcome.stdout
    assert outcome.stdout.count("maxmargin train") == 1


def test_demo_checks_its_files_first(tmp_path):
    for option, name, words in (
        ("--report", "page.txt", "a report is a .html file"),
        ("--report", "no/page.html", "cannot write"),
        ("--out", "picture.xyz", "picture.xyz"),
    ):
        outcome = run("demo", option, tmp_path / name)
        assert outcome.exit_code == 1 and words in outcome.output, outcome.output
        assert "Codes" not in outcome.stdout
