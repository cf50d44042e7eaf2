"""What every estimator answers: weights, suspects, data frames, tables per entity type."""

import json
import sys

import numpy as np
import pytest
import seqeval.metrics

import maxmargin as mm
from command_line import passed
from enumerated import Sign
from maxmargin.datasets import make_multiclass
from maxmargin.metrics import classification_report
from maxmargin.outputs.explain import largest_slacks
from maxmargin.structures.multiclass.problem import Multiclass

COST = np.array([[0.0, 1.0, 2.5], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
TREES = [
    "(S (NP (D the) (N dog)) (VP (V sees) (NP (D a) (N cat))))",
    "(S (NP (D a) (N cat)) (VP (V sleeps)))",
    "(S (NP (D the) (N dog)) (VP (V sees) (NP (NP (D a) (N cat)) (PP (P by) (NP (D a) (N dog))))))",
    "(S (NP (D the) (N dog)) (VP (V sees) (NP (D a) (N cat)) (PP (P by) (NP (D a) (N dog)))))",
]


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_suspects_of_classes_are_those_of_the_oracle(rescaling):
    X, y = make_multiclass(60, 5, 3, noise=0.3)
    clf = mm.MulticlassSVC(C=0.01, loss=COST, rescaling=rescaling).fit(X, y)
    pack = Multiclass(3, COST).pack(X, y.astype(np.int32))
    expected = largest_slacks(Multiclass(3, COST), pack, clf.result_.w, rescaling, 8)
    found = clf.suspects(X, y, n=8)
    assert [s["index"] for s in found] == [s.index for s in expected]
    for a, b in zip(found, expected, strict=True):
        assert (a["truth"], a["worst"]) == (b.truth[0], b.worst[0])
        assert a["slack"] == pytest.approx(b.slack) and a["loss"] == pytest.approx(b.loss)


@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_suspects_of_two_classes(kernel):
    X, y = make_multiclass(50, 4, 2, noise=0.2)
    clf = mm.BinarySVC(C=0.1, kernel=kernel).fit(X, y)
    hinge = np.maximum(0, 1 - (2 * y - 1) * clf.decision_function(X))
    (first, *_) = clf.suspects(X, y)
    assert first["index"] == hinge.argmax() and first["slack"] == pytest.approx(hinge.max())
    with pytest.raises(mm.DataError, match="not in the training data"):
        clf.suspects(X, y + 5)
    with pytest.raises(mm.DataError, match="lengths"):
        clf.suspects(X, y[1:])


def test_suspects_of_trees():
    clf = mm.CFGSVC(C=0.05).fit(None, TREES)
    found = clf.suspects(None, TREES, n=2)
    assert len(found) == 2 and found[0]["slack"] >= found[1]["slack"] > 0
    assert str(found[0]["truth"]) == TREES[found[0]["index"]]
    with pytest.warns(UserWarning, match="1 of 2 trees are skipped"):
        (other,) = clf.suspects(None, ["(X (D the) (N dog))", TREES[2]])
    assert other["index"] == 1


def test_suspects_of_a_users_problem():
    X, Y = np.array([[1.0], [-3.0], [0.25]]), [1, 1, 1]
    clf = mm.StructuredSVC(Sign(), C=1.0).fit(X, Y)
    found = clf.suspects(X, Y)
    hinge = np.maximum(0, 1 - X[:, 0] * clf.coef_[0])
    assert found[0]["index"] == hinge.argmax() and found[0]["slack"] == pytest.approx(hinge.max())
    assert (found[0]["truth"], found[0]["worst"]) == (1, -1)


def test_commands_for_classes_and_trees(tmp_path):
    (tmp_path / "d.txt").write_text("a 1:1\nb 2:1\nc 1:1 2:1\na 1:0.9 2:0.9\n")
    passed("train", "multiclass", tmp_path / "d.txt", "-o", tmp_path / "m.mm", "-q")
    assert "slack" in passed("suspects", tmp_path / "m.mm", tmp_path / "d.txt").stdout
    shown = passed("suspects", tmp_path / "m.mm", tmp_path / "d.txt", "--json", "-n", 1).stdout
    assert set(json.loads(shown)[0]) == {"index", "slack", "loss", "truth", "worst"}
    (tmp_path / "t.mrg").write_text("\n".join(TREES))
    passed("train", "cfg", tmp_path / "t.mrg", "-o", tmp_path / "p.mm", "-q")
    shown = passed("suspects", tmp_path / "p.mm", tmp_path / "t.mrg", "--json").stdout
    assert all(s["truth"].startswith("(S ") for s in json.loads(shown))


def test_entity_types_as_in_seqeval():
    random = np.random.RandomState(0)
    tags = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG"]
    Y, found = ([[tags[k] for k in random.randint(0, 6, 8)] for _ in range(30)] for _ in range(2))
    expected = seqeval.metrics.classification_report(Y, found, output_dict=True)
    mine = classification_report(Y, found, output_dict=True)
    assert set(mine) == set(expected)
    for name, row in expected.items():
        assert mine[name] == pytest.approx(dict(row))
    json.dumps(mine)
    assert "PER" in classification_report(Y, found)
    assert set(classification_report([["x"]], [["x"]], output_dict=True)) == {
        "x", "micro avg", "macro avg", "weighted avg",
    }  # fmt: skip


@pytest.fixture(scope="module")
def tagger():
    X = [[["the"], ["dog"]], [["a"], ["dog"]], [["the"], ["dog"]], [["a"], ["cat"]]]
    Y = [["B-X", "I-X"], ["O", "B-Y"], ["B-X", "O"], ["O", "B-Y"]]
    return mm.ChainSVC(C=0.1).fit(X, Y), X, Y


def test_frames_need_pandas(tagger, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)  # as if it were not installed
    with pytest.raises(mm.MaxMarginError, match="pip install pandas"):
        tagger[0].explain().to_frame()


def test_frames(tagger):
    pytest.importorskip("pandas")
    clf, X, Y = tagger
    frame = clf.explain(2).to_frame()
    assert list(frame.columns) == ["label", "feature", "weight"]
    assert "transitions" in set(frame["label"]) and len(frame) > 4
    frame = clf.suspects(X, Y, n=2).to_frame()
    assert frame["slack"].is_monotonic_decreasing and "worst" in frame
    counts = mm.metrics.evaluate_sequences(Y, clf.predict(X)).entities
    assert set(counts.to_frame()["name"]) == {"X", "Y"}
    rules = mm.CFGSVC().fit(None, TREES).explain(3).to_frame()
    assert list(rules.columns) == ["rule", "weight"] and len(rules) == 6
    assert len(clf.suspects(X, Y, n=1).to_frame()) == 1


def test_the_report_shows_entities_and_reliability(tagger, tmp_path):
    pytest.importorskip("bokeh")
    clf, X, Y = tagger
    clf = mm.ChainSVC(C=0.1).fit(X, Y)
    clf.report(tmp_path / "r.html", X, Y)
    before = (tmp_path / "r.html").read_text(encoding="utf8")
    assert "<th >entities</th>" in before and "Reliability" not in before
    mm.calibrate(clf, X, Y)
    clf.report(tmp_path / "r.html", X, Y, test=(X, Y))
    after = (tmp_path / "r.html").read_text(encoding="utf8")
    error = mm.metrics.expected_calibration_error(Y, clf.predict_marginals(X), clf.classes_)
    assert "Reliability of probabilities" in after and f"{100 * error:.2f} % on the test" in after


def test_the_report_of_a_parser(tmp_path):
    pytest.importorskip("bokeh")
    mm.CFGSVC(C=0.05).fit(None, TREES).report(tmp_path / "r.html", None, TREES)
    text = (tmp_path / "r.html").read_text(encoding="utf8")
    assert "<th >constituents</th>" in text and "Largest slacks" in text
