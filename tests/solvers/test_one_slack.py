"""The one-slack solver: every variant reaches the optimum, and its certificate is true."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

import maxmargin as mm
from maxmargin.engine.bind import interpret
from maxmargin.engine.shard import Shard
from maxmargin.result import Stop
from maxmargin.structures.binary.problem import Binary
from maxmargin.structures.multiclass.problem import Multiclass
from maxmargin.training import train, train_shard
from reference import assert_same_optimum, enumerate_optimum, multiclass_planes, primal

VARIANTS = {
    "as printed": mm.OneSlack(cache=0, step=1.0),
    "short steps": mm.OneSlack(cache=0),
    "cached": mm.OneSlack(cache=5),
    "tiny cache": mm.OneSlack(cache=1, step=0.3),
    "part of the oracles": mm.OneSlack(cache=5, share=0.2),
    "chosen oracles": mm.OneSlack(cache=5, share=0.2, select="gain"),
}


class PythonMulticlass(mm.Problem):
    """The same structure as ``Multiclass``, as a user would write it."""

    def __init__(self, cost):
        self.cost = cost

    def features(self, x, y):
        phi = np.zeros((len(x), len(self.cost)))
        phi[:, y] = x
        return phi.ravel()

    def loss(self, y_true, y):
        return self.cost[y_true, y]

    def decode(self, x, w, y_true=None, rescaling="margin"):
        scores = x @ w.reshape(len(x), -1)
        if y_true is None:
            return int(scores.argmax())
        margin = scores[y_true] - scores
        value = self.cost[y_true] - (self.cost[y_true] if rescaling == "slack" else 1) * margin
        return int(value.argmax())


def small_problem(seed, n=12, d=4, K=3):
    random = np.random.RandomState(seed)
    X, y = random.randn(n, d), random.randint(0, K, n)
    cost = random.uniform(0.2, 2.0, (K, K)) * (1 - np.eye(K))
    return X, y, cost, random.uniform(0.1, 2.0, n)


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("python", [False, True], ids=["compiled", "python"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_all_variants_reach_the_optimum(variant, python, rescaling):
    for seed, C in itertools.product(range(3), (0.05, 2.0)):
        X, y, cost, weight = small_problem(seed)
        planes = multiclass_planes(X, y, cost, rescaling == "slack")
        optimum = enumerate_optimum(*planes, C=C, weights=weight)
        problem = PythonMulticlass(cost) if python else Multiclass(3, cost)
        result = train(
            problem, X, list(y), C=C, tol=1e-8, rescaling=rescaling, sample_weight=weight,
            solver=VARIANTS[variant],
        )  # fmt: skip
        assert result.converged
        assert result.primal == pytest.approx(optimum.primal, rel=1e-6)
        assert result.dual == pytest.approx(optimum.primal, rel=1e-6)
        assert primal(result.w, *planes, C=C, weights=weight) == pytest.approx(
            result.primal, rel=1e-12
        )


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_line_search_reaches_the_optimum_slowly(rescaling):
    X, y, cost, weight = small_problem(0)
    planes = multiclass_planes(X, y, cost, rescaling == "slack")
    optimum = enumerate_optimum(*planes, C=0.5, weights=weight).primal
    result = train(
        Multiclass(3, cost), X, y, C=0.5, tol=2e-4, rescaling=rescaling, sample_weight=weight,
        solver=mm.OneSlack(qp="line-search"), max_iter=100_000,
    )  # fmt: skip
    assert result.converged
    assert result.primal == pytest.approx(optimum, rel=1e-3)


@pytest.mark.parametrize("variant", VARIANTS)
def test_digits(variant):
    """P - D recomputed from the definitions is the reported gap."""
    X, y = load_digits(return_X_y=True)
    X, y, C = X[:300] / 16, y[:300], 0.05
    planes = multiclass_planes(X, y, 1.0 - np.eye(10), slack=False)
    seen = []

    def keep(record, state):
        seen.append((state.model.beta.copy(), state.model.loss, state.model.planes, record.dual))

    result = train(Multiclass(10), X, y, C=C, tol=1e-7, solver=VARIANTS[variant], callbacks=[keep])
    assert result.converged
    P = primal(result.w, *planes, C=C)
    beta, loss, cuts, dual = seen[-1]
    w = sum(b * C * 300 * dense(plane, len(result.w)) for b, plane in zip(beta, cuts, strict=True))
    D = C * 300 * beta @ loss - 0.5 * w @ w
    assert dual == pytest.approx(D, rel=1e-10)
    assert result.gap == pytest.approx(P - result.dual, abs=1e-9 * P)
    reference = train(Multiclass(10), X, y, C=C, tol=1e-8, solver=VARIANTS["as printed"])
    assert result.primal == pytest.approx(reference.primal, rel=1e-6)


def dense(plane, dim):
    out = np.zeros(dim)
    plane.add_to(out, 1.0)
    return out


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), slack=st.booleans(), variant=st.sampled_from(sorted(VARIANTS)))
def test_invariants_after_every_iteration(seed, slack, variant):
    X, y, cost, weight = small_problem(seed)
    planes = multiclass_planes(X, y, cost, slack)
    C, duals = 0.8, [0.0]

    def check(record, state):
        model = state.model
        assert (model.beta >= 0).all()
        assert model.beta.sum() == pytest.approx(1)
        w = sum(
            b * model.N * dense(p, len(model.w))
            for b, p in zip(model.beta, model.planes, strict=True)
        )
        np.testing.assert_allclose(model.w, w, atol=1e-12)
        assert model.dual >= duals[-1] - 1e-10 * max(1, duals[-1])
        duals.append(model.dual)
        assert record.gap >= 0
        assert primal(model.w, *planes, C=C, weights=weight) >= record.dual * (1 - 1e-10)
        assert state.best_primal == record.primal

    result = train(
        Multiclass(3, cost), X, y, C=C, tol=1e-6, rescaling="slack" if slack else "margin",
        sample_weight=weight, solver=VARIANTS[variant], callbacks=[check],
    )  # fmt: skip
    assert result.converged


@pytest.mark.parametrize("mode", ["margin", "slack"])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("problem", [Multiclass(3, bias=1.0), Binary(bias=0.5)], ids=type)
@pytest.mark.parametrize(("solver", "tol"), [(mm.OneSlack(cache=3), 1e-9), (mm.SDM(), 1e-6)])
def test_interpreted_and_compiled_runs_agree(solver, tol, problem, layout, mode):
    X, y, _, weight = small_problem(3)
    y = y if isinstance(problem, Multiclass) else np.where(y > 0, 1, -1)
    pack = problem.pack(layout(X), y, weight)
    shards = Shard(problem, pack), Shard(problem, pack, loops=interpret(problem.functions))
    fast, slow = (train_shard(shard, 0.5, solver, Stop(tol=tol), mode) for shard in shards)
    assert fast.converged and slow.converged
    assert_same_optimum(fast, slow)


def test_the_cache_saves_oracle_calls():
    X, y = load_digits(return_X_y=True)
    calls = {
        slots: train(
            Multiclass(10), X / 16, y, C=0.1, tol=1e-3, solver=mm.OneSlack(cache=slots, step=1.0)
        ).n_oracle
        for slots in (0, 2, 5)
    }
    assert max(calls[2], calls[5]) < calls[0] / 3


def test_idle_cuts_leave_the_bundle():
    X, y = load_digits(return_X_y=True)
    result = train(Multiclass(10), X / 16, y, C=1.0, tol=1e-3, solver=mm.OneSlack(step=1.0))
    assert result.history[-1].planes < result.n_iter - 20


def test_sparse_planes_are_kept_sparse():
    random = np.random.RandomState(0)
    X = sp.random(60, 5000, 0.001, "csr", random_state=random)
    kept = []
    train(
        Binary(), X, np.where(random.rand(60) < 0.5, 1, -1), C=1.0, tol=1e-6,
        callbacks=[lambda record, state: kept.extend(state.model.planes[1:])],
    )  # fmt: skip
    assert kept and all(plane.where is not None and len(plane.value) < 400 for plane in kept)


def test_a_bad_oracle_cannot_break_the_certificate():
    """An oracle that answers nonsense: cuts stay valid, the dual stays below the optimum."""

    class Lazy(PythonMulticlass):
        def decode(self, x, w, y_true=None, rescaling="margin"):
            return 0

    X, y, cost, _ = small_problem(1)
    optimum = enumerate_optimum(*multiclass_planes(X, y, cost, False), C=1.0).primal
    result = train(Lazy(cost), X, list(y), C=1.0, max_iter=50)
    assert result.dual <= optimum * (1 + 1e-9)


def test_interruption_returns_the_last_certified_point():
    X, y, cost, _ = small_problem(2)

    def interrupt(record, state):
        if record.iteration == 4:
            raise KeyboardInterrupt

    result = train(Multiclass(3, cost), X, y, C=1.0, tol=1e-9, callbacks=[interrupt])
    assert result.status is mm.Status.INTERRUPTED
    planes = multiclass_planes(X, y, cost, False)
    assert primal(result.w, *planes, C=1.0) == pytest.approx(result.primal)
    assert result.dual <= enumerate_optimum(*planes, C=1.0).primal * (1 + 1e-9)


def test_interruption_before_any_certificate_is_passed_on():
    class Impatient(PythonMulticlass):
        def decode(self, x, w, y_true=None, rescaling="margin"):
            raise KeyboardInterrupt

    X, y, cost, _ = small_problem(2)
    with pytest.raises(KeyboardInterrupt):
        train(Impatient(cost), X, list(y))


def test_limits_and_callbacks_stop_with_their_status():
    X, y, cost, _ = small_problem(4)
    problem = Multiclass(3, cost)
    short = train(problem, X, y, C=1.0, tol=1e-9, max_time=1e-9)
    assert (short.status, short.n_iter) == (mm.Status.MAX_TIME, 1)
    few = train(problem, X, y, C=1.0, tol=1e-9, max_iter=3)
    assert (few.status, few.n_iter) == (mm.Status.MAX_ITER, 3)
    stopped = train(problem, X, y, C=1.0, tol=1e-9, callbacks=[lambda record, state: True])
    assert (stopped.status, stopped.n_iter) == (mm.Status.CALLBACK, 1)
    exact = train(problem, X, y, C=1.0, tol=1e-18)
    assert exact.status in (mm.Status.STALLED, mm.Status.CONVERGED)
    for result in (short, few, stopped, exact):
        assert result.gap == result.primal - result.dual


def test_same_seed_same_result():
    X, y, cost, _ = small_problem(5, n=40)
    runs = [
        train(Multiclass(3, cost), X, y, solver=VARIANTS["chosen oracles"], random_state=7)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(runs[0].w, runs[1].w)


@pytest.mark.parametrize(
    "options", [{"step": 0}, {"share": 2}, {"qp": "fast"}, {"select": "best"}, {"cache": -1}]
)
def test_bad_options_are_refused(options):
    (name,) = options
    with pytest.raises(mm.DataError, match=name):
        mm.OneSlack(**options)


def test_a_share_of_the_oracles_needs_a_cache():
    X, y, cost, _ = small_problem(0)
    with pytest.raises(mm.DataError, match="share needs a cache"):
        train(Multiclass(3, cost), X, y, solver=mm.OneSlack(share=0.5))
