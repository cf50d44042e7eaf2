"""Pruned models: their objective from the definition, their predictions and files."""

import numpy as np
import pytest

import maxmargin as mm
from command_line import error_of, passed, run
from maxmargin.datasets import make_conll
from maxmargin.io import write_trees
from reference import chain_planes, primal

TREES = mm.datasets.make_trees(30, seed=0)


def sentences(n):
    """Words and parts of speech of each token, and its chunk tag."""
    blocks = "\n".join(make_conll(n, seed=0)).strip().split("\n\n")
    tokens = [[line.split() for line in block.split("\n")] for block in blocks]
    return [[t[:-1] for t in each] for each in tokens], [[t[-1] for t in each] for each in tokens]


def test_the_objective_is_that_of_the_pruned_weights():
    random = np.random.RandomState(0)
    X = [random.randn(3, 4) for _ in range(8)]
    codes = [random.randint(0, 2, 3) for _ in X]
    Y = [["ab"[k] for k in y] for y in codes]
    weight = random.uniform(0.5, 2, 8)
    clf = mm.ChainSVC(C=0.3, tol=0.01, start_stop=True).fit(X, Y, sample_weight=weight)
    planes, losses = chain_planes(X, codes, 1.0 - np.eye(2), False, ends=True)
    old = clf.result_
    found = clf.prune(X, Y, below=0.4, sample_weight=weight)
    w = clf.result_.w
    assert np.count_nonzero(w) == found.weights[1] < found.weights[0]
    assert (np.abs(w[w != 0]) >= 0.4 * np.abs(old.w).max()).all()
    expected = [primal(v, planes, losses, 0.3, weight) for v in (old.w, w)]
    np.testing.assert_allclose(found.primal, expected)
    assert clf.result_.primal == found.primal[1] and clf.result_.dual == old.dual
    assert clf.result_.gap == pytest.approx(expected[1] - old.dual)
    assert clf.result_.status is mm.Status.PRUNED
    assert clf.result_.gap > clf.result_.target
    with pytest.raises(mm.DataError, match="training examples"):
        clf.prune(X[1:], Y[1:], sample_weight=weight[1:])


def test_features_without_weights_are_removed(tmp_path):
    X, Y = sentences(40)
    clf = mm.ChainSVC(template="default", C=0.1).fit(X, Y)
    clf.save(tmp_path / "m")
    full, before = len(clf.feature_names_), clf.coef_.copy()
    names = list(clf.feature_names_)
    found = clf.prune(X, Y, below=0.2)
    assert len(clf.feature_names_) == clf.n_features_in_ == found.features[1] < full
    for j, name in enumerate(clf.feature_names_):
        old = before[:, names.index(name)]
        np.testing.assert_array_equal(clf.coef_[:, j], np.where(clf.coef_[:, j] == 0, 0, old))
    clf.save(tmp_path / "p")
    assert (tmp_path / "p").stat().st_size < (tmp_path / "m").stat().st_size
    loaded = mm.load(tmp_path / "p")
    assert loaded.predict(X) == clf.predict(X)
    assert loaded.result_.status is clf.result_.status


def test_nothing_changes_without_small_weights():
    X, Y = sentences(20)
    clf = mm.ChainSVC(template="default", C=0.1).fit(X, Y)
    before, status = clf.predict(X), clf.result_.status
    found = clf.prune(X, Y, below=0.0)
    assert found.primal[0] == pytest.approx(found.primal[1])
    assert clf.predict(X) == before and clf.result_.status is status
    for bad in (-0.1, 1.1, float("nan")):
        with pytest.raises(mm.DataError, match="fraction"):
            clf.prune(X, Y, below=bad)
    clf.prune(X, Y, below=1.0)  # only the largest weight is left
    assert len(set(np.abs(clf.result_.w[clf.result_.w != 0]))) == 1


def test_parsers_and_kernels():
    clf = mm.CFGSVC(C=0.1, features="rich").fit(None, TREES)
    found = clf.prune(None, TREES, below=0.5)
    assert found.weights[1] < found.weights[0] and found.primal[1] > found.primal[0]
    assert np.count_nonzero(clf.coef_) == found.weights[1]
    X = [np.eye(2)]
    kernel = mm.ChainSVC(kernel="rbf").fit(X, [["a", "b"]])
    with pytest.raises(mm.MaxMarginError, match="kernel"):
        kernel.prune(X, [["a", "b"]])


def test_command(tmp_path):
    write_trees(tmp_path / "t", TREES)
    passed("train", "cfg", tmp_path / "t", "-o", tmp_path / "m", "-q", "--features", "rich")
    shown = passed("prune", tmp_path / "m", tmp_path / "t", "-o", tmp_path / "p", "--below", 0.3)
    size = (tmp_path / "p").stat().st_size
    assert "kept" in shown.output and f"{size:,} bytes instead of" in shown.output
    assert "pruned" in passed("info", tmp_path / "p").output.lower()
    (tmp_path / "d").write_text("a 1:1\nb 2:1\n")
    passed("train", "multiclass", tmp_path / "d", "-o", tmp_path / "c", "-q")
    message = error_of(run("prune", tmp_path / "c", tmp_path / "d", "-o", tmp_path / "p"))
    assert "taggers and parsers" in message
