"""Warm starts, paths over C and cross-validation: the same optima for less work."""

import pickle
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, KFold

import maxmargin as mm
from maxmargin.errors import DataError
from maxmargin.structures.multiclass.problem import Multiclass
from reference import enumerate_optimum
from tests.solvers.test_solvers import EXACT, SUBLINEAR, example

SOLVERS = {k: v for k, v in (EXACT | SUBLINEAR).items() if "," not in k} | {
    "one-slack, line search": mm.OneSlack(qp="line-search")
}
CS = [0.05, 0.3, 2.0]


@cache
def optimum(name, rescaling, C):
    data = example(name)
    return enumerate_optimum(*data.planes(rescaling == "slack"), C=C, weights=data.weight)


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("name", ["multiclass", "chain", "chain in Python"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_path_ends_at_the_optimum_of_each_C(solver, name, rescaling):
    data, tol = example(name), 1e-5 if solver in EXACT else 3e-2
    found = mm.regularization_path(
        data.problem, data.X, data.Y, CS, solver=SOLVERS[solver], rescaling=rescaling, tol=tol,
        sample_weight=data.weight, max_iter=3000,
    )  # fmt: skip
    for C, result in zip(CS, found.results, strict=True):
        best = optimum(name, rescaling, C)
        assert result.converged
        assert result.dual <= best.primal * (1 + 1e-9)
        assert best.dual * (1 - 1e-9) <= result.primal <= best.primal + tol * C * data.n + 1e-9


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400] / 16, y[:400]


@pytest.mark.parametrize("solver", ["one-slack", "sdm", "n-slack"])
def test_a_path_saves_oracle_calls(solver, digits):
    found = mm.regularization_path(
        Multiclass(10), *digits, [3.0, 0.1, 1.0], solver=solver, compare=True
    )
    assert found.Cs.tolist() == [0.1, 1.0, 3.0]
    assert found.results[0].n_oracle == found.separate[0].n_oracle
    for a, b in zip(found.results, found.separate, strict=True):
        assert max(a.dual, b.dual) <= min(a.primal, b.primal)
    assert 0.2 < found.saved < 1
    assert f"{found.saved:.0%} fewer" in repr(found)


@pytest.mark.parametrize("solver", ["sdm", "one-slack", "n-slack"])
def test_results_of_a_path_with_long_w_are_their_own(solver):
    """Later runs change the state of earlier ones in place, but not their certified weights."""
    random = np.random.RandomState(0)
    X = sp.random(40, 400_000, 20 / 400_000, "csr", random_state=random)
    y, K = random.randint(3, size=40), 3
    path = mm.regularization_path(Multiclass(K), X, y, [0.001, 0.1, 1.0], solver=solver)
    for C, result in zip((0.001, 0.1, 1.0), path.results, strict=True):
        scores = X @ result.w.reshape(-1, K)
        worst = scores + (np.arange(K) != y[:, None])
        hinges = worst.max(axis=1) - scores[np.arange(40), y]
        value = 0.5 * result.w @ result.w + C * hinges.sum()
        assert result.primal == pytest.approx(value, rel=1e-9)


def test_the_values_of_C_are_checked(digits):
    assert len(mm.regularization_path(Multiclass(10), *digits, 2, tol=0.5).Cs) == 2
    for wrong in (0, [0.0], [], [np.inf], ["a"]):
        with pytest.raises(DataError, match="Cs"):
            mm.regularization_path(Multiclass(10), *digits, wrong)
    with pytest.raises(DataError, match="compare=True"):
        mm.regularization_path(Multiclass(10), *digits, [1.0], tol=0.5).saved  # noqa: B018


def test_a_time_limit_holds_for_each_value(digits):
    found = mm.regularization_path(
        Multiclass(10), *digits, [5.0, 50.0], tol=1e-12, max_time=1e-9, solver="sdm"
    )
    assert [r.status for r in found.results] == [mm.Status.MAX_TIME] * 2
    assert all(np.isfinite(r.primal) for r in found.results)


@pytest.mark.parametrize("solver", SOLVERS)
def test_partial_fit_ends_at_the_optimum_of_all_data(solver, digits):
    X, y = digits
    tol = 1e-3 if solver in EXACT else 5e-2
    options = {"C": 0.05, "tol": tol, "solver": SOLVERS[solver], "max_iter": 3000}
    clf = mm.MulticlassSVC(**options)
    for part in (slice(0, 150), slice(150, 300), slice(300, 400)):
        clf.partial_fit(X[part], y[part])
    whole = mm.MulticlassSVC(**options).fit(X, y)
    bound = tol * 0.05 * len(y)
    assert clf.result_.converged
    assert abs(clf.result_.primal - whole.result_.primal) <= bound
    assert max(clf.result_.dual, whole.result_.dual) <= min(
        clf.result_.primal, whole.result_.primal
    )
    if solver in EXACT:
        # What was learnt from the first parts serves: about the calls of one run, not of three.
        assert clf.result_.n_oracle < 2 * whole.result_.n_oracle


@pytest.mark.parametrize("solver", ["sdm", "one-slack", "n-slack"])
def test_partial_fit_takes_new_classes_features_and_weights(solver):
    rng = np.random.RandomState(0)
    words = [f"w{k}" for k in range(30)]

    def sentences(n, tags, known):
        Y = [[tags[k] for k in rng.randint(len(tags), size=5)] for _ in range(n)]
        X = [[[words[rng.randint(known)], "is" + tag] for tag in tags] for tags in Y]
        return X, Y

    first, second = sentences(20, ["N", "V"], 10), sentences(20, ["A", "N", "V", "X"], 30)
    options = {"C": 0.5, "tol": 1e-4, "solver": solver}
    clf = mm.ChainSVC(**options).partial_fit(*first)
    assert clf.classes_.tolist() == ["N", "V"]
    clf.partial_fit(*second, sample_weight=np.full(20, 2.0))
    X, Y = first[0] + second[0], first[1] + second[1]
    whole = mm.ChainSVC(**options).fit(X, Y, sample_weight=np.repeat([1.0, 2.0], 20))
    assert clf.classes_.tolist() == ["A", "N", "V", "X"]
    assert clf.result_.primal == pytest.approx(whole.result_.primal, abs=1e-4 * 0.5 * 60)
    assert clf.predict(X) == whole.predict(X)


def test_partial_fit_of_matrices_sequences_and_structures(digits):
    X, y = digits
    clf = mm.BinarySVC(tol=1e-4).partial_fit(sp.csr_array(X[:100]), y[:100] > 4)
    clf.partial_fit(sp.csr_array(X[100:]), y[100:] > 4)
    whole = mm.BinarySVC(tol=1e-4).fit(X, y > 4)
    assert clf.result_.primal == pytest.approx(whole.result_.primal, abs=1e-4 * 400)
    sequences = mm.Sequences(X, np.arange(0, 401, 5), np.ones(400))
    tags = y.reshape(-1, 5)
    chain = mm.ChainSVC(C=0.01, tol=1e-3).partial_fit(sequences[:40], tags[:40])
    chain.partial_fit(sequences[40:], tags[40:])
    whole = mm.ChainSVC(C=0.01, tol=1e-3).fit(sequences, tags)
    assert chain.result_.primal == pytest.approx(whole.result_.primal, abs=1e-3 * 0.01 * 80)
    data = example("chain in Python")
    own = mm.StructuredSVC(data.problem, C=0.3, tol=1e-5)
    own.partial_fit(data.X[:2], data.Y[:2]).partial_fit(data.X[2:], data.Y[2:])
    whole = mm.StructuredSVC(data.problem, C=0.3, tol=1e-5).fit(data.X, data.Y)
    assert own.result_.primal == pytest.approx(whole.result_.primal, abs=1e-4)


def test_partial_fit_after_fit_and_after_a_copy(digits):
    X, y = digits
    clf = mm.MulticlassSVC(C=0.05, tol=1e-3).fit(X[:300], y[:300])
    clf.partial_fit(X[300:], y[300:])
    whole = mm.MulticlassSVC(C=0.05, tol=1e-3).fit(X, y)
    assert clf.result_.primal == pytest.approx(whole.result_.primal, abs=1e-3 * 0.05 * len(y))
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.coef_, clf.coef_)
    assert len(pickle.dumps(clf)) < X.nbytes
    with pytest.raises(DataError, match="does not have them"):
        again.partial_fit(X, y)
    with pytest.raises(DataError, match="has 63 features, but MulticlassSVC is expecting 64"):
        clf.partial_fit(X[:, 1:], y)
    clf.fit(X, y)  # a fit knows nothing of what was before
    np.testing.assert_array_equal(clf.coef_, whole.coef_)


@pytest.mark.parametrize("solver", ["one-slack", "sdm"])
def test_warm_start_serves_another_C(solver, digits):
    clf = mm.MulticlassSVC(C=0.1, warm_start=True, solver=solver).fit(*digits)
    clf.set_params(C=0.2).fit(*digits)
    cold = mm.MulticlassSVC(C=0.2, solver=solver).fit(*digits)
    assert clf.result_.n_oracle < cold.result_.n_oracle
    assert max(clf.result_.dual, cold.result_.dual) <= min(clf.result_.primal, cold.result_.primal)
    X, y = digits
    other = mm.MulticlassSVC(C=0.2, solver=solver).fit(-X, y)
    clf.fit(-X, y)  # other inputs with the same labels: cuts are of no use, duals are
    assert max(clf.result_.dual, other.result_.dual) <= min(
        clf.result_.primal, other.result_.primal
    )
    clf.set_params(rescaling="slack", loss=1.0 - np.eye(10)).fit(X, y)
    assert clf.result_.converged


def test_cross_validation_scores_each_value(digits):
    X, y = digits
    cv = KFold(3, shuffle=True, random_state=0)
    clf = mm.MulticlassSVCCV(mm.MulticlassSVC(tol=1e-4), Cs=[0.01, 0.1, 1.0], cv=cv).fit(X, y)
    grid = GridSearchCV(mm.MulticlassSVC(tol=1e-4), {"C": [0.01, 0.1, 1.0]}, cv=cv).fit(X, y)
    expected = [[grid.cv_results_[f"split{k}_test_score"][c] for c in range(3)] for k in range(3)]
    np.testing.assert_allclose(clf.scores_, expected, atol=0.02)
    assert clf.C_ == clf.Cs_[clf.scores_.mean(axis=0).argmax()] == clf.best_estimator_.C
    assert clf.score(X, y) == clf.best_estimator_.score(X, y)
    assert clone(clf).cv is clf.cv or clone(clf).cv.n_splits == 3


def test_cross_validation_of_chains_and_own_scores(tmp_path):
    rng = np.random.RandomState(0)
    Y = [list(rng.choice(["a", "b"], 6)) for _ in range(20)]
    X = [[[tag] if rng.rand() < 0.8 else ["?"] for tag in tags] for tags in Y]
    clf = mm.ChainSVCCV(Cs=[0.001, 1.0], cv=2, scoring=lambda model, X, Y: 1.0)
    clf.fit(X, Y)
    assert clf.C_ == 0.001  # the smallest of equal ones
    clf = mm.ChainSVCCV(Cs=3, cv=2).fit(X, Y)
    assert clf.scores_.shape == (2, 3)
    clf.save(tmp_path / "a.mm")
    assert mm.load(tmp_path / "a.mm").predict(X) == clf.predict(X)
    assert mm.BinarySVCCV(Cs=2, cv=2).fit(rng.randn(30, 2), np.arange(30) % 2).n_oracle_ > 0
    with pytest.raises(DataError, match="needs an estimator"):
        mm.PathCV().fit(X, Y)
