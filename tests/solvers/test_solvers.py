"""Every solver on every kind of problem: it reaches the optimum that enumeration finds."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import maxmargin as mm
from enumerated import Enumerated
from maxmargin.engine.bind import interpret
from maxmargin.engine.shard import Shard
from maxmargin.result import Stop
from maxmargin.solvers import working_sets
from maxmargin.structures.binary.problem import Binary
from maxmargin.structures.multiclass.problem import Multiclass
from maxmargin.training import train, train_shard
from reference import (
    assert_same_optimum,
    chain_features,
    chain_outputs,
    dual,
    enumerate_optimum,
    enumerate_planes,
    multiclass_planes,
    primal,
    weights_of,
)
from solver_tables import all_solvers
from tests.solvers.test_one_slack import small_problem
from tests.structures.chain.test_chain import random_chain

C = 0.3
RESCALINGS = pytest.mark.parametrize("rescaling", ["margin", "slack"])


class PythonChain(Enumerated):
    """The same structure as ``Chain``, as a user would write it."""

    def __init__(self, K):
        self.K = K

    def features(self, x, y):
        return chain_features(x, y, self.K)

    def loss(self, y_true, y):
        return float(sum(a != b for a, b in zip(y_true, y, strict=True)))

    def all_outputs(self, x):
        return chain_outputs(len(x), self.K)


@dataclass
class Example:
    """Training data whose planes can be enumerated."""

    problem: Any
    X: Any
    Y: Any
    weight: np.ndarray
    planes: Callable[[bool], tuple[list[np.ndarray], list[np.ndarray]]]
    outputs: Callable[[int], list[Any]] | None = None

    @property
    def n(self):
        return self.weight.sum()


def binary_example(seed):
    X, y, _, weight = small_problem(seed)
    y = np.where(y > 0, 1, -1)

    def planes(slack):
        return enumerate_planes(
            lambda x, y: y * x / 2, lambda t, y: float(t != y), X, y, lambda x: (-1, 1)
        )

    return Example(Binary(), X, y, weight, planes, lambda i: [(-1,), (1,)])


def multiclass_example(seed):
    X, y, cost, weight = small_problem(seed)
    return Example(
        Multiclass(3, cost), X, y, weight, lambda slack: multiclass_planes(X, y, cost, slack),
        lambda i: [(k,) for k in range(3)],
    )  # fmt: skip


def chain_example(seed, **options):
    case = random_chain(seed, **options)
    weight = np.random.RandomState(seed).uniform(0.2, 2.0, len(case.X))
    return Example(case.problem, case.sequences(), case.Y, weight, case.planes, case.outputs)


def python_example(seed):
    case = random_chain(seed, lengths=(0, 1, 3, 2), d=2)
    Y = [tuple(y.tolist()) for y in case.Y]
    return Example(PythonChain(3), case.X, Y, np.array([1.0, 2.0, 0.5, 1.0]), case.planes)


EXAMPLES = {
    "binary": lambda: binary_example(0),
    "multiclass": lambda: multiclass_example(1),
    "chain": lambda: chain_example(2),
    "wide chain": lambda: chain_example(3, d=12),  # Gram matrices are kept
    "chain, zero-one": lambda: chain_example(4, zero_one=True),
    "chain, costs": lambda: chain_example(5, cost="whole"),
    "chain, weighted": lambda: chain_example(6, tokens="whole"),
    "chain, masked": lambda: chain_example(7, masked=True),
    "chain, start and stop": lambda: chain_example(8, ends=True),
    "chain in Python": lambda: python_example(9),
}
ALL = all_solvers()
EXACT = {name: ALL[name] for name in ("one-slack", "n-slack", "sdm")} | {
    "one-slack, no cache": mm.OneSlack(cache=0),
    "one-slack, cached": mm.OneSlack(cache=3),
    "n-slack, shrinking": mm.NSlack(shrink=True),
    "n-slack, small batches": mm.NSlack(batch=2),
    "sdm, exact": mm.SDM(tau=0.0, first=0),
    "sdm, last w only": mm.SDM(average=False, inner=1),
}
SUBLINEAR = {name: solver for name, solver in ALL.items() if name not in EXACT} | {
    "bcfw, no known outputs": mm.BCFW(inner=0),
    "bcfw, last w only": mm.BCFW(average=False),
    "bcfw, gap sampling": mm.BCFW(sampling="gap"),
    "subgradient, batches": mm.Subgradient(batch=3),
}
DUAL = {name: EXACT[name] for name in EXACT if "one-slack" not in name} | {
    name: SUBLINEAR[name] for name in SUBLINEAR if "bcfw" in name
}


@cache
def example(name):
    return EXAMPLES[name]()


@cache
def optimum(name, rescaling):
    data = example(name)
    return enumerate_optimum(*data.planes(rescaling == "slack"), C=C, weights=data.weight)


def fit(data, solver, rescaling, **options):
    return train(
        data.problem, data.X, data.Y, C=C, sample_weight=data.weight, solver=solver,
        rescaling=rescaling, **options,
    )  # fmt: skip


def check_result(name, rescaling, result, tol):
    """The certificate is true, and the optimum is as near as it says."""
    data, best = example(name), optimum(name, rescaling)
    planes = data.planes(rescaling == "slack")
    assert result.converged, result
    assert result.dual <= best.primal * (1 + 1e-9)
    assert result.primal >= best.dual * (1 - 1e-9)
    assert result.gap == pytest.approx(result.primal - result.dual, abs=1e-12)
    assert primal(result.w, *planes, C=C, weights=data.weight) == pytest.approx(
        result.primal, rel=1e-9
    )
    assert result.primal <= best.primal + tol * C * data.n + 1e-9


@RESCALINGS
@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("solver", EXACT)
def test_exact_solvers_reach_the_optimum(solver, name, rescaling):
    result = fit(example(name), EXACT[solver], rescaling, tol=1e-6)
    check_result(name, rescaling, result, 1e-6)
    assert result.primal == pytest.approx(optimum(name, rescaling).primal, rel=1e-5)


@RESCALINGS
@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("solver", SUBLINEAR)
def test_sublinear_solvers_come_near_the_optimum(solver, name, rescaling):
    result = fit(example(name), SUBLINEAR[solver], rescaling, tol=2e-2, max_iter=3000)
    check_result(name, rescaling, result, 2e-2)


def read_alpha(data, pack, duals):
    """alpha over all outputs, in the order of ``data.outputs``; the working sets are checked."""
    slots, alpha = duals.loss.shape[1], []
    for i in range(pack.n):
        lo, hi = pack.offsets[i], pack.offsets[i + 1]
        kept = duals.labels[slots * lo : slots * hi].reshape(slots, hi - lo)
        known = [tuple(pack.truth[lo:hi].tolist())]
        known += [tuple(y.tolist()) for y in kept[1 : duals.count[i]]]
        assert len(set(known)) == len(known), "an output is there twice"
        outputs = data.outputs(i)
        alpha.append(np.zeros(len(outputs)))
        for r, y in enumerate(known):
            alpha[-1][outputs.index(y)] = duals.alpha[i, r]
        assert (duals.alpha[i, duals.count[i] :] == 0).all()
    return alpha


def check_gram(data, pack, duals, planes):
    """What is kept of the Gram matrices is what it should be, in float32."""
    slots = duals.loss.shape[1]
    for i in range(len(duals.gram)):
        lo, hi, known = pack.offsets[i], pack.offsets[i + 1], duals.known[i]
        assert 1 <= known <= duals.count[i]
        kept = duals.labels[slots * lo : slots * hi].reshape(slots, hi - lo)[1:known]
        rows = planes[i][[data.outputs(i).index(tuple(y.tolist())) for y in kept]]
        expected = rows @ rows.T
        scale = max(1.0, np.abs(expected).max(initial=0))
        np.testing.assert_allclose(
            duals.gram[i, 1:known, 1:known], expected, atol=1e-6 * scale, rtol=0
        )


def run_checked(data, solver, slack, C, tol=1e-3, max_iter=60):
    """Train with all invariants checked after every iteration; returns result and state."""
    planes, losses = data.planes(slack)
    args = {"C": C, "weights": data.weight}
    pack = data.problem.pack(data.X, data.Y, data.weight)
    shard = Shard(data.problem, pack)
    duals, states = [0.0], []

    def check(record, state):
        states.append(state)
        alpha = read_alpha(data, pack, state.duals)
        assert all((a >= 0).all() and abs(a.sum() - 1) < 1e-9 for a in alpha)
        np.testing.assert_allclose(state.w, weights_of(alpha, planes, **args), atol=1e-9)
        now = dual(alpha, planes, losses, **args)
        rounding = 1e-9 * max(1, abs(now))
        assert duals[-1] - rounding <= record.dual <= now + rounding
        assert record.gap >= 0
        assert primal(state.w, planes, losses, **args) >= record.dual * (1 - 1e-9)
        check_gram(data, pack, state.duals, planes)
        duals.append(now)

    stop = Stop(tol, max_iter)
    rescaling = "slack" if slack else "margin"
    result = train_shard(shard, C, solver, stop, rescaling, callbacks=[check])
    return result, states[-1]


@pytest.mark.parametrize("solver", DUAL)
@settings(max_examples=8)
@given(
    seed=st.integers(0, 10**6),
    build=st.sampled_from([multiclass_example, chain_example]),
    slack=st.booleans(),
    C=st.sampled_from([0.01, 0.5, 20.0]),
    slots=st.sampled_from([2, 8]),
    wide=st.booleans(),
)
@hypothesis.example(seed=891, build=chain_example, slack=True, C=0.5, slots=8, wide=False)
def test_invariants_after_every_iteration(solver, seed, build, slack, C, slots, wide):
    options = {"d": 12 if wide else 3, "tokens": "whole"} if build is chain_example else {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(working_sets, "SLOTS", slots)
        run_checked(build(seed, **options), DUAL[solver], slack, C)


@RESCALINGS
@pytest.mark.parametrize("solver", DUAL)
@pytest.mark.parametrize("name", ["multiclass", "wide chain"])
def test_interpreted_and_compiled_runs_agree(name, solver, rescaling):
    data = example(name)
    pack = data.problem.pack(data.X, data.Y, data.weight)
    stop = Stop(tol=1e-2, max_iter=2)  # rounding does not grow in two iterations
    runs = [
        train_shard(Shard(data.problem, pack, loops=loops), C, DUAL[solver], stop, rescaling)
        for loops in (None, interpret(data.problem.functions))
    ]
    np.testing.assert_allclose(runs[0].w, runs[1].w, rtol=1e-6, atol=1e-8)
    assert_same_optimum(*runs)


@RESCALINGS
@pytest.mark.parametrize("solver", EXACT | SUBLINEAR)
def test_same_seed_same_result_and_another_seed_the_same_optimum(solver, rescaling):
    chosen, tol = (EXACT | SUBLINEAR)[solver], 1e-2
    runs = [
        fit(example("chain"), chosen, rescaling, tol=tol, random_state=seed) for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(runs[0].w, runs[1].w)
    assert [record[2:] for record in runs[0].history] == [r[2:] for r in runs[1].history]
    check_result("chain", rescaling, runs[2], tol)


@pytest.mark.parametrize("solver", EXACT | SUBLINEAR)
@pytest.mark.parametrize(
    ("limit", "status"),
    [
        ({"max_iter": 1}, mm.Status.MAX_ITER),
        ({"max_time": 1e-9}, mm.Status.MAX_TIME),
        ({"callbacks": [lambda record, state: True]}, mm.Status.CALLBACK),
    ],
    ids=["max_iter", "max_time", "callback"],
)
def test_limits_return_a_certified_point(solver, limit, status):
    data = example("chain")
    result = fit(data, (EXACT | SUBLINEAR)[solver], "margin", tol=1e-6, **limit)
    assert result.status is status
    P = primal(result.w, *data.planes(False), C=C, weights=data.weight)
    assert result.primal == pytest.approx(P)
    assert result.dual <= optimum("chain", "margin").primal


@RESCALINGS
@pytest.mark.parametrize("slots", [2, 8])
def test_sdm_as_printed_ends_without_violations(slots, rescaling, monkeypatch):
    monkeypatch.setattr(working_sets, "SLOTS", slots)
    for seed in (2, 9, 35):
        data, slack = chain_example(seed, lengths=(3, 2, 3)), rescaling == "slack"
        data.weight[:] = 1.0
        planes, losses = data.planes(slack)
        result, state = run_checked(data, mm.SDM.from_paper(), slack, C=1.0, tol=1e-4)
        assert result.status is mm.Status.OWN_RULE
        alpha = read_alpha(data, data.problem.pack(data.X, data.Y), state.duals)
        for A, loss, a in zip(planes, losses, alpha, strict=True):
            F = loss - A @ state.w
            assert F.max() - F[a > 0].min() <= 0.25 + 1e-9


def test_working_sets_grow_when_they_are_full(monkeypatch):
    monkeypatch.setattr(working_sets, "SLOTS", 2)
    data = chain_example(1, lengths=(4, 4, 3), d=12)
    for solver in (mm.SDM(), mm.NSlack(), mm.BCFW()):
        result, state = run_checked(data, solver, False, C=5.0, tol=1e-2, max_iter=1000)
        assert result.converged
        assert state.duals.loss.shape[1] in (3, 5, 8, 12, 18, 27)  # by half each time
        assert (state.duals.count > 2).any()


@RESCALINGS
def test_n_slack_drops_idle_outputs(rescaling, monkeypatch):
    data, slack = chain_example(11, lengths=(4, 3, 4, 4), d=12), rescaling == "slack"
    kept = {}
    for patience in (0, 50):
        monkeypatch.setattr("maxmargin.solvers.n_slack.IDLE", patience)
        solver = mm.NSlack(batch=1)
        result, state = run_checked(data, solver, slack, C=1.0, tol=1e-4, max_iter=500)
        assert result.converged
        kept[patience] = int(state.duals.count.sum())
    assert kept[0] < kept[50]


def test_n_slack_asks_less_often_when_it_shrinks():
    data, resting = chain_example(12, lengths=(3,) * 30), []
    runs = {
        shrink: fit(
            data, mm.NSlack(shrink=shrink), "margin", tol=1e-4,
            callbacks=[lambda record, state: resting.append(state.resting.any())],
        )
        for shrink in (False, True)
    }  # fmt: skip
    assert any(resting)
    assert all(result.converged for result in runs.values())
    assert runs[True].primal == pytest.approx(runs[False].primal, rel=1e-4)


def test_n_slack_solves_the_qp_after_each_batch():
    data, qps = chain_example(12, lengths=(3,) * 30), {}
    for batch in (1, 5, 100):
        states = []
        fit(
            data, mm.NSlack(batch=batch), "margin", tol=1e-3,
            callbacks=[lambda record, state, states=states: states.append(state)],
        )  # fmt: skip
        qps[batch] = states[-1].qps
    assert qps[1] > qps[5] > qps[100]


def test_n_slack_goes_on_where_a_qp_was_not_finished():
    """With a large C the passes of one QP are not enough."""
    data = chain_example(1, lengths=(2, 4, 3, 1) * 5, d=4)
    data.weight[:] = 1.0
    result = train(
        data.problem, data.X, data.Y, C=100.0, tol=0.02, solver=mm.NSlack(), max_iter=500
    )
    assert result.converged


def test_gap_sampling_survives_gaps_that_are_negative_by_rounding():
    """An example that is solved exactly has a gap of 0, give or take a rounding error."""
    for seed in (10, 11):
        random = np.random.RandomState(seed)
        lengths = random.randint(0, 5, 6)
        X = [random.randn(L, 4) for L in lengths]
        Y = [random.randint(0, 3, L) for L in lengths]
        problem = random_chain(0).problem
        result = train(problem, X, Y, tol=1e-3, solver=mm.BCFW(sampling="gap"), max_iter=300)
        assert result.status in (mm.Status.CONVERGED, mm.Status.MAX_ITER)


def test_gap_sampling_visits_what_matters():
    """Half of the examples are solved by w = 0: these are seldom asked again."""
    calls = {0: 0, 3: 0}

    class Counting(PythonChain):
        def decode(self, x, w, y_true=None, rescaling="margin"):
            calls[len(x)] += 1
            return super().decode(x, w, y_true, rescaling)

    case = random_chain(3, lengths=(3,) * 10 + (0,) * 10, d=2)
    Y = [tuple(y.tolist()) for y in case.Y]
    train(Counting(3), case.X, Y, C=C, tol=1e-9, solver=mm.BCFW(sampling="gap"), max_iter=20)
    assert 10 <= calls[0] < calls[3] / 2


@pytest.mark.parametrize("solver", EXACT | SUBLINEAR)
@pytest.mark.parametrize(
    "build",
    [
        lambda: chain_example(0, lengths=(3,)),
        lambda: chain_example(0, lengths=(1,), d=0),
        lambda: chain_example(0, lengths=(0,)),
        lambda: chain_example(0, lengths=(2, 1), K=1),
        lambda: chain_example(0, lengths=(2, 1), tokens="whole", masked=True, ends=True),
    ],
    ids=["one example", "no features", "no tokens", "one label", "all options"],
)
def test_tiny_problems(build, solver):
    data = build()
    result = fit(data, (EXACT | SUBLINEAR)[solver], "margin", tol=1e-2)
    best = enumerate_optimum(*data.planes(False), C=C, weights=data.weight)
    assert result.converged
    assert result.dual <= best.primal + 1e-9
    assert best.primal - 1e-9 <= result.primal <= best.primal + 1e-2 * C * data.n + 1e-9


def test_examples_without_weight_do_not_matter():
    data = chain_example(2)
    data.weight[3] = 0.0
    fewer = [i for i in range(5) if i != 3]
    for solver in (EXACT | SUBLINEAR).values():
        result = fit(data, solver, "margin", tol=1e-2)
        planes = [[part[i] for i in fewer] for part in data.planes(False)]
        best = enumerate_optimum(*planes, C=C, weights=data.weight[fewer])
        assert result.converged
        assert result.primal <= best.primal + 1e-2 * C * data.n + 1e-9


@pytest.mark.parametrize(
    ("solver", "option"),
    [
        (mm.SDM, {"tau": -1.0}),
        (mm.SDM, {"first": -1}),
        (mm.NSlack, {"batch": 0}),
        (mm.BCFW, {"inner": -1}),
        (mm.BCFW, {"sampling": "random"}),
        (mm.Subgradient, {"batch": 0}),
    ],
    ids=str,
)
def test_bad_options_are_refused(solver, option):
    (name,) = option
    with pytest.raises(mm.DataError, match=name):
        solver(**option)
