"""Plain Python problems and users' numba kernels, trained to the optimum of an enumeration."""

from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from enumerated import Enumerated
from maxmargin.errors import DataError, ProblemError
from maxmargin.problem import MARGIN, PREDICT, CompiledProblem, Functions, Pack, Problem
from maxmargin.training import train
from reference import (
    assert_same_optimum,
    dual,
    enumerate_optimum,
    enumerate_planes,
    primal,
    project_to_simplex,
)

COST = np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 1.0], [0.5, 1.5, 0.0]])


class Classes(Enumerated):
    """Three classes with costs; ``form`` is how features are returned."""

    def __init__(self, form="dense", n_features=None):
        self.form, self.n_features = form, n_features

    def all_outputs(self, x):
        return [0, 1, 2]

    def dense(self, x, y):
        phi = np.zeros(3 * len(x))
        phi[y * len(x) : (y + 1) * len(x)] = x
        return phi

    def features(self, x, y):
        indices = np.arange(y * len(x), (y + 1) * len(x))
        return {
            "dense": self.dense(x, y),
            "list": self.dense(x, y).tolist(),
            "pair": (indices, x),
            "repeated pair": (np.r_[indices, indices], np.r_[x / 4, 3 * x / 4]),
            "csr matrix": sp.csr_matrix(self.dense(x, y)[None]),
            "coo array": sp.coo_array(self.dense(x, y)),
            "dict": dict(zip(indices.tolist(), x.tolist(), strict=True)),
        }[self.form]

    def loss(self, y_true, y):
        return COST[y_true, y]


class Tagging(Enumerated):
    """Tuples of tags: emissions and transitions, decoded by brute force."""

    def all_outputs(self, x):
        return [tuple(map(int, np.unravel_index(k, (2,) * len(x)))) for k in range(2 ** len(x))]

    def features(self, x, y):
        phi = np.zeros(2 * x.shape[1] + 4)
        for t in range(len(x)):
            phi[y[t] * x.shape[1] : (y[t] + 1) * x.shape[1]] += x[t]
            if t:
                phi[2 * x.shape[1] + 2 * y[t - 1] + y[t]] += 1
        return phi

    def loss(self, y_true, y):
        return sum(a != b for a, b in zip(y_true, y, strict=True))


class ClassData(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    cost: np.ndarray


@njit
def class_decode(data, w, i, mode, y, work):
    d, t = data.X.shape[1], data.y[i]
    truth = np.dot(w[t * d : (t + 1) * d], data.X[i])
    best, best_value = 0, -np.inf
    for k in range(len(data.cost)):
        value = np.dot(w[k * d : (k + 1) * d], data.X[i])
        if mode == MARGIN:
            value += data.cost[t, k]
        elif mode != PREDICT:
            value = data.cost[t, k] * (1 + value - truth)
        if value > best_value:
            best, best_value = k, value
    y[0] = best


@njit
def class_loss(data, i, y):
    return data.cost[data.y[i], y[0]]


@njit
def class_delta(data, i, y, z, idx, val):
    d = data.X.shape[1]
    for f in range(d):
        idx[f], val[f] = y[0] * d + f, data.X[i, f]
        idx[d + f], val[d + f] = z[0] * d + f, -data.X[i, f]
    return 2 * d


class NumbaClasses(CompiledProblem):
    """The same as Classes, the way a user writes kernels."""

    functions = Functions(class_decode, class_loss, class_delta)

    def pack(self, X, Y=None, sample_weight=None):
        n, d = X.shape
        y = np.zeros(n, np.int64) if Y is None else np.asarray(Y)
        weight = np.ones(n) if sample_weight is None else sample_weight
        return Pack(ClassData(X, y, COST), np.arange(n + 1), y, 3 * d, 2 * d, weight)

    def unpack(self, pack, labels):
        return labels


def class_examples(seed=0, n=8):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 2)), rng.integers(0, 3, n).tolist()


def tag_examples(seed=0, n=5):
    rng = np.random.default_rng(seed)
    X = [rng.standard_normal((rng.integers(1, 4), 2)) for _ in range(n)]
    return X, [tuple(rng.integers(0, 2, len(x)).tolist()) for x in X]


def optimum_of(problem, X, Y, C, rescaling, weights=None):
    planes, losses = enumerate_planes(
        problem.dense, problem.loss, X, Y, problem.all_outputs, rescaling
    )
    return enumerate_optimum(planes, losses, C, weights)


def assert_optimal(result, optimum, tol, N):
    """The certificate holds for the true optimum, and the point is as near as it says."""
    slack = 1e-8 * optimum.primal
    assert result.converged
    assert result.gap <= tol * N
    assert result.dual <= optimum.primal + slack
    assert optimum.dual - slack <= result.primal <= optimum.primal + tol * N + slack
    # P is 1-strongly convex: a point with a small gap is near the only minimiser.
    assert np.linalg.norm(result.w - optimum.w) <= np.sqrt(2 * (tol * N + 2 * slack))


@given(
    v=st.lists(st.floats(-10, 10), min_size=1, max_size=6),
    u=st.lists(st.floats(0, 1), min_size=6, max_size=6),
)
def test_projection_is_the_nearest_point(v, u):
    v = np.array(v)
    p = project_to_simplex(v)
    q = (np.array(u[: len(v)]) + 1e-3) / (np.array(u[: len(v)]) + 1e-3).sum()
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1, abs=1e-9)
    assert (v - p) @ (q - p) <= 1e-9 * (1 + abs(v).max())


def test_reference_agrees_with_a_svm_by_hand():
    # One example, one wrong output: P = w^2/2 + C max(0, 1 - 2w), optimal at w = min(2C, 1/2).
    for C, w in ((0.1, 0.2), (10.0, 0.5)):
        optimum = enumerate_optimum([np.array([[0.0], [2.0]])], [np.array([0.0, 1.0])], C)
        assert optimum.w[0] == pytest.approx(w, rel=1e-6)
        assert optimum.primal == pytest.approx(w**2 / 2 + C * max(0, 1 - 2 * w), rel=1e-8)


def test_reference_bounds_hold_at_any_point():
    X, Y = class_examples()
    args = (*enumerate_planes(Classes().dense, Classes().loss, X, Y, Classes().all_outputs), 0.7)
    optimum = enumerate_optimum(*args)
    rng = np.random.default_rng(0)
    alpha = [rng.dirichlet(np.ones(3)) for _ in Y]
    assert primal(rng.standard_normal(6), *args) > optimum.primal
    assert dual(alpha, *args) < optimum.dual


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("C", [0.05, 5.0])
@pytest.mark.parametrize(
    ("problem", "examples"), [(Classes(), class_examples), (Tagging(), tag_examples)]
)
def test_training_reaches_the_enumerated_optimum(problem, examples, C, rescaling):
    X, Y = examples()
    result = train(problem, X, Y, C=C, tol=1e-6, rescaling=rescaling)
    assert_optimal(result, optimum_of(problem, X, Y, C, rescaling), 1e-6, C * len(Y))


@settings(max_examples=15)
@given(seed=st.integers(0, 1000), C=st.sampled_from([0.1, 1.0, 10.0]), slack=st.booleans())
def test_training_reaches_the_optimum_with_weights(seed, C, slack):
    X, Y = class_examples(seed, n=6)
    weights = np.random.default_rng(seed).uniform(0, 3, 6)
    weights[0] = 0.0
    rescaling = "slack" if slack else "margin"
    result = train(Classes(), X, Y, C=C, tol=1e-5, rescaling=rescaling, sample_weight=weights)
    optimum = optimum_of(Classes(), X, Y, C, rescaling, weights)
    assert_optimal(result, optimum, 1e-5, C * weights.sum())


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize(
    "form", ["list", "pair", "repeated pair", "csr matrix", "coo array", "dict"]
)
def test_all_forms_of_features_give_the_same_result(form, rescaling):
    X, Y = class_examples()
    dense = train(Classes(), X, Y, tol=1e-9, rescaling=rescaling)
    other = train(Classes(form, n_features=6), X, Y, tol=1e-9, rescaling=rescaling)
    assert dense.converged and other.converged
    assert_same_optimum(dense, other)


def test_a_problem_may_mix_forms():
    class Mixed(Classes):
        def features(self, x, y):
            self.form = ("dense", "dict", "pair")[y]
            return super().features(x, y)

    X, Y = class_examples()
    mixed = train(Mixed(n_features=6), X, Y, tol=1e-6)
    np.testing.assert_allclose(mixed.w, train(Classes(), X, Y, tol=1e-6).w, atol=1e-9)


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_numba_kernels_equal_the_python_problem(rescaling):
    X, Y = class_examples()
    python = train(Classes(), X, Y, C=2.0, tol=1e-6, rescaling=rescaling)
    kernels = train(NumbaClasses(), X, Y, C=2.0, tol=1e-6, rescaling=rescaling)
    tol = 1e-6 * 2.0 * len(Y)
    assert kernels.converged
    assert kernels.primal == pytest.approx(python.primal, abs=tol)
    np.testing.assert_allclose(kernels.w, python.w, atol=2 * np.sqrt(2 * tol))


def test_inputs_may_be_rows_of_a_sparse_matrix():
    class Rows(Classes):
        def decode(self, x, w, y_true=None, rescaling="margin"):
            return super().decode(x.toarray()[0], w, y_true, rescaling)

        def features(self, x, y):
            return self.dense(x.toarray()[0], y)

    X, Y = class_examples()
    sparse = train(Rows(), sp.csr_matrix(X), Y, tol=1e-6)
    np.testing.assert_allclose(sparse.w, train(Classes(), X, Y, tol=1e-6).w, atol=1e-9)


def test_a_problem_need_not_inherit():
    class Duck:
        def __init__(self):
            self.problem = Classes()

        def features(self, x, y):
            return self.problem.features(x, y)

        def loss(self, y_true, y):
            return self.problem.loss(y_true, y)

        def decode(self, x, w, y_true=None, rescaling="margin"):
            return self.problem.decode(x, w, y_true, rescaling)

    X, Y = class_examples()
    assert train(Duck(), X, Y).primal == train(Classes(), X, Y).primal


@pytest.mark.parametrize("y", [[1, 0], np.array([1, 0]), {"a": 1}, None, "tag"])
def test_outputs_may_be_any_object(y):
    class Objects(Problem):
        def features(self, x, y):
            return x if y is None else x * len(y)

        def loss(self, y_true, z):
            return float(z is not y_true)

        def decode(self, x, w, y_true=None, rescaling="margin"):
            return max((y, "other"), key=lambda z: w @ self.features(x, z) + self.loss(y, z))

    assert train(Objects(), np.eye(2), [y, y]).converged


class Broken(Classes):
    """Classes with one method replaced."""

    def __init__(self, n_features=None, **methods: Any):
        super().__init__(n_features=n_features)
        for name, method in methods.items():
            setattr(self, name, method)


def after_the_truths(bad):
    """Features that are right for the 8 truths and ``bad`` afterwards."""
    calls = []

    def features(x, y):
        calls.append(y)
        return Classes().features(x, y) if len(calls) <= 8 else bad

    return features


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.zeros(5), r"example \d with y = \d has shape \(5,\), expected \(6,\)"),
        (np.zeros((1, 6)), r"example \d with y = \d has shape \(1, 6\)"),
        (np.full(6, np.nan), r"example \d with y = \d contains NaN or infinity at 0"),
        (([0, 6], [1.0, 1.0]), r"example \d with y = \d has index 6, outside 0\.\.5"),
        (([-1], [1.0]), r"example \d with y = \d has index -1, outside 0\.\.5"),
        (([0, 1], [1.0]), r"example \d with y = \d has 2 indices and 1 values"),
        (([0], [np.inf]), r"example \d with y = \d contains NaN or infinity"),
        ({"bias": 1.0}, r"example \d with y = \d: sparse features have integer indices"),
        (sp.csr_matrix((1, 7)), r"example \d with y = \d has length 7, others have 6"),
        ("text", r"example \d with y = \d is 'text': return a dense vector"),
        (None, r"example \d with y = \d"),
    ],
)
def test_bad_features_name_the_example(bad, message):
    X, Y = class_examples()
    with pytest.raises(ProblemError, match=message):
        train(Broken(features=after_the_truths(bad)), X, Y)


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_bad_losses_name_the_example(value):
    X, Y = class_examples()
    broken = Broken(loss=lambda y_true, y: 0.0 if y == y_true else value)
    broken.decode = lambda x, w, y_true=None, rescaling="margin": (y_true + 1) % 3
    with pytest.raises(ProblemError, match=r"loss\(y_true, y\) is .* at example 0 with y = "):
        train(broken, X, Y)


def test_sparse_features_need_n_features():
    X, Y = class_examples()
    with pytest.raises(ProblemError, match=r"example 0 with y = \d is sparse: set n_features"):
        train(Classes("dict"), X, Y)


def test_a_problem_may_refuse_slack():
    def decode(x, w, y_true=None, rescaling="margin"):
        if rescaling == "slack":
            raise NotImplementedError("no oracle is known")
        return Classes().decode(x, w, y_true, rescaling)

    X, Y = class_examples()
    assert train(Broken(decode=decode), X, Y).converged
    with pytest.raises(ProblemError, match="Broken has no oracle for rescaling='slack': no oracle"):
        train(Broken(decode=decode), X, Y, rescaling="slack")


def test_w_is_not_for_the_problem_to_change():
    def decode(x, w, y_true=None, rescaling="margin"):
        w *= 0
        return 0

    X, Y = class_examples()
    with pytest.raises(ValueError, match="read-only"):
        train(Broken(decode=decode), X, Y)


def test_a_class_is_not_a_problem():
    X, Y = class_examples()
    with pytest.raises(ProblemError, match="is a class, not an instance"):
        train(Classes, X, Y)


def test_a_missing_method_is_named():
    class NoLoss:
        features = decode = Classes.decode

    X, Y = class_examples()
    with pytest.raises(ProblemError, match="without loss"):
        train(NoLoss(), X, Y)


@pytest.mark.parametrize("name", ["features", "loss", "decode"])
def test_an_inherited_stub_says_what_to_write(name):
    class Stub(Classes):
        pass

    setattr(Stub, name, getattr(Problem, name))
    X, Y = class_examples()
    with pytest.raises(ProblemError, match=f"without {name}"):
        train(Stub(), X, Y)


def test_lengths_must_agree():
    X, Y = class_examples()
    with pytest.raises(DataError, match="X has 8 examples and Y has 7"):
        train(Classes(), X, Y[:-1])


class Bounded(Problem):
    """Two classes; an x that is a vector g with the truth ("bound", l) demands <w, g> >= l."""

    def features(self, x, y):
        return np.zeros(len(x)) if y == "below" else x if isinstance(y, tuple) else 0.5 * y * x

    def loss(self, y_true, y):
        return float(y != y_true) * (y_true[1] if isinstance(y_true, tuple) else 1.0)

    def decode(self, x, w, y_true=None, rescaling="margin"):
        outputs = (y_true, "below") if isinstance(y_true, tuple) else (-1, 1)

        def value(y):
            return w @ self.features(x, y) + (0 if y_true is None else self.loss(y_true, y))

        return max(outputs, key=value)


@pytest.mark.parametrize("least", [0.0, 0.7])
def test_a_constraint_on_w_is_an_example(least):
    """As docs/svm_struct.md says of init_constraints."""
    X = list(np.random.RandomState(0).randn(20, 2))
    Y = [1 if x[0] - x[1] > 0 else -1 for x in X]
    free = train(Bounded(), X, Y, C=1.0, tol=1e-6)
    assert free.w[1] < 0
    weight = np.array([1.0] * 20 + [1e3])
    bound = train(
        Bounded(), [*X, np.array([0.0, 1.0])], [*Y, ("bound", least)], C=1.0, tol=1e-6,
        sample_weight=weight,
    )  # fmt: skip
    assert bound.converged and bound.w[1] == pytest.approx(least, abs=1e-3)
