"""The relaxed problem of label sets against all half-integral points."""

import itertools

import numpy as np
import pytest

import maxmargin as mm
from maxmargin.structures.multilabel.relaxed import RelaxedLabelSets
from reference import enumerate_optimum, primal

C, L = 5.0, 3
PAIRS = list(itertools.combinations(range(L), 2))


def data(n=6, seed=5):
    """One or two of three labels: each pair repels, so that halves have high scores."""
    random = np.random.RandomState(seed)
    Y = np.eye(L, dtype=int)[random.randint(0, L, n)]
    Y = np.where(random.rand(n, 1) < 0.5, Y, 1 - Y)
    return random.randn(n, 2), Y


def both_of(y):
    return np.array([y[a] * y[b] for a, b in PAIRS])


def points():
    """Shares of the labels (L,) and of both labels of each pair (m,)."""
    for state in itertools.product((0.0, 0.5, 1.0), repeat=L):
        halves = [p for p, (a, b) in enumerate(PAIRS) if state[a] == state[b] == 0.5]
        for equal in itertools.product((0.0, 0.5), repeat=len(halves)):
            both = np.array([state[a] * state[b] for a, b in PAIRS])
            both[halves] = equal
            yield np.array(state), both


def features(x, state, both):
    weights = np.zeros((len(PAIRS), 2, 2))
    for e, ((a, b), t) in enumerate(zip(PAIRS, both, strict=True)):
        p, q = state[a], state[b]
        weights[e] = [[1 - p - q + t, q - t], [p - t, t]]
    nodes = np.vstack([np.outer(x, state - 0.5), (state - 0.5)[None]])
    return np.concatenate([nodes.ravel(), weights.ravel()])


def test_the_optimum_over_all_half_integral_points():
    X, Y = data()
    planes, losses = [], []
    for x, y in zip(X, Y, strict=True):
        truth = features(x, y, both_of(y))
        planes.append(np.array([truth - features(x, *point) for point in points()]))
        losses.append(np.array([np.abs(point[0] - y).sum() for point in points()]))
    options = dict(C=C, interactions="full", fit_intercept=True, tol=1e-6, max_iter=50_000)
    clf = mm.MultilabelSVC(relax=True, **options).fit(X, Y)
    result = clf.result_
    assert result.converged
    assert result.gap_inference == 0
    assert result.bounds == "of the relaxed problem"
    assert primal(result.w, planes, losses, C) == pytest.approx(result.primal, rel=1e-9)
    best = enumerate_optimum(planes, losses, C, tol=1e-6)
    assert result.dual <= best.primal + 1e-9
    assert best.dual <= result.primal + 1e-9
    whole = [p for p, point in enumerate(points()) if set(point[0]) <= {0.0, 1.0}]
    exact = [A[whole] for A in planes], [loss[whole] for loss in losses]
    assert enumerate_optimum(*exact, C, tol=1e-6).primal < result.dual - 0.01  # halves matter here
    assert set(np.unique(clf.predict(X))) <= {0, 1}


def test_sets_that_are_not_consistent_are_refused():
    X, Y = data(3)
    problem = RelaxedLabelSets(L, PAIRS, bias=1.0)
    pack = problem.pack(X, Y)
    assert problem.valid_labels(pack, pack.truth).all()
    broken = pack.truth.copy()
    broken[L] = 2 - broken[L]  # not the product of whole labels
    valid = problem.valid_labels(pack, broken).reshape(3, -1)
    assert valid.all(axis=1).tolist() == [False, True, True]
    w = np.random.RandomState(0).randn(pack.dim)
    whole = np.array([w @ features(x, y, both_of(y)) for x, y in zip(X, Y, strict=True)])
    assert problem.first_scores(pack, w, pack.truth) == pytest.approx(whole)
    assert problem.truth_features(pack) @ w == pytest.approx(whole.sum())


def test_labels_without_pairs_are_not_relaxed():
    X, Y = data()
    a, b = (mm.MultilabelSVC(relax=relax, tol=1e-6).fit(X, Y).result_ for relax in (True, False))
    assert a.primal == pytest.approx(b.primal, rel=1e-5)


def test_pairs_that_only_attract_are_not_relaxed(tmp_path):
    """Their relaxation has the same optimum; the model can be used and saved."""
    X, Y = data()
    options = {"interactions": "associative", "tol": 1e-6}
    a, b = (mm.MultilabelSVC(relax=relax, **options).fit(X, Y) for relax in (True, False))
    assert a.result_.primal == pytest.approx(b.result_.primal, rel=1e-5)
    a.save(tmp_path / "m.mm")
    np.testing.assert_array_equal(mm.load(tmp_path / "m.mm").predict(X), a.predict(X))
