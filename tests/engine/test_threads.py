"""The number of threads changes nothing in the result, not a bit."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxmargin as mm
from maxmargin.engine.shard import Shard, predict_labels
from maxmargin.engine.threads import SMALLEST, Threads, fixed_pieces, split_by_effort
from maxmargin.result import Stop
from maxmargin.structures.chain.problem import Chain
from maxmargin.training import train_shard

SOLVERS = {
    "one-slack": mm.OneSlack(cache=0),
    "one-slack, cached": mm.OneSlack(cache=3, share=0.3, select="gain"),
    "n-slack": mm.NSlack(),
    "sdm": mm.SDM(),
    "bcfw": mm.BCFW(),
    "bcfw, gap sampling": mm.BCFW(sampling="gap"),
    "subgradient": mm.Subgradient(batch=40),
}


@pytest.fixture(scope="module")
def chains():
    """Sequences of very different lengths, with weights that no sum holds exactly."""
    rng = np.random.RandomState(0)
    lengths = rng.randint(0, 12, 300)
    X = [rng.randn(L, 3).round(2) for L in lengths]
    Y = [rng.randint(0, 4, L) for L in lengths]
    problem = Chain(4)
    return problem, problem.pack(X, Y, rng.uniform(0.1, 1.9, len(X)))


def train(chains, solver, n_jobs, rescaling="margin", heavy=False):
    problem, pack = chains
    shard = Shard(problem, pack, n_jobs)
    assert shard.block_size == 0
    if heavy:
        shard.block_size = 18
    return train_shard(shard, 0.2, solver, Stop(1e-3, 12), rescaling)


@pytest.fixture(autouse=True)
def any_work_is_worth_a_thread(monkeypatch):
    monkeypatch.setattr("maxmargin.engine.threads.WORTH", 0.0)


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize("name", SOLVERS)
def test_any_number_of_threads_gives_the_same_model(name, heavy, rescaling, chains):
    one, two, three = (
        train(chains, SOLVERS[name], n_jobs, rescaling, heavy) for n_jobs in (1, 2, 3)
    )
    assert one.n_iter > 2
    for other in (two, three):
        np.testing.assert_array_equal(other.w, one.w)
        assert [r[2:] for r in other.history] == [r[2:] for r in one.history]


def test_the_chunks_of_a_pass_change_nothing(chains, monkeypatch):
    found = []
    for seconds in (0.05, 0.0, 1.0):  # a chunk never grows, or always
        monkeypatch.setattr("maxmargin.engine.threads.CHUNK_TIME", seconds)
        found.append(train(chains, mm.OneSlack(), 1).w)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_blocks_reach_the_same_optimum(chains):
    problem, pack = chains
    ends = []
    for size in (0, 1, 18, pack.n):  # the last ones grow up to this
        shard = Shard(problem, pack)
        shard.block_size = size
        result = train_shard(shard, 0.2, mm.SDM(), Stop(1e-5, 500))
        assert result.converged
        ends.append(result.primal)
    assert np.ptp(ends) <= 1e-5 * 0.2 * pack.weight.sum()


def test_counts_decide_about_blocks():
    rng = np.random.RandomState(0)
    X = [rng.randn(5, 2) for _ in range(400)]
    few, many = Chain(3), Chain(200)
    Y = [rng.randint(0, 3, 5) for _ in X]
    assert Shard(few, few.pack(X, Y)).block_size == 0
    shard = Shard(many, many.pack(X, Y), n_jobs=2)
    assert shard.block_size == Shard(many, many.pack(X, Y)).block_size == 400 // 16


def test_predictions_do_not_depend_on_threads(chains):
    problem, pack = chains
    w = np.random.RandomState(1).randn(pack.dim)
    expected = predict_labels(problem, pack, w)
    np.testing.assert_array_equal(predict_labels(problem, pack, w, n_jobs=3), expected)


@given(st.lists(st.integers(0, 50), max_size=40), st.integers(1, 7))
def test_parts_are_all_there_and_balanced(lengths, n):
    effort = np.array(lengths, float) + 1
    order = np.random.RandomState(0).permutation(len(lengths))
    parts = split_by_effort(order, effort, n)
    assert len(parts) <= n
    assert all(len(part) for part in parts)
    np.testing.assert_array_equal(np.concatenate([order[:0], *parts]), order)
    bound = effort.sum() / n + 2 * effort.max(initial=0)
    assert all(effort[part].sum() <= bound for part in parts)
    pieces = fixed_pieces(order, compiled=True)
    np.testing.assert_array_equal(np.concatenate([order[:0], *pieces]), order)
    assert all(len(piece) == SMALLEST for piece in pieces[:-1])


def test_small_work_is_done_without_other_threads(monkeypatch):
    monkeypatch.setattr("maxmargin.engine.threads.WORTH", 0.004)
    threads = Threads(2)

    def who(piece):
        return threading.current_thread() is threading.main_thread()

    assert all(threads.each(who, range(9), lambda: None, expected=0.001))
    both = threading.Barrier(2, timeout=60)
    for options in ({"expected": 0.01}, {}):  # the calling thread and another one
        found = threads.each(lambda _: (both.wait(), who(0))[1], range(6), lambda: None, **options)
        assert sorted(found) == [False] * 3 + [True] * 3
    threads.close()


def test_slow_oracles_have_small_pieces():
    assert [len(p) for p in fixed_pieces(np.arange(18), compiled=True, slow=True)] == [1] * 18
    assert fixed_pieces(np.arange(0), compiled=True, slow=True) == []
    assert len(fixed_pieces(np.arange(640), compiled=True, slow=True)) == 32


def test_an_error_in_a_thread_ends_all_work():
    running, seen = [], []

    def work(piece):
        running.append(piece)
        seen.append(piece)
        time.sleep(0.01)
        if piece == 3:
            raise ValueError(piece)
        running.remove(piece)

    with pytest.raises(ValueError, match="3"):
        Threads(2).each(work, range(100), lambda: None)
    assert running == [3]
    assert len(seen) < 100
    before = threading.active_count()
    threads = Threads(3)
    for _ in range(5):
        assert threads.each(abs, [-1, -2, -3], lambda: None) == [1, 2, 3]
    assert threading.active_count() <= before + 3


def test_a_time_limit_is_obeyed_between_pieces(chains):
    problem, pack = chains
    shard = Shard(problem, pack, 2)
    result = train_shard(shard, 100.0, mm.SDM(), Stop(1e-12, 10**6, max_time=0.3))
    assert result.status is mm.Status.MAX_TIME
    assert result.time < 3
