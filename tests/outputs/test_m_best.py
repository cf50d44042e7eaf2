"""Several outputs of an example against enumeration: the best ones and diverse ones."""

from copy import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import maxmargin as mm
from maxmargin.engine.interpreted import in_python
from maxmargin.engine.python import as_compiled_problem
from maxmargin.engine.several import differ
from maxmargin.engine.several_outputs import SeveralOutputs
from maxmargin.engine.shard import Shard
from maxmargin.outputs.m_best import predict_m_best
from maxmargin.problem import MARGIN, PREDICT, SLACK, CompiledProblem, Functions
from maxmargin.structures.binary.problem import Binary
from maxmargin.structures.chain.problem import Chain
from maxmargin.structures.multiclass import problem as multiclass
from maxmargin.structures.multiclass.problem import Multiclass
from speeds import make_shard
from tests.engine.test_compiling import run
from tests.solvers.test_one_slack import PythonMulticlass, small_problem
from tests.solvers.test_solvers import PythonChain
from tests.structures.chain.test_chain import CASES, random_chain

MODES = st.sampled_from([PREDICT, MARGIN, SLACK])


def ask(problem, pack, w, m, mode=PREDICT, diversity=0.0, fast=True, n_jobs=1):
    """For each example the list of its outputs, and their scores."""
    if not fast:  # also what its functions call, which numba would compile for this test only
        problem = copy(problem)
        problem.functions = in_python(problem.functions)
    several = SeveralOutputs(make_shard(problem, pack, fast, n_jobs), m)
    several.ask(w, mode, diversity, np.arange(pack.n))
    found = []
    for i in range(pack.n):
        lo, hi = pack.offsets[i : i + 2]
        rows = several.outputs.labels[m * lo : m * hi].reshape(m, hi - lo)
        found.append([tuple(row.tolist()) for row in rows[: several.outputs.count[i]]])
    return found, several.score


def expected(outputs, value, m, diversity):
    """The values of the best new outputs, each with its reward for the differences."""
    found, values = [], []

    def worth(y):
        reward = sum(a != b for z in found for a, b in zip(y, z, strict=True))
        return value(y) + diversity * reward

    while len(found) < min(m, len(outputs)):
        best = max((y for y in outputs if y not in found), key=worth)
        values.append(worth(best))
        found.append(best)
    return found, values


def exact(case, mode):
    """Whether all outputs, and not only the first, are those of enumeration."""
    return mode == PREDICT or (mode == MARGIN and not case.zero_one)


@settings(max_examples=60)
@given(
    case=CASES, mode=MODES, m=st.integers(1, 6), seed=st.integers(0, 10**6),
    diversity=st.sampled_from([0.0, 0.3, 2.0]), fast=st.booleans(),
)  # fmt: skip
def test_chains_against_enumeration(case, mode, m, seed, diversity, fast):
    pack = case.problem.pack(case.sequences(), case.Y)
    try:
        case.problem.work(pack, mode)
    except mm.DataError:
        return  # slack rescaling counts errors, which must be whole
    w = np.random.RandomState(seed).randn(pack.dim)
    found, score = ask(case.problem, pack, w, m, mode, diversity, fast)
    for i, outputs in enumerate(found):
        everything = case.outputs(i)
        assert len(outputs) == len(set(outputs)) <= min(m, len(everything))
        assert set(outputs) <= set(everything)
        scores = [w @ case.features(i, y) for y in outputs]
        np.testing.assert_allclose(score[i, : len(outputs)], scores, atol=1e-9)

        def value(y, i=i):
            return case.value(w, i, y, mode)

        assert value(outputs[0]) == pytest.approx(max(map(value, everything)), abs=1e-9)
        if not exact(case, mode):
            continue
        assert len(outputs) == min(m, len(everything))
        # Ties may be broken otherwise, but scores are random numbers: there are none, except
        # between outputs that differ only where tokens have no features.
        best, values = expected(everything, value, m, diversity)
        if outputs == best or diversity == 0:
            mine = expected(outputs, value, m, diversity)[1]
            np.testing.assert_allclose(mine, values, atol=1e-9)
        else:
            check_greedy(outputs, everything, value, diversity)


def check_greedy(outputs, everything, value, diversity):
    """Each output has the highest augmented score of those that were new."""
    for r, y in enumerate(outputs):

        def worth(z, before=outputs[:r]):
            return value(z) + diversity * sum(
                a != b for x in before for a, b in zip(z, x, strict=True)
            )

        rest = [z for z in everything if z not in outputs[:r]]
        assert worth(y) == pytest.approx(max(map(worth, rest)), abs=1e-9)


def test_wrong_outputs_of_the_zero_one_loss_come_in_the_order_of_their_scores():
    case = random_chain(5, zero_one=True)
    pack = case.problem.pack(case.sequences(), case.Y)
    w = np.random.RandomState(0).randn(pack.dim)
    for mode in (MARGIN, SLACK):
        found, _ = ask(case.problem, pack, w, 5, mode)
        for i, outputs in enumerate(found):
            wrong = [y for y in case.outputs(i) if y != tuple(case.Y[i])]
            wrong.sort(key=lambda y, i=i: -w @ case.features(i, y))
            assert [y for y in outputs if y != tuple(case.Y[i])] == wrong[: len(outputs)][:5] or (
                outputs[0] == tuple(case.Y[i]) and list(outputs[1:]) == wrong[: len(outputs) - 1]
            )


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), mode=MODES, m=st.integers(1, 5), diversity=st.floats(0, 2))
def test_classes_against_enumeration(seed, mode, m, diversity):
    X, y, cost, _ = small_problem(seed, K=4)
    problem = Multiclass(4, cost, bias=0.5)
    pack = problem.pack(X, y)
    w = np.random.RandomState(seed).randn(pack.dim)
    found, score = ask(problem, pack, w, m, mode, diversity)
    scores = np.column_stack([X, np.full(len(X), 0.5)]) @ w.reshape(-1, 4)
    for i, outputs in enumerate(found):
        margin = scores[i, y[i]] - scores[i]
        values = {PREDICT: scores[i], MARGIN: cost[y[i]] - margin,
                  SLACK: cost[y[i]] * (1 - margin)}[mode]  # fmt: skip
        assert [k for (k,) in outputs] == np.argsort(-values)[:m].tolist()
        np.testing.assert_allclose(score[i, : len(outputs)], scores[i, [k for (k,) in outputs]])


def test_binary_has_two_outputs():
    X, y, _, _ = small_problem(0)
    problem, w = Binary(), np.random.RandomState(1).randn(4)
    pack = problem.pack(X, np.where(y > 0, 1, -1))
    found, score = ask(problem, pack, w, 2)
    assert all(a == (-b[0],) for a, b in found)
    np.testing.assert_allclose(score[:, 0] - score[:, 1], np.abs(X @ w))


def test_an_infeasible_mask_is_ignored_as_in_prediction():
    allowed = np.zeros((4, 2), bool)
    allowed[2:] = True  # any first and last label, but no transition
    chain = Chain(2, allowed=allowed)
    pack = chain.pack([np.eye(2)])
    found, _ = ask(chain, pack, np.array([1.0, 0, 0, 2, 0, 0, 0, 0]), 4)
    assert found[0][0] == (0, 1) and len(found[0]) == 4


def test_threads_find_the_same():
    case = random_chain(3, lengths=(3, 4, 2, 5, 4, 3) * 30)
    pack = case.problem.pack(case.sequences(), case.Y)
    w = np.random.RandomState(0).randn(pack.dim)
    assert (
        ask(case.problem, pack, w, 4, MARGIN, 0.5)[0]
        == (ask(case.problem, pack, w, 4, MARGIN, 0.5, n_jobs=2)[0])
    )


class WithMBest(PythonChain):
    """A user's problem with a decoder of its own for several outputs."""

    def decode_m_best(self, x, w, m, diversity=0.0, y_true=None, rescaling="margin"):
        def value(y):
            return self.value(x, w, y, y_true, rescaling)

        return expected(self.all_outputs(x), value, m, diversity)[0]


@pytest.mark.parametrize("diversity", [0.0, 1.0])
def test_a_python_problem_with_its_own_decoder(diversity):
    case = random_chain(2, lengths=(0, 2, 3))
    w = np.random.RandomState(4).randn(case.problem.pack(case.sequences()).dim)
    _, mine = predict_m_best(as_compiled_problem(WithMBest(3)), case.X, w, 4, diversity)
    _, built_in = predict_m_best(case.problem, case.sequences(), w, 4, diversity)
    np.testing.assert_array_equal(mine.count, built_in.count)
    for i, count in enumerate(mine.count):
        np.testing.assert_allclose(mine.score[i, :count], built_in.score[i, :count], atol=1e-9)


@pytest.mark.parametrize("diversity", [0.0, 0.7])
def test_the_fallback_of_a_python_problem(diversity):
    case = random_chain(2, lengths=(0, 1, 2, 3, 3))
    w = np.random.RandomState(4).randn(case.problem.pack(case.sequences()).dim)
    _, found = predict_m_best(as_compiled_problem(PythonChain(3)), case.X, w, 4, diversity)
    _, built_in = predict_m_best(case.problem, case.sequences(), w, 4, diversity)
    assert found.count.tolist() == [1, 3, 4, 4, 4]
    for i, count in enumerate(found.count):
        outputs = [found.labels[r][i] for r in range(count)]
        assert len(set(outputs)) == count
        scores = [w @ case.features(i, y) for y in outputs]
        np.testing.assert_allclose(found.score[i, :count], scores, atol=1e-9)
        assert scores[0] == pytest.approx(built_in.score[i, 0])
        if diversity and count > 1:  # the second one is exact
            assert scores[1] == pytest.approx(built_in.score[i, 1])


class NoKernel(CompiledProblem):
    """A user's kernels without one for several outputs."""

    functions = Functions(multiclass.decode, multiclass.loss, multiclass.delta)

    def __init__(self, K):
        self.inner = Multiclass(K)

    def pack(self, X, Y=None, sample_weight=None):
        return self.inner.pack(X, Y, sample_weight)

    def unpack(self, pack, labels):
        return labels


def test_the_fallback_of_a_users_kernels():
    X = small_problem(1)[0]
    w = np.random.RandomState(0).randn(12)
    _, found = predict_m_best(NoKernel(3), X, w, 5)
    scores = X @ w.reshape(4, 3)
    assert found.count.tolist() == [3] * len(X)
    for i in range(len(X)):
        outputs = [found.labels[r][i] for r in range(3)]
        assert outputs[0] == scores[i].argmax() and sorted(outputs) == [0, 1, 2]
        np.testing.assert_allclose(found.score[i, :3], scores[i, outputs] - scores[i].max())


@pytest.mark.parametrize("mode", [MARGIN, SLACK])
@pytest.mark.parametrize("python", [False, True])
def test_steps_find_different_outputs_and_leave_w_alone(mode, python):
    X, y = small_problem(1)[:2]
    problem = as_compiled_problem(PythonMulticlass(1 - np.eye(3))) if python else NoKernel(3)
    pack = problem.pack(X, y)
    w = np.random.RandomState(0).randn(12) * 0.1
    before = w.copy()
    found, _ = ask(problem, pack, w, 3, mode, 1.0, fast=not python)
    np.testing.assert_array_equal(w, before)
    first = np.zeros_like(pack.truth)
    Shard(problem, pack).oracle(w, mode, first, np.arange(len(X)))
    assert [outputs[0][0] for outputs in found] == first.tolist()
    assert all(len(set(outputs)) == len(outputs) for outputs in found)
    assert sum(map(len, found)) > 1.5 * len(found)


def test_objects_that_differ():
    assert not differ((1, 2), (1, 2)) and differ("a", "b")
    assert not differ(np.array([1, 2]), np.array([1, 2]))
    assert differ(np.array([1, 2]), np.array([1, 3]))


@pytest.mark.parametrize(
    ("m", "diversity", "message"),
    [
        (0, 0.0, "m must be"),
        (True, 0.0, "m must be"),
        (2.0, 0.0, "m must be"),
        (2, -1.0, "diversity must be"),
    ],
)
def test_bad_requests(m, diversity, message):
    X, _, _, _ = small_problem(0)
    with pytest.raises(mm.DataError, match=message):
        predict_m_best(Multiclass(3), X, np.zeros(12), m, diversity)


def test_a_decoder_that_returns_nothing_is_named():
    class Nothing(PythonChain):
        def decode_m_best(self, x, w, m, diversity=0.0, y_true=None, rescaling="margin"):
            return []

    with pytest.raises(mm.ProblemError, match="0 outputs for example 0"):
        predict_m_best(as_compiled_problem(Nothing(3)), [np.eye(2)], np.zeros(15), 2)


def test_check_problem_looks_at_several_outputs():
    case = random_chain(2, lengths=(2, 3, 2))
    X, Y = case.X, [tuple(y.tolist()) for y in case.Y]
    mm.check_problem(WithMBest(3), X, Y, n_probes=2)

    class Twice(WithMBest):
        def decode_m_best(self, *args, **kwargs):
            return [super().decode_m_best(*args, **kwargs)[0]] * 2

    class Late(WithMBest):
        def decode_m_best(self, *args, **kwargs):
            return super().decode_m_best(*args, **kwargs)[1:]

    with pytest.raises(mm.ProblemError, match="two of the outputs of example 0"):
        mm.check_problem(Twice(3), X, Y, n_probes=2)
    with pytest.raises(mm.ProblemError, match=r"first of several outputs .* must be the best"):
        mm.check_problem(Late(3), X, Y, n_probes=2)


AGAIN = """
import numpy as np, maxmargin as mm
from maxmargin.engine.several_bind import bind_m_best
from maxmargin.structures.chain.problem import Chain
X = np.eye(4)
clf = mm.ChainSVC(solver=mm.OneSlack(m_cuts=2)).fit([X], [[0, 1, 0, 1]])
clf.predict_m_best([X], 3)
used = bind_m_best(Chain.functions, "Chain", True)
print(sum(sum(f.stats.cache_hits.values()) for f in used),
      sum(sum(f.stats.cache_misses.values()) for f in used))
"""


def test_the_second_process_compiles_nothing():
    exec(AGAIN, {})
    assert run(AGAIN).split() == ["4", "0"]
