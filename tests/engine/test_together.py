"""``deterministic=False``: threads that change w at the same time reach the same optimum."""

import numpy as np
import pytest

import maxmargin as mm
from maxmargin.backends.local import InProcess
from maxmargin.engine.arrays import PassOptions
from maxmargin.engine.copies import Copies
from maxmargin.engine.plans import divide, sum_powers
from maxmargin.engine.shard import Shard
from maxmargin.engine.sharing import add_changes
from maxmargin.engine.threads import Threads
from maxmargin.engine.together import Together
from maxmargin.result import Stop
from maxmargin.solvers import working_sets as sets
from maxmargin.solvers.task import Task
from maxmargin.structures.chain.problem import Chain
from maxmargin.structures.multiclass.problem import Multiclass
from maxmargin.training import train_shard
from weak_cycles import CompiledCycles, WeakCycles, cycles

SOLVERS = {
    "sdm": mm.SDM(),
    "sdm, average": mm.SDM(average=True),
    "n-slack": mm.NSlack(),
    "bcfw": mm.BCFW(),
    "bcfw, gap sampling": mm.BCFW(sampling="gap"),
}

TOL, C = 1e-3, 0.1


@pytest.fixture(autouse=True)
def any_work_is_worth_a_thread(monkeypatch):
    monkeypatch.setattr("maxmargin.engine.threads.WORTH", 0.0)
    monkeypatch.setattr("maxmargin.engine.together.SLOW", np.inf)
    monkeypatch.setattr("maxmargin.engine.together.TELLING", 0.0)
    monkeypatch.setattr("maxmargin.engine.together.SETTLED", 1)
    monkeypatch.setattr("maxmargin.engine.together.ALIKE", 0.0)  # copies are faster


@pytest.fixture(params=["all places", "few places"])
def places(request, monkeypatch):
    """How many weights threads exchange in each pass."""
    if request.param == "few places":
        monkeypatch.setattr("maxmargin.engine.copies.PLACES", 16)
        monkeypatch.setattr("maxmargin.engine.copies.ALWAYS", 8)
        monkeypatch.setattr("maxmargin.engine.copies.SAMPLE", 4000)
        monkeypatch.setattr("maxmargin.engine.together.SHORT_W", 0)
    return request.param


def sequences(n=300, features=3):
    """Sequences of different lengths, with noise."""
    rng = np.random.RandomState(0)
    lengths = rng.randint(0, 9, n)
    Y = [rng.randint(0, 4, L) for L in lengths]
    X = [np.column_stack([y, rng.randn(L, features - 1)]) for y, L in zip(Y, lengths, strict=True)]
    return X, Y


def packed(name):
    """A problem whose w has a copy in each thread, and one whose w is long."""
    if name == "multi-class":
        rng = np.random.RandomState(0)
        y = rng.randint(0, 5, 400)
        X = np.eye(5)[y] + 0.6 * rng.randn(400, 5)
        problem = Multiclass(5)
        return problem, problem.pack(X, y, rng.uniform(0.1, 1.9, 400))
    X, Y = sequences()
    problem = Chain(4)
    if name == "long chain":  # most weights have no feature
        X = [np.pad(x, ((0, 0), (0, 1500))) for x in X]
    return problem, problem.pack(X, Y)


def train(case, solver, n_jobs, deterministic=False, **options):
    problem, pack = case
    with_threads = Shard(problem, pack, n_jobs, deterministic=deterministic)
    try:
        return train_shard(with_threads, C, solver, Stop(TOL, 2000), **options)
    finally:
        with_threads.close()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", ["chain", "long chain", "multi-class"])
def test_the_same_optimum_as_one_thread(name, solver, places):
    case = packed(name)
    alone = train(case, SOLVERS[solver], 1)
    for n_jobs in (2, 4, 6):  # more threads than copies
        together = train(case, SOLVERS[solver], n_jobs)
        assert alone.converged and together.converged
        assert alone.dual <= together.primal and together.dual <= alone.primal
        assert not together.deterministic


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_thread_is_deterministic(solver):
    case = packed("chain")
    asked, default = (train(case, SOLVERS[solver], 1, d) for d in (False, True))
    assert asked.w.tobytes() == default.w.tobytes()
    assert asked.deterministic and default.deterministic


@pytest.mark.parametrize("frank_wolfe", [None, True])
@pytest.mark.parametrize("name", ["chain", "long chain", "multi-class"])
@pytest.mark.parametrize("n_jobs", [3, 6])
@pytest.mark.parametrize("speed", ["fast visits", "slow visits"])
def test_no_addition_is_lost(name, n_jobs, frank_wolfe, speed, places, monkeypatch):
    if speed == "slow visits":  # without copies, if w is long
        monkeypatch.setattr("maxmargin.engine.together.SLOW", 0.0)
    problem, pack = packed(name)
    shard = Shard(problem, pack, n_jobs, deterministic=False)
    task = Task(shard, C, 1, TOL, np.random.RandomState(0), frank_wolfe=frank_wolfe)
    state = sets.begin(task, power=1.0)
    for ask in (True, True, False, False):
        order = sets.shuffled(task, shard.everyone)
        sets.complete(sets.sweep(task, state, order, PassOptions(ask, frank_wolfe=frank_wolfe)))
    lacking = shard.together.copies.lacking is state.w
    assert lacking == (places == "few places" and speed == "fast visits")
    sets.make_whole(task, state)
    w = state.w.copy()
    alpha, count = state.duals.alpha, state.duals.count
    shard_of_one = Shard(problem, pack)
    exact = np.zeros_like(w)
    shard_of_one.sum_duals(C, 1, state.duals, exact, frank_wolfe)
    sets.recompute_w(task, state)
    shard.close()
    assert abs(w).max() > 0
    np.testing.assert_allclose(w, exact, atol=1e-12 * shard.n)
    np.testing.assert_allclose(state.w, exact, atol=1e-12 * shard.n)
    assert (alpha >= 0).all()
    np.testing.assert_allclose(alpha.sum(axis=1), 1.0, atol=1e-9)
    assert (alpha[np.arange(alpha.shape[1]) >= count[:, None]] == 0).all()
    assert state.visits.clock[0] == 4 * shard.n
    assert shard.n_oracle == 2 * shard.n
    # The average is a mean of points on the way, the first of which is 0.
    assert np.linalg.norm(sets.average(state)) <= 2 * np.linalg.norm(exact)


def test_threads_keep_their_examples(places):
    """Until w is whole again; and what most steps touch is exchanged."""
    problem, pack = packed("long chain")
    shard = Shard(problem, pack, 2, deterministic=False)
    task = Task(shard, C, 1, TOL, np.random.RandomState(0))
    state, copies = sets.begin(task), shard.together.copies
    for ask in (True, True, False, False):
        order = sets.shuffled(task, shard.everyone)
        sets.complete(sets.sweep(task, state, order, PassOptions(ask)))
    other = copies.copies[0]
    np.testing.assert_array_equal(state.w[copies.places], other[copies.places])
    if places == "all places":
        assert copies.complete and copies.lacking is None
    else:
        assert len(copies.places) == 16 and copies.always == 8
        assert set(copies.owner) <= {0, 1}
        owner = copies.owner.copy()
        sets.complete(sets.sweep(task, state, order, PassOptions(False)))
        np.testing.assert_array_equal(copies.owner, owner)
        sets.make_whole(task, state)
        assert set(copies.owner) == {-1} and copies.lacking is None
    shard.close()
    np.testing.assert_array_equal(state.w, other)


def test_copies_are_tried_and_kept_if_they_are_faster(monkeypatch):
    monkeypatch.setattr("maxmargin.engine.together.ALIKE", 1.1)
    monkeypatch.setattr("maxmargin.engine.together.SLOW", 1e-4)
    problem, pack = packed("long chain")
    together = Together(Shard(problem, pack, 2, deterministic=False))
    together.pace = [1e-6, 1e-5]
    known, oracle = PassOptions(False), PassOptions(True)
    assert not together._wants_copies(known)  # the other way comes first
    together.tried[False], together.tries = 1e-6, 1
    assert together._wants_copies(known) and not together._wants_copies(oracle)
    for seconds, better in ((0.95e-6, False), (0.85e-6, True)):
        together.tried[True] = seconds
        assert together._wants_copies(known) == together._wants_copies(oracle) == better
    together.pace = [1e-3, 1e-2]  # slow visits
    assert not together._wants_copies(known)
    together.pace, together.exchanged = [1e-6, 1e-5], True
    assert together._wants_copies(known)  # all weights are exchanged in each pass


@pytest.mark.parametrize("smallest", [0, 3, 1000])
def test_every_visit_is_made_once(smallest):
    for length in (0, 1, 2, 70, 9000):
        order = np.random.RandomState(0).permutation(length)
        plan = divide(order, 3, smallest)
        np.testing.assert_array_equal(plan.order, order)
        assert plan.ends[0] == 0 and plan.ends[-1] == length and (np.diff(plan.ends) > 0).all()


def test_visits_of_an_example_are_made_by_one_thread():
    problem, pack = packed("chain")
    together = Together(Shard(problem, pack, 4, deterministic=False))
    order = np.random.RandomState(0).randint(0, 20, 500)
    plans = together._plans(order, 4, PassOptions(True), None)
    assert len({id(plan.turn) for plan in plans}) == 4
    assert sorted(np.concatenate([plan.order for plan in plans])) == sorted(order)
    for k, plan in enumerate(plans):
        for other in plans[:k]:
            assert not set(plan.order) & set(other.order)


def test_an_example_drawn_twice_has_one_owner():
    """Also in a later part of a pass, of whose examples only some have an owner already."""
    copies = Copies(100, 20, 3, Threads(3))
    copies.places = copies.places[:10]
    copies.owner[:] = -1
    copies.owner[:5] = 2
    part = np.random.RandomState(0).randint(0, 20, 200)
    orders = copies.owned(part)
    assert sorted(np.concatenate(orders)) == sorted(part)
    for k, order in enumerate(orders):
        assert (copies.owner[order] == k).all()
        assert not any(set(order) & set(other) for other in orders[:k])
    assert set(range(5)) & set(part) <= set(orders[2])


def test_parts_make_a_pass():
    problem, pack = packed("chain")
    together = Together(Shard(problem, pack, 2, deterministic=False))
    order, options = np.random.RandomState(0).permutation(pack.n), PassOptions(True)
    for pace in (np.inf, 1.0, 1e-3, 1e-9):
        together.pace = [pace, pace]
        np.testing.assert_array_equal(np.concatenate(list(together.parts(order, options))), order)


def test_iterations_of_one_thread_follow_when_the_dual_value_falls():
    problem, pack = packed("chain")
    together = Together(Shard(problem, pack, 2))
    rests = []
    for dual in (1.0, 2.0, 1.5, 1.6, 1.7, 1.0, 1.1, 1.2, 1.3):
        together.note(dual)
        rests.append(together.rest)
    assert rests == [0, 0, 1, 0, 0, 2, 1, 0, 0]


def test_exchange_of_changes():
    own, places = np.array([9.0, 1.0, 8.0, 4.5, 1.0]), np.array([1, 3, 4], np.uint64)
    common, base = np.array([1.0, 5.0, 2.0]), np.array([1.0, 4.0, 2.0])
    add_changes(own, places, base, common, 0, 2)
    np.testing.assert_array_equal(common, [1.0, 5.5, 2.0])
    np.testing.assert_array_equal(base, [1.0, 5.5, 2.0])
    np.testing.assert_array_equal(own, [9.0, 1.0, 8.0, 5.5, 1.0])


@pytest.mark.parametrize("power", [0.0, 1.0, 4.0])
def test_weights_of_visits(power):
    exact = sum(float(t) ** power for t in range(11, 51))
    assert sum_powers(10.0, 50.0, power) == pytest.approx(exact, rel=1e-3)


class Signed(Multiclass):
    """Some weights must not be negative."""

    def positive(self, pack):
        return [0, 3, 5]


@pytest.mark.parametrize("solver", ["sdm", "one-slack"])
def test_what_cannot_share_w_is_deterministic(solver):
    X, y = np.random.RandomState(0).randn(60, 3), np.arange(60) % 3
    problem = Signed(3) if solver == "sdm" else Multiclass(3)
    case = problem, problem.pack(X, y)
    results = [train(case, solver, n_jobs) for n_jobs in (1, 2)]
    assert results[0].w.tobytes() == results[1].w.tobytes()
    assert results[1].deterministic


def test_plain_python_is_deterministic():
    X, Y = cycles(40)
    options = {"C": C, "tol": 0.05, "solver": "sdm", "max_iter": 5}
    alone, asked = (
        mm.train(WeakCycles(), X, Y, n_jobs=n, deterministic=False, **options) for n in (1, 2)
    )
    assert alone.w.tobytes() == asked.w.tobytes() and asked.deterministic


def test_bounds_of_inexact_oracles():
    X, Y = cycles(40)
    options = {"C": C, "tol": 0.02, "solver": "sdm", "max_iter": 60, "deterministic": False}
    alone, together = (mm.train(CompiledCycles(), X, Y, n_jobs=n, **options) for n in (1, 2))
    assert not together.deterministic and together.gap_inference > 0
    assert alone.dual <= together.primal and together.dual <= alone.primal


def test_checkpoint_resumes(tmp_path):
    case, path = packed("chain"), tmp_path / "run.ck"
    problem, pack = case
    shard = Shard(problem, pack, 2, deterministic=False)
    part = train_shard(shard, C, "sdm", Stop(TOL, 2), checkpoint=mm.Checkpoint(path))
    shard.close()
    assert not part.converged
    whole = train(case, "sdm", 1)
    for n_jobs in (2, 1):  # the other way of training continues it as well
        path_copy = tmp_path / f"{n_jobs}.ck"
        path_copy.write_bytes(path.read_bytes())
        again = train(case, "sdm", n_jobs, n_jobs == 1, checkpoint=mm.Checkpoint(path_copy))
        assert again.converged and again.n_iter > 2
        assert whole.dual <= again.primal and again.dual <= whole.primal
        assert not again.deterministic  # its first iterations were not


def test_estimator_says_so(tmp_path):
    X, Y = sequences()
    model = mm.ChainSVC(solver="sdm", n_jobs=2, deterministic=False).fit(X, Y)
    assert not model.result_.deterministic
    model.save(tmp_path / "m.mm")
    loaded = mm.load(tmp_path / "m.mm")
    assert not loaded.result_.deterministic and loaded.deterministic is False


@pytest.mark.parametrize("K", [1, 2, 3])
@pytest.mark.parametrize("solver", ["sdm", "bcfw", "n-slack"])
def test_threads_of_several_workers(solver, K, tmp_path):
    """Workers whose threads share a copy of w: the same optimum, also from a checkpoint."""
    X, Y = sequences()
    tol = 0.02 if solver == "bcfw" else TOL
    options = {"C": C, "tol": tol, "solver": solver, "deterministic": False}
    alone = mm.train(Chain(4), X, Y, n_jobs=1, **options)
    path, workers = tmp_path / "run.ck", InProcess(K, num_cpus=2)
    part = mm.train(Chain(4), X, Y, backend=workers, checkpoint=path, max_iter=2, **options)
    assert not part.deterministic
    whole = mm.train(Chain(4), X, Y, backend=workers, checkpoint=path, **options)
    assert whole.converged and not whole.deterministic and whole.n_iter > 2
    assert alone.dual <= whole.primal and whole.dual <= alone.primal
    single = mm.train(Chain(4), X, Y, backend=InProcess(K), max_iter=2, **options)
    assert single.deterministic  # one thread per worker
