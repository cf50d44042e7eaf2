"""What a user's compiled functions write is checked before it is used as an index."""

import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba import config, njit

import maxmargin as mm
from maxmargin.checks.check import Request
from maxmargin.checks.child import check_in_child
from maxmargin.engine.interpreted import in_python
from maxmargin.engine.shard import predict_labels
from maxmargin.errors import DataError, ProblemError
from maxmargin.problem import MARGIN, CompiledProblem, Functions, Pack

N, D, K = 12, 3, 4
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, D))
Y = np.argmax(X @ RNG.standard_normal((D, K)) + RNG.standard_normal((N, K)), axis=1)

#: Kinds of mistakes; ``data.mistake`` says which one the functions below make.
(FAR, OUTSIDE, NEGATIVE, MANY, MILLION, NAN, LOSS, LABEL, WORK, LARGE_WORK, LAST) = range(1, 12)


class Data(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    mistake: int
    everywhere: bool


@njit
def helper(work, last):
    """A compiled function that the functions of the problem call."""
    for p in range(last + 1):
        work[p] = 0.0


@njit
def decode(data, w, i, mode, y, work):
    d = data.X.shape[1]
    best, best_value = 0, -np.inf
    for k in range(4):
        value = 1.0 if mode == MARGIN and k != data.y[i] else 0.0
        for f in range(d):
            value += w[k * d + f] * data.X[i, f]
        if value > best_value:
            best, best_value = k, value
    y[0] = best
    bad = data.everywhere or i == 7
    if bad and data.mistake == 8:
        y[0] = 10**6
    if bad and data.mistake == 9:
        helper(work, 5)
    if bad and data.mistake == 10:
        helper(work, 10**7)


@njit
def loss(data, i, y):
    if y[0] == data.y[i]:
        return 0.0
    return np.nan if data.mistake == 7 and (data.everywhere or i == 7) else 1.0


@njit
def delta(data, i, y, z, idx, val):
    d = data.X.shape[1]
    for f in range(d):
        idx[f], val[f] = y[0] * d + f, data.X[i, f]
        idx[d + f], val[d + f] = z[0] * d + f, -data.X[i, f]
    nnz = 2 * d
    if data.everywhere or i == 7:
        if data.mistake == 1:
            idx[0] = 10**9
        elif data.mistake == 2:
            idx[nnz - 1] = 4 * d
        elif data.mistake == 3:
            idx[0] = np.int64(-1)
        elif data.mistake == 4 or data.mistake == 5:
            nnz = 100 if data.mistake == 4 else 10**6
            for p in range(nnz):
                idx[p], val[p] = 0, 0.0
        elif data.mistake == 6:
            val[0] = np.nan
    return nnz


class Classes(CompiledProblem):
    """Four classes, with a mistake in one example or in all of them."""

    functions = Functions(decode, loss, delta)

    def __init__(self, mistake=0, everywhere=False):
        self.mistake, self.everywhere = mistake, everywhere

    def pack(self, X, Y=None, sample_weight=None):
        y = np.zeros(len(X), np.int64) if Y is None else np.asarray(Y)
        data = Data(X, y, self.mistake, self.everywhere)
        return Pack(data, np.arange(len(X) + 1), y, K * D, 2 * D, np.ones(len(X)), 4)

    def label_bounds(self, pack):
        return 0, K - 1

    def work(self, pack, mode):
        if mode > MARGIN:
            raise NotImplementedError
        return pack.work

    def unpack(self, pack, labels):
        return labels


#: What the error says if the mistake is in example 7.
MESSAGES = {
    FAR: "delta of example 7 writes the index 1000000000, outside 0..11",
    OUTSIDE: "delta of example 7 writes the index 12, outside 0..11",
    NEGATIVE: "delta of example 7 writes the index -1, outside 0..11",
    MANY: "delta of example 7 writes 100 entries, but pack.width is 6",
    NAN: "delta of example 7 has the value nan at the index",
    LOSS: "the loss of example 7 is nan",
    LABEL: "decode of example 7 writes the label 1000000, outside the problem's label_bounds",
    WORK: "decode of Classes writes outside its scratch memory of 4 floats",
}


def test_the_problem_without_a_mistake():
    assert mm.train(Classes(), X, Y).status.name == "CONVERGED"


@pytest.mark.parametrize("solver", ["sdm", "one-slack"])
@pytest.mark.parametrize("mistake", MESSAGES)
def test_training_names_the_example(mistake, solver):
    """Only one example shows the mistake, so that it is not found before compiled code runs."""
    expected = pytest.raises(ProblemError, match=MESSAGES[mistake])
    if config.BOUNDSCHECK and mistake in (MANY, WORK):  # the function itself fails
        expected = pytest.raises(IndexError)
    with expected:
        mm.train(Classes(mistake), X, Y, solver=solver)


@pytest.mark.parametrize("mistake", [FAR, OUTSIDE, NEGATIVE, MILLION, LOSS, LABEL, LARGE_WORK])
def test_a_mistake_in_all_examples_is_found_before_compiled_code_runs(mistake):
    """Writing a million entries would end this process."""
    with pytest.raises(ProblemError, match=r"of example (11|6)\b"):
        mm.train(Classes(mistake, everywhere=True), X, Y)


def test_a_mistake_in_all_predictions_is_found_before_compiled_code_runs():
    problem = Classes(LARGE_WORK, everywhere=True)
    pack = problem.pack(X)._replace(work=3)
    with pytest.raises(ProblemError, match=r"decode of example (11|6) .* index 3 is out of bounds"):
        predict_labels(problem, pack, np.zeros(K * D))


def test_check_problem_in_plain_python_finds_what_would_crash():
    for mistake, message in {
        MILLION: r"delta of example \d+ .* raised IndexError: index \d+ is out of bounds",
        LARGE_WORK: r"decode.* of example \d+ raised IndexError: index 4 is out of bounds",
        FAR: r"delta of example \d+ .* writes index 1000000000",
        LOSS: r"the loss of example \d+ is nan",
    }.items():
        with pytest.raises(ProblemError, match=message):
            mm.check_problem(Classes(mistake, everywhere=True), X, Y)


def test_the_child_process_checks_bounds():
    """Without the checks in plain Python: the child must find it, and not die."""
    with pytest.raises(ProblemError, match=r"delta of example 0 .* raised IndexError"):
        check_in_child(Request(Classes(MILLION, everywhere=True), X, Y, "margin"))


CRASH = """
import ctypes, os
import numpy as np, maxmargin as mm
from maxmargin.checks.check import Request
from maxmargin.checks.child import check_in_child

class Crash(mm.CompiledProblem):
    functions = mm.Functions(lambda *args: os.abort(), lambda *args: 0.0, lambda *args: 0)
    def pack(self, X, Y=None, sample_weight=None):
        n = len(X)
        return mm.Pack((), np.arange(n + 1), np.zeros(n, int), 2, 2, np.ones(n))
    def unpack(self, pack, labels):
        return labels

try:
    check_in_child(Request(Crash(), np.zeros((3, 2)), [0, 0, 0], "margin"))
except mm.ProblemError as error:
    print(error)
"""


def test_a_crash_of_the_child_is_a_finding():
    """In a script of its own, whose classes the child cannot import."""
    done = subprocess.run([sys.executable, "-c", CRASH], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("decode(data, w, i, PREDICT, y, work) of example 0 crashed")


def test_plain_python_reaches_functions_that_functions_call():
    plain = in_python(Functions(decode, loss, delta))
    data = Data(X, Y, WORK, True)
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        plain.decode(data, np.zeros(K * D), 0, 0, np.zeros(1, int), np.zeros(4))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"offsets": np.arange(N + 1) * 2}, "offsets must increase from 0"),
        ({"offsets": np.arange(N + 1)[::-1]}, "offsets must increase from 0"),
        ({"truth": Y[:-1]}, "offsets must increase from 0"),
        ({"weight": np.ones(N - 1)}, "pack.weight has shape"),
        ({"weight": np.full(N, np.nan)}, r"pack.weight\[0\] is nan"),
        ({"width": -1}, "pack.width is -1"),
        ({"dim": 2.5}, "pack.dim is 2.5"),
        ({"work": None}, "pack.work is None"),
    ],
)
def test_a_pack_that_does_not_fit_is_refused(change, message):
    class Changed(Classes):
        def pack(self, X, Y=None, sample_weight=None):
            return super().pack(X, Y)._replace(**change)

    with pytest.raises(ProblemError, match=message):
        mm.train(Changed(), X, Y)


@pytest.mark.parametrize("w", [np.zeros(3), np.zeros((4, 3)), np.full(12, np.nan), ["a"] * 12])
def test_weights_changed_by_hand_are_checked(w):
    problem = Classes()
    with pytest.raises(DataError, match="of the model"):
        predict_labels(problem, problem.pack(X), w)


def test_weights_of_any_type_predict_the_same():
    problem = Classes()
    w = RNG.integers(-9, 9, K * D)
    expected = predict_labels(problem, problem.pack(X), w.astype(float))
    for same in (w, w.astype(np.float32), np.repeat(w, 2)[::2], w.astype(">f8")):
        assert (predict_labels(problem, problem.pack(X), same) == expected).all()
