"""The sequential dual method: it reaches the optimum, its certificate is true, alpha feasible."""

import dataclasses
import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

import maxmargin as mm
from maxmargin.engine.shard import Shard
from maxmargin.problem import MARGIN, SLACK
from maxmargin.result import Stop
from maxmargin.solvers import free_duals, working_sets
from maxmargin.solvers.task import Task
from maxmargin.structures.multiclass.problem import Multiclass
from maxmargin.training import train, train_shard
from reference import enumerate_optimum, multiclass_planes, primal
from tests.solvers.test_one_slack import PythonMulticlass, small_problem


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("python", [False, True], ids=["compiled", "python"])
@pytest.mark.parametrize("solver", [mm.SDM(), mm.SDM(inner=0), mm.SDM(first=0, inner=30)], ids=str)
def test_reaches_the_optimum(solver, python, rescaling):
    for seed, C in itertools.product(range(2), (0.05, 2.0)):
        X, y, cost, weight = small_problem(seed)
        planes = multiclass_planes(X, y, cost, rescaling == "slack")
        optimum = enumerate_optimum(*planes, C=C, weights=weight)
        problem = PythonMulticlass(cost) if python else Multiclass(3, cost)
        result = train(
            problem, X, list(y), C=C, tol=1e-6, rescaling=rescaling, sample_weight=weight,
            solver=solver,
        )  # fmt: skip
        assert result.converged
        assert result.primal == pytest.approx(optimum.primal, rel=1e-4)
        assert primal(result.w, *planes, C=C, weights=weight) == pytest.approx(result.primal)
        assert result.dual <= optimum.primal * (1 + 1e-9)


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), slack=st.booleans(), C=st.sampled_from([0.01, 0.5, 20.0]))
def test_invariants_after_every_iteration(seed, slack, C):
    X, y, cost, weight = small_problem(seed)
    problem, duals = Multiclass(3, cost), [0.0]
    pack = problem.pack(X, y, weight)
    shard = Shard(problem, pack)

    def check(record, state):
        alpha, count = state.duals.alpha, state.duals.count
        assert (alpha >= 0).all()
        np.testing.assert_allclose(alpha.sum(axis=1), 1, atol=1e-9)
        assert (alpha[np.arange(alpha.shape[1]) >= count[:, None]] == 0).all()
        w = np.zeros(pack.dim)
        shard.sum_duals(C, 2 if slack else 1, state.duals, w)
        np.testing.assert_allclose(state.w, w, atol=1e-9)
        assert record.dual >= duals[-1] - 1e-9
        duals.append(record.dual)

    result = train_shard(
        shard, C, mm.SDM(), Stop(tol=1e-3), "slack" if slack else "margin", callbacks=[check]
    )
    assert result.converged


def test_working_sets_grow_when_they_are_full(monkeypatch):
    monkeypatch.setattr("maxmargin.solvers.working_sets.SLOTS", 2)
    X, y, cost, _ = small_problem(0, n=20, K=6)
    seen = []
    result = train(
        PythonMulticlass(cost), X, list(y), C=5.0, tol=1e-4, solver=mm.SDM(),
        callbacks=[lambda record, state: seen.append(state.duals.loss.shape[1])],
    )  # fmt: skip
    assert seen[-1] > 2
    reference = train(Multiclass(6, cost), X, y, C=5.0, tol=1e-6, solver=mm.OneSlack())
    assert result.primal == pytest.approx(reference.primal, rel=1e-3)


def test_agrees_with_one_slack_on_digits():
    X, y = load_digits(return_X_y=True)
    results = [
        train(Multiclass(10), X / 16, y, C=0.1, tol=1e-4, solver=solver)
        for solver in (mm.SDM(), mm.OneSlack())
    ]
    assert all(result.converged for result in results)
    assert results[0].primal == pytest.approx(results[1].primal, rel=1e-2)
    assert max(r.dual for r in results) <= min(r.primal for r in results)


def test_bad_options_are_refused():
    with pytest.raises(mm.DataError, match="inner"):
        mm.SDM(inner=-1)
    for change in (-0.1, 1.0, np.nan):
        with pytest.raises(mm.DataError, match="change"):
            mm.SDM(change=change)


class Draws:
    """The part of a task that orders need."""

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)


@given(st.integers(0, 5000), st.sampled_from([1, working_sets.RUN]), st.integers(0, 100))
@settings(max_examples=30)
def test_a_pass_visits_every_example_once(n, run, seed):
    order = working_sets.shuffled(Draws(seed), np.arange(n), run)
    np.testing.assert_array_equal(np.sort(order), np.arange(n))


@pytest.mark.parametrize(("run", "close"), [(working_sets.RUN, True), (1, False)])
def test_neighbours_are_visited_soon_but_not_one_after_the_other(run, close):
    """In a sorted file neighbours are alike; a permutation, as in the paper, is slow in memory."""
    n = 40 * working_sets.WINDOW * working_sets.RUN
    order = working_sets.shuffled(Draws(0), np.arange(n), run)
    assert (abs(np.diff(order)) == 1).mean() < 0.01
    visit = np.argsort(order)
    within = abs(np.diff(visit)) <= working_sets.WINDOW * working_sets.RUN
    assert (within.mean() > 0.8) == close


@pytest.mark.parametrize("tol", [1e-12, 10.0])
def test_stop_by_the_change_of_the_dual_is_no_certificate(tol):
    X, y, cost, _ = small_problem(1, n=40)
    solver = dataclasses.replace(mm.SDM.from_paper(), tau=0.0, change=0.05)
    result = train(Multiclass(3, cost), X, y, C=2.0, tol=tol, solver=solver)
    optimum = train(Multiclass(3, cost), X, y, C=2.0, tol=1e-9)
    assert result.dual <= optimum.primal <= result.primal * (1 + 1e-9)
    if tol == 10.0:  # within tol at once
        assert result.converged
        return
    assert result.status is mm.Status.OWN_RULE and result.gap > result.target
    duals = [record.dual for record in result.history]
    changes = np.diff(duals) / np.array(duals[1:])
    assert changes[-1] <= 0.05 + 1e-9 and (changes[:-1] > 0.05 - 1e-9).all()


def test_long_weights_have_an_average_over_the_iterations():
    """More than a million weights: no average over the visits, but the same optimum."""
    random = np.random.RandomState(0)
    X, y = sp.csr_array(random.randn(30, 4)), random.randint(0, 3, 30)
    X.resize((30, 2**19))
    problem, sizes, expected = Multiclass(3), [], [0.0]
    shard = Shard(problem, problem.pack(X, y))

    def look(record, state):
        sizes.append((state.visits.lag.size, state.smooth.size))
        if state.smooth.size:
            expected[0] = 0.3 * expected[0] + 0.7 * state.w
            np.testing.assert_allclose(state.smooth, expected[0], atol=1e-12)

    found, averaged, last = (
        train_shard(shard, 1.0, solver, Stop(tol=1e-3), callbacks=[look])
        for solver in (mm.SDM(), mm.SDM(average=True), mm.SDM(average=False))
    )
    assert {*sizes} == {(0, shard.pack.dim), (shard.pack.dim, 0), (0, 0)}
    assert shard.pack.dim > 2**20
    for other in (averaged, last):
        assert found.converged and other.converged
        assert abs(found.primal - other.primal) <= max(found.gap, other.gap)


def test_long_weights_are_resumed(tmp_path):
    X = sp.csr_array(np.random.RandomState(0).randn(30, 4))
    y, path = np.random.RandomState(1).randint(0, 3, 30), tmp_path / "run.ck"
    X.resize((30, 2**19))
    options = {"C": 1.0, "tol": 1e-5, "solver": mm.SDM()}
    whole = train(Multiclass(3), X, y, max_iter=6, **options)
    train(Multiclass(3), X, y, max_iter=4, checkpoint=path, **options)
    resumed = train(Multiclass(3), X, y, max_iter=6, checkpoint=path, resume=True, **options)
    np.testing.assert_array_equal(resumed.w, whole.w)
    assert resumed.primal == whole.primal


def settled_run(rescaling, iterations=12):
    """A run of SDM on noisy data, close to the optimum, in which some weights of examples are 0."""
    random = np.random.RandomState(1)
    X = random.randn(300, 40)
    y = (X[:, :4] + random.randn(300, 4)).argmax(axis=1)
    cost = random.rand(4, 4) + 0.5
    np.fill_diagonal(cost, 0.0)
    problem = Multiclass(4, cost)
    shard = Shard(problem, problem.pack(X, y, random.randint(0, 3, 300)))
    task = Task(shard, 0.05, SLACK if rescaling == "slack" else MARGIN, 1e-9, random)
    solver = mm.SDM()
    state = solver.init(task)
    for _ in range(iterations):
        solver.step_once(task, state)
    return task, state


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_a_newton_step_raises_the_dual_value_and_keeps_alpha_feasible(rescaling):
    task, state = settled_run(rescaling)
    before = working_sets.exact_dual(task, state)
    average = working_sets.average(state).copy()
    state.seen = state.seen._replace(added=0)
    assert free_duals.newton_step(task, state)
    alpha, w = state.duals.alpha, state.w.copy()
    assert alpha.min() >= 0
    np.testing.assert_allclose(alpha.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(working_sets.average(state), average, atol=1e-12)
    assert working_sets.exact_dual(task, state) >= before * (1 - 1e-12)
    np.testing.assert_allclose(state.w, w, atol=1e-12)


def test_newton_steps_keep_small_dual_variables():
    """With large features all dual variables but one of an example are below rounding."""
    task, state = settled_run("margin")
    state.seen = state.seen._replace(added=0)
    alpha, free = state.duals.alpha, free_duals.free_variables(task, state)
    rows = np.arange(len(free.examples))
    small = np.zeros((len(rows), alpha.shape[1]))
    small[free.at, free.slot] = 1e-15
    small[rows, free.base] = 1 - small.sum(axis=1)
    alpha[free.examples] = small
    free_duals.move(state, free, np.full(len(free.at), 5e-16))
    np.testing.assert_allclose(alpha[free.examples][free.at, free.slot], 1.5e-15)
    free_duals.move(state, free, np.full(len(free.at), -1.5e-15 * (1 - 1e-15)))
    assert not alpha[free.examples][free.at, free.slot].any()


def test_newton_steps_end_at_the_optimum():
    """The same optimum as that of another solver."""
    random = np.random.RandomState(0)
    X = random.randn(600, 60)
    y = (X[:, :5] + random.randn(600, 5)).argmax(axis=1)
    options = {"C": 0.05, "tol": 1e-7, "max_iter": 10_000}
    newton, other = (train(Multiclass(5), X, y, solver=s, **options) for s in ("sdm", "n-slack"))
    assert newton.converged and other.converged
    assert abs(newton.primal - other.primal) <= max(newton.gap, other.gap)
    assert newton.shares["newton"] > 0


@pytest.mark.parametrize("m", [5, 30], ids=["few rows", "more rows than columns"])
def test_damped_equations(m):
    """Both forms give the solution of the equations, with given values for some variables."""
    random = np.random.RandomState(m)
    rows = random.randn(m, 12) * (random.rand(m, 4) < 0.5).repeat(3, axis=1)
    key = np.arange(4.0).repeat(3)
    residual, factor, step = random.randn(m), random.rand(m) + 0.1, random.randn(m)
    system = free_duals.System(rows, key, residual, factor)
    np.testing.assert_allclose(free_duals.gram_of(rows, key), rows @ rows.T, atol=1e-12)
    rest = np.arange(1, m)
    step[rest] = system.solve(rest, step)
    found = rows @ (rows.T @ step) + system.damping * step
    np.testing.assert_allclose(found[rest], residual[rest], atol=1e-9)
