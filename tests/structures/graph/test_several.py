"""Confidence, marginals and several labellings of graphs, images and label sets."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification

import maxmargin as mm
from maxmargin.structures.graph.tiny import features


def rings(n, size=5, seed=0, cycle=True):
    """Noisy nodes with two labels, most of which are equal to their neighbours'."""
    random = np.random.RandomState(seed)
    edges = [(v, v + 1) for v in range(size - 1)] + ([(size - 1, 0)] if cycle else [])
    Y = [(np.arange(size) < random.randint(1, size)).astype(int) for _ in range(n)]
    X = [np.column_stack([y + random.randn(size), np.ones(size)]) for y in Y]
    return [mm.Graph(x, edges) for x in X], Y


@pytest.fixture(scope="module")
def cut():
    X, Y = rings(60)
    return mm.GraphSVC(C=0.3, pairwise="associative").fit(X[:30], Y[:30]), X, Y


def test_marginals_and_confidence_against_enumeration(cut):
    clf, X, _ = cut
    assert clf.inference_ == "min-cut"
    w, some = clf.result_.w, X[30:36]
    pairs = zip(some, clf.max_marginals(some), clf.confidence(some), strict=True)
    for x, found, confidence in pairs:
        outputs = np.array(list(itertools.product((0, 1), repeat=len(x))))
        scores = np.array([w @ features(x, y, 2, "associative") for y in outputs])
        best = [[scores[outputs[:, v] == k].max() for k in (0, 1)] for v in range(len(x))]
        np.testing.assert_allclose(found, best, atol=1e-9)
        top = np.sort(scores)
        assert confidence == pytest.approx(top[-1] - top[-2], abs=1e-9)


def test_probabilities_of_labels(cut, tmp_path):
    clf, X, Y = cut
    with pytest.raises(AttributeError, match="needs a calibration"):
        clf.predict_marginals(X)
    some = [y.astype(object) for y in Y[30:45]]
    some[0][1] = None  # this graph is not used
    mm.calibrate(clf, X[30:45], some)
    clf.save(tmp_path / "model.mm")
    for model in (clf, mm.load(tmp_path / "model.mm")):
        found = model.predict_marginals(X[45:])
        for p, y in zip(found, model.predict(X[45:]), strict=True):
            np.testing.assert_allclose(p.sum(axis=1), 1)
            assert p.argmax(axis=1).tolist() == y.tolist()
    right = np.concatenate([p[np.arange(5), y] for p, y in zip(found, Y[45:], strict=True)])
    assert right.mean() > 0.6
    assert ((clf.probability(X) >= 0) & (clf.probability(X) <= 1)).all()


def test_diverse_labellings(cut):
    clf, X, _ = cut
    for diversity in (0.0, 0.5):
        for found in clf.predict_m_best(X[30:34], 4, diversity):
            assert len({tuple(y.tolist()) for y, _ in found}) == len(found) == 4
            assert found[0][1] == max(score for _, score in found)
    apart = clf.predict_m_best(X[30:31], 2, 100.0)[0]
    assert (apart[0][0] != apart[1][0]).all()


@pytest.mark.slow
def test_forests_in_models_with_cycles_and_refusals():
    X, Y = rings(8)
    chains, _ = rings(3, seed=1, cycle=False)
    three = [np.where(y == 0, np.arange(5) % 2 * 2, y) for y in Y]
    clf = mm.GraphSVC(C=0.3, tol=0.1).fit(X, three)
    assert clf.inference_ == "combined"
    assert clf.max_marginals(chains)[0].shape == (5, 3)
    with pytest.raises(mm.DataError, match="graph 1 has a cycle: max-marginals are known"):
        clf.max_marginals([chains[0], X[0]])
    assert (clf.confidence(X) >= -1e-9).all()
    assert len(clf.predict_m_best(X[:1], 3, 1.0)[0]) >= 1


@pytest.mark.parametrize(
    "pairwise", ["associative", pytest.param("symmetric", marks=pytest.mark.slow)]
)
def test_training_with_several_cuts_reaches_the_same_optimum(pairwise):
    X, Y = rings(12, 4)
    one, five = (
        mm.GraphSVC(
            C=0.3, pairwise=pairwise, inference="auto", tol=1e-3, solver=mm.OneSlack(m_cuts=m)
        ).fit(X, Y)
        for m in (1, 5)
    )
    gap = max(one.result_.gap, five.result_.gap)
    assert abs(one.result_.primal - five.result_.primal) <= gap


def test_images_have_marginals_of_pixels():
    random = np.random.RandomState(0)
    truth = np.zeros((3, 4), int)
    truth[:, 2:] = 1
    X = [np.dstack([truth + random.randn(3, 4), np.ones((3, 4))]) for _ in range(6)]
    clf = mm.GridSVC(C=0.3, pairwise="associative").fit(X[:4], [truth] * 4)
    found = clf.max_marginals(X)
    assert [m.shape for m in found] == [(3, 4, 2)] * 6
    for m, y in zip(found, clf.predict(X), strict=True):
        assert (m.argmax(axis=2) == y).all()
    outputs = clf.predict_m_best(X[4:5], 3)[0]
    assert [y.shape for y, _ in outputs] == [(3, 4)] * 3


@pytest.mark.parametrize("interactions", ["none", "tree", "full"])
def test_label_sets(interactions):
    X, Y = make_multilabel_classification(90, n_features=5, n_classes=3, random_state=0)
    X = X / 10
    clf = mm.MultilabelSVC(C=0.1, interactions=interactions).fit(X[:40], Y[:40])
    scores = clf.decision_function(X)
    assert ((scores > 0) == clf.predict(X)).all()
    found = clf.predict_m_best(X[:5], 8)
    for i, sets in enumerate(found):
        assert len({tuple(y) for y, _ in sets}) == 8  # all sets
        values = np.array([score for _, score in sets])
        assert (np.diff(values) <= 1e-12).all()
        for k in range(3):
            has = np.array([y[k] == 1 for y, _ in sets])
            assert scores[i, k] == pytest.approx(values[has].max() - values[~has].max(), abs=1e-9)
    np.testing.assert_allclose(clf.confidence(X[:5]), [s[0][1] - s[1][1] for s in found])
    mm.calibrate(clf, X[40:70], Y[40:70])
    p = clf.predict_proba(X[70:])
    assert p.shape == (20, 3) and ((p >= 0) & (p <= 1)).all()
    assert (np.diff(p.ravel()[np.argsort(clf.decision_function(X[70:]).ravel())]) >= -1e-12).all()


@pytest.mark.slow
def test_label_sets_without_exact_inference():
    X, Y = make_multilabel_classification(30, n_features=5, n_classes=4, random_state=0)
    clf = mm.MultilabelSVC(C=0.01, interactions="full", inference="roof-dual").fit(X / 10, Y)
    with pytest.raises(mm.DataError, match="use interactions='tree' or 'none'"):
        clf.decision_function(X)
    assert len(clf.predict_m_best(X[:2] / 10, 3, 1.0)[0]) >= 1
