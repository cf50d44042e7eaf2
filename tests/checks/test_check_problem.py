"""check_problem passes sound problems and names the mistake, and the example, in broken ones."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from scipy.optimize import linear_sum_assignment

from enumerated import Enumerated, Sign
from maxmargin.checks.check import check_problem
from maxmargin.errors import DataError, ProblemError
from maxmargin.problem import MARGIN, PREDICT, SLACK, CompiledProblem, Functions, Pack, Problem
from maxmargin.structures.binary.problem import Binary
from maxmargin.structures.multiclass.problem import Multiclass

RNG = np.random.default_rng(0)
VECTORS = RNG.standard_normal((12, 3))
LABELS = RNG.integers(0, 4, 12).tolist()
COST = np.array([[0.0, 1, 2, 4], [1, 0, 3, 1], [2, 1, 0, 1], [5, 1, 1, 0]])


class Classes(Enumerated):
    def all_outputs(self, x):
        return range(4)

    def features(self, x, y):
        return np.kron(np.arange(4) == y, x)

    def loss(self, y_true, y):
        return COST[y_true, y]


class Chain(Enumerated):
    def all_outputs(self, x):
        return itertools.product(range(3), repeat=len(x))

    def features(self, x, y):
        phi = np.zeros((3, x.shape[1] + 3))
        for t, tag in enumerate(y):
            phi[tag, : x.shape[1]] += x[t]
            if t:
                phi[tag, x.shape[1] + y[t - 1]] += 1
        return phi.ravel()

    def loss(self, y_true, y):
        return sum(a != b for a, b in zip(y_true, y, strict=True))


class Matching(Problem):
    """x[r, c] are the features of an edge; y is a permutation; slack has no oracle."""

    def features(self, x, y):
        return x[np.arange(len(y)), list(y)].sum(0)

    def loss(self, y_true, y):
        return float(np.sum(np.array(y_true) != np.array(y)))

    def decode(self, x, w, y_true=None, rescaling="margin"):
        if rescaling == "slack":
            raise NotImplementedError("the loss does not add up over edges")
        scores = x @ w
        if y_true is not None:
            scores = scores + 1.0
            scores[np.arange(len(x)), list(y_true)] -= 1.0
        return tuple(linear_sum_assignment(scores, maximize=True)[1].tolist())


def chain_examples(n=5):
    X = [RNG.standard_normal((RNG.integers(1, 4), 2)) for _ in range(n)]
    return X, [tuple(RNG.integers(0, 3, len(x)).tolist()) for x in X]


def matching_examples(n=6):
    X = [RNG.standard_normal((k, k, 3)) for k in RNG.integers(2, 5, n)]
    return X, [tuple(RNG.permutation(len(x)).tolist()) for x in X]


CHAINS, MATCHINGS = chain_examples(), matching_examples()


class ClassData(NamedTuple):
    X: np.ndarray
    y: np.ndarray


@njit
def kernel_decode(data, w, i, mode, y, work):
    d = data.X.shape[1]
    t = data.y[i]
    truth = np.dot(w[t * d : (t + 1) * d], data.X[i])
    best, best_value = 0, -np.inf
    for k in range(4):
        value = np.dot(w[k * d : (k + 1) * d], data.X[i])
        if mode == MARGIN:
            value += abs(t - k)
        elif mode != PREDICT:
            value = abs(t - k) * (1 + value - truth)
        if value > best_value:
            best, best_value = k, value
    y[0] = best


@njit
def kernel_loss(data, i, y):
    return float(abs(data.y[i] - y[0]))


@njit
def kernel_delta(data, i, y, z, idx, val):
    d = data.X.shape[1]
    for f in range(d):
        idx[f], val[f] = y[0] * d + f, data.X[i, f]
        idx[d + f], val[d + f] = z[0] * d + f, -data.X[i, f]
    return 2 * d


class Kernel(CompiledProblem):
    """Four classes as a user writes kernels; single ones can be replaced."""

    def __init__(self, decode=kernel_decode, loss=kernel_loss, delta=kernel_delta):
        self.functions = Functions(decode, loss, delta)

    def pack(self, X, Y=None, sample_weight=None):
        n, d = X.shape
        y = np.zeros(n, np.int64) if Y is None else np.asarray(Y)
        return Pack(ClassData(X.copy(), y), np.arange(n + 1), y, 4 * d, 2 * d, np.ones(n), 4)

    def unpack(self, pack, labels):
        return labels


SOUND = {
    "binary": (Sign(), VECTORS, [-1 if y < 2 else 1 for y in LABELS]),
    "multi-class": (Classes(), VECTORS, LABELS),
    "chain": (Chain(), *CHAINS),
    "matching": (Matching(), *MATCHINGS),
    "built-in binary": (Binary(bias=1.0), VECTORS, np.where(np.array(LABELS) < 2, -1, 1)),
    "built-in dense": (Multiclass(4), VECTORS, np.array(LABELS)),
    "built-in costs": (Multiclass(4, COST, bias=1.0), VECTORS, np.array(LABELS)),
    "built-in csr": (Multiclass(4), sp.csr_matrix(VECTORS * (VECTORS > 0)), np.array(LABELS)),
    "built-in float32": (Multiclass(4), VECTORS.astype(np.float32), np.array(LABELS)),
    "numba kernels": (Kernel(), VECTORS, LABELS),
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_problems_pass(name):
    problem, X, Y = SOUND[name]
    checked = check_problem(problem, X, Y)
    assert checked.examples == len(Y)
    assert checked.comparisons > checked.oracle_calls
    refused = ("slack",) if name == "matching" else ()
    assert checked.refused == refused
    assert set(checked.rescalings) == {"margin", "slack"} - set(refused)
    assert "no mistake found" in repr(checked)


@settings(max_examples=20)
@given(
    seed=st.integers(0, 10_000),
    scale=st.sampled_from([1e-6, 1.0, 1e6]),
    loss_scale=st.sampled_from([1e-3, 1.0, 100.0]),
)
def test_sound_problems_pass_at_any_scale(seed, scale, loss_scale):
    class Scaled(Chain):
        def features(self, x, y):
            return scale * super().features(x, y)

        def loss(self, y_true, y):
            return loss_scale * super().loss(y_true, y)

    check_problem(Scaled(), *CHAINS, n_examples=2, random_state=seed)


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000))
def test_a_sound_matching_passes_for_every_seed(seed):
    check_problem(Matching(), *MATCHINGS, n_examples=3, random_state=seed)


@settings(max_examples=20)
@given(cost=st.lists(st.floats(0, 10), min_size=9, max_size=9), seed=st.integers(0, 10_000))
def test_any_cost_matrix_of_the_built_in_passes(cost, seed):
    cost = np.reshape(cost, (3, 3)) * (1 - np.eye(3))
    y = np.array(LABELS) % 3
    check_problem(Multiclass(3, cost), VECTORS, y, n_examples=2, random_state=seed)


def test_the_sample_is_bounded():
    assert check_problem(Sign(), np.eye(50), [1, -1] * 25, n_examples=3).examples == 3


def changed(base, **methods):
    """A problem of the class with some methods replaced."""
    return type("Changed", (base,), methods)()


def classes_with(**methods):
    return changed(Classes, **methods), VECTORS, LABELS


def ignoring_the_loss(self, x, w, y_true=None, rescaling="margin"):
    return Classes.decode(self, x, w)


def margin_for_slack(self, x, w, y_true=None, rescaling="margin"):
    return Classes.decode(self, x, w, y_true)


def slack_minimised(self, x, w, y_true=None, rescaling="margin"):
    return Classes.decode(self, x, -w if rescaling == "slack" else w, y_true, rescaling)


def loss_subtracted(self, x, w, y_true=None, rescaling="margin"):
    def value(y):
        return w @ self.features(x, y) - (0 if y_true is None else self.loss(y_true, y))

    return max(self.all_outputs(x), key=value)


def worst_prediction(self, x, w, y_true=None, rescaling="margin"):
    return Classes.decode(self, x, w if y_true is not None else -w, y_true, rescaling)


def never_the_truth(self, x, w, y_true=None, rescaling="margin"):
    if y_true is None:
        return Classes.decode(self, x, w)
    wrong = [y for y in range(4) if y != y_true]
    return max(wrong, key=lambda y: w @ self.features(x, y) + self.loss(y_true, y))


def zero_one_for_costs(self, x, w, y_true=None, rescaling="margin"):
    return max(
        range(4), key=lambda y: w @ self.features(x, y) + (y_true is not None and y != y_true)
    )


def w_is_scaled(self, x, w, y_true=None, rescaling="margin"):
    y = Classes.decode(self, x, w, y_true, rescaling)
    w *= 2
    return y


def x_is_changed(self, x, w, y_true=None, rescaling="margin"):
    y = Classes.decode(self, x, w, y_true, rescaling)
    x += 1
    return y


def y_true_is_changed(self, x, w, y_true=None, rescaling="margin"):
    y = Chain.decode(self, x, w, y_true, rescaling)
    if y_true is not None:
        y_true[0] = (y_true[0] + 1) % 3
    return list(y)


def one_buffer(self, x, w, y_true=None, rescaling="margin"):
    y = Chain.decode(self, x, w, y_true, rescaling)
    if len(getattr(self, "buffer", ())) != len(y):
        self.buffer = [0] * len(y)
    self.buffer[:] = y
    return self.buffer


def list_for_tuple(self, x, w, y_true=None, rescaling="margin"):
    return list(Chain.decode(self, x, w, y_true, rescaling))


def greedy(self, x, w, y_true=None, rescaling="margin"):
    """Each row takes its best free column."""
    if rescaling == "slack":
        raise NotImplementedError
    scores, y = x @ w, []
    for r in range(len(x)):
        gain = [
            -np.inf if c in y else scores[r, c] + (y_true is not None and y_true[r] != c)
            for c in range(len(x))
        ]
        y.append(int(np.argmax(gain)))
    return tuple(y)


def refuses_all(self, x, w, y_true=None, rescaling="margin"):
    if y_true is not None:
        raise NotImplementedError("not written yet")
    return Classes.decode(self, x, w)


def crashes(self, x, w, y_true=None, rescaling="margin"):
    return [][0]


def lists(examples):
    return examples[0], [list(y) for y in examples[1]]


def noisy_features(self, x, y):
    return Classes.features(self, x, y) + 1e-3 * np.random.default_rng().standard_normal(12)


def longer_features(self, x, y):
    return np.zeros(12 if y == 0 else 13)


def far_index(self, x, y):
    return [11 + y], [1.0]


def nan_features(self, x, y):
    return Classes.features(self, x, y) * (np.nan if y == 2 else 1.0)


def features_of_another_length(self, x, y):
    """Right at the truths, which ``pack`` reads, and longer later."""
    self.calls = getattr(self, "calls", 0) + 1
    phi = Classes.features(self, x, y)
    return phi if self.calls <= len(LABELS) else np.append(phi, 0.0)


BROKEN = {
    "loss at the truth": (
        classes_with(loss=lambda self, t, y: 1.0 + (y != t)),
        r"the loss of example 0 is 1 at its true output \d: loss\(y_true, y_true\) must be 0",
    ),
    "negative loss": (
        classes_with(loss=lambda self, t, y: -float(y != t)),
        r"loss.* is -1\.0 at example 0 with y = \d",
    ),
    "NaN loss": (
        classes_with(loss=lambda self, t, y: 0.0 if y == t else np.nan),
        r"loss.* is nan at example 0 with y = \d",
    ),
    "loss raises": (
        classes_with(
            loss=lambda self, t, y: 1 / (y == t) - 1,
            decode=lambda self, x, w, y_true=None, rescaling="margin": 0,
        ),
        r"loss of example 0 with y = \d raised ZeroDivisionError",
    ),
    "wrong prediction": (
        classes_with(decode=worst_prediction),
        r"decode\(x, w\) does not return the best output: for example 0 it returned \d with value "
        r"\S+, but \d has value \S+ .*It must maximise <w, phi\(y\) - phi\(y_true\)>",
    ),
    "greedy prediction": (
        (changed(Matching, decode=greedy), *MATCHINGS),
        r"decode\(x, w\) does not return the best output: for example \d it returned \(.*\)",
    ),
    "augmented, sign of the loss": (
        classes_with(decode=loss_subtracted),
        r"decode\(x, w, y_true, 'margin'\) does not return the best output: for example 0 ",
    ),
    "augmented, worse than the truth": (
        classes_with(decode=never_the_truth),
        r"'margin'\) does not return the best output: for example 0 .*\(the true output; losses",
    ),
    "augmented with another loss": (
        classes_with(decode=zero_one_for_costs),
        r"'margin'\) does not return the best output: for example 0 ",
    ),
    "loss ignored": (
        classes_with(decode=ignoring_the_loss),
        r"decode\(x, w, y_true, 'margin'\) ignores the loss: it always returns the plain "
        r"prediction: for example 0 it returned \d with value \S+, but \d has value",
    ),
    "margin for slack": (
        classes_with(decode=margin_for_slack),
        r"'slack'\) ignores the rescaling: it always returns what 'margin' does: for example 0 "
        r".*; raise NotImplementedError in decode if there is no oracle for slack rescaling$",
    ),
    "wrong slack": (
        classes_with(decode=slack_minimised),
        r"decode\(x, w, y_true, 'slack'\) does not return the best output: for example 0 ",
    ),
    "both refused": (
        classes_with(decode=refuses_all),
        r"decode supports neither rescaling, so the problem cannot be trained: .*not written yet",
    ),
    "decode raises": (
        classes_with(decode=crashes),
        r"decode\(x, w, y_true, 'margin'\) of example 0 raised IndexError: list index",
    ),
    "w changed": (classes_with(decode=w_is_scaled), r"of example 0 raised .* array is read-only"),
    "x changed": (
        (changed(Classes, decode=x_is_changed), VECTORS.copy(), LABELS),
        r"of example 0 changes its input \(x, y_true",
    ),
    "y_true changed": (
        (changed(Chain, decode=y_true_is_changed), *lists(CHAINS)),
        r"of example 0 changes its input \(x, y_true",
    ),
    "output changed later": (
        (changed(Chain, decode=one_buffer), *lists(CHAINS)),
        r"decode of example \d returned an output and changed it later",
    ),
    "equal outputs of two types": (
        (
            changed(Chain, decode=list_for_tuple, loss=lambda self, t, y: float(t != y)),
            *CHAINS,
        ),
        r"the loss of example \d is 1 with y = \[.*\], and 0 with the equal y = \(.*\)",
    ),
    "features not deterministic": (
        classes_with(features=noisy_features),
        r"the features of example 0 with y = \d differ between calls",
    ),
    "features of two lengths": (
        classes_with(features=longer_features),
        r"features\(x, y\) of example \d with y = \d has shape \(1[23],\), expected \(1[23],\)",
    ),
    "features that grow later": (
        classes_with(
            features=features_of_another_length,
            decode=lambda self, x, w, y_true=None, rescaling="margin": 0,
        ),
        r"features\(x, y\) of example 0 with y = \d has shape \(13,\), expected \(12,\)",
    ),
    "index out of range": (
        classes_with(features=far_index, n_features=12),
        r"features\(x, y\) of example \d with y = \d has index 1[234], outside 0\.\.11",
    ),
    "NaN features": (
        classes_with(features=nan_features),
        r"features\(x, y\) of example \d with y = 2 contains NaN",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_mistake_is_named(name):
    (problem, X, Y), message = BROKEN[name]
    with pytest.raises(ProblemError, match=message):
        check_problem(problem, X, Y)


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000))
def test_the_diagnosis_does_not_depend_on_the_seed(seed):
    for decode, ignores in ((ignoring_the_loss, True), (zero_one_for_costs, False)):
        problem, X, Y = classes_with(decode=decode)
        with pytest.raises(ProblemError, match="'margin'") as caught:
            check_problem(problem, X, Y, n_examples=4, random_state=seed)
        assert ("ignores the loss" in str(caught.value)) == ignores


def plain(kernel):
    """Kernels in plain Python: quicker to test than to compile."""
    return kernel.py_func


def delta_not_antisymmetric(data, i, y, z, idx, val):
    nnz = plain(kernel_delta)(data, i, y, z, idx, val)
    val[: nnz // 2] *= 1.0 + (y[0] > z[0])
    return 0 if y[0] == z[0] else nnz


def delta_not_zero(data, i, y, z, idx, val):
    nnz = plain(kernel_delta)(data, i, y, z, idx, val)
    val[:nnz] = 1.0
    return nnz


def delta_not_additive(data, i, y, z, idx, val):
    """Antisymmetric, but scaled with the distance of the labels."""
    nnz = plain(kernel_delta)(data, i, y, z, idx, val)
    val[:nnz] *= abs(y[0] - z[0])
    return nnz


def delta_too_wide(data, i, y, z, idx, val):
    idx[:7], val[:7] = 0, 0.0
    return 7


def delta_out_of_range(data, i, y, z, idx, val):
    idx[0], val[0] = 12, 1.0
    return 1


def delta_nan(data, i, y, z, idx, val):
    idx[0], val[0] = 0, np.nan
    return 1


def decode_knows_the_truth(data, w, i, mode, y, work):
    y[0] = data.y[i]
    if mode != PREDICT:
        plain(kernel_decode)(data, w, i, mode, y, work)


def decode_needs_clean_memory(data, w, i, mode, y, work):
    work += w.reshape(4, -1) @ data.X[i]
    if mode != PREDICT:
        work += abs(data.y[i] - np.arange(4))
    y[0] = np.argmax(work)


def decode_margin_for_slack(data, w, i, mode, y, work):
    plain(kernel_decode)(data, w, i, MARGIN if mode == SLACK else mode, y, work)


def decode_changes_w(data, w, i, mode, y, work):
    plain(kernel_decode)(data, w, i, mode, y, work)
    w *= 2


def decode_changes_data(data, w, i, mode, y, work):
    plain(kernel_decode)(data, w, i, mode, y, work)
    data.X[i] += 1


KERNEL_MISTAKES = {
    "antisymmetric": (
        {"delta": delta_not_antisymmetric},
        r"delta\(y, z\) of example 0 is not -delta\(z, y\) at y = \d, z = \d",
    ),
    "delta(y, y)": ({"delta": delta_not_zero}, r"delta\(y, y\) of example 0 is not 0 at y = \d"),
    "additive": (
        {"delta": delta_not_additive},
        r"delta\(t, z\) \+ delta\(z, y\) of example 0 is not delta\(t, y\)",
    ),
    "width": ({"delta": delta_too_wide}, r"delta of example 0 .* writes 7 entries, but pack.width"),
    "index": ({"delta": delta_out_of_range}, r"delta of example 0 .* index 12, outside 0\.\.11"),
    "NaN": ({"delta": delta_nan}, r"delta of example 0 with y = \d, z = \d has NaN"),
    "loss": ({"loss": lambda data, i, y: np.nan}, r"the loss of example 0 is nan with y = \d"),
    "loss at the truth": (
        {"loss": lambda data, i, y: 1.0},
        r"the loss of example 0 is 1 at its true output \d: loss\(data, i, y\) must be 0 if y",
    ),
    "memory": (
        {"decode": decode_needs_clean_memory},
        r"decode\(data, w, i, PREDICT, y, work\) .* for example 0 ",
    ),
    "margin for slack": (
        {"decode": decode_margin_for_slack},
        r"decode\(data, w, i, SLACK, y, work\) ignores the rescaling: .* for example 0 .*; raise "
        r"NotImplementedError in work\(self, pack, mode\) if there is no oracle for slack",
    ),
    "w": ({"decode": decode_changes_w}, r"of example 0 changes w: work on a copy"),
    "data": ({"decode": decode_changes_data}, r"of example 0 changes its input .* packed data"),
    "truth": (
        {"decode": decode_knows_the_truth},
        r"prediction of example \d+ is \d if pack was called with Y and \d if it was not",
    ),
}


@pytest.mark.parametrize("name", KERNEL_MISTAKES)
def test_a_mistake_in_kernels_is_named(name):
    kernels, message = KERNEL_MISTAKES[name]
    sound = {
        "decode": plain(kernel_decode),
        "loss": plain(kernel_loss),
        "delta": plain(kernel_delta),
    }
    with pytest.raises(ProblemError, match=message):
        check_problem(Kernel(**(sound | kernels)), VECTORS, LABELS)


@njit
def compiled_without_loss(data, w, i, mode, y, work):
    kernel_decode(data, w, i, PREDICT, y, work)


def test_a_mistake_in_compiled_kernels_is_named():
    with pytest.raises(ProblemError, match=r"MARGIN, y, work\) ignores the loss.* example 0 "):
        check_problem(Kernel(decode=compiled_without_loss), VECTORS, LABELS)


def test_an_oracle_with_a_memory_is_found():
    class Tiring(Classes):
        """Gives up, and returns the truth, after so many calls."""

        def __init__(self, patience=np.inf):
            self.calls, self.patience = 0, patience

        def decode(self, x, w, y_true=None, rescaling="margin"):
            self.calls += 1
            if self.calls > self.patience:
                return y_true
            return super().decode(x, w, y_true, rescaling)

    sound = Tiring()
    check_problem(sound, VECTORS, LABELS)
    # The last thing done is to compare all examples with what the training loop saw.
    with pytest.raises(ProblemError, match=r"of example \d+ has the value 0 in a single call"):
        check_problem(Tiring(sound.calls - len(LABELS)), VECTORS, LABELS)


def test_the_loss_at_every_truth_is_looked_at():
    Y = [*LABELS[:-1], "odd"]
    problem = changed(
        Classes,
        features=lambda self, x, y: Classes.features(self, x, 0 if y == "odd" else y),
        loss=lambda self, t, y: 0.5 if t == "odd" else COST[t, y],
    )
    with pytest.raises(ProblemError, match=r"the loss of example 11 is 0.5 at its true output"):
        check_problem(problem, VECTORS, Y, n_examples=3, random_state=1)


def test_unpack_is_tried_before_hours_of_training():
    class NoUnpack(Kernel):
        def unpack(self, pack, labels):
            return labels[:-1]

    with pytest.raises(ProblemError, match="unpack returns 11 outputs for 12 examples"):
        check_problem(NoUnpack(), VECTORS, LABELS)


def test_listed_outputs_show_what_decode_never_returns():
    def decode(self, x, w, y_true=None, rescaling="margin"):
        best = [y for y in Chain.all_outputs(self, x) if 2 not in y]
        return max(
            best,
            key=lambda y: w @ self.features(x, y) + (y_true is not None and self.loss(y_true, y)),
        )

    X, Y = CHAINS[0], [(0,) * len(x) for x in CHAINS[0]]
    check_problem(changed(Chain, decode=decode), X, Y, rescaling="margin")
    listing = changed(Chain, decode=decode, outputs=Chain.all_outputs)
    with pytest.raises(ProblemError, match=r"for example \d .*listed by outputs\(x\)"):
        check_problem(listing, X, Y, rescaling="margin")


def test_labels_that_an_example_does_not_allow():
    """A label of others that raises is passed over; otherwise outputs(x) tells what x allows."""

    class Candidates(Enumerated):
        def all_outputs(self, x):
            return range(len(x))

        def features(self, x, y):
            return x[y]

        def loss(self, y_true, y):
            return float(y != y_true)

    X = [RNG.standard_normal((k, 3)) for k in (2, 4, 3, 4)]
    check_problem(Candidates(), X, [1, 3, 1, 3])


def test_an_asked_rescaling_may_not_be_refused():
    with pytest.raises(ProblemError, match="has no oracle for rescaling='slack'"):
        check_problem(Matching(), *MATCHINGS, rescaling="slack")
    assert check_problem(Matching(), *MATCHINGS, rescaling="margin").refused == ()


def test_only_the_asked_rescaling_is_checked():
    problem, X, Y = classes_with(decode=margin_for_slack)
    assert check_problem(problem, X, Y, rescaling="margin").rescalings == ("margin",)
    with pytest.raises(ProblemError, match="'slack'"):
        check_problem(problem, X, Y, rescaling="slack")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"Y": LABELS[:-1]}, "X has 12 examples and Y has 11"),
        ({"X": VECTORS[:0], "Y": []}, "X is empty"),
        ({"rescaling": "both"}, "rescaling is 'margin', 'slack' or None"),
        ({"n_probes": 0}, "n_probes"),
        ({"n_examples": 0}, "n_examples"),
    ],
)
def test_arguments_are_checked(arguments, message):
    with pytest.raises(DataError, match=message):
        check_problem(Classes(), **({"X": VECTORS, "Y": LABELS} | arguments))
