"""SVM-struct's model files and programs: layouts, units, flags, and what is refused."""

from __future__ import annotations

import gzip
import io
import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import maxmargin as mm
from maxmargin.cli.app import app
from maxmargin.io.svm_struct_vectors import WeightReader
from maxmargin.svm_struct.learn import choose_solver
from maxmargin.svm_struct.options import parse_learn

# Weights by hand. Transitions a -> b are the numbers 2a + b; emissions follow 2 + 4 + 1 + 3.
HMM = """SVM-HMM Version V3.10
0 # kernel type
3 # kernel parameter -d 
1 # kernel parameter -g 
1 # kernel parameter -s 
1 # kernel parameter -r 
empty# kernel parameter -u 
17 # highest feature index 
3 # number of emission features 
2 # number of classes 
1 # HMM order of transitions 
0 # HMM order of emissions 
1 # loss function 
2 # number of support vectors plus 1 
0 # threshold b, each following line is a SV (starting with alpha*y)
1 4:0.5 5:-0.25 11:1 13:-2 14:0.125 15:3.0517578e-05 #
"""  # noqa: W291
EMISSION = np.array([[1, 0, -2], [0.125, 3.0517578e-05, 0]])
TRANSITION = np.array([[0, 0.5], [-0.25, 0]])

MULTICLASS = """SVM-multiclass Version V2.20
3 # number of classes
2 # number of base features
0 # loss function
0 # kernel type
3 # kernel parameter -d 
1 # kernel parameter -g 
1 # kernel parameter -s 
1 # kernel parameter -r 
empty# kernel parameter -u 
7 # highest feature index 
1 # number of training documents 
2 # number of support vectors plus 1 
0 # threshold b, each following line is a SV (starting with alpha*y)
1 qid:0 1:1 4:2 5:-1 #
"""  # noqa: W291

TAGS = """1 qid:1 1:1
2 qid:1 2:1
1 qid:2 1:1 3:1
4 qid:2 3:2
2 qid:3 2:1 1:0.5
""".replace("2:1 1:0.5", "1:0.5 2:1")
CLASSES = "1 1:1\n2 2:1\n4 1:-1 2:-1\n1 1:2 2:0.5\n4 2:-2\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    files = {"hmm": HMM, "mc": MULTICLASS, "tags.dat": TAGS, "classes.dat": CLASSES}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def good(*arguments):
    outcome = run(*arguments)
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout


def error_of(outcome, code):
    assert outcome.exit_code == code, outcome.output
    assert outcome.exception is None or isinstance(outcome.exception, SystemExit)
    assert outcome.stderr.count("\n") == 1 and outcome.stderr.startswith("error: ")
    return outcome.stderr


def value_of(text, name):
    """The number after a name in a report."""
    line = next(line for line in text.splitlines() if line.startswith(name))
    return float(line.split("=")[-1].split()[-1])


# Model files


def test_layout_of_svm_hmm(folder):
    model = mm.io.read_svm_struct("hmm")
    assert np.array_equal(model.emission, EMISSION)
    assert model.transition is not None and np.array_equal(model.transition, TRANSITION)
    assert (model.loss, model.order, model.classes.tolist()) == (1, 1, [1, 2])


def test_layout_of_svm_multiclass(folder):
    model = mm.io.read_svm_struct("mc")
    assert model.emission.tolist() == [[1, 0], [0, 2], [-1, 0]]
    assert (model.transition, model.loss) == (None, 0)


@pytest.mark.parametrize("name", ["hmm", "mc"])
def test_what_is_written_is_what_was_read(folder, name):
    mm.io.write_svm_struct(mm.io.read_svm_struct(name), "again")
    assert Path("again").read_bytes() == Path(name).read_bytes()


def test_without_transitions(folder):
    model = mm.io.StructModel(EMISSION, np.zeros((2, 2)), loss=1, order=0)
    mm.io.write_svm_struct(model, "order0")
    assert "1 7:1 9:-2 10:0.125 11:" in Path("order0").read_text()  # after 2 + 1 + 3
    assert np.array_equal(mm.io.read_svm_struct("order0").emission, EMISSION)


def test_several_vectors_gzip_and_a_missing_newline(folder):
    text = HMM.replace("2 # number of sup", "3 # number of sup").rstrip("#\n") + "#\n2 11:0.5"
    Path("two.gz").write_bytes(gzip.compress(text.encode()))
    assert mm.io.read_svm_struct("two.gz").emission[0, 0] == 2.0


def test_long_lines_are_read_in_pieces(folder, monkeypatch):
    monkeypatch.setattr("maxmargin.io.svm_struct_vectors._PIECE_BYTES", 7)
    assert np.array_equal(mm.io.read_svm_struct("hmm").emission, EMISSION)


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("V3.10", "V3.00", 1, "not a model of SVM-HMM Version V3.10"),
        ("SVM-HMM", "PK\x03", 1, "not a model"),
        ("0 # kernel type", "2 # kernel type", 2, "only linear"),
        ("1 # HMM order of t", "2 # HMM order of t", 11, "orders 0 and 1"),
        ("0 # HMM order of e", "1 # HMM order of e", 12, "order 0"),
        ("1 # loss", "7 # loss", 13, "losses"),
        ("0 # threshold", "1 # threshold", 15, "threshold"),
        ("2 # number of classes", "0 # number of classes", 10, "damaged"),
        ("2 # number of classes", "x # number of classes", 10, "an integer"),
        ("2 # number of classes", "99999999 # number of classes", 10, "too many"),
        ("3 # number of em", "90000000 # number of em", 16, "only 55 bytes"),
        ("2 # number of sup", "9 # number of sup", 17, "ends after 1 of 8"),
        ("1 4:0.5", "x 4:0.5", 16, "not with a number"),
        ("4:0.5", "4:0.5:1", 16, "not index:value"),
        ("4:0.5", "4:", 16, "not index:value"),
        ("4:0.5", f"{10**30}:1", 16, "not index:value"),
        ("4:0.5", "6:0.5", 16, "'5:-0.25' is wrong"),
        ("14:0.125", "14:nan", 16, "finite"),
        ("15:3.0517578e-05", "17:1", 16, "increase from 1 to 16"),
        ("1 4:0.5", "1 1:1 4:0.5", 16, "never has one"),
        ("1 4:0.5", "1e300 4:1e300", 16, "not finite"),
        ("1 4:0.5", "LONG", 16, "not a vector"),
        ("0 # kernel type", "LONG", 2, "too long"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_line(folder, old, new, line, reason):
    assert old in HMM
    Path("wrong").write_text(HMM.replace(old, new).replace("LONG", "y" * 3_000_000))
    with pytest.raises(mm.ModelFileError, match=reason) as caught:
        mm.io.read_svm_struct("wrong")
    assert str(caught.value).startswith(f"wrong, line {line}: ")


@given(st.data())
def test_no_damage_gives_anything_but_a_model_error(data):
    raw = bytearray((HMM if data.draw(st.booleans()) else MULTICLASS).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    text = io.BytesIO(bytes(raw[: data.draw(st.integers(0, len(raw)))]))
    try:
        mm.io.read_svm_struct(text)
    except mm.ModelFileError:
        pass


def test_missing_and_unwritable_files(folder):
    with pytest.raises(mm.ModelFileError, match="nowhere: cannot be read"):
        mm.io.read_svm_struct("nowhere")
    with pytest.raises(mm.ModelFileError, match="no/where: cannot be written"):
        mm.io.write_svm_struct(mm.io.read_svm_struct("hmm"), "no/where")
    bad = mm.io.StructModel(np.array([[np.nan]]), None)
    with pytest.raises(mm.ModelFileError, match="not finite"):
        mm.io.write_svm_struct(bad, "nan")
    assert not Path("nan").exists()


def test_memory_is_not_taken_on_the_word_of_the_header():
    reader = WeightReader(io.BytesIO(b"1 1:1 #\n"), 1, size=2**31)
    with pytest.raises(Exception, match="only 8 bytes"):
        reader.read(1)


# Estimators


def best_path(x, emission, transition):
    """The best tags by enumeration; of equal ones the first."""
    scores = x @ emission.T
    paths = itertools.product(range(len(emission)), repeat=len(x))
    return max(
        paths,
        key=lambda path: (
            sum(scores[t, k] for t, k in enumerate(path))
            + sum(transition[a, b] for a, b in itertools.pairwise(path))
        ),
    )


def test_a_loaded_chain_predicts(folder):
    clf = mm.io.load_svm_struct("hmm")
    X = [np.random.RandomState(i).randn(i + 1, 3) for i in range(6)]
    expected = [[k + 1 for k in best_path(x, EMISSION, TRANSITION)] for x in X]
    assert clf.predict(X) == expected
    mm.io.save_svm_struct(clf, "again")
    assert Path("again").read_text() == HMM


def test_a_loaded_classifier_predicts(folder):
    clf = mm.io.load_svm_struct("mc")
    X = np.array([[1.0, 0], [0, 1], [-3, 1], [0, 0]])
    assert clf.predict(X).tolist() == [1, 2, 3, 1]
    clf.save("classifier.mm")
    assert mm.load("classifier.mm").predict(X).tolist() == [1, 2, 3, 1]
    mm.io.save_svm_struct(clf, "again")
    assert Path("again").read_text() == MULTICLASS


def chain_of(classes, transition):
    """A fitted chain of one feature that has no weight."""
    clf = mm.ChainSVC().fit([np.ones((2, 1))], [list(classes)[:2]])
    clf.classes_, K = np.array(classes), len(classes)
    clf.coef_, clf.transition_ = np.zeros((K, 1)), np.array(transition, float)
    return clf


def test_classes_that_training_has_not_seen_are_never_predicted(folder):
    # Every transition costs something: a class of zero weights would be a way round them.
    clf = chain_of([2, 5], [[-1.0, -2.0], [-3.0, -1.5]])
    mm.io.save_svm_struct(clf, "gaps")
    model = mm.io.read_svm_struct("gaps")
    assert model.classes.tolist() == [1, 2, 3, 4, 5]
    assert not model.emission[[0, 2, 3]].any()
    X = [np.ones((4, 1))]
    assert mm.io.load_svm_struct("gaps").predict(X) == clf.predict(X) == [[2, 2, 2, 2]]


def test_what_svm_struct_does_not_have_is_not_saved(folder):
    X, Y = [np.eye(2)], [[1, 2]]
    words = mm.ChainSVC().fit(X, [["a", "b"]])
    ends = mm.ChainSVC(C=10, start_stop=True).fit(X, Y)
    mask = mm.ChainSVC(transitions=[(1, 2), (2, 1), (None, 1), (2, None)]).fit(X, Y)
    cost = mm.ChainSVC(loss=[[0, 2], [1, 0]]).fit(X, Y)
    bias = mm.MulticlassSVC(fit_intercept=True).fit(np.eye(3), [1, 1, 2])
    binary = mm.BinarySVC().fit(np.eye(2), [1, 2])
    reasons = {
        "'a' is not an integer": words,
        "start_stop=False": ends,
        "a mask": mask,
        "this loss": cost,
        "an intercept": bias,
        "not support BinarySVC": binary,
    }
    for reason, clf in reasons.items():
        with pytest.raises(mm.ModelFileError, match=reason):
            mm.io.save_svm_struct(clf, "no")
    assert not Path("no").exists()


def test_squared_differences_are_kept(folder):
    loss = [[0, 4], [4, 0]]
    clf = mm.MulticlassSVC(loss=loss).fit(np.eye(2), [1, 3])
    mm.io.save_svm_struct(clf, "squared")
    assert mm.io.read_svm_struct("squared").loss == 1
    assert mm.io.load_svm_struct("squared").loss.tolist() == [[0, 1, 4], [1, 0, 1], [4, 1, 0]]


# Learning


def objective_of(name, c, slack=False):
    """SVM-struct's objective of a model that was trained on the files above, by its formula."""
    model = mm.io.read_svm_struct(name)
    K, d = model.emission.shape
    if model.transition is None:
        X, y = mm.io.read_svmlight("classes.dat", n_features=d)
        sequences, tags = [row[None] for row in X.toarray()], [[label] for label in y]
        transition, unit = np.zeros((K, K)), 100.0 if model.loss == 0 else None
    else:
        found, tags = mm.io.read_hmm("tags.dat", n_features=d)
        sequences = [x.toarray() for x in found]
        transition, unit = model.transition, 1.0
    total = 0.0
    for x, truth in zip(sequences, tags, strict=True):
        scores = x @ model.emission.T

        def score(path, scores=scores):
            value = sum(scores[t, k - 1] for t, k in enumerate(path))
            return value + sum(transition[a - 1, b - 1] for a, b in itertools.pairwise(path))

        def loss(path, truth=truth):
            pairs = list(zip(path, truth, strict=True))
            if model.transition is not None and model.loss == 0:
                return float(any(a != b for a, b in pairs))
            return sum((a - b) ** 2 if unit is None else unit * (a != b) for a, b in pairs)

        values = []
        for path in itertools.product(range(1, K + 1), repeat=len(truth)):
            margin = score(truth) - score(path)
            values.append(loss(path) * (1 - margin) if slack else loss(path) - margin)
        total += max(values)
    norm = (model.emission**2).sum() + (0 if model.transition is None else (transition**2).sum())
    return 0.5 * norm + c / len(tags) * total


@pytest.mark.parametrize(
    "options",
    [
        "", "-o 1", "-l 0", "-l 0 -o 1", "--t 0", "--t 0 -o 1", "--t 0 -l 0", "--t 0 -l 0 -o 1",
        "-w 1 -k 2", "-w 3", "-w 4 -f 2 -b 50", "-f 3",
    ],
)  # fmt: skip
def test_svm_hmm_learn_reaches_the_optimum_in_its_units(folder, options):
    text = good("svm_hmm_learn", "-c", 3, "-e", 0.001, *options.split(), "tags.dat", "out")
    pval, dval = value_of(text, "Primal"), value_of(text, "Dual")
    assert pval == pytest.approx(objective_of("out", 3, "-o 1" in options), abs=2e-5)
    assert -1e-5 <= pval - dval <= 0.001 * 3 + 1e-5
    assert "3 examples, 5 tokens, 3 features, 4 classes... done\n" in text
    assert text.endswith("Writing learned model...done\n")
    model = mm.io.read_svm_struct("out")
    assert model.order == int("--t 0" not in options)
    assert model.order or not model.transition.any()


@pytest.mark.parametrize("options", ["", "-o 1", "-l 1", "-l 1 -o 1"])
def test_svm_multiclass_learn_reaches_the_optimum_in_its_units(folder, options):
    text = good("svm_multiclass_learn", "-c", 2, "-e", 0.01, *options.split(), "classes.dat", "out")
    pval, dval = value_of(text, "Primal"), value_of(text, "Dual")
    assert pval == pytest.approx(objective_of("out", 2, "-o 1" in options), rel=1e-5)
    assert -1e-5 <= pval - dval <= 0.01 * 2 + 1e-5
    assert "(5 examples) done\nTraining set properties: 2 features, 4 classes\n" in text


def test_a_class_without_examples_is_trained_against(folder):
    good("svm_multiclass_learn", "-c", 50, "classes.dat", "out")
    assert mm.io.read_svm_struct("out").emission[2].any()


def test_defaults_verbosity_and_notes(folder):
    outcome = run("svm_hmm_learn", "-c", 1, "-v", 0, "-m", 40, "-y", 1, "tags.dat")
    assert (outcome.exit_code, outcome.stdout) == (0, "")
    assert "-m 40 has no effect: maxmargin has no kernel cache" in outcome.stderr
    assert mm.io.read_svm_struct("svm_struct_model").emission.shape == (4, 3)
    assert "% for oracle" in good("svm_hmm_learn", "-c", 1, "-v", 2, "tags.dat")
    outcome = run("svm_hmm_learn", "-c", 1, "-w", 3, "-f", 3, "tags.dat")
    assert "-f 3 has no effect: -w 3 has no cache" in outcome.stderr


@pytest.mark.parametrize(
    ("options", "batch", "shrink"),
    [("-w 0", 100, False), ("-w 1", 100, True), ("-w 0 -k 7", 7, False), ("-w 1 -k 1", 1, True)],
)
def test_n_slack_has_shrinking_and_batches(options, batch, shrink):
    chosen = choose_solver(parse_learn("svm_hmm_learn", ["-c", "1", *options.split(), "tags.dat"]))
    assert chosen == mm.NSlack(batch=batch, shrink=shrink)


@pytest.mark.parametrize("options", ["", "-w 3", "-w 4"])
def test_batches_without_n_slack_have_no_effect(options):
    found = parse_learn("svm_hmm_learn", ["-c", "1", "-k", "5", *options.split(), "tags.dat"])
    assert len(found.notes) == 1 and found.notes[0].startswith("-k 5 has no effect")


# Classification


def test_svm_hmm_classify(folder):
    Path("test.dat").write_text("1 qid:1 1:1\n2 qid:1 1:-1 9:1\n\n5 qid:2 3:-1")
    text = good("svm_hmm_classify", "test.dat", "hmm", "out").splitlines()
    assert Path("out").read_text() == "1\n2\n1\n"
    assert text[3].startswith("Runtime (without IO) in cpu-seconds: ")
    assert text[:3] + text[4:] == [
        "Reading model...done.",
        "Reading test examples... 2 examples, 3 tokens, 9 features, 5 classes... done.",
        "Classifying test examples...done",
        "Average loss on test set: 0.5000",
        "Zero/one-error on test set: 50.00% (1 correct, 1 incorrect, 2 total)",
        "Average loss per token: 0.3333",
    ]


def test_svm_multiclass_classify(folder):
    Path("test.dat").write_text("1 1:1\n3 2:1 7:5\n")
    text = good("svm_multiclass_classify", "-v", 1, "test.dat", "mc")
    expected = "1 1.000000 0.000000 -1.000000\n2 0.000000 2.000000 0.000000\n"
    assert Path("svm_predictions").read_text() == expected
    assert "Reading test examples... (2 examples) done.\n" in text
    assert "Average loss on test set: 50.0000\nZero/one-error on test set: 50.00% (1 c" in text
    assert good("svm_multiclass_classify", "-v", 0, "test.dat", "mc", "-") == expected


def test_unknown_classes_have_no_error_rate(folder):
    Path("test.dat").write_text("0 1:1\n1 1:1\n")
    assert "loss" not in good("svm_multiclass_classify", "test.dat", "mc", "out")
    Path("test.dat").write_text("0 qid:1 1:1\n1 qid:1 1:1\n")
    assert "(0 correct, 1 incorrect" in good("svm_hmm_classify", "test.dat", "hmm", "out")


# Mistakes


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("svm_hmm_learn tags.dat out", "-c is missing"),
        ("svm_hmm_learn", "-c is missing"),
        ("svm_hmm_learn -c", "-c has no value"),
        ("svm_hmm_learn -c 0 tags.dat", "above 0"),
        ("svm_hmm_learn -c x tags.dat", "above 0"),
        ("svm_hmm_learn -c5 tags.dat", "two words"),
        ("svm_hmm_learn -c 5", "expected example_file"),
        ("svm_hmm_learn -c 5 a b c", "expected example_file"),
        ("svm_hmm_learn tags.dat -c 5", "comes after a file"),
        ("svm_hmm_learn -c 5 -p 2 tags.dat", "squared slacks"),
        ("svm_hmm_learn -c 5 -t 2 tags.dat", "kernels"),
        ("svm_hmm_learn -c 5 -a alphas tags.dat", "dual variables"),
        ("svm_hmm_learn -c 5 -w 9 tags.dat", "0 to 4"),
        ("svm_hmm_learn -c 5 -l 2 tags.dat", "0 or 1"),
        ("svm_hmm_learn -c 5 -o x tags.dat", "integer"),
        ("svm_hmm_learn -c 5 --t 2 tags.dat", "order 0 and 1"),
        ("svm_hmm_learn -c 5 --e 1 tags.dat", "order 0"),
        ("svm_hmm_learn -c 5 --b 10 tags.dat", "exact"),
        ("svm_hmm_learn -c 5 -w 0 -k 0 tags.dat", "1 to 1000000"),
        ("svm_hmm_learn -z 5 tags.dat", "-z is not an option"),
        ("svm_multiclass_learn -c 5 --t 1 classes.dat", "--t is not an option"),
        ("svm_hmm_classify tags.dat", "expected example_file model_file"),
        ("svm_hmm_classify --b 5 tags.dat hmm", "exact"),
        ("svm_multiclass_classify -c 5 classes.dat mc", "-c is not an option"),
    ],
)
def test_wrong_usage_ends_with_code_2_and_no_file(folder, command, reason):
    before = sorted(os.listdir())
    assert reason in error_of(run(*command.split()), 2)
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("svm_hmm_learn -c 5 nowhere", "nowhere: cannot be read"),
        ("svm_hmm_learn -c 5 tags.dat tags.dat", "is also the input file"),
        ("svm_hmm_learn -c 5 tags.dat no/where", "cannot write"),
        ("svm_hmm_learn -c 5 hmm out", "hmm, line 1"),
        ("svm_multiclass_learn -c 5 empty.dat", "no examples"),
        ("svm_multiclass_learn -c 5 bare.dat", "no line has a feature"),
        ("svm_hmm_learn -c 5 large.dat", "number the classes"),
        ("svm_multiclass_learn -c 5 large.dat", "number the classes"),
        ("svm_hmm_classify tags.dat mc out", "is a model of SVM-multiclass"),
        ("svm_multiclass_classify classes.dat hmm out", "is a model of SVM-HMM"),
        ("svm_hmm_classify tags.dat hmm hmm", "is also the input file"),
    ],
)
def test_wrong_files_end_with_code_1_and_no_traceback(folder, command, reason):
    Path("empty.dat").touch()
    Path("bare.dat").write_text("1\n2\n")
    Path("large.dat").write_text("2000000000 1:1\n1 2:1\n")
    before = sorted(os.listdir())
    assert reason in error_of(run(*command.split()), 1)
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize(
    "program",
    ["svm_hmm_learn", "svm_hmm_classify", "svm_multiclass_learn", "svm_multiclass_classify"],
)
def test_help_and_the_scripts_of_their_own(folder, program):
    assert good(program, "-?").startswith(f"usage: {program} [options] example_file")
    code = f"import sys; from maxmargin.cli.drop_in import {program} as main; main()"
    source = str(Path(__file__).parents[2] / "src")
    outcome = subprocess.run(
        [sys.executable, "-c", code, "-?"],
        env={**os.environ, "PYTHONPATH": source}, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert outcome.returncode == 0
    assert outcome.stdout.decode().startswith(f"usage: {program} [options]")
