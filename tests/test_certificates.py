"""No certificate is false: rounding, wrong problems and numbers out of range do not pass as proof."""

import numpy as np
import pytest

import maxmargin as mm
from maxmargin.errors import ProblemError
from maxmargin.problem import MARGIN
from maxmargin.problems.multiclass import Multiclass
from maxmargin.shard import Shard
from maxmargin.solvers import working_sets as sets
from maxmargin.training import train
from reference import enumerate_optimum, multiclass_planes, primal

COST = 1.0 - np.eye(3)
DUAL_METHODS = [mm.SDM(), mm.NSlack(), mm.BCFW(), mm.BCFW(sampling="gap")]


def repeated_rows(seed, times):
    """Rows that are given several times, so that the curvature of many steps is zero."""
    random = np.random.RandomState(seed)
    X = np.repeat(random.randn(20, 4), times, 0)
    return X, random.randint(0, 3, len(X))


@pytest.mark.parametrize("solver", DUAL_METHODS, ids=str)
@pytest.mark.parametrize("times", [2, 3])
def test_repeated_rows(solver, times):
    for seed in range(6):
        X, y = repeated_rows(seed, times)
        planes = multiclass_planes(X, y, COST, slack=False)
        optimum = enumerate_optimum(*planes, C=1.0, tol=1e-8)
        result = train(Multiclass(3), X, y, C=1.0, solver=solver, tol=1e-5, max_iter=3000)
        assert result.dual <= optimum.primal * (1 + 1e-9)
        assert result.primal >= optimum.dual * (1 - 1e-9)
        assert primal(result.w, *planes, C=1.0) == pytest.approx(result.primal, rel=1e-9)
        assert result.converged


@pytest.mark.parametrize("solver", DUAL_METHODS, ids=str)
def test_alpha_outside_of_the_simplex_is_repaired(solver):
    X, y = repeated_rows(1, 1)
    optimum = enumerate_optimum(*multiclass_planes(X, y, COST, slack=False), C=1.0)

    def damage(record, state):
        state.duals.alpha[:5] *= 1.5
        state.duals.alpha[5, 0] = -0.25

    result = train(
        Multiclass(3), X, y, C=1.0, solver=solver, tol=1e-3, max_iter=20, callbacks=[damage]
    )
    assert result.dual <= optimum.primal * (1 + 1e-9) <= result.primal * (1 + 2e-9)


@pytest.mark.parametrize("solver", DUAL_METHODS, ids=str)
def test_what_converges_has_its_dual_from_alpha(solver):
    """A w that rounding has led astray does not enter the last value of the dual."""
    X, y = repeated_rows(2, 1)
    problem = Multiclass(3)

    def astray(record, state):
        state.w *= 0.5

    result = train(problem, X, y, C=1.0, solver=solver, tol=0.3, callbacks=[astray], keep=True)
    shard, duals = Shard(problem, problem.pack(X, y, None)), result.state.state.duals
    w = np.zeros(shard.pack.dim)
    shard.sum_duals(1.0, MARGIN, duals, w)
    assert result.converged
    assert result.dual == pytest.approx((duals.alpha * duals.loss).sum() - 0.5 * w @ w, rel=1e-9)


def test_alpha_that_cannot_be_repaired_is_an_error():
    X, y = repeated_rows(1, 1)

    def damage(record, state):
        state.duals.alpha[3] = np.nan

    with pytest.raises(ProblemError, match="example 3"):
        train(Multiclass(3), X, y, solver=mm.NSlack(), tol=1e-6, callbacks=[damage])


def test_a_feasible_alpha_is_left_alone():
    alpha = np.array([[0.25, 0.75], [1.0, 0.0]])
    duals = sets.Duals(*[np.zeros(0)] * 2, alpha.copy(), *[np.zeros(0)] * 3)
    assert not sets.repair_alpha(duals)
    np.testing.assert_array_equal(duals.alpha, alpha)
