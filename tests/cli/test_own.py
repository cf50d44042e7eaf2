"""A user's own problem on the command line: ``maxmargin train module:Class``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import maxmargin as mm
from command_line import error_of, passed, run

MODULE = '''
from pathlib import Path
import numpy as np
import maxmargin as mm


class Compass(mm.Problem):
    """x has two numbers; y is one of four directions."""

    def __init__(self, scale=1.0):
        self.scale = scale

    def features(self, x, y):
        return self.scale * np.outer(np.arange(4) == y, x).ravel()

    def loss(self, y_true, y):
        return float(y != y_true)

    def decode(self, x, w, y_true=None, rescaling="margin"):
        scores = self.scale * w.reshape(4, 2) @ x
        if rescaling == "slack":
            raise NotImplementedError("margin only")
        if y_true is not None:
            scores = scores + (np.arange(4) != y_true)
        return int(np.argmax(scores))


class FromText(Compass):
    """The same with files of its own: a letter and two numbers per line."""

    def read_examples(self, path):
        rows = [line.split() for line in Path(path).read_text().splitlines()]
        X = [np.array(row[-2:], float) for row in rows]
        return X, None if len(rows[0]) == 2 else ["NESW".index(row[0]) for row in rows]

    def write_output(self, y, file):
        print("NESW"[y], file=file)


class Broken(Compass):
    def read_examples(self, path):
        return 1 / 0


class WritesNothing(Compass):
    def write_output(self, y, file):
        raise OverflowError("too much")


class NeedsArguments(Compass):
    def __init__(self, scale):
        super().__init__(scale)


half = NeedsArguments(0.5)
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The module, and examples in two formats; it is the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "compass", raising=False)
    Path("compass.py").write_text(MODULE)
    X = np.random.default_rng(0).standard_normal((40, 2))
    Y = np.argmax([X[:, 1], X[:, 0], -X[:, 1], -X[:, 0]], axis=0)
    np.savez("data.npz", X=X, Y=Y)
    np.savez("new.npz", X=X)
    lines = [f"{'NESW'[y]} {a} {b}\n" for (a, b), y in zip(X, Y, strict=True)]
    Path("data.txt").write_text("".join(lines))
    Path("new.txt").write_text("".join(f"{a} {b}\n" for a, b in X))
    return X, Y


def test_train_predict_and_evaluate_agree_with_python(folder):
    X, Y = folder
    outcome = passed("train", "compass:Compass", "data.npz", "-o", "m.mm", "--C", 10)
    assert "StructuredSVC on 40 examples, 8 weights" in outcome.stdout
    from compass import Compass

    model = mm.load("m.mm", problem=Compass())
    expected = mm.StructuredSVC(Compass(), C=10).fit(list(X), Y.tolist())
    np.testing.assert_array_equal(model.coef_, expected.coef_)

    outcome = passed("predict", "m.mm", "new.npz", "--problem", "compass:Compass")
    assert [int(line) for line in outcome.stdout.split()] == expected.predict(X)
    outcome = passed("evaluate", "m.mm", "data.npz", "--json", "--problem", "compass:Compass")
    found = json.loads(outcome.stdout)
    assert found == {"average_loss": pytest.approx(-expected.score(X, Y.tolist())), "n": 40}
    outcome = passed("evaluate", "m.mm", "data.npz", "--problem", "compass:Compass")
    assert outcome.stdout.startswith("average loss 0.")
    assert "Compass" in passed("info", "m.mm").stdout
    assert "feature 0" in passed("explain", "m.mm", "--problem", "compass:Compass").stdout


def test_the_problem_reads_and_writes_its_files(folder):
    passed("train", "compass:FromText", "data.txt", "-qo", "m.mm", "--C", 10)
    outcome = passed("predict", "m.mm", "new.txt", "--problem", "compass:FromText")
    assert set(outcome.stdout.split()) <= set("NESW")
    assert len(outcome.stdout.splitlines()) == 40
    passed("train", "compass:Compass", "data.npz", "-qo", "plain.mm", "--C", 10)
    numbers = passed("predict", "plain.mm", "new.npz", "--problem", "compass:Compass").stdout
    assert [str("NESW".index(letter)) for letter in outcome.stdout.split()] == numbers.split()
    ranked = passed("predict", "m.mm", "new.txt", "--problem", "compass:FromText", "--m-best", 1)
    assert [line.split("\t")[1] for line in ranked.stdout.split("\n") if line] == (
        outcome.stdout.split()
    )


def test_an_instance_can_be_named(folder):
    passed("train", "compass:half", "data.npz", "-qo", "m.mm")
    passed("predict", "m.mm", "new.npz", "--problem", "compass:half")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("nowhere_to_be_found:X", "data.npz", "there is no module nowhere_to_be_found: it must"),
        ("compass:Sextant", "data.npz", "the module compass has no 'Sextant'"),
        ("compass:", "data.npz", "'compass:' is not a name such as module:Name"),
        ("compass:np", "data.npz", "is without features, loss, decode"),
        ("compass:NeedsArguments", "data.npz", "compass:NeedsArguments cannot be made without"),
        ("compass:Broken", "data.npz", "Broken.read_examples('data.npz') raised ZeroDivisionError"),
        ("compass:Compass", "new.npz", "new.npz: has no true outputs: it needs an array Y"),
        ("compass:Compass", "data.txt", "data.txt: is not an npz file of plain arrays"),
        ("compass:FromText", "new.txt", "new.txt: has no true outputs"),
    ],
)
def test_mistakes_are_named(folder, name, data, message):
    assert message in error_of(run("train", name, data, "-o", "m.mm"))
    assert not Path("m.mm").exists()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"Y": np.arange(3)}, "has no array X"),
        ({"X": np.ones((3, 2)), "Y": np.arange(2)}, "has 3 inputs and 2 outputs"),
        ({"X": np.ones((0, 2)), "Y": np.arange(0)}, "contains no examples"),
        ({"X": np.full((3, 2), np.nan), "Y": np.arange(3)}, "array X is a single value, or"),
        ({"X": np.array([{}, {}]), "Y": np.arange(2)}, "is not an npz file of plain arrays"),
    ],
)
def test_unusable_arrays(folder, arrays, message):
    np.savez("odd.npz", **arrays)
    assert message in error_of(run("train", "compass:Compass", "odd.npz", "-o", "m.mm"))


def test_a_model_does_not_name_code(folder):
    passed("train", "compass:Compass", "data.npz", "-qo", "m.mm")
    message = error_of(run("predict", "m.mm", "new.npz"))
    assert "whose code is not in the file" in message
    assert "--problem module:Compass on the command line" in message
    message = error_of(run("predict", "m.mm", "new.npz", "--problem", "compass:FromText"))
    assert "was trained with a problem of class Compass" in message
    passed("train", "compass:WritesNothing", "data.npz", "-qo", "w.mm")
    message = error_of(run("predict", "w.mm", "new.npz", "--problem", "compass:WritesNothing"))
    assert "WritesNothing.write_output raised OverflowError: too much" in message


def test_unknown_structures_are_answered_with_the_known_ones():
    outcome = run("train", "chains", "data", "-o", "m")
    assert outcome.exit_code == 2
    text = " ".join(outcome.stderr.replace("│", " ").split())
    assert "there is no structure 'chains': use one of binary, cfg, chain," in text
    assert "module:Class" in text


def test_outputs_are_written_as_json():
    from maxmargin.structures.own.files import output_lines

    outputs = [3, "left", (1, (2, 3)), np.arange(2), np.float64(0.5), {"a", "b"}, 1 + 2j]
    assert list(output_lines(object(), outputs)) == [
        "3", '"left"', "[1, [2, 3]]", "[0, 1]", "0.5", '["a", "b"]', '"(1+2j)"',
    ]  # fmt: skip
