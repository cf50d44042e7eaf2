"""What "auto" chooses: Newton for few weights, one-slack for hard and tiny data, else SDM."""

import numpy as np
import pytest

import maxmargin as mm
from maxmargin.engine.shard import Shard
from maxmargin.solvers import choose
from maxmargin.structures.binary.problem import Binary
from maxmargin.structures.multiclass.problem import Multiclass
from maxmargin.training import train


def noisy(n, d, scale=1.0, K=3):
    random = np.random.RandomState(0)
    X = random.randn(n, d) / np.sqrt(d)
    return scale * X, (X @ random.randn(d, K) + random.randn(n, K)).argmax(axis=1)


def chosen(problem, X, y, C, weight=None):
    return type(choose(Shard(problem, problem.pack(X, y, weight)), C))


@pytest.mark.parametrize("problem", [Multiclass(3), Binary()], ids=["classes", "binary"])
def test_a_large_c_on_noisy_data_needs_one_slack(problem):
    X, y = noisy(8_000, 15)
    y = y if isinstance(problem, Multiclass) else np.where(y > 0, 1, -1)
    assert chosen(problem, X, y, C=1.0) is mm.SDM
    assert chosen(problem, X, y, C=1e4) is mm.OneSlack
    assert chosen(problem, 100 * X, y, C=1.0) is mm.OneSlack
    assert chosen(problem, 100 * X, y, C=1e-4) is mm.SDM
    assert chosen(problem, X, y, C=1.0, weight=np.full(len(y), 1e4)) is mm.OneSlack


def test_many_examples_with_few_weights_and_outputs_are_for_newton():
    X, y = noisy(20_000, 5)
    assert chosen(Multiclass(3), X, y, C=1.0) is mm.Newton
    assert chosen(Binary(), X, np.where(y > 0, 1, -1), C=1e4) is mm.Newton
    X, y = noisy(20_000, 60)
    assert chosen(Multiclass(3), X, y, C=1.0) is mm.SDM  # the curvature of long rows
    X, y = noisy(20_000, 4, K=60)
    assert chosen(Multiclass(60), X, y, C=1.0) is mm.SDM  # and of many pairs of classes


def test_data_with_more_weights_than_labels_are_left_to_sdm():
    X, y = noisy(400, 200)
    assert chosen(Multiclass(3), X, y, C=1e6) is mm.SDM


def test_auto_closes_the_gap_of_noisy_data():
    X, y = noisy(8000, 5, scale=100.0)  # C |plane|^2 is 2e4
    result = train(Multiclass(3), X, y, C=1.0, tol=1e-2, max_iter=600)
    assert result.converged
    assert result.solver == "one-slack"
