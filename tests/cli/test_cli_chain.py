"""The command line for sequences, from the files to what people read."""

from __future__ import annotations

import gzip
import json
import os

import pytest

import maxmargin as mm
from command_line import error_of, passed, run

WORDS = {"the": "DT", "a": "DT", "dog": "NN", "cat": "NN", "old": "JJ", "runs": "VB", "sees": "VB"}
TAGS = {"DT": "B-NP", "JJ": "I-NP", "NN": "I-NP", "VB": "O"}
SENTENCES = [
    "the dog runs", "a cat sees the dog", "the old cat runs", "a dog sees a old dog",
    "the old dog sees a cat", "a old cat runs",
]  # fmt: skip


def rows(sentences=SENTENCES, labels=True):
    """The lines of a CoNLL file."""
    for sentence in sentences:
        for word in sentence.split():
            pos = WORDS[word]
            yield f"{word} {pos} {TAGS[pos]}" if labels else f"{word} {pos}"
        yield ""


def write(path, lines):
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """train.txt with its model m, and hmm.txt with its model h."""
    folder = tmp_path_factory.mktemp("chain")
    write(folder / "train.txt", rows())
    passed("train", "chain", folder / "train.txt", "-o", folder / "m", "-q", "-C", 1)
    features = {word: j + 1 for j, word in enumerate(WORDS)}
    tags = {tag: k + 1 for k, tag in enumerate(sorted(set(TAGS.values())))}
    lines = [
        f"{tags[TAGS[WORDS[word]]]} qid:{i + 1} {features[word]}:1 # {word}"
        for i, sentence in enumerate(SENTENCES)
        for word in sentence.split()
    ]
    write(folder / "hmm.txt", ["# a comment", *lines])
    passed("train", "chain", folder / "hmm.txt", "-o", folder / "h", "-q", "-C", 1)
    return folder


# Round trips


def test_predictions_in_threads(folder, tmp_path):
    found = []
    for jobs in (1, 2, -1):
        out = tmp_path / f"{jobs}.txt"
        passed("predict", folder / "m", folder / "train.txt", "-o", out, "--jobs", jobs)
        found.append(out.read_text())
    assert found[0] == found[1] == found[2]
    assert passed("evaluate", folder / "m", folder / "train.txt", "-j", 2)
    refused = run("predict", folder / "m", folder / "train.txt", "--jobs", 10**6)
    assert "n_jobs" in error_of(refused)


def test_training_says_what_it_did(folder, tmp_path):
    outcome = passed(
        "train", "chain", folder / "train.txt", "-o", tmp_path / "m", "--template", "chunking",
        "--transitions", "bio", "--start-stop", "--loss", "hamming", "--label", -1, "--format",
        "conll", "--class-weight", "balanced", "--tol", 0.01, "--plot", tmp_path / "m.svg",
    )  # fmt: skip
    text = " ".join(outcome.stdout.split())
    assert "ChainSVC on 6 sequences, 28 tokens, " in text and " 3 labels" in text
    assert "Converged: the objective is" in text
    assert "<svg" in (tmp_path / "m.svg").read_text()
    model = mm.load(tmp_path / "m")
    given = {"C": 0.1, "template": "chunking", "transitions": "bio", "start_stop": True}
    assert given.items() <= model.get_params().items()
    passed("suspects", tmp_path / "m", write(tmp_path / "x", rows(["dog runs"])))


def test_predict_evaluate_and_python_agree(folder, tmp_path):
    data = write(tmp_path / "test.txt", rows(["the cat sees a dog", "a dog runs"]))
    X, Y = mm.io.read_conll(data)
    model = mm.load(folder / "m")
    predicted = model.predict(X)
    assert predicted == Y

    passed("predict", folder / "m", data, "-o", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "\n".join(mm.io.conll_lines(X, Y, predicted)) + "\n"
    found = json.loads(passed("evaluate", folder / "m", data, "--json").stdout)
    assert (found["accuracy"], found["n_tokens"], found["n_sequences"]) == (1.0, 8, 2)
    outcome = passed("evaluate", folder / "m", data, "--plot", tmp_path / "c.png")
    assert "processed 8 tokens with 3 phrases; found: 3 phrases; correct: 3." in outcome.stdout
    assert "support" in outcome.stdout and "most frequent errors" not in outcome.stdout
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_a_file_without_labels_is_recognised(folder, tmp_path):
    bare = write(tmp_path / "bare", rows(["the dog runs", "a cat runs"], labels=False))
    full = write(tmp_path / "full", rows(["the dog runs", "a cat runs"]))
    expected = passed("predict", folder / "m", full).stdout.splitlines()
    outcome = passed("predict", folder / "m", bare)
    lines = [line.split() for line in expected]
    assert [line.split() for line in outcome.stdout.splitlines()] == [
        line[:2] + line[3:] for line in lines
    ]
    assert passed("predict", folder / "m", bare, "--no-labels").stdout == outcome.stdout
    message = error_of(run("evaluate", folder / "m", bare))
    assert f"{bare}: has no labels to compare with: its 2 columns" in message


def test_standard_input_and_gzip(folder, tmp_path):
    content = (folder / "train.txt").read_bytes()
    for number, given in enumerate((content, gzip.compress(content))):
        passed("train", "chain", "-", "-o", tmp_path / "m", "-q", "-C", 1, input=given)
        assert (mm.load(tmp_path / "m").coef_ == mm.load(folder / "m").coef_).all()
        (tmp_path / str(number)).write_bytes(given)
        assert "100.00%" in passed("evaluate", folder / "m", tmp_path / str(number)).stdout
        assert passed("predict", folder / "m", "-", input=given).stdout


def test_the_label_may_be_any_column(folder, tmp_path):
    data = write(tmp_path / "d", [" ".join(line.split()[::-1]) for line in rows()])
    passed("train", "chain", data, "-o", tmp_path / "m", "--label", 0, "-q", "-C", 1)
    found = json.loads(passed("evaluate", tmp_path / "m", data, "--json").stdout)
    assert found["accuracy"] == 1.0
    assert passed("predict", tmp_path / "m", data).stdout.startswith("B-NP DT the B-NP\n")
    assert "label in column 0, features from 1, 2" in passed("info", tmp_path / "m").stdout


def test_hmm_files(folder, tmp_path):
    data = folder / "hmm.txt"
    tags = [line.split()[0] for line in data.read_text().splitlines()[1:]]
    outcome = passed("predict", folder / "h", data, "-o", tmp_path / "out")
    assert (tmp_path / "out").read_text().split() == tags
    assert "100.00%" in passed("evaluate", folder / "h", data).stdout
    assert "SVM-HMM files" in passed("info", folder / "h").stdout
    assert "feature 1" in passed("explain", folder / "h").stdout
    unknown = tmp_path / "zero"
    unknown.write_text("0 qid:1 1:1\n0 qid:1 3:1 99:1\n")
    assert len(passed("predict", folder / "h", unknown).stdout.split()) == 2
    assert "all tags are 0" in error_of(run("evaluate", folder / "h", unknown))
    outcome = run("predict", folder / "h", folder / "train.txt")
    assert "looks like CoNLL columns, but the model was trained on" in error_of(outcome)
    outcome = run("predict", folder / "m", data)
    assert "lines of SVM-HMM, but the model was trained on CoNLL" in error_of(outcome)


def test_info_explain(folder):
    outcome = passed("info", folder / "m")
    for words in ("ChainSVC", "3 (B-NP, I-NP, O)", "default, ", "all allowed", "Converged: the"):
        assert words in outcome.stdout
    found = json.loads(passed("info", folder / "m", "--json").stdout)
    assert found["chain"]["data"] == {"format": "conll", "columns": 2, "label": -1}
    outcome = passed("explain", folder / "m", "-n", 3)
    assert "pos[0]=DT" in outcome.stdout
    assert "transitions" in outcome.stdout and "B-NP -> I-NP" in outcome.stdout
    found = json.loads(passed("explain", folder / "m", "-n", 2, "--json").stdout)
    assert [len(entry["positive"]) for entry in found["labels"]] == [2, 2, 2]


def test_suspects_show_the_wrong_label(folder, tmp_path):
    lines = list(rows())
    assert lines[5] == "cat NN I-NP"
    lines[5] = "cat NN O"
    data = write(tmp_path / "d", lines)
    outcome = passed("suspects", folder / "m", data, "-n", 1)
    assert "1. sequence 2" in outcome.stdout
    row = next(line.split() for line in outcome.stdout.splitlines() if " cat " in line)
    assert row == ["6", "cat", "NN", "O", "I-NP"]
    [found] = json.loads(passed("suspects", folder / "m", data, "-n", 1, "--json").stdout)
    assert (found["index"], found["lines"][1]) == (1, 6)
    assert (found["truth"][1], found["worst"][1]) == ("O", "I-NP")
    outcome = passed("suspects", folder / "m", "-", "-n", 1, input=data.read_bytes())
    assert "token  word" in outcome.stdout


def test_labels_that_training_has_not_seen_are_errors(folder, tmp_path):
    lines = [*rows(["the dog runs"]), "the DT B-XX", "[bold] NN I-XX", "", *rows(["a cat runs"])]
    data = write(tmp_path / "d", lines)
    found = json.loads(passed("evaluate", folder / "m", data, "--json").stdout)
    assert (found["n_tokens"], found["n_correct"], found["n_unseen"]) == (8, 6, 2)
    assert "does not know: 2" in passed("evaluate", folder / "m", data).stdout
    outcome = passed("suspects", folder / "m", data)
    assert "warning: 1 of 3 sequences are skipped" in outcome.stderr
    assert passed("predict", folder / "m", data).stdout.count("\n") == 10


def test_a_template_file_may_go_away(folder, tmp_path):
    template = tmp_path / "t.txt"
    template.write_text("word[-1..0]\nextra[0]\n")
    passed("train", "chain", folder / "train.txt", "-qo", tmp_path / "m", "--template", template)
    before = passed("predict", tmp_path / "m", folder / "train.txt").stdout
    template.unlink()
    assert passed("predict", tmp_path / "m", folder / "train.txt").stdout == before
    assert "3 patterns: word[-1]  word[0]  pos[0]" in passed("info", tmp_path / "m").stdout


def test_models_made_in_python(folder, tmp_path):
    X, Y = mm.io.read_conll(folder / "train.txt")
    mm.ChainSVC(C=1.0, template="chunking").fit(X, Y).save(tmp_path / "rows")
    assert "100.00%" in passed("evaluate", tmp_path / "rows", folder / "train.txt").stdout
    assert "rows of columns, given in Python" in passed("info", tmp_path / "rows").stdout
    bare = write(tmp_path / "bare", rows(["the dog runs"], labels=False))
    assert passed("predict", tmp_path / "rows", bare).stdout.startswith("the DT B-NP\n")
    mm.ChainSVC().fit([[["a"], ["b"]]], [["x", "y"]]).save(tmp_path / "names")
    message = error_of(run("predict", tmp_path / "names", folder / "train.txt"))
    assert "was trained in Python on named features" in message


# Mistakes


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("a B\nb\n", [], "line 2: 1 columns, where the first token (line 1) has 2"),
        ("a\nb\n", [], "has only one column: training needs a label"),
        ("", [], "contains no tokens"),
        ("a O\nb O\n", [], "all tokens have the label 'O' in column -1: two are needed"),
        ("a O\nb B-X\n", ["--label", 2], "no column 2 for the labels: lines have 2 columns"),
        ("a O\n\n-DOCSTART- O\n\nb I-X\n", ["--transitions", "bio"], "line 5: the true labels of "
         "sequence 2 begin with 'I-X'"),
        ("a O\n\nb B-X\nc I-Y\n", ["--transitions", "bio"], "line 4: the true labels of sequence "
         "2 go from 'B-X' to 'I-Y' at token 2"),
        ("a O\nb B-X\n", ["--transitions", "bioes"], "line 2: the true labels of sequence 1 end "),
        ("a O\nb NN\n", ["--transitions", "bio"], "line 2: the label 'NN' is not a BIO tag"),
        ("a O\nb B\n", ["--template", "chunking"], "template needs 2 columns"),
        ("1 1:1\n2 2:1\n", [], "looks like svmlight without qid:"),
        ("1 qid:1 1:1\n0 qid:1 1:2\n", [], "line 2: the tag 0 is below 1"),
        ("1 qid:2 1:1\n2 qid:1 1:2\n", [], "line 2: qid:1 comes after qid:2"),
        ("1 qid:1 1:1\n2 qid:1 1:2\n", ["--template", "pos"], "SVM-HMM files already contain"),
        ("1 qid:1 1:1\n2 qid:1 1:2\n", ["--label", 0], "SVM-HMM files have no columns"),
    ],
)  # fmt: skip
def test_unusable_training_files(tmp_path, content, options, message):
    (tmp_path / "data").write_text(content)
    outcome = run("train", "chain", tmp_path / "data", "-qo", tmp_path / "m", *options)
    assert message in error_of(outcome)
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--template", "nonsense"], "nor is it a file, or one of default, chunking, pos"),
        (["--format", "hmm", "--template", "pos"], "--template makes features from columns"),
        (["--class-weight", "balanced", "--loss", "zero-one"], "use --loss hamming"),
        (["--solver", "magic"], "solver 'magic' is not one of"),
        (["-C", "-1"], "C must be a finite number > 0"),
        (["--plot", "x.gif"], "a picture is one of .png, .svg, .pdf"),
        (["-o", "nowhere/m"], "cannot write to"),
    ],
)
def test_unusable_options_are_refused_before_the_data_are_read(tmp_path, options, message):
    (tmp_path / "data").write_text("a line\nof\nother columns\n")
    outcome = run("train", "chain", tmp_path / "data", "-o", tmp_path / "m", *options)
    assert message in error_of(outcome)


def test_options_of_other_structures(folder):
    data = folder / "train.txt"
    for structure, options in [
        ("chain", ["--intercept"]), ("multiclass", ["--template", "pos"]),
        ("binary", ["--start-stop"]), ("multiclass", ["--loss", "hamming"]),
        ("binary", ["--format", "auto"]), ("binary", ["--label", "0"]),
        ("multiclass", ["--transitions", "bio"]),
    ]:  # fmt: skip
        outcome = run("train", structure, data, "-o", "m", *options)
        assert outcome.exit_code == 2
        assert options[0] in outcome.stderr and "No such option" in outcome.stderr


def test_other_mistakes(folder, tmp_path):
    model, data = folder / "m", folder / "train.txt"
    wide = write(tmp_path / "wide", [line and f"{line} X Y" for line in rows()])
    for command in ("predict", "evaluate", "suspects"):
        message = error_of(run(command, model, wide))
        assert "number of columns: 5; the model was trained on 3" in message
        assert "No such file" in error_of(run(command, model, tmp_path / "missing"))
        assert "not a maxmargin model" in error_of(run(command, data, data))
    assert "--scores is not available for chain" in error_of(
        run("predict", model, data, "--scores")
    )
    assert "cannot write to" in error_of(run("predict", model, data, "-o", tmp_path / "no/out"))
    assert "is also the input file" in error_of(run("predict", model, data, "-o", model))
    assert "one of .png" in error_of(run("evaluate", model, data, "--plot", tmp_path / "c.gif"))
    (tmp_path / "s").write_text("1 1:1\n2 2:1\n")
    passed("train", "multiclass", tmp_path / "s", "-qo", tmp_path / "multi")
    message = error_of(run("predict", tmp_path / "multi", tmp_path / "s", "--no-labels"))
    assert "--no-labels is not available for multiclass" in message
    assert "feature 2" in passed("explain", tmp_path / "multi").stdout
    passed("evaluate", tmp_path / "multi", tmp_path / "s", "--plot", tmp_path / "c.svg")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk(folder):
    outcome = run("train", "chain", folder / "train.txt", "-qo", "/dev/full")
    assert error_of(outcome) == "error: /dev/full: cannot be written: No space left on device"
    outcome = run("predict", folder / "m", folder / "train.txt", "-o", "/dev/full")
    assert "No space left on device" in error_of(outcome)


def test_many_labels_make_one_think_of_the_wrong_column(tmp_path):
    data = write(tmp_path / "d", [f"x L{i}" for i in range(1001)])
    outcome = run("train", "chain", data, "-qo", tmp_path / "m", "--max-iter", 1)
    assert "1,001 different labels in column -1" in outcome.stderr


# Several files in a cache


def test_several_files_are_packed_once(folder, tmp_path, monkeypatch):
    paths = [write(tmp_path / f"{k}.txt", rows(SENTENCES[k::2])) for k in range(2)]
    with gzip.open(tmp_path / "1.txt.gz", "wb") as file:
        file.write(paths[1].read_bytes())
    data = (paths[0], tmp_path / "1.txt.gz")
    options = ("--cache", tmp_path / "cache", "-C", 1)
    outcome = passed("train", "chain", *data, "-o", tmp_path / "m", *options)
    assert "6 sequences, 28 tokens" in outcome.output

    def refuse(*_):
        raise AssertionError("a file was parsed again")

    with monkeypatch.context() as patch:
        patch.setattr("maxmargin.backends.formats.read_conll", refuse)
        passed("train", "chain", *data, "-o", tmp_path / "again", "-q", *options)
    test = folder / "train.txt"
    found = [passed("predict", m, test).stdout for m in (tmp_path / "m", tmp_path / "again")]
    assert found[0] == found[1] == passed("predict", folder / "m", test).stdout


def test_hmm_files_are_packed(folder, tmp_path):
    passed(
        "train", "chain", folder / "hmm.txt", "-o", tmp_path / "h", "--cache", tmp_path / "cache",
        "-C", 1, "-q",
    )  # fmt: skip
    same = passed("predict", folder / "h", folder / "hmm.txt").stdout
    assert passed("predict", tmp_path / "h", folder / "hmm.txt").stdout == same


def test_mistakes_with_a_cache_are_named(folder, tmp_path):
    data, cache = folder / "train.txt", ("--cache", tmp_path / "cache")
    bad = write(tmp_path / "bad.txt", ["dog NN"])
    out = ("-o", tmp_path / "m")
    assert "as --cache" in error_of(run("train", "chain", data, data, *out))
    assert "bad.txt: does not" in error_of(run("train", "chain", data, bad, *out, *cache, "-q"))
    alone = write(tmp_path / "alone.txt", ["dog NN O"])
    assert "all tokens have the label 'O'" in error_of(run("train", "chain", alone, *out, *cache))
    empty = write(tmp_path / "empty.txt", [""])
    assert "empty.txt: contains no tokens" in error_of(run("train", "chain", empty, *out, *cache))
    assert "is read twice" in error_of(run("train", "chain", "-", *out, *cache))
    for option in (("--scheme", "bio"), ("--kernel", "rbf"), ("--report", tmp_path / "r.html")):
        message = error_of(run("train", "chain", data, *out, *cache, *option))
        assert f"{option[0]} needs the examples in memory" in message
