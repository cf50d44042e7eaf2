"""Calibrated probabilities: curves, estimators, model files and the command line."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import maxmargin as mm
from command_line import passed, run
from maxmargin.data.probabilities import Sigmoid, Softmax, Steps
from maxmargin.io import read_container, write_container
from maxmargin.metrics import expected_calibration_error, reliability_curve
from maxmargin.outputs.calibration import fit_sigmoid, fit_softmax, fit_steps


def data(k):
    """Overlapping normal distributions: training, held-out and test examples."""
    random = np.random.RandomState(0)
    y = random.randint(0, k, 1600)
    X = 0.8 * random.randn(k, 6)[y] + random.randn(1600, 6)
    return X[:400], y[:400], X[400:1000], y[400:1000], X[1000:], y[1000:]


@pytest.fixture(scope="module", params=[2, 4], ids=["two", "four"])
def fitted(request):
    X, y, *rest = data(request.param)
    kind = mm.BinarySVC if request.param == 2 else mm.MulticlassSVC
    return kind(C=0.1).fit(X, y), *rest


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_probabilities_of_classes(fitted, method):
    clf, X_held, y_held, X, y = fitted
    p = mm.calibrate(clf, X_held, y_held, method).predict_proba(X)
    assert p.shape == (len(X), len(clf.classes_))
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert expected_calibration_error(y, p, clf.classes_, 5) < 0.08
    frequency = np.bincount(y_held) / len(y_held)
    own = np.arange(len(y)), y
    assert np.log(np.maximum(p[own], 1e-9)).mean() > np.log(frequency[y]).mean()


def test_two_classes_of_a_multiclass_model():
    X, y, X_held, y_held, X_test, _ = data(2)
    clf = mm.calibrate(mm.MulticlassSVC(C=0.1).fit(X, y), X_held, y_held)
    assert clf.predict_proba(X_test).shape == (600, 2)


def test_without_calibration_there_are_no_probabilities(fitted):
    clf, X_held, y_held, *_ = fitted
    new = clone(clf)
    with pytest.raises(NotFittedError, match="not fitted"):
        new.predict_proba(X_held)
    new.fit(X_held, y_held)
    assert not hasattr(new, "predict_proba") and not hasattr(new, "probability")
    with pytest.raises(NotFittedError, match=r"predict_proba .* call mm.calibrate\(clf, X, Y\)"):
        new.predict_proba(X_held)
    mm.calibrate(new, X_held, y_held)
    assert hasattr(new, "predict_proba")
    new.fit(X_held, y_held)
    assert not hasattr(new, "calibration_")  # other weights, other scores


def test_folds_with_rare_classes():
    X, y, _, _, X_test, y_test = data(4)
    y = y.copy()
    y[:2] = 9  # a stratified fold of three cannot have it in every part
    clf = mm.MulticlassSVC(C=0.1).fit(X, y)
    with pytest.warns(UserWarning, match="least populated"):
        mm.calibrate(clf, X, y, cv=3)
    p = clf.predict_proba(X_test)
    assert p.shape == (600, 5)
    assert expected_calibration_error(y_test, p, clf.classes_, 5) < 0.08


def test_softmax_of_one_feature_is_logistic_regression():
    """With scores +-f/2 of two classes, the temperature is the inverse of a logistic slope."""
    random = np.random.RandomState(0)
    f = random.randn(2000)
    truth = (random.rand(2000) < 1 / (1 + np.exp(-1.7 * f))).astype(int)
    found = fit_softmax(np.column_stack([-f / 2, f / 2]), truth, "sigmoid")
    peer = LogisticRegression(C=np.inf, fit_intercept=False).fit(f[:, None], truth)
    assert 1 / found.temperature == pytest.approx(peer.coef_[0, 0], rel=1e-3)


def test_curves_are_increasing_and_within_bounds():
    random = np.random.RandomState(1)
    scores, truth = random.randn(200), random.rand(200) < 0.4
    for curve in (
        fit_sigmoid(scores, truth),
        fit_sigmoid(-scores, truth),
        fit_steps(scores, truth),
    ):
        p = curve(np.array([-1e9, -1.0, 0.0, 1.0, 1e9, np.inf]))
        assert (np.diff(p) >= 0).all() and p.min() >= 0 and p[-1] == 1.0
    table = np.array([[0.0, 1.0, -np.inf], [5.0, 5.0, 5.0]])
    for curve in (Softmax(2.0), Softmax(2.0, Steps(np.array([0.9, 0.95]), np.array([0.0, 1.0])))):
        p = curve(table)
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert p[0, 2] == 0 and p[0, 1] > p[0, 0]
    assert Sigmoid(1.0, 0.0)(np.array([0.0]))[0] == 0.5


def test_expected_calibration_error_by_hand():
    p = np.array([[0.95, 0.05], [0.85, 0.15], [0.45, 0.55], [0.42, 0.58]])
    y = ["a", "b", "b", "b"]
    # Bins of width 0.1: 0.95 right, 0.85 wrong, 0.55 and 0.58 right.
    expected = (0.05 + 0.85 + 2 * (1 - 0.565)) / 4
    assert expected_calibration_error(y, p, ["a", "b"], 10) == pytest.approx(expected)
    by_sequence = expected_calibration_error([y[:1], y[1:]], [p[:1], p[1:]], ["a", "b"], 10)
    assert by_sequence == pytest.approx(expected)
    curve = reliability_curve(["a", "other"], p[:2], ["a", "b"], 1)
    assert (curve.support.tolist(), curve.accuracy.tolist()) == ([2], [0.5])
    for truth, table in ((y[:3], p), ([y[:2], y[2:]], [p[:1], p[1:]]), (y, p[:, :1]), (y, p + 1)):
        with pytest.raises(mm.DataError):
            reliability_curve(truth, table, ["a", "b"])


# Model files.


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_files_keep_the_calibration(fitted, method, tmp_path):
    clf, X_held, y_held, X, _ = fitted
    mm.calibrate(clf, X_held, y_held, method).save(tmp_path / "m.mm")
    loaded = mm.load(tmp_path / "m.mm")
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    np.testing.assert_array_equal(loaded.probability(X), clf.probability(X))
    assert loaded.calibration_.n == len(y_held)


@pytest.mark.parametrize(
    "change",
    [
        {"method": "other"}, {"n": 0}, {"n": "x"},
        {"curves": {"classes": {"temperature": 0.0, "points": None}}},
        {"curves": {"classes": {"temperature": "x", "points": None}}},
        {"curves": {"classes": {"slope": 1.0, "offset": 0.0}}},
        {"curves": {"labels": {"temperature": 1.0, "points": None}}},
        {"curves": {"output": {"slope": -1.0, "offset": 0.0}}},
        {"curves": {"output": {"points": "coef_"}}}, {"curves": {"output": {"points": "missing"}}},
        {"curves": {"output": {"points": "falls"}}}, {"curves": {"output": {"points": "large"}}},
        {"curves": {"output": []}},
    ],
)  # fmt: skip
def test_altered_calibrations_are_refused(change, tmp_path):
    X, y, X_held, y_held, *_ = data(3)
    mm.calibrate(mm.MulticlassSVC().fit(X, y), X_held, y_held).save(tmp_path / "m.mm")
    meta, arrays = read_container(tmp_path / "m.mm")
    arrays = dict(arrays) | {
        "falls": np.array([[0.0, 1.0], [1.0, 0.0]]), "large": np.array([[0.0, 1.0], [0.0, 2.0]]),
    }  # fmt: skip
    meta["calibration"] |= change
    write_container(tmp_path / "m.mm", meta, arrays)
    with pytest.raises(mm.ModelFileError):
        mm.load(tmp_path / "m.mm")


# The command line.


def test_commands_for_classes(tmp_path):
    rows = [("x", 1, 0.2), ("y", 0.1, 1), ("z", 1, 1), ("x", 0.2, 1), ("y", 0.3, 0.9)]
    lines = [f"{label} 1:{a} 2:{b}\n" for label, a, b in rows]
    (tmp_path / "d.txt").write_text("".join(lines * 5))
    model, new = tmp_path / "m.mm", tmp_path / "c.mm"
    passed("train", "multiclass", tmp_path / "d.txt", "-o", model, "-q")
    failed = run("predict", model, tmp_path / "d.txt", "--probabilities")
    assert failed.exit_code == 1 and "maxmargin calibrate" in failed.output
    passed("calibrate", model, tmp_path / "d.txt", "-o", new)
    passed("predict", new, tmp_path / "d.txt", "--probabilities", "-o", tmp_path / "out")
    out = (tmp_path / "out").read_text().splitlines()
    label, *p = out[0].split("\t")
    clf = mm.load(new)
    np.testing.assert_allclose([float(v) for v in p], clf.predict_proba([[1, 0.2]])[0])
    assert label == clf.predict([[1, 0.2]])[0]
    shown = json.loads(passed("info", new, "--json").output)
    assert shown["calibration"] == {"method": "sigmoid", "n": 25, "curves": ["classes", "output"]}
    assert "held-out" in passed("info", new).output
    assert run("predict", new, tmp_path / "d.txt", "--probabilities", "--scores").exit_code == 2


def test_commands_for_sequences(tmp_path):
    text = "the D\ndog N\n\na D\ndog V\n\nthe D\ndog V\n\nthe D\ndog N\n\n"
    (tmp_path / "d.txt").write_text(text * 4)
    model, new = tmp_path / "m.mm", tmp_path / "c.mm"
    passed("train", "chain", tmp_path / "d.txt", "-o", model, "-q")
    passed("calibrate", model, tmp_path / "d.txt", "-o", new, "--method", "isotonic")
    passed("predict", new, tmp_path / "d.txt", "--probabilities", "-o", tmp_path / "out")
    out = (tmp_path / "out").read_text().splitlines()
    word, truth, label, *pairs = out[0].split()
    assert (word, truth) == ("the", "D")
    found = {name: float(p) for name, p in (pair.split(":") for pair in pairs)}
    assert list(found) == ["D", "N", "V"] and label == max(found, key=lambda name: found[name])
    assert sum(found.values()) == pytest.approx(1, abs=1e-5)


def test_folds_of_a_precomputed_kernel():
    X, y, *_ = data(2)
    X, y = X[:150], y[:150]
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 10)
    clf = mm.BinarySVC(kernel="precomputed").fit(K, y)
    p = mm.calibrate(clf, K, y, cv=3).predict_proba(K)
    same = mm.calibrate(mm.BinarySVC(kernel="rbf", gamma=0.1).fit(X, y), X, y, cv=3).predict_proba(
        X
    )
    np.testing.assert_allclose(p, same, atol=1e-6)
