"""Sets of labels against binary SVMs, enumeration and scikit-learn's measures."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, f1_score, hamming_loss

import maxmargin as mm
from command_line import error_of, passed, run
from maxmargin.metrics.label_sets import score_label_sets
from maxmargin.structures.multilabel.interactions import chow_liu, mutual_information
from maxmargin.structures.multilabel.problem import LabelSets
from reference import enumerate_planes, primal

C = 0.5


def data(n=30, d=3, L=4, seed=0):
    random = np.random.RandomState(seed)
    X = random.randn(n, d)
    Y = (X @ random.randn(d, L) + 0.5 * random.randn(n, L) > 0).astype(int)
    Y[:, -1] = Y[:, 0] * Y[:, 1]
    return X, Y


@pytest.mark.parametrize("intercept", [False, True])
def test_independent_labels_are_binary_svms(intercept):
    X, Y = data()
    options = dict(C=C, fit_intercept=intercept, max_iter=100_000)
    clf = mm.MultilabelSVC(tol=1e-8, **options).fit(X, Y)
    apart = [mm.BinarySVC(tol=1e-9, **options).fit(X, y) for y in Y.T]
    assert clf.result_.primal == pytest.approx(sum(a.result_.primal for a in apart), rel=1e-6)
    assert np.allclose(clf.coef_, np.vstack([a.coef_ for a in apart]), atol=5e-3)
    assert np.allclose(clf.intercept_, np.ravel([a.intercept_ for a in apart]), atol=5e-3)
    assert np.array_equal(clf.predict(X), np.column_stack([a.predict(X) for a in apart]))
    assert not clf.interactions_.any()


@pytest.mark.parametrize("interactions", ["full", "associative"])
def test_all_pairs_within_the_certificate(interactions):
    """P and D enclose the optimum of the exact problem, by enumeration of all sets."""
    X, Y = data(12, 2, 3)
    pairs = list(itertools.combinations(range(3), 2))

    def features(x, y):
        weights = np.zeros((len(pairs), 2, 2))
        for e, (a, b) in enumerate(pairs):
            weights[e, y[a], y[b]] = 1
        weights = weights[:, 1, 1] if interactions == "associative" else weights.ravel()
        return np.concatenate([np.outer(x, np.asarray(y) - 0.5).ravel(), weights])

    def loss(truth, y):
        return float(np.sum(truth != np.asarray(y)))

    sets = list(itertools.product((0, 1), repeat=3))
    planes = enumerate_planes(features, loss, X, Y, lambda x: sets)
    clf = mm.MultilabelSVC(C=C, interactions=interactions, tol=1e-4).fit(X, Y)
    true = primal(clf.result_.w, *planes, C)
    assert clf.result_.as_asked
    assert np.array_equal(clf._w(), clf.result_.w)
    assert clf.result_.dual - 1e-9 <= true <= clf.result_.primal + 1e-9
    found, score, bound = clf.predict(X, return_bound=True)
    for x, y, mine, limit in zip(X, found, score, bound, strict=True):
        best = max(clf.result_.w @ features(x, z) for z in sets)
        assert clf.result_.w @ features(x, y) == pytest.approx(mine)
        assert mine <= best + 1e-9 <= limit + 2e-9


@pytest.mark.parametrize("interactions", ["full", "associative"])
def test_scores_of_single_labels(interactions):
    """The best set with a label against the best one without it, by enumeration."""
    X, Y = data(20, L=3)
    clf = mm.MultilabelSVC(C=C, interactions=interactions, fit_intercept=True).fit(X, Y)
    sets = np.array(list(itertools.product((0, 1), repeat=3)))
    problem, w = clf._both()
    pack = problem.pack(np.repeat(X, len(sets), axis=0))
    scores = problem.first_scores(pack, w, np.tile(sets, (len(X), 1)).ravel()).reshape(len(X), -1)
    expected = np.column_stack(
        [scores[:, sets[:, k] == 1].max(1) - scores[:, sets[:, k] == 0].max(1) for k in range(3)]
    )
    np.testing.assert_allclose(clf.decision_function(X), expected)
    assert np.array_equal(clf.predict(X), sets[scores.argmax(axis=1)])
    assert clf.result_.gap_inference == 0


def test_associative_pairs_only_attract(tmp_path):
    """Their weights are >= 0, inference is exact, and a model file keeps them."""
    X, Y = data()
    clf = mm.MultilabelSVC(C=C, interactions="associative", fit_intercept=True).fit(X, Y)
    assert clf.inference_ == "min-cut"
    assert clf.result_.converged
    assert clf.pairwise_.min() == 0 < clf.pairwise_.max()
    assert np.array_equal(clf.interactions_[tuple(clf.pairs_.T)], clf.pairwise_[:, 1, 1])
    _, score, bound = clf.predict(X, return_bound=True)
    assert np.array_equal(score, bound)
    clf.save(tmp_path / "m.mm")
    assert np.array_equal(mm.load(tmp_path / "m.mm").predict(X), clf.predict(X))


def test_the_tree_has_the_most_information():
    """Against all trees of four labels: all sets of three pairs without a cycle."""
    _, Y = data(40)
    information = mutual_information(Y)
    pairs = list(itertools.combinations(range(4), 2))

    def connected(tree):
        reached = {0}
        for _ in range(3):
            reached |= {v for pair in tree if reached & set(pair) for v in pair}
        return len(reached) == 4

    trees = [tree for tree in itertools.combinations(pairs, 3) if connected(tree)]
    assert len(trees) == 16  # Cayley
    found = [tuple(pair) for pair in chow_liu(Y).tolist()]
    assert found in [list(tree) for tree in trees]
    best = max(sum(information[pair] for pair in tree) for tree in trees)
    assert sum(information[pair] for pair in found) == pytest.approx(best)


def test_mutual_information_from_its_definition():
    _, Y = data(25, L=3)
    a, b = Y[:, 0], Y[:, 1]
    total = 0.0
    for s, t in itertools.product((0, 1), repeat=2):
        joint = np.mean((a == s) & (b == t))
        if joint > 0:
            total += joint * np.log(joint / (np.mean(a == s) * np.mean(b == t)))
    assert mutual_information(Y)[0, 1] == pytest.approx(total)


def test_costs_of_labels():
    problem = LabelSets(2, cost=[[1.0, 2.0], [0.5, 0.25]])
    pack = problem.pack(np.ones((1, 1)), [[1, 0]])
    loss = problem.functions.loss
    assert loss(pack.data, 0, np.array([0, 0], np.int8)) == 2.0  # the first label is missed
    assert loss(pack.data, 0, np.array([1, 1], np.int8)) == 0.5  # the second is predicted wrongly
    X, Y = data()
    free = mm.MultilabelSVC(label_cost=np.zeros(4)).fit(X, Y)
    assert free.result_.primal == 0


def test_sparse_in_and_out():
    X, Y = data()
    dense = mm.MultilabelSVC(C=C, interactions="tree").fit(X, Y)
    sparse = mm.MultilabelSVC(C=C, interactions="tree").fit(sp.csr_array(X), sp.csc_array(Y))
    found = sparse.predict(sp.csr_array(X))
    assert sp.issparse(found) and not sp.issparse(dense.predict(X))
    assert np.array_equal(found.toarray(), dense.predict(X))
    assert sparse.score(X, sp.csr_array(Y)) == dense.score(X, Y)


def test_partial_fit_of_data_frames_and_sparse_matrices():
    X, Y = data()
    whole = mm.MultilabelSVC(tol=1e-4).fit(X, Y).result_.primal
    for as_X, as_Y in ((pd.DataFrame, pd.DataFrame), (np.asarray, sp.csr_array)):
        parts = [(as_X(X[part]), as_Y(Y[part])) for part in (slice(10), slice(10, None))]
        clf = mm.MultilabelSVC(tol=1e-4).partial_fit(*parts[0]).partial_fit(*parts[1])
        assert clf.result_.primal == pytest.approx(whole, abs=1e-4 * len(X))
    with pytest.raises(mm.DataError, match="Y has 3 columns, those of the earlier examples 4"):
        clf.partial_fit(X, Y[:, :3])
    frame = mm.MultilabelSVC().partial_fit(pd.DataFrame(X, columns=list("abc")), Y)
    with pytest.raises(mm.DataError, match="not those of the earlier examples: a, b, c"):
        frame.partial_fit(pd.DataFrame(X, columns=list("abd")), Y)


def test_explain_needs_a_model():
    with pytest.raises(NotFittedError):
        mm.MultilabelSVC().explain()


def test_interactions_are_shown():
    X, Y = data()
    clf = mm.MultilabelSVC(C=C, interactions="full", label_names=list("abcd")).fit(X, Y)
    assert clf.pairs_.tolist() == [list(p) for p in itertools.combinations(range(4), 2)]
    w = clf.pairwise_[1]  # of a and c
    assert clf.interactions_[0, 2] == clf.interactions_[2, 0]
    assert clf.interactions_[0, 2] == pytest.approx(w[0, 0] + w[1, 1] - w[0, 1] - w[1, 0])
    shown = str(clf.explain())
    assert "pairs of labels" in shown and "a and " in shown


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([0, 1, 1], "MultiLabelBinarizer"),
        ([[0, 1], [2, 0], [1, 1]], r"Y\[1, 0\] is 2"),
        ([[0, 1], [1, 1]], "3 examples and Y has 2"),
        ([[0, 1], [1], [1, 1]], "MultiLabelBinarizer"),
        (np.zeros((3, 0)), "at least one"),
    ],
)
def test_bad_indicators_are_named(Y, message):
    with pytest.raises(mm.DataError, match=message):
        mm.MultilabelSVC().fit(np.ones((3, 2)), Y)


def test_parameters_that_are_refused():
    X, Y = data()
    with pytest.raises(mm.DataError, match="interactions must be one of"):
        mm.MultilabelSVC(interactions="some").fit(X, Y)
    with pytest.raises(mm.DataError, match="label_cost has shape"):
        mm.MultilabelSVC(label_cost=[1.0]).fit(X, Y)
    with pytest.raises(mm.DataError, match="label_names for 4 labels"):
        mm.MultilabelSVC(label_names=["a"]).fit(X, Y)
    with pytest.raises(mm.DataError, match="slack rescaling has no oracle"):
        mm.MultilabelSVC(rescaling="slack").fit(X, Y)


def test_measures_are_those_of_scikit_learn():
    random = np.random.RandomState(0)
    truth, found = random.randint(0, 2, (2, 20, 5))
    truth[0] = found[0] = 0
    scores = score_label_sets(truth, found)
    assert scores.hamming == pytest.approx(hamming_loss(truth, found))
    assert scores.subset_accuracy == pytest.approx(accuracy_score(truth, found))
    assert scores.micro_f1 == pytest.approx(f1_score(truth, found, average="micro"))
    assert scores.macro_f1 == pytest.approx(f1_score(truth, found, average="macro"))
    samples = f1_score(truth, found, average="samples", zero_division=1)
    assert scores.example_f1 == pytest.approx(samples)


def test_text_files(tmp_path):
    """Lines may have no labels, and models keep the names of labels."""
    (tmp_path / "train.txt").write_text("red,big 1:1 2:1\nred 1:1\n2:0.5 # nothing\nbig 2:1\n")
    passed("train", "multilabel", tmp_path / "train.txt", "-o", tmp_path / "m.mm", "-C", "10")
    assert mm.load(tmp_path / "m.mm").classes_.tolist() == ["big", "red"]
    (tmp_path / "new.txt").write_text("red 1:1\n- 1:-1 2:-1\n")
    printed = passed("predict", tmp_path / "m.mm", tmp_path / "new.txt").stdout
    assert printed.split("\n")[:2] == ["red", "-"]
    found = json.loads(passed("evaluate", tmp_path / "m.mm", tmp_path / "new.txt", "--json").stdout)
    assert found["subset_accuracy"] == 1.0
    (tmp_path / "other.txt").write_text("green 1:1\n")
    assert "green" in error_of(run("evaluate", tmp_path / "m.mm", tmp_path / "other.txt"))
    assert passed("predict", tmp_path / "m.mm", tmp_path / "other.txt").stdout == "red\n"
    (tmp_path / "odd.txt").write_text("--5,\u00b2 1:1\n-5 2:1\n", encoding="utf8")
    passed("train", "multilabel", tmp_path / "odd.txt", "-o", tmp_path / "odd.mm")
    assert set(mm.load(tmp_path / "odd.mm").classes_.tolist()) == {"--5", "-5", "\u00b2"}
    (tmp_path / "bad.txt").write_text("red 1:1\nred,,big 1:1\n")
    wrong = error_of(run("train", "multilabel", tmp_path / "bad.txt", "-o", tmp_path / "n.mm"))
    assert "bad.txt, line 2" in wrong


def test_npz_files(tmp_path):
    X, Y = data()
    np.savez(tmp_path / "train.npz", X=X, Y=Y)
    command = ("--interactions", "tree", "--intercept")
    passed("train", "multilabel", tmp_path / "train.npz", "-o", tmp_path / "m.mm", *command)
    clf = mm.MultilabelSVC(interactions="tree", fit_intercept=True).fit(X, Y)
    assert np.array_equal(mm.load(tmp_path / "m.mm").predict(X), clf.predict(X))
    assert "tree" in passed("info", tmp_path / "m.mm").stdout
    np.savez(tmp_path / "bad.npz", X=X, Y=Y[1:])
    wrong = error_of(run("train", "multilabel", tmp_path / "bad.npz", "-o", tmp_path / "n.mm"))
    assert "bad.npz" in wrong and "30 examples" in wrong
