"""Sampled cuts: their algorithms, the theorems of the paper, and audits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import maxmargin as mm
from maxmargin.engine.vectors import Vector
from maxmargin.kernels import KernelRows, make_kernel
from maxmargin.kernels.scores import score_shard
from maxmargin.solvers.kernel_bundle import SparseBundle, TableBundle
from maxmargin.solvers.sampled_cuts import draw
from maxmargin.structures.binary.problem import Binary
from tests.kernels.test_kernels import blobs


def fit(X, y, solver, C=1.0, tol=1e-2, **options):
    return mm.BinarySVC(C=C, kernel="rbf", gamma=0.5, tol=tol, solver=solver, **options).fit(X, y)


def optimum(X, y, C):
    """The exact objective, certified to be within 1e-6."""
    return fit(X, y, "sdm", C, 1e-7).result_.primal


@pytest.mark.parametrize("kind", ["linear", "constant"])
@pytest.mark.parametrize("step", [1.0, 0.3])
def test_with_all_examples_it_is_the_exact_algorithm(kind, step):
    X, y = blobs(80)
    clf = fit(X, y, mm.SampledCuts(kind, r=80, step=step, dtype="float64"), tol=1e-4)
    best = optimum(X, y, 1.0)
    audit = clf.result_.audit()
    assert best - 1e-6 <= audit.primal <= best + 1e-4 * 80 + 1e-6
    assert audit.primal == pytest.approx(clf.result_.primal, rel=1e-6)
    assert clf.result_.converged == (kind == "linear")
    if kind == "linear":
        assert clf.result_.dual <= best + 1e-6


@pytest.mark.parametrize("kind", ["linear", "constant"])
@pytest.mark.parametrize("step", [1.0, 0.3])
def test_kept_kernel_values_change_nothing(kind, step):
    """Wide rows, whose kernel values are kept: the same cuts as without a cache, at every r."""
    X, y = blobs(80)
    X = np.tile(X, (1, 10))
    for r in (20, 80):
        found = []
        for cache in ({}, {"cache_bytes": 0}):
            solver = mm.SampledCuts(kind, r=r, step=step, dtype="float64", **cache)
            with pytest.warns(ConvergenceWarning, match="max_iter"):
                # In constant time the values are kept after 80 x 80 of them were computed.
                found.append(fit(X, y, solver, tol=1e-6, max_iter=20).result_.primal)
        assert found[0] == pytest.approx(found[1], rel=1e-9)


@pytest.mark.parametrize("kind", ["linear", "constant"])
def test_a_sample_carries_no_certificate_but_an_audit(kind):
    X, y = blobs(500)
    clf = fit(X, y, mm.SampledCuts(kind, r=50))  # and no ConvergenceWarning
    result = clf.result_
    assert result.status is mm.Status.UNCERTIFIED
    assert result.dual == -np.inf
    assert not result.converged
    best, audit = optimum(X, y, 1.0), result.audit()
    assert audit.dual - 1e-6 <= best <= audit.primal + 1e-6
    assert audit.gap <= 0.05 * len(y)
    if kind == "linear":
        assert audit.primal == pytest.approx(result.primal, rel=1e-4)


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), kind=st.sampled_from(["linear", "constant"]),
       epsilon=st.sampled_from([0.1, 0.2, 0.4]), N=st.sampled_from([0.1, 0.3, 1.0]))  # fmt: skip
def test_theorem_1_bounds_the_number_of_cuts(seed, kind, epsilon, N):
    """At most 8 C Delta R^2 / epsilon^2 calls; C of the paper is C n, Delta and R are 1."""
    X, y = blobs(30, seed)
    solver = mm.SampledCuts(kind, r=5, p=1, step=1.0)
    result = fit(X, y, solver, N / 30, epsilon, random_state=seed).result_
    assert result.as_asked
    assert result.n_iter - 1 <= 8 * N / epsilon**2


def _bound(N, epsilon, r, delta, kind):
    """What theorems 2 and 3 allow above the optimum, divided by C; Delta and R are 1."""
    logarithm = math.log(8 * N / epsilon**2 / delta)
    if kind == "linear":
        return epsilon + math.sqrt(4 * N / r * logarithm)
    return epsilon + 2 * math.sqrt((1 + 2 * math.sqrt(2 * N)) ** 2 / (2 * r) * logarithm)


@pytest.mark.parametrize("kind", ["linear", "constant"])
def test_theorems_2_and_3_bound_the_objective(kind):
    """On two clusters of length 1, where even w = 0 would break the bound."""
    n, N, epsilon, r, delta = 6000, 1.0, 0.1, 4000, 0.2
    random = np.random.default_rng(0)
    y = np.where(random.random(n) < 0.5, 1, -1)
    X = np.column_stack([y, random.normal(size=n) / 10])
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = np.where(random.random(n) < 0.02, -y, y)
    # A polynomial of degree 1 is the linear kernel, whose optimum the linear solvers certify.
    best = mm.BinarySVC(N / n, tol=1e-6).fit(X, y).result_.primal
    allowed = N * _bound(N, epsilon, r, delta, kind)
    assert allowed < N - best
    above = []
    for seed in range(5):
        clf = mm.BinarySVC(
            N / n, kernel="poly", degree=1, gamma=1.0, tol=epsilon, random_state=seed,
            solver=mm.SampledCuts(kind, r=r, step=1.0),
        ).fit(X, y)  # fmt: skip
        w = clf.dual_coef_ @ clf.support_vectors_
        hinge = np.maximum(0, 1 - y * (X @ w[0])).sum()
        above.append(0.5 * (w**2).sum() + N / n * hinge - best)
    assert clf.result_.audit().primal == pytest.approx(above[-1] + best, rel=1e-4)
    assert np.mean([excess > allowed for excess in above]) <= delta
    assert min(above) >= -1e-6


def test_a_cut_is_an_unbiased_sample():
    """With and without rates, the average of many sampled cuts is the exact one."""
    from maxmargin.solvers.task import Task

    X, y = blobs(60)
    rows = KernelRows(make_kernel("rbf", X, 0.5), X)
    for rates in (None, (1.0, 3.0)):
        shard = score_shard(Binary(), X, y, None, rows)
        task = Task(shard, 1.0, 1, 1e-9, np.random.RandomState(0))
        solver = mm.SampledCuts(r=10, rates=rates, tries=1)
        state = solver.init(task)
        state.streak[:30] = 10
        inside = np.arange(60)
        total = np.zeros(60)
        for _ in range(2000):
            chosen, scale = solver._draw(task, state, inside, 10, np.zeros(60), np.inf)
            for part, factor in zip(chosen, scale, strict=True):
                total[part] += factor / 2000
        np.testing.assert_allclose(total, 1.0, atol=0.25)
        assert total.sum() == pytest.approx(60)


def test_draws_go_on_until_the_cut_is_violated():
    from maxmargin.solvers.task import Task

    X, y = blobs(60)
    shard = score_shard(Binary(), X, y, None, KernelRows(make_kernel("rbf", X, 0.5), X))
    task = Task(shard, 1.0, 1, 1e-9, np.random.RandomState(0))
    solver = mm.SampledCuts(r=5, tries=3)
    state = solver.init(task)
    margins = np.zeros(60)
    margins[0] = -1.0  # only cuts with example 0 are violated: in the end all examples are taken
    chosen, scale = solver._draw(task, state, np.arange(60), 5, margins, -0.5)
    assert 0 in chosen[0]
    assert scale[0] == 60 / len(chosen[0])


@pytest.mark.parametrize("tables", [True, False])
def test_the_gram_matrix_of_the_bundle_is_that_of_its_cuts(tables):
    X, y = blobs(50)
    rows = KernelRows(make_kernel("rbf", X, 0.5), X)
    K = rows.block(rows)
    random = np.random.default_rng(0)
    shard = score_shard(Binary(), X, y, None, rows)
    bundle = TableBundle(shard, 3.0, 2, 2**30) if tables else SparseBundle(shard, 3.0, 2)
    form = (lambda v: v) if tables else sparse
    w = random.normal(size=50)
    centre = bundle.start()._replace(w=form(w), square=float(w @ K @ w))
    if tables:
        centre = centre._replace(scored=K @ w)
    for _ in range(12):
        g = np.where(random.random(50) < 0.2, y, 0) / 10.0
        bundle.add(form(g), float(abs(g).sum()))
        centre = centre._replace(along=np.append(centre.along, g @ K @ w))
        bundle.solve(1e-9)
        G = np.array([p.dense(50) for p in bundle.planes])
        np.testing.assert_allclose(bundle.gram, G @ K @ G.T, atol=1e-6)
        solution = bundle.between(centre, 1.0)
        np.testing.assert_allclose(dense(solution.w), 3.0 * bundle.beta @ G, atol=1e-9)
        point = bundle.between(centre, 0.4)
        there = dense(point.w)
        np.testing.assert_allclose(there, 0.6 * w + 0.4 * dense(solution.w), atol=1e-9)
        assert point.square == pytest.approx(there @ K @ there, rel=1e-5)
        np.testing.assert_allclose(point.along, G @ K @ there, atol=1e-5)
        kept = bundle.drop_idle()
        centre = centre._replace(along=centre.along[kept])
        if not tables:
            users = sum((p.dense(50) != 0).astype(int) for p in bundle.planes)
            np.testing.assert_array_equal(bundle.users, users)
            np.testing.assert_array_equal(np.sort(bundle.used), np.flatnonzero(users))
            assert not bundle._spread.any()
    assert len(bundle) < 12  # idle cuts left


def sparse(v):
    return Vector(np.flatnonzero(v), v[np.flatnonzero(v)])


def dense(w):
    return w.dense(50) if isinstance(w, Vector) else w


def test_scores_of_some_rows_are_those_of_all():
    """Of a sparse vector, with several labels and with transitions."""
    from sklearn.datasets import load_digits

    from maxmargin.data.sequences import Sequences
    from maxmargin.structures.chain.problem import Chain

    X, y = load_digits(return_X_y=True)
    words = Sequences(X[:40] / 16, np.arange(0, 41, 5))
    rows = KernelRows(make_kernel("rbf", words.matrix, 0.1), words.matrix)
    shard = score_shard(Chain(10), words, np.split(y[:40], 8), None, rows)
    random = np.random.default_rng(0)
    w = np.where(random.random(shard.pack.dim) < 0.3, random.normal(size=shard.pack.dim), 0)
    whole, at = shard.lift(w), np.array([3, 17, 5])
    out = np.zeros_like(w)
    written = shard.scores_at(sparse(w), at, out)
    np.testing.assert_allclose(shard.table(out)[at], shard.table(whole)[at], atol=1e-9)
    np.testing.assert_allclose(out[shard.emissions :], whole[shard.emissions :])
    assert not np.delete(shard.table(out), at, axis=0).any()
    written.wipe(out)
    assert not out.any()


@given(st.integers(1, 200), st.data())
def test_draw(n, data):
    r = data.draw(st.integers(0, n))
    found = draw(np.random.RandomState(0), n, r)
    assert len(found) == r
    assert len(set(found.tolist())) == r
    assert found.size == 0 or (found.min() >= 0 and found.max() < n)


def test_limits_and_wrong_use():
    X, y = blobs(300)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        clf = fit(X, y, "sampled-constant", max_iter=3)
    assert clf.result_.n_iter == 3
    assert clf.predict(X).shape == (300,)
    with pytest.raises(mm.DataError, match="kernel"):
        mm.BinarySVC(solver="sampled-linear").fit(X, y)
    for wrong in (
        {"kind": "square"}, {"r": 0}, {"step": 2.0}, {"dtype": "int"}, {"p": 0},
        {"rates": (0, 1)}, {"kind": "constant", "rates": (1, 1)}, {"rates": (1,)}, {"rates": 3},
        {"rates": (float("nan"), 1)}, {"r": "3"}, {"r": 2.5}, {"r": True}, {"idle": -1},
        {"max_bytes": "1GB"}, {"cache_bytes": -1},
    ):  # fmt: skip
        with pytest.raises(mm.DataError):
            mm.SampledCuts(**wrong)


def test_runs_repeat():
    X, y = blobs(400)
    for kind in ("linear", "constant"):
        first, second = (fit(X, y, mm.SampledCuts(kind, r=30)) for _ in range(2))
        np.testing.assert_array_equal(first.dual_coef_, second.dual_coef_)


def test_sampled_chains_and_classes_learn():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X = X[:600] / 16
    clf = mm.MulticlassSVC(kernel="rbf", solver=mm.SampledCuts(r=60)).fit(X[:400], y[:400])
    assert clf.score(X[400:], y[400:600]) > 0.8
    words, tags = np.split(X, 120), np.split(y[:600], 120)
    for solver in (mm.SampledCuts(r=20), mm.SampledCuts("constant", r=30)):
        chain = mm.ChainSVC(C=1.0, kernel="rbf", solver=solver, tol=0.05).fit(words[:80], tags[:80])
        assert chain.score(words[80:], tags[80:]) > 0.85


@pytest.mark.parametrize(
    "options",
    [
        {"solver": mm.SampledCuts("constant", r=60)},
        {"solver": mm.SampledCuts(r=30)},
        {"n_basis": 40, "solver": "sdm"},
        {"solver": "one-slack"},
    ],
    ids=["constant", "linear", "basis", "exact"],
)
def test_training_with_a_kernel_resumes_where_it_was_stopped(tmp_path, options):
    X, y = blobs(300)
    options = {"kernel": "rbf", "gamma": 0.5, "tol": 1e-3} | options
    whole = mm.BinarySVC(**options).fit(X, y)
    assert whole.result_.n_iter > 3
    checkpoint = mm.Checkpoint(tmp_path / "run.ck", every=0)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        mm.BinarySVC(**options, checkpoint=checkpoint, max_iter=3).fit(X, y)
    resumed = mm.BinarySVC(**options, checkpoint=checkpoint).fit(X, y)
    assert resumed.result_.n_iter == whole.result_.n_iter
    np.testing.assert_array_equal(resumed.dual_coef_, whole.dual_coef_)
    for other in ({"gamma": 0.4}, {"C": 2.0}):
        with pytest.raises(mm.CheckpointError, match="another run"):
            mm.BinarySVC(**(options | other), checkpoint=checkpoint).fit(X, y)
    with pytest.raises(mm.CheckpointError, match="other training data"):
        mm.BinarySVC(**options, checkpoint=checkpoint).fit(X[::-1], y[::-1])


def test_a_checkpoint_of_another_loss_or_intercept_is_refused(tmp_path):
    X, y = blobs(120)
    y = y + (X[:, 0] > 1)  # three classes
    options = {"kernel": "rbf", "gamma": 0.5, "n_basis": 20, "solver": "sdm", "tol": 1e-3}
    checkpoint = mm.Checkpoint(tmp_path / "run.ck", every=0)
    mm.MulticlassSVC(**options, checkpoint=checkpoint).fit(X, y)
    labels = np.unique(y)
    loss = 3.0 * (1 - np.eye(len(labels)))
    for other in ({"loss": loss}, {"intercept_scaling": 2.0, "fit_intercept": True}):
        with pytest.raises(mm.CheckpointError, match="other training data"):
            mm.MulticlassSVC(**options, **other, checkpoint=checkpoint).fit(X, y)


@pytest.mark.parametrize("kind", ["linear", "constant"])
def test_a_finished_run_goes_on_with_a_smaller_tol(tmp_path, kind):
    X, y = blobs(200)
    solver = mm.SampledCuts(kind, r=200 if kind == "linear" else 100)
    options = {"kernel": "rbf", "gamma": 0.5, "solver": solver}
    checkpoint = mm.Checkpoint(tmp_path / "run.ck", every=0)
    first = mm.BinarySVC(**options, tol=0.1, checkpoint=checkpoint).fit(X, y).result_
    same = mm.BinarySVC(**options, tol=0.1, checkpoint=checkpoint).fit(X, y).result_
    assert same.n_iter == first.n_iter
    larger = mm.SampledCuts(kind, r=solver.r, max_bytes=2**33)  # memory does not matter
    options["solver"] = larger
    finer = mm.BinarySVC(**options, tol=1e-3, checkpoint=checkpoint).fit(X, y).result_
    assert finer.n_iter > first.n_iter
    if kind == "linear":
        assert finer.converged and finer.gap <= 1e-3 * 200


def test_rows_of_examples_where_one_has_none():
    from maxmargin.data.sequences import Sequences
    from maxmargin.structures.chain.problem import Chain

    X = Sequences(np.eye(3), np.array([0, 2, 2, 3]))
    rows = KernelRows(make_kernel("rbf", X.matrix, 1.0), X.matrix)
    Y = [np.array([0, 1]), np.array([], int), np.array([1])]
    shard = score_shard(Chain(2), X, Y, None, rows)
    np.testing.assert_array_equal(shard.rows_of(np.array([0, 1, 2])), [0, 1, 2])
    np.testing.assert_array_equal(shard.rows_of(np.array([0])), [0, 1])


def test_the_sample_for_the_basis_has_one_example_at_least(monkeypatch):
    monkeypatch.setattr("maxmargin.kernels.adapt.SAMPLE_ROWS", 3)
    random = np.random.default_rng(0)
    X = [random.normal(size=(8, 2)) for _ in range(5)]
    Y = [(x[:, 0] > 0).astype(int) for x in X]
    clf = mm.ChainSVC(kernel="rbf", n_basis="auto").fit(X, Y)
    assert clf.score(X, Y) > 0.9


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("tol", [1e-2, 1e-4])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_cuts_of_all_examples_certify_in_double_precision(dtype, tol):
    """Tables in float32 have no digits left here; D of the iterations was far above P."""
    for seed in range(2):
        random = np.random.RandomState(seed)
        X, C = 1e4 * random.randn(40, 4), 100.0
        y = (X @ random.randn(4, 3) + 2e4 * random.randn(40, 3)).argmax(axis=1)
        K = X @ X.T
        solver = mm.SampledCuts("linear", r=40, dtype=dtype)
        clf = mm.MulticlassSVC(
            C=C, kernel="precomputed", fit_intercept=False, tol=tol, solver=solver, max_iter=300
        )
        result = clf.fit(K, y).result_
        coef = np.zeros((40, 3), np.longdouble)
        coef[result.model.support] = result.model.coef
        scores = K.astype(np.longdouble) @ coef
        values = scores - scores[np.arange(40), y][:, None] + (np.arange(3) != y[:, None])
        P = (coef * scores).sum() / 2 + np.longdouble(C) * values.max(axis=1).sum()
        assert result.dual <= P * (1 + 1e-12)
        if np.isfinite(result.dual):
            assert float(P) == pytest.approx(result.primal, rel=1e-4)
        if result.converged:
            assert P - result.dual <= 1.1 * tol * C * 40
