"""Max-marginals of chains against enumeration, and the probabilities made from them."""

import numpy as np
import pytest
from hypothesis import given, settings

import maxmargin as mm
from maxmargin.structures.chain.marginals import max_marginals
from maxmargin.structures.chain.problem import Chain
from reference import chain_features, chain_outputs
from tests.structures.chain.test_chain import CASES, WEIGHTS


def enumerated(case, w, i, allowed):
    """The best score with each label at each token, over all sequences."""
    best = np.full((len(case.X[i]), case.K), -np.inf)
    for y in chain_outputs(len(case.X[i]), case.K, allowed):
        score = w @ chain_features(case.X[i], y, case.K, case.ends)
        for t, k in enumerate(y):
            best[t, k] = max(best[t, k], score)
    return best


@settings(max_examples=60)
@given(case=CASES, seed=WEIGHTS)
def test_max_marginals_against_enumeration(case, seed):
    pack = case.problem.pack(case.sequences(), case.Y)
    w = np.random.RandomState(seed).randn(pack.dim)
    found = max_marginals(pack, w, case.K)
    for i, (lo, hi) in enumerate(zip(pack.offsets, pack.offsets[1:], strict=False)):
        np.testing.assert_allclose(found[lo:hi], enumerated(case, w, i, case.allowed), atol=1e-10)


def test_without_an_allowed_sequence_the_mask_is_ignored():
    """As by ``predict``: label 1 must follow label 0, and nothing may follow label 1."""
    allowed = np.array([[False, True], [False, False], [True, False], [False, True]])
    problem = Chain(2, allowed=allowed)
    X = [np.array([[1.0], [2.0], [-1.0]]), np.array([[1.0], [2.0]])]
    pack = problem.pack(X)
    w = np.arange(1.0, 1 + pack.dim)
    found = max_marginals(pack, w, 2)
    free = max_marginals(Chain(2).pack(X), w, 2)
    np.testing.assert_array_equal(found[:3], free[:3])
    assert np.isneginf(found[3:]).tolist() == [[False, True], [True, False]]


def noisy(n, seed=0):
    """Sequences whose labels cannot be predicted with certainty."""
    random = np.random.RandomState(seed)
    means = np.random.RandomState(1).randn(3, 4)
    Y = [random.randint(0, 3, 4) for _ in range(n)]
    X = [means[y] + 0.8 * random.randn(4, 4) for y in Y]
    return X, [["abc"[k] for k in y] for y in Y]


@pytest.fixture(scope="module")
def tagger():
    X, Y = noisy(900)
    return mm.ChainSVC(C=0.1).fit(X[:300], Y[:300]), X[300:600], Y[300:600], X[600:], Y[600:]


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_probabilities_of_labels(tagger, method):
    clf, X_held, Y_held, X, Y = tagger
    assert mm.calibrate(clf, X_held, Y_held, method) is clf
    found = clf.predict_marginals([*X, np.zeros((0, 4))])
    assert [p.shape for p in found[:2]] == [(4, 3), (4, 3)] and found[-1].shape == (0, 3)
    flat = np.concatenate(found)
    np.testing.assert_allclose(flat.sum(axis=1), 1.0)
    assert (flat >= 0).all()
    predicted = clf.predict(X)
    for p, labels in zip(found, predicted, strict=False):
        assert clf.classes_[p.argmax(axis=1)].tolist() == labels
    # 1200 tokens: the standard error of an accuracy is about 0.012.
    assert mm.metrics.expected_calibration_error(Y, found[:-1], clf.classes_, 5) < 0.06


def test_the_temperature_is_the_most_likely_one(tagger):
    clf, X, Y, *_ = tagger
    mm.calibrate(clf, X, Y)
    scores = np.concatenate(clf.max_marginals(X))
    truth = np.searchsorted(clf.classes_, np.concatenate(Y))

    def likelihood(temperature):
        p = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
        return np.log(p[np.arange(len(p)), truth] / p.sum(axis=1)).sum()

    best = clf.calibration_.curves["classes"].temperature
    assert likelihood(best) >= max(likelihood(best * f) for f in (0.3, 0.9, 0.99, 1.01, 1.1, 3))


def test_folds(tagger):
    _, X_held, Y_held, X, Y = tagger
    clf = mm.ChainSVC(C=0.1).fit(X_held, Y_held)
    before = clf.coef_.copy()
    mm.calibrate(clf, X_held, Y_held, cv=3)
    np.testing.assert_array_equal(clf.coef_, before)
    assert clf.calibration_.n == len(X_held)
    assert (
        mm.metrics.expected_calibration_error(Y, clf.predict_marginals(X), clf.classes_, 5) < 0.06
    )


def test_forbidden_labels_are_impossible():
    X = [[["the"], ["dog"]], [["a"], ["dog"]], [["the"], ["dog"]], [["odd"], ["dog"]]]
    Y = [["O", "B-N"], ["B-N", "I-N"], ["O", "O"], ["B-N", "O"]]
    clf = mm.ChainSVC(C=1.0, transitions="bio").fit(X, Y)
    mm.calibrate(clf, X, Y)
    p = clf.predict_marginals(X)
    k = clf.classes_.tolist().index("I-N")
    assert all(rows[0, k] == 0 for rows in p)
    np.testing.assert_allclose(np.concatenate(p).sum(axis=1), 1)


def test_a_kernel_has_marginals_too():
    X, Y = noisy(60)
    clf = mm.calibrate(mm.ChainSVC(kernel="rbf", C=1.0).fit(X[:40], Y[:40]), X[40:], Y[40:])
    for p, labels in zip(clf.predict_marginals(X), clf.predict(X), strict=True):
        assert clf.classes_[p.argmax(axis=1)].tolist() == labels
