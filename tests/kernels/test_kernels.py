"""Functions, basis functions and exact training, against scikit-learn and enumeration."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

import maxmargin as mm
from maxmargin.kernels import Basis, KernelRows, make_kernel
from maxmargin.kernels.adapt import FIRST
from maxmargin.kernels.audit import left_out
from maxmargin.kernels.basis import choose_basis, exact_map
from maxmargin.kernels.columns import Columns
from reference import chain_planes, enumerate_optimum, multiclass_planes

NAMES = ["linear", "rbf", "poly", "sigmoid"]


def blobs(n: int, seed: int = 0, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that no plane separates."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, np.where((X**2).sum(axis=1) + 0.3 * random.normal(size=n) > d, 1, -1)


def explicit(K: np.ndarray) -> np.ndarray:
    """Features whose inner products are K, by another way than the package's."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0))


def binary_planes(Z: np.ndarray, y: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    return [np.array([0 * z, t * z]) for z, t in zip(Z, y, strict=True)], [
        np.array([0.0, 1.0])
    ] * len(y)


@settings(max_examples=40)
@given(
    name=st.sampled_from(NAMES), seed=st.integers(0, 1000), sparse=st.booleans(),
    single=st.booleans(), degree=st.integers(1, 6),
)  # fmt: skip
def test_blocks_are_those_of_scikit_learn(name, seed, sparse, single, degree):
    random = np.random.default_rng(seed)
    X, Z = random.normal(size=(7, 4)), random.normal(size=(5, 4))
    gamma, coef0 = random.uniform(0.1, 1), random.normal()
    options = {"linear": {}, "rbf": {"gamma": gamma}}.get(name, {"gamma": gamma, "coef0": coef0})
    if name == "poly":
        options["degree"] = degree
    expected = pairwise_kernels(X, Z, metric=name, **options)
    kernel = make_kernel(name, X, gamma, degree, coef0)
    dtype = np.float32 if single else np.float64
    kind = sp.csr_array if sparse else np.asarray
    left, right = KernelRows(kernel, kind(X), dtype=dtype), KernelRows(kernel, kind(Z), dtype=dtype)
    close = {"rtol": 1e-3, "atol": 1e-3} if single else {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(left.block(right), expected, **close)
    coef = random.normal(size=(5, 2))
    np.testing.assert_allclose(left.product(right, coef), expected @ coef, rtol=1e-2, atol=1e-2)
    diagonal = np.diag(pairwise_kernels(X, X, metric=name, **options))
    np.testing.assert_allclose(left.diagonal(), diagonal, **close)


def test_large_sparse_rows_stay_sparse(monkeypatch):
    monkeypatch.setattr("maxmargin.kernels.rows.DENSE_SIZE", 10)
    X = sp.random_array((30, 400), density=0.01, random_state=0, format="csr")
    for name in NAMES:
        rows = KernelRows(make_kernel(name, X, 0.7), X)
        options = {} if name == "linear" else {"gamma": 0.7}
        if name in ("poly", "sigmoid"):
            options["coef0"] = 0.0
        expected = pairwise_kernels(X, X, metric=name, **options)
        np.testing.assert_allclose(rows.block(rows), expected, atol=1e-12)
        np.testing.assert_allclose(rows.diagonal(), np.diag(expected), atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("gamma", ["scale", "auto"])
def test_gamma_is_that_of_scikit_learn(gamma, sparse):
    X, y = blobs(30)
    X = sp.csr_array(np.where(X > 0, X, 0)) if sparse else X
    peer = SVC(gamma=gamma).fit(sp.csr_matrix(X) if sparse else X, y)
    assert make_kernel("rbf", X, gamma).gamma == pytest.approx(peer._gamma)


@pytest.mark.parametrize(
    "options",
    [{"kernel": "cosine"}, {"gamma": -1}, {"gamma": "big"}, {"degree": 1.5}, {"coef0": np.nan},
     {"n_basis": 0}, {"n_basis": "many"}, {"n_basis": 10, "solver": "sampled-linear"}],
)  # fmt: skip
def test_wrong_parameters_are_refused(options):
    X, y = blobs(20)
    with pytest.raises(mm.DataError):
        mm.BinarySVC(**({"kernel": "rbf"} | options)).fit(X, y)


def test_exact_equals_libsvm_where_its_bias_vanishes():
    X, y = blobs(60)
    X, y = np.vstack([X, -X]), np.concatenate([y, -y])
    K = pairwise_kernels(X, metric="rbf", gamma=0.5) - pairwise_kernels(
        X, -X, metric="rbf", gamma=0.5
    )
    peer = SVC(C=2.0, kernel="precomputed", tol=1e-9).fit(K, y)
    assert abs(peer.intercept_[0]) < 1e-6
    a = np.zeros(len(y))
    a[peer.support_] = peer.dual_coef_[0]
    scores = K @ a
    objective = 0.5 * a @ scores + 2.0 * np.maximum(0, 1 - y * scores).sum()
    for options in ({}, {"solver": "sdm"}, {"solver": mm.SampledCuts(r=len(y), dtype="float64")}):
        clf = mm.BinarySVC(C=2.0, kernel="precomputed", tol=1e-6, **options).fit(K, y)
        assert clf.result_.converged
        assert clf.result_.primal == pytest.approx(objective, rel=1e-4)
        np.testing.assert_allclose(clf.decision_function(K), scores, atol=0.05)


@pytest.mark.parametrize("name", ["rbf", "poly"])
@pytest.mark.parametrize("intercept", [False, True])
def test_exact_binary_equals_the_optimum(name, intercept):
    X, y = blobs(25)
    kernel = make_kernel(name, X, 0.4, 2, 1.0)
    K = KernelRows(kernel, X).block(KernelRows(kernel, X))
    best = enumerate_optimum(*binary_planes(explicit(K + 0.25 * intercept), y), 1.5)
    for solver in ("auto", "sdm", mm.SampledCuts(r=25, dtype="float64")):
        clf = mm.BinarySVC(
            C=1.5, kernel=name, gamma=0.4, degree=2, coef0=1.0, tol=1e-6, solver=solver,
            fit_intercept=intercept, intercept_scaling=0.5,
        ).fit(X, y)  # fmt: skip
        assert clf.result_.primal == pytest.approx(best.primal, rel=1e-4)
        audit = clf.result_.audit()
        assert audit.dual - 1e-6 <= best.primal <= audit.primal + 1e-6
        assert audit.gap <= 1e-4 * best.primal
        margins = y * clf.decision_function(X)
        hinge = 1.5 * np.maximum(0, 1 - margins).sum()
        assert hinge <= clf.result_.primal


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_exact_multiclass_equals_the_optimum(rescaling):
    random = np.random.default_rng(1)
    X, y = random.normal(size=(20, 2)), random.integers(0, 3, 20)
    cost = np.array([[0, 1, 2], [1, 0, 1], [3, 1, 0]], float)
    K = pairwise_kernels(X, metric="rbf", gamma=1.0)
    best = enumerate_optimum(*multiclass_planes(explicit(K), y, cost, rescaling == "slack"), 0.7)
    for solver in ("auto", "sampled-linear", mm.SampledCuts(r=20, kind="constant")):
        clf = mm.MulticlassSVC(
            C=0.7, kernel="rbf", gamma=1.0, loss=cost, rescaling=rescaling, tol=1e-5, solver=solver
        ).fit(X, y)
        audit = clf.result_.audit()
        assert audit.primal == pytest.approx(best.primal, rel=1e-3)
        assert audit.dual <= best.primal + 1e-6


@pytest.mark.parametrize("ends", [False, True])
def test_exact_chains_equal_the_optimum(ends):
    random = np.random.default_rng(2)
    X = [random.normal(size=(L, 2)) for L in (3, 1, 2, 3)]
    Y = [random.integers(0, 2, len(x)) for x in X]
    flat = np.concatenate(X)
    Z = np.split(explicit(pairwise_kernels(flat, metric="rbf", gamma=1.0)), np.cumsum([3, 1, 2]))
    best = enumerate_optimum(*chain_planes(Z, Y, 1.0 - np.eye(2), False, ends=ends), 1.3)
    for solver in ("auto", mm.SampledCuts(dtype="float64")):
        clf = mm.ChainSVC(
            C=1.3, kernel="rbf", gamma=1.0, tol=1e-6, start_stop=ends, solver=solver
        ).fit(X, Y)
        assert clf.result_.converged
        assert clf.result_.primal == pytest.approx(best.primal, rel=1e-4)
        assert clf.result_.audit().dual == pytest.approx(best.primal, rel=1e-3)


def test_precomputed_callable_and_named_kernels_agree():
    X, y = blobs(60)
    T = blobs(20, seed=5)[0]

    def rbf(A, B):
        return pairwise_kernels(A, B, metric="rbf", gamma=0.5)

    # The same up to what rounding does to pivots and cuts: the optimum, or a subspace of it.
    for options in (
        {"solver": "sdm"}, {"n_basis": Basis(20, "random"), "solver": "sdm"},
        {"solver": mm.SampledCuts(r=60, dtype="float64")},
    ):  # fmt: skip
        named = mm.BinarySVC(kernel="rbf", gamma=0.5, tol=1e-7, **options).fit(X, y)
        called = mm.BinarySVC(kernel=rbf, tol=1e-7, **options).fit(X, y)
        given_ = mm.BinarySVC(kernel="precomputed", tol=1e-7, **options).fit(rbf(X, X), y)
        expected = named.decision_function(T)
        np.testing.assert_allclose(called.decision_function(T), expected, atol=5e-3)
        np.testing.assert_allclose(given_.decision_function(rbf(T, X)), expected, atol=5e-3)
    with pytest.raises(mm.DataError, match="square"):
        mm.BinarySVC(kernel="precomputed").fit(rbf(X, X)[:, :50], y)
    with pytest.raises(mm.DataError, match="shape"):
        mm.BinarySVC(kernel=lambda A, B: np.zeros(3)).fit(X, y)


def test_sparse_equals_dense():
    X, y = blobs(200)
    X = np.where(X > 0.3, X, 0.0)
    for options in (
        {"solver": "sdm"}, {"n_basis": Basis(40, "random"), "solver": "sdm"},
        {"solver": mm.SampledCuts(r=200, dtype="float64")},
    ):  # fmt: skip
        dense = mm.BinarySVC(kernel="rbf", tol=1e-6, **options).fit(X, y)
        sparse = mm.BinarySVC(kernel="rbf", tol=1e-6, **options).fit(sp.csr_array(X), y)
        assert sp.issparse(sparse.support_vectors_)
        np.testing.assert_allclose(
            sparse.decision_function(sp.csr_array(X)), dense.decision_function(X), atol=2e-2
        )


@pytest.mark.parametrize("choice", ["cholesky", "random"])
def test_the_map_projects_onto_the_span_of_the_basis(choice):
    X, _ = blobs(80)
    rows = KernelRows(make_kernel("rbf", X, 0.3), X)
    features = choose_basis(rows, 25, choice, np.random.RandomState(0))
    Z = features.transform(rows, np.float64)
    K = rows.block(rows)
    B = features.pivots
    np.testing.assert_allclose(Z[B] @ Z[B].T, K[np.ix_(B, B)], atol=1e-8)
    projection = K[:, B] @ np.linalg.solve(K[np.ix_(B, B)], K[B])
    np.testing.assert_allclose(Z @ Z.T, projection, atol=1e-5)
    weights = np.random.default_rng(0).normal(size=(len(B), 2))
    np.testing.assert_allclose(K[:, B] @ features.coefficients(weights), Z @ weights, atol=1e-6)
    exact, Z = exact_map(rows)
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-9)
    np.testing.assert_allclose(exact.transform(rows, np.float64), Z, atol=1e-4)


def test_more_basis_functions_leave_a_smaller_gap():
    X, y = blobs(400)
    exact = mm.BinarySVC(kernel="rbf", gamma=0.5, tol=1e-4, solver="sdm").fit(X, y).result_
    gaps, primals = [], []
    for k in (5, 20, 80, 320):
        result = mm.BinarySVC(kernel="rbf", gamma=0.5, tol=1e-4, n_basis=k).fit(X, y).result_
        audit = result.audit()
        assert audit.dual <= exact.primal + 1e-6
        assert audit.primal >= exact.dual - 1e-6
        gaps.append(audit.gap)
        primals.append(audit.primal)
    assert gaps == sorted(gaps, reverse=True)
    assert primals == sorted(primals, reverse=True)
    assert gaps[-1] < 0.01 * gaps[0]
    assert primals[-1] == pytest.approx(exact.primal, rel=1e-3)


def test_auto_finds_a_basis_that_leaves_little():
    X, y = blobs(3000)
    clf = mm.BinarySVC(kernel="rbf", gamma=0.5, tol=1e-2).fit(X, y)
    assert clf.result_.method == "basis"
    assert FIRST <= len(clf.support_) < 3000
    assert clf.result_.audit().gap <= 4 * 1e-2 * len(y)
    assert clf.score(*blobs(1000, seed=9)) > 0.85


def test_auto_warns_where_its_functions_leave_much():
    X, y = blobs(3000)
    few = Basis(max_bytes=4 * 3000 * 70)
    with pytest.warns(UserWarning, match=r"70 basis functions leave a gap.*max_bytes"):
        clf = mm.BinarySVC(kernel="rbf", gamma=5.0, tol=1e-2, n_basis=few).fit(X, y)
    assert len(clf.support_) == 70


def test_what_is_left_out_is_estimated_well():
    from maxmargin.kernels.audit import DualPoint

    X, y = blobs(600)
    rows = KernelRows(make_kernel("rbf", X, 0.5), X)
    Z = choose_basis(rows, 30, "random", np.random.RandomState(0)).transform(rows, np.float64)
    a = np.random.default_rng(0).uniform(0, 1, 600) * y
    residual = rows.block(rows) - Z @ Z.T
    truth = 0.5 * a @ residual @ a
    point = DualPoint(a[:, None], np.zeros(0), 0.0)
    assert left_out(rows, Z, point, np.random.RandomState(0), 1000) == pytest.approx(
        truth, rel=1e-6
    )
    guesses = [left_out(rows, Z, point, np.random.RandomState(s), 200) for s in range(30)]
    assert np.mean(guesses) == pytest.approx(truth, rel=0.1)


def test_nothing_underflows_in_float32():
    """Products with numbers near 1e-38 are a hundred times slower than others."""
    X = 3.0 * np.random.default_rng(0).normal(size=(400, 3))
    rows = KernelRows(make_kernel("rbf", X, 5.0), X)
    features = choose_basis(rows, 200, "cholesky", np.random.RandomState(0))
    assert features.single and (np.abs(features.upper)[features.upper != 0] < 1e-30).any()
    assert rows.in_type(np.float32).block(rows.in_type(np.float32)).min() > 1e-18
    Z = features.transform(rows)
    np.testing.assert_allclose(Z, features.transform(rows, np.float64), atol=1e-3)
    assert not ((Z != 0) & (np.abs(Z) < 1e-30)).any()


def test_kept_columns_change_nothing():
    X, _ = blobs(90)
    rows = KernelRows(make_kernel("rbf", X, 0.5), X, dtype=np.float32)
    rows.prepare()
    columns = Columns(rows, 4 * 90 * 20)  # room for 20
    K = rows.block(rows)
    random = np.random.default_rng(0)
    for _ in range(30):
        wanted = random.choice(90, random.integers(1, 40), replace=False)
        coef = random.normal(size=(len(wanted), 2))
        np.testing.assert_allclose(
            columns.product(wanted, coef), K[:, wanted] @ coef, rtol=1e-3, atol=1e-4
        )
        kept = columns.owner[columns.owner >= 0]
        assert len(kept) == len(set(kept.tolist()))
        np.testing.assert_allclose(columns.kept[columns.place[kept]], K[:, kept].T, rtol=1e-4)


@pytest.mark.parametrize(("dtype", "atol"), [(np.float32, 1e-4), (np.float64, 1e-12)])
def test_products_of_some_rows_with_all_columns_kept(dtype, atol):
    X, _ = blobs(90)
    rows = KernelRows(make_kernel("rbf", X, 0.5), X, dtype=dtype)
    rows.prepare()
    columns = Columns(rows, dtype().itemsize * 90 * 90)
    K = KernelRows(make_kernel("rbf", X, 0.5), X).block(rows.in_type(np.float64))
    random = np.random.default_rng(0)
    for _ in range(30):
        at, right = (random.choice(90, random.integers(0, 80), replace=False) for _ in "ab")
        coef = random.normal(size=(len(right), 2))
        found = columns.product_at(at, right, coef)
        np.testing.assert_allclose(found, K[np.ix_(at, right)] @ coef, atol=atol)


def test_too_much_memory_is_refused_before_it_is_taken():
    X, y = blobs(300)
    with pytest.raises(mm.DataError, match="GB"):
        mm.BinarySVC(kernel="rbf", n_basis=Basis(200, max_bytes=10_000)).fit(X, y)
    with pytest.raises(mm.MaxMarginError, match="max_bytes"):
        mm.BinarySVC(kernel="rbf", solver=mm.SampledCuts(max_bytes=6_000)).fit(X, y)
    big = np.zeros((20_000, 1))
    big[0] = 1
    with pytest.raises(mm.DataError, match="n_basis"):
        mm.BinarySVC(kernel="rbf", solver="sdm").fit(big, np.arange(20_000) % 2)


def test_weights_and_threads():
    X, y = blobs(150)
    weight = np.arange(150) % 3
    for options in ({}, {"n_basis": 40}, {"solver": mm.SampledCuts(r=150, dtype="float64")}):
        options = {"kernel": "rbf", "tol": 1e-5, **options}
        weighted = mm.BinarySVC(**options).fit(X, y, sample_weight=weight)
        again = np.repeat(np.arange(150), weight)
        repeated = mm.BinarySVC(**options).fit(X[again], y[again])
        assert weighted.result_.primal == pytest.approx(repeated.result_.primal, rel=0.03)
        two = mm.BinarySVC(**options, n_jobs=2).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(
            two.decision_function(X), weighted.decision_function(X), atol=1e-6
        )


def test_a_refit_without_kernel_forgets_it():
    X, y = blobs(60)
    clf = mm.BinarySVC(kernel="rbf").fit(X, y)
    assert not hasattr(clf, "coef_")
    clf.set_params(kernel=None).fit(X, y)
    assert not hasattr(clf, "dual_coef_")
    assert clf.predict(X).shape == (60,)
    with pytest.raises(ValueError, match="features"):
        mm.BinarySVC(kernel="rbf").fit(X, y).predict(X[:, :2])


def test_kernel_chains_with_names_and_suspects():
    X = [[["the"], ["dog"], ["barks"]], [["a"], ["cat"]]]
    Y = [["D", "N", "V"], ["D", "N"]]
    clf = mm.ChainSVC(C=10.0, kernel="rbf", gamma=0.5).fit(X, Y)
    assert clf.predict(X) == Y
    assert clf.predict([[["the"], ["unheard"]], []]) == [["D", "N"], []]
    assert clf.suspects(X, Y, 2)[0]["index"] == 0
    with pytest.raises(mm.MaxMarginError, match="no weights"):
        clf.explain()


def test_features_in_float32_are_those_in_float64():
    X, _ = blobs(300)
    rows = KernelRows(make_kernel("rbf", X, 30.0), X)
    features = choose_basis(rows, 40, "cholesky", np.random.RandomState(0))
    assert features.single
    exact = features.transform(rows, np.float64)
    assert exact.dtype == np.float64
    np.testing.assert_allclose(features.transform(rows), exact, atol=1e-4)
    # A flat kernel, whose functions add next to nothing, is computed in float64.
    flat = choose_basis(KernelRows(make_kernel("rbf", X, 0.01), X), 40, "cholesky",
                        np.random.RandomState(0))  # fmt: skip
    assert not flat.single
    low = KernelRows(make_kernel("rbf", X, 0.01), X)
    np.testing.assert_allclose(flat.transform(low), flat.transform(low, np.float64), atol=1e-6)


@pytest.mark.parametrize("n_basis", [None, 3])
def test_kernel_models_can_be_pickled(n_basis):
    """The audit of the result needs the training data, which a pickle does not hold."""
    random = np.random.RandomState(0)
    X, y = random.randn(12, 2), np.arange(12) % 3
    clf = mm.MulticlassSVC(kernel="rbf", n_basis=n_basis).fit(X, y)
    copied = pickle.loads(pickle.dumps(clf))
    assert (copied.predict(X) == clf.predict(X)).all()
    assert copied.result_.primal == clf.result_.primal
    assert clf.result_.audit().primal > 0
    if n_basis:
        with pytest.raises(mm.MaxMarginError, match="needs: call audit"):
            copied.result_.audit()
