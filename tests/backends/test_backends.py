"""Shards that are worked on by others: the logic of it, in one process."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import maxmargin as mm
from maxmargin.backends import hearsay
from maxmargin.backends.base import split
from maxmargin.backends.combine import Exchange
from maxmargin.backends.crew import PATIENCE
from maxmargin.backends.hearsay import Hearsay
from maxmargin.backends.links import HEADS
from maxmargin.backends.local import InProcess, LocalPool
from maxmargin.backends.master import Master
from maxmargin.backends.worker import LOOPBACK
from maxmargin.engine import exchange as exchange_module
from maxmargin.engine.vectors import Vector, changed, total
from maxmargin.errors import DataError, MaxMarginError
from maxmargin.problem import MARGIN
from maxmargin.solvers import DualSolver, sdm
from maxmargin.solvers.task import Task
from maxmargin.structures.multiclass.problem import Multiclass
from reference import enumerate_optimum
from solver_tables import all_solvers
from tests.solvers.test_solvers import EXAMPLES, python_example

C, TOL = 0.3, 1e-3
SOLVERS = all_solvers() | {
    "one-slack, cache": mm.OneSlack(cache=2, share=0.4, select="gain"),
    "one-slack, line search": mm.OneSlack(qp="line-search"),
    "sdm, last": mm.SDM(average=False),
    "bcfw, gap": mm.BCFW(sampling="gap"),
    "n-slack, batches": mm.NSlack(batch=2, shrink=True),
}
#: Those that come near the optimum in the iterations allowed here.
SURE = [
    name
    for name, solver in SOLVERS.items()
    if isinstance(solver, DualSolver | mm.OneSlack) and "line search" not in name
]


def run(example, solver, backend=None, rescaling="margin", **options):
    settings = {"tol": TOL, "max_iter": 300} | options
    return mm.train(
        example.problem, example.X, example.Y, C=C, solver=solver, rescaling=rescaling,
        sample_weight=example.weight, backend=backend, **settings,
    )  # fmt: skip


def steps(result):
    return [(r.iteration, *r[2:]) for r in result.history]


@pytest.mark.parametrize("kind", ["multiclass", "wide chain"])
@pytest.mark.parametrize("name", SOLVERS)
def test_one_worker_makes_the_iterates_of_a_local_run(name, kind):
    example, solver = EXAMPLES[kind](), SOLVERS[name]
    local = run(example, solver, max_iter=25)
    alone = run(example, solver, InProcess(1), max_iter=25)
    np.testing.assert_array_equal(alone.w, local.w)
    assert steps(alone) == steps(local)


@pytest.mark.parametrize("kind", ["multiclass", "wide chain", "chain, weighted"])
def test_one_worker_does_the_work_of_a_local_run_for_long_w(kind, monkeypatch):
    """Near the end w is computed again, and another average is certified; no pass is repeated."""
    monkeypatch.setattr(sdm, "LONG", 0)
    example = EXAMPLES[kind]()
    local, alone = run(example, "sdm"), run(example, "sdm", InProcess(1))
    assert local.converged
    np.testing.assert_array_equal(alone.w, local.w)
    assert steps(alone) == steps(local)
    assert alone.n_oracle == local.n_oracle


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("kind", ["multiclass", "chain"])
@pytest.mark.parametrize("name", SURE)
def test_several_workers_reach_the_optimum(name, kind, rescaling):
    example = EXAMPLES[kind]()
    optimum = enumerate_optimum(*example.planes(rescaling == "slack"), C, example.weight)
    tol = 1e-2 if "bcfw" in name else TOL  # it comes near the optimum only slowly
    for K in (2, 3):
        result = run(example, SOLVERS[name], InProcess(K), rescaling, max_iter=2000, tol=tol)
        assert result.converged
        scale = tol * C * example.n
        assert optimum.dual - 1e-6 <= result.primal <= optimum.primal + scale + 1e-6
        assert result.dual <= optimum.primal + 1e-6
        assert [worker.worker for worker in result.workers] == list(range(K))
        assert sum(worker.n for worker in result.workers) == len(example.weight)


@pytest.mark.parametrize("name", ["subgradient", "one-slack, line search"])
def test_the_slow_ones_are_certified_as_well(name):
    example = EXAMPLES["multiclass"]()
    optimum = enumerate_optimum(*example.planes(False), C, example.weight)
    result = run(example, SOLVERS[name], InProcess(2), max_iter=100)
    assert result.dual - 1e-9 <= optimum.primal <= result.primal + 1e-9
    assert result.gap < 0.1 * optimum.primal


def test_a_python_problem_is_distributed_too():
    example = python_example(0)
    optimum = enumerate_optimum(*example.planes(False), C, example.weight)
    result = run(example, "auto", InProcess(2))
    assert result.primal <= optimum.primal + TOL * C * example.n + 1e-6


@pytest.mark.parametrize("name", ["sdm", "bcfw", "n-slack, batches"])
@pytest.mark.parametrize(
    ("kind", "long"), [("multiclass", False), ("chain", False), ("chain", True)]
)
def test_the_dual_never_falls_and_w_is_that_of_the_dual_variables(name, kind, long, monkeypatch):
    """If w is long, also with what the marked planes have changed."""
    if long:
        monkeypatch.setattr(exchange_module, "SHORT", 0)
    example, solver = EXAMPLES[kind](), Master(SOLVERS[name])
    with ExitStack() as stack:
        task = new_task(stack, example, 4)
        state, duals = solver.init(task), [0.0]
        for _ in range(12):
            solver.step_once(task, state)
            duals.append(C * state.loss - 0.5 * state.w @ state.w)
            w = state.w.copy()
            assert solver.exact_dual(task, state) == pytest.approx(duals[-1], abs=1e-9)
            np.testing.assert_allclose(state.w, w, atol=1e-9)
    assert (np.diff(duals) > -1e-9).all()
    assert duals[-1] > 0


def test_many_workers_add_up_their_changes_below_the_driver():
    """More workers than those that send changes to the driver: the optimum is the same."""
    X, y = mm.datasets.make_multiclass(120, 8, 4)[:2]
    options = {"C": C, "tol": TOL, "solver": "sdm", "max_iter": 2000}
    alone = mm.train(Multiclass(4), X, y, **options)
    assert HEADS < 12
    several = mm.train(Multiclass(4), X, y, backend=InProcess(12), **options)
    assert several.converged
    assert several.dual <= alone.primal + 1e-9
    assert several.primal <= alone.dual + 2 * TOL * C * len(y) + 1e-9


def test_the_same_shards_make_the_same_iterates():
    """Workers wait for each other in threads, but sums are made in a fixed order."""
    example = EXAMPLES["chain"]()
    first, second = (run(example, "sdm", InProcess(3)) for _ in range(2))
    assert steps(first) == steps(second)
    np.testing.assert_array_equal(first.w, second.w)


class Unreachable(LocalPool):
    """Workers that cannot connect to each other, as behind a firewall."""

    def submit(self, member, method, args, w):
        """Connections to another address fail."""
        if method == "reach":
            args = ([(LOOPBACK, 1)] * len(args[0]), args[1])
        return super().submit(member, method, args, w)


def test_workers_that_cannot_connect_train_without_it(capsys):
    example, backend = EXAMPLES["chain"](), InProcess(3)
    backend._pool = Unreachable
    result = run(example, "sdm", backend, max_iter=2000)
    assert result.converged
    assert capsys.readouterr().err.count("the workers cannot connect to each other") == 1


@settings(max_examples=50)
@given(st.integers(1, 5), st.integers(1, 40), st.floats(0.05, 1), st.integers(0, 10**6))
def test_the_master_adds_the_best_parts(K, dim, density, seed):
    """Against a projected gradient method on dense vectors."""
    random = np.random.RandomState(seed)
    w, gains = random.randn(dim), 3 * random.rand(K)
    V = np.where(random.rand(K, dim) < density, random.randn(K, dim), 0.0)
    exchange, start = Exchange(dim, K), w.copy()
    theta, where, step = exchange.combine(w, [Vector.of(v) for v in V], gains)
    assert ((theta >= 0) & (theta <= 1)).all()
    np.testing.assert_allclose(w, start + theta @ V, atol=1e-12)
    dense = np.zeros(dim)
    dense[where] = step
    np.testing.assert_allclose(dense, theta @ V, atol=1e-12)
    assert len(set(where.tolist())) == len(where)

    def value(parts):
        return gains @ parts - 0.5 * np.square(start + parts @ V).sum()

    linear, gram = gains - V @ start, V @ V.T
    best, length = np.zeros(K), 1.0 / max(np.linalg.eigvalsh(gram)[-1], 1e-9)
    for _ in range(3000):
        best = np.clip(best + length * (linear - gram @ best), 0.0, 1.0)
    assert value(theta) >= max(value(best), value(np.zeros(K))) - 1e-6
    assert (exchange.head == -1).all()
    if K > 1:  # places that only one shard changes are not crossings
        met = (V != 0).sum(axis=0) > 1
        assert set(exchange.crossing(exchange.last, dim, 2).tolist()) == set(
            np.flatnonzero(met).tolist()
        )


@pytest.mark.parametrize("K", [2, 3, 8])
def test_shards_that_hear_of_each_other_share_a_correction(K):
    """Each corrects all of the error that it sees; the sum becomes right, and w can be restored."""
    error, dim = np.array([1.0, -2.0, 0.0, 5.0]), 6
    places = np.array([4, 0, 1, 3], np.int32)
    start = np.random.RandomState(0).randn(dim)
    shards = [Hearsay(places, K, start.copy()) for _ in range(K)]
    for _ in range(40):
        for shard in shards:
            own = -(error + shard.picture - start[places])
            shard.model[places] = shard.picture + own
        total = sum(shard.say() for shard in shards)
        for shard in shards:
            shard.hear(total)
    np.testing.assert_allclose(total, -error, atol=1e-5)
    for shard in shards:
        own = shard.model[places] - shard.picture
        shard.forget()
        np.testing.assert_allclose(shard.model[places] - start[places], own, atol=1e-12)


def test_shards_mention_the_first_places_always_and_the_others_in_turn(monkeypatch):
    monkeypatch.setattr(hearsay, "ALWAYS", 2)
    monkeypatch.setattr(hearsay, "IN_TURN", 3)
    shard = Hearsay(np.arange(9, dtype=np.int32), 2, np.zeros(9))
    shard.model[:] = np.arange(9.0)
    said = [set(shard.say().tolist()) for _ in range(3)]
    assert all({0, 1} <= one and len(one) <= 5 for one in said)
    assert set.union(*said) == set(range(9))


def test_places_from_a_checkpoint_are_checked():
    example = EXAMPLES["multiclass"]()
    with ExitStack() as stack:
        task = new_task(stack, example, 2)
        state = Master(SOLVERS["sdm"]).init(task)
        state.check_restored(task)
        state.places = np.array([len(state.w)], np.int32)
        with pytest.raises(ValueError, match="out of range"):
            state.check_restored(task)


class Mortal(LocalPool):
    """Workers die in the calls whose numbers are given."""

    def __init__(self, deaths):
        super().__init__()
        self.deaths, self.calls = set(deaths), 0

    def submit(self, member, method, args, w):
        self.calls += 1
        if self.calls in self.deaths:
            member.dead = True
            member.hang_up()
        if getattr(member, "dead", False):
            return None  # from now on it never answers
        return super().submit(member, method, args, w)


class Cemetery(InProcess):
    def __init__(self, num_shards, deaths):
        super().__init__(num_shards)
        self.deaths = deaths

    def _pool(self):
        self.pool = Mortal(self.deaths)
        return self.pool


@pytest.mark.parametrize("name", SURE)
def test_lost_workers_are_replaced_and_the_optimum_is_the_same(name):
    example = EXAMPLES["multiclass"]()
    optimum = enumerate_optimum(*example.planes(False), C, example.weight)
    for deaths in ((1, 20), (6, 14, 15, 40), (9, 30, 31)):
        result = run(example, SOLVERS[name], Cemetery(2, deaths), max_iter=2000)
        assert result.converged
        assert sum(worker.restarts for worker in result.workers) > 0
        assert result.dual <= optimum.primal + 1e-9
        assert result.primal <= optimum.primal + TOL * C * example.n + 1e-9


def test_subgradient_keeps_its_certificate_when_a_worker_is_lost():
    example = EXAMPLES["multiclass"]()
    optimum = enumerate_optimum(*example.planes(False), C, example.weight)
    result = run(example, "subgradient", Cemetery(2, (20, 51, 52)), max_iter=60)
    assert result.dual - 1e-9 <= optimum.primal <= result.primal + 1e-9
    whole = run(example, "subgradient", InProcess(2), max_iter=60)
    np.testing.assert_allclose(result.w, whole.w, rtol=1e-9, atol=1e-12)


def test_a_worker_that_dies_again_and_again_ends_training():
    example = EXAMPLES["multiclass"]()
    with pytest.raises(MaxMarginError, match=f"lost {PATIENCE} times in a row"):
        run(example, "sdm", Cemetery(2, range(1, 1000)))


def test_predictions_come_back_in_order():
    example = EXAMPLES["chain"]()
    w = np.random.RandomState(0).randn(example.problem.pack(example.X).dim)
    alone = InProcess(1).predict(example.problem, example.X, w)
    several = InProcess(3).predict(example.problem, example.X, w)
    assert [y.tolist() for y in several] == [y.tolist() for y in alone]


def test_shards_without_weight_do_not_exist():
    X, y = np.random.RandomState(0).randn(4, 2), np.array([0, 1, 0, 1])
    sources = split(Multiclass(2), X, y, np.array([1.0, 0.0, 2.0, 0.0]), 2)
    assert [source.weight.tolist() for source in sources] == [[1.0], [2.0]]


def test_more_shards_than_examples_are_not_made():
    X, y = np.random.RandomState(0).randn(3, 2), np.array([0, 1, 0])
    assert len(split(Multiclass(2), X, y, None, 8)) == 3


@pytest.mark.parametrize("options", [{"num_shards": 0}, {"num_cpus": 0}])
def test_bad_options_are_refused(options):
    with pytest.raises(DataError, match=next(iter(options))):
        mm.Ray(**options)


def test_an_unknown_solver_is_refused():
    class Mine(mm.Solver):
        name = "mine"

        def step_once(self, task, state):
            raise AssertionError

    example = EXAMPLES["multiclass"]()
    with pytest.raises(DataError, match="Mine cannot be distributed"):
        run(example, Mine(), InProcess(2))


@pytest.mark.parametrize("name", ["sdm", "bcfw", "n-slack, batches"])
@pytest.mark.parametrize("K", [1, 2])
def test_a_frozen_run_goes_on_in_other_workers(name, K):
    example, solver = EXAMPLES["wide chain"](), Master(SOLVERS[name])

    def steps(freeze_at):
        with ExitStack() as stack:
            task = new_task(stack, example, K)
            state = solver.init(task)
            for step in range(6):
                if step == freeze_at:
                    solver.freeze(task, state)
                    random = task.random.get_state()
                    task = new_task(stack, example, K)
                    solver.init(task)
                    task.random.set_state(random)
                    solver.thaw(task, state)
                solver.step_once(task, state)
            return state.w.copy()

    np.testing.assert_array_equal(steps(3), steps(None))


def new_task(stack, example, K):
    backend = InProcess(K)
    crew = stack.enter_context(backend.crew(example.problem, example.X, example.Y, example.weight))
    return Task(crew, C, MARGIN, TOL, np.random.RandomState(0))


@settings(max_examples=50)
@given(st.integers(1, 60), st.floats(0, 1), st.integers(0, 10**6))
def test_vectors_travel_as_they_are(dim, density, seed):
    random = np.random.RandomState(seed)
    old = random.randn(dim)
    new = np.where(random.rand(dim) < density, random.randn(dim), old)
    sent = changed(new, old)
    arrived = old.copy()
    sent.set_in(arrived)
    np.testing.assert_array_equal(arrived, new)
    assert sent.nbytes <= new.nbytes
    v = np.where(random.rand(dim) < density, random.randn(dim), 0.0)
    np.testing.assert_array_equal(total([Vector.of(v)], dim), v)
    np.testing.assert_allclose(total([Vector.of(v), Vector.of(new)], dim), v + new)


@pytest.mark.parametrize("K", [1, 2])
@pytest.mark.parametrize("name", ["no cache", "sdm", "bcfw, gap", "n-slack, batches"])
def test_a_distributed_run_continues_from_its_checkpoint(name, K, tmp_path):
    """Exactly, but for the caches of one-slack, which the workers fill anew."""
    example, solver = EXAMPLES["wide chain"](), SOLVERS.get(name, mm.OneSlack(cache=0))
    whole = run(example, solver, InProcess(K), max_iter=8, tol=1e-9)
    saved = {"checkpoint": tmp_path / "run.ck", "every": 0, "resume": True, "tol": 1e-9}
    run(example, solver, InProcess(K), max_iter=4, **saved)
    again = run(example, solver, InProcess(K), max_iter=8, **saved)
    np.testing.assert_array_equal(again.w, whole.w)
    assert steps(again) == steps(whole)
    with pytest.raises(MaxMarginError, match="other training data"):
        run(example, solver, InProcess(3), max_iter=8, **saved)


def test_nothing_is_predicted_of_nothing():
    X = [np.eye(3), np.eye(3)[:2]]
    clf = mm.ChainSVC(backend=InProcess(2)).fit(X, [list("aba"), list("ab")])
    assert clf.predict([]) == clf.max_marginals([]) == []
