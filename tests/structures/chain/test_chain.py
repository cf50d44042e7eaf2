"""The kernels of a chain against enumeration: oracles, losses, features and margins."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import maxmargin as mm
from maxmargin.data.sequences import offsets_of
from maxmargin.engine.bind import interpret
from maxmargin.engine.shard import Shard
from maxmargin.problem import MARGIN, PREDICT, SLACK
from maxmargin.result import Stop
from maxmargin.structures.chain import problem as chain
from maxmargin.structures.chain.problem import Chain
from maxmargin.training import train_shard
from reference import chain_features, chain_loss, chain_outputs, chain_planes
from speeds import SPEEDS, make_shard


@dataclass
class ChainCase:
    """Sequences with true labels, and the options of their problem."""

    X: list[np.ndarray]
    Y: list[np.ndarray]
    cost: np.ndarray
    tokens: list[np.ndarray] | None = None
    zero_one: bool = False
    allowed: np.ndarray | None = None
    ends: bool = False

    @property
    def K(self):
        return len(self.cost)

    @property
    def problem(self):
        kind = "zero-one" if self.zero_one else "hamming"
        return Chain(self.K, kind, self.cost, self.allowed, self.ends)

    def sequences(self, layout: Any = np.asarray, dtype: Any = np.float64):
        """X as ``mm.Sequences`` with the weights of the tokens."""
        matrix = np.concatenate([*self.X, np.zeros((0, self.X[0].shape[1]))])
        offsets = offsets_of([len(x) for x in self.X])
        weight = None if self.tokens is None else np.concatenate(self.tokens)
        return mm.Sequences(layout(matrix.astype(dtype)), offsets, weight)

    def planes(self, slack: bool):
        """Every plane and its loss, from the definitions."""
        return chain_planes(
            self.X, self.Y, self.cost, slack, self.tokens, self.zero_one, self.allowed, self.ends
        )

    def features(self, i: int, y: Any):
        return chain_features(self.X[i], y, self.K, self.ends)

    def loss(self, i: int, y: Any):
        weight = None if self.tokens is None else self.tokens[i]
        return chain_loss(self.Y[i], y, self.cost, weight, self.zero_one)

    def outputs(self, i: int):
        return chain_outputs(len(self.X[i]), self.K, self.allowed)

    def value(self, w: np.ndarray, i: int, y: Any, mode: int):
        """What decode maximises."""
        if mode == PREDICT:
            return w @ self.features(i, y)
        margin = w @ (self.features(i, self.Y[i]) - self.features(i, y))
        loss = self.loss(i, y)
        return loss - margin if mode == MARGIN else loss * (1 - margin)


def random_chain(
    seed, lengths=(0, 1, 3, 4, 2), K=3, d=4, *, cost=None, tokens=None, masked=False, **options
):
    """Random sequences; costs and weights of tokens are "whole" or "real" numbers, or 1 (None).

    With a mask the true labels obey it, and so does at least one sequence of every length.
    """
    random = np.random.RandomState(seed)
    allowed = None
    if masked:
        allowed = random.rand(K + 2, K) < 0.6
        allowed[np.arange(K), np.arange(K)] = allowed[K:, 0] = True
    Y = []
    for L in lengths:
        outputs = chain_outputs(L, K, allowed)
        Y.append(np.array(outputs[random.randint(len(outputs))], np.int64))
    draw = {
        None: lambda shape: np.ones(shape),
        "whole": lambda shape: random.randint(0, 3, shape).astype(float),
        "real": lambda shape: random.uniform(0, 2, shape),
    }
    return ChainCase(
        X=[random.randn(L, d) * (random.rand(L, d) < 0.7) for L in lengths],
        Y=Y,
        cost=draw[cost]((K, K)) * (1 - np.eye(K)),
        tokens=None if tokens is None else [draw[tokens](L) for L in lengths],
        allowed=allowed,
        **options,
    )


NUMBERS = st.sampled_from([None, "whole", "real"])
CASES = st.builds(
    random_chain,
    st.integers(0, 10**6),
    st.lists(st.integers(0, 4), min_size=1, max_size=3),
    K=st.integers(1, 3),
    d=st.integers(0, 3),
    cost=NUMBERS,
    tokens=NUMBERS,
    masked=st.booleans(),
    zero_one=st.booleans(),
    ends=st.booleans(),
)
LAYOUTS = st.sampled_from([np.asarray, sp.csr_matrix])
WEIGHTS = st.integers(0, 10**6)
PRECISION = {np.float64: 1e-11, np.float32: 1e-5}
DTYPES = pytest.mark.parametrize("dtype", PRECISION, ids=["float64", "float32"])


def whole(case):
    """Whether errors can be counted, as slack rescaling of the Hamming loss needs it."""
    numbers = [case.cost.ravel(), *(case.tokens or [])]
    return not any((number % 1).any() for number in numbers)


@SPEEDS
@DTYPES
@pytest.mark.parametrize("mode", [PREDICT, MARGIN, SLACK], ids=["predict", "margin", "slack"])
@settings(max_examples=40)
@given(case=CASES, layout=LAYOUTS, seed=WEIGHTS)
def test_decode_finds_the_best_output(case, layout, seed, mode, dtype, compiled):
    assume(whole(case) or not case.zero_one)
    check_decode(case, layout, seed, mode, dtype, compiled)


@pytest.mark.parametrize("mode", [MARGIN, SLACK], ids=["margin", "slack"])
def test_small_weights_of_tokens_are_errors_of_a_sequence(mode):
    """The zero-one loss is 1 as soon as the sum is above 0, however little that is."""
    for seed in range(20):
        case = random_chain(seed, [1, 3], tokens="real", zero_one=True)
        check_decode(case, np.asarray, seed, mode, np.float64, compiled=True)


def check_decode(case, layout, seed, mode, dtype, compiled):
    problem = case.problem
    pack = problem.pack(case.sequences(layout, dtype), case.Y)
    shard = make_shard(problem, pack, compiled)
    w = np.random.RandomState(seed).randn(pack.dim)
    labels = np.full(len(pack.truth), -1, np.int16)
    if mode == SLACK and not case.zero_one and not whole(case):
        with pytest.raises(mm.DataError, match="whole numbers"):
            shard.oracle(w, mode, labels, shard.everyone)
        return
    shard.oracle(w, mode, labels, shard.everyone)
    for i, y in enumerate(problem.unpack(pack, labels)):
        outputs = case.outputs(i)
        assert tuple(y.tolist()) in outputs
        best = max(case.value(w, i, output, mode) for output in outputs)
        assert case.value(w, i, y, mode) == pytest.approx(best, abs=PRECISION[dtype])


@DTYPES
@settings(max_examples=40)
@given(case=CASES, layout=LAYOUTS, seed=WEIGHTS)
def test_loss_features_and_margins_are_those_of_the_definitions(case, layout, seed, dtype):
    """Interpreted; the loops that the kernels are compiled into are tested below."""
    problem = case.problem
    kernels = problem.functions
    loss, delta, margin = (f.py_func for f in (kernels.loss, kernels.delta, kernels.margin))
    pack = problem.pack(case.sequences(layout, dtype), case.Y)
    w = np.random.RandomState(seed).randn(pack.dim)
    random, close = np.random.RandomState(seed), {"rtol": 0, "atol": PRECISION[dtype]}
    for i in range(pack.n):
        outputs = case.outputs(i)
        pairs = [random.randint(len(outputs), size=2) for _ in range(4)]
        work = np.empty(problem.work(pack, PREDICT))
        shard = Shard(problem, pack)
        shard.loops.decode(
            pack, w, PREDICT, np.array([i]), shard.new_labels(), shard.new_bounds(), work
        )
        for y, z in [(np.array(outputs[a], np.int16), np.array(outputs[b], np.int16))
                     for a, b in pairs]:  # fmt: skip
            assert loss(pack.data, i, y) == pytest.approx(case.loss(i, y), rel=1e-12)
            forth, back = (written(delta, pack, i, *pair) for pair in ((y, z), (z, y)))
            np.testing.assert_array_equal(forth, -back)
            expected = case.features(i, y) - case.features(i, z)
            np.testing.assert_allclose(forth, expected, **close)
            found = margin(pack.data, i, y, z, work)
            np.testing.assert_allclose(found, w @ expected, **close)


def written(delta, pack, i, y, z):
    """phi(y) - phi(z) as the kernel writes it, in no more than ``pack.width`` places."""
    idx, val = np.empty(pack.width, np.uint64), np.empty(pack.width)
    nnz = delta(pack.data, i, y, z, idx, val)
    dense = np.zeros(pack.dim)
    np.add.at(dense, idx[:nnz].astype(int), val[:nnz])
    return dense


@SPEEDS
@pytest.mark.parametrize("mode", [MARGIN, SLACK], ids=["margin", "slack"])
def test_cuts_are_sums_of_planes(mode, compiled):
    case = random_chain(4, cost="whole", tokens="whole", ends=True)
    problem = case.problem
    weight = np.array([2.0, 0.5, 1.0, 3.0, 0.0])
    pack = problem.pack(case.sequences(), case.Y, weight)
    shard = make_shard(problem, pack, compiled)
    w = np.random.RandomState(0).randn(pack.dim)
    labels = shard.new_labels()
    shard.oracle(w, mode, labels, shard.everyone)
    g, total, value = shard.collect(w, mode, labels)
    planes, losses = case.planes(mode == SLACK)
    values = [loss - A @ w for A, loss in zip(planes, losses, strict=True)]
    best = [int(np.argmax(each)) for each in values]
    np.testing.assert_allclose(value, [each.max() for each in values], atol=1e-12)
    expected = sum(c * A[r] for c, A, r in zip(weight, planes, best, strict=True))
    np.testing.assert_allclose(g, expected, atol=1e-12)
    expected = sum(c * loss[r] for c, loss, r in zip(weight, losses, best, strict=True))
    assert total == pytest.approx(expected)


@pytest.mark.parametrize("mode", [PREDICT, MARGIN], ids=["predict", "margin"])
def test_a_long_sequence(mode):
    """Its best labels are known: transitions are worth less than emissions."""
    L, K = 1000, 4
    random = np.random.RandomState(0)
    truth = random.randint(0, K, L)
    problem = Chain(K)
    pack = problem.pack([np.eye(K)[truth]], [truth])
    w = np.concatenate([10 * np.eye(K).ravel(), random.rand(K * K)])
    shard = Shard(problem, pack)
    labels = np.full(L, -1, np.int16)
    shard.oracle(w, mode, labels, shard.everyone)
    np.testing.assert_array_equal(labels, truth)


def test_a_long_sequence_with_slack_rescaling():
    """With w = 0 every label is wrong; with good weights the truth is best."""
    L = 1000
    truth = np.arange(L) % 2
    problem = Chain(2)
    pack = problem.pack([np.eye(2)[truth]], [truth])
    shard = Shard(problem, pack)
    for w, expected in (
        (np.zeros(8), 1 - truth),
        (np.repeat([1, 0, 0, 1, 0], [1, 1, 1, 1, 4]), truth),
    ):
        labels = np.full(L, -1, np.int16)
        shard.oracle(w.astype(float), SLACK, labels, shard.everyone)
        np.testing.assert_array_equal(labels, expected)


@SPEEDS
@pytest.mark.parametrize(("K", "d"), [(200, 2), (3, 20_000)], ids=["labels", "features"])
def test_many_labels_and_many_features(K, d, compiled):
    random = np.random.RandomState(0)
    X, Y = [random.randn(3, d)], [random.randint(K - 3, K, 3)]
    problem = Chain(K, ends=True)
    pack = problem.pack(X, Y)
    shard = make_shard(problem, pack, compiled)
    w, labels = random.randn(pack.dim), shard.new_labels()
    shard.oracle(w, MARGIN, labels, shard.everyone)
    g, loss, (value,) = shard.collect(w, MARGIN, labels)
    psi = chain_features(X[0], Y[0], K, True) - chain_features(X[0], labels, K, True)
    np.testing.assert_allclose(g, psi)
    assert value == pytest.approx((labels != Y[0]).sum() - w @ psi)
    assert loss == (labels != Y[0]).sum()


def test_scores_of_a_long_sequence_do_not_overflow_the_mask():
    """1000 forbidden steps are as forbidden as one, and huge scores do not outweigh them."""
    allowed = np.array([[True, False], [True, True], [True, True], [True, True]])
    problem = Chain(2, allowed=allowed)
    pack = problem.pack([np.tile([0.0, 1.0], (1000, 1))], [np.zeros(1000, int)])
    w = np.array([0, 0, 0, 1e300, 0, 0, 0, 0]) / 1e3
    labels = np.empty(1000, np.int16)
    Shard(problem, pack).oracle(w, PREDICT, labels, np.array([0]))
    np.testing.assert_array_equal(labels, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "f1"}, "hamming"),
        ({"cost": np.ones((2, 2))}, "cost"),
        ({"cost": np.zeros((3, 3))}, "cost"),
        ({"cost": np.array([[0, -1], [1, 0]])}, "cost"),
    ],
    ids=["loss", "diagonal", "shape", "negative"],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(mm.DataError, match=message):
        Chain(2, **options)


def test_mostly_zero_rows_become_sparse():
    rows = chain.sparse_if_it_pays(np.eye(10))
    assert sp.issparse(rows)
    assert not sp.issparse(chain.sparse_if_it_pays(np.ones((3, 2))))


def test_an_empty_sequence_at_the_end_reads_nothing():
    """Its first token would be after the last row; plain Python checks that index."""
    X, Y = [np.eye(2), np.zeros((0, 2))], [np.array([0, 1]), np.zeros(0, int)]
    problem = Chain(2)
    shard = Shard(problem, problem.pack(X, Y), loops=interpret(problem.functions))
    result = train_shard(shard, 1.0, mm.OneSlack(cache=5), Stop(1e-3, 1000))
    assert result.converged
