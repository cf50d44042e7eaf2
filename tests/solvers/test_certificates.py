"""No certificate is false: neither rounding nor a wrong problem passes as a proof."""

from functools import cache

import numpy as np
import pytest
from numba import njit
from scipy.sparse import csr_matrix

import maxmargin as mm
from maxmargin.engine.arrays import Duals
from maxmargin.engine.shard import Shard
from maxmargin.errors import DataError, ProblemError
from maxmargin.problem import MARGIN, Functions
from maxmargin.solvers.loop import Certificate
from maxmargin.solvers.slots import repair_alpha
from maxmargin.structures.multiclass.problem import Multiclass
from maxmargin.training import train
from reference import enumerate_optimum, multiclass_planes, primal
from tests.solvers.test_one_slack import PythonMulticlass
from tests.structures.own.test_python_problem import (
    NumbaClasses,
    class_decode,
    class_delta,
    class_loss,
)

COST = 1.0 - np.eye(3)
DUAL_METHODS = [mm.SDM(), mm.NSlack(), mm.BCFW(), mm.BCFW(sampling="gap")]


def repeated_rows(seed, times):
    """Rows that are given several times, so that the curvature of many steps is zero."""
    random = np.random.RandomState(seed)
    X = np.repeat(random.randn(20, 4), times, 0)
    return X, random.randint(0, 3, len(X))


@cache
def optimum_of_repeated_rows(seed, times):
    """All planes, and the optimum: the same for all solvers."""
    planes = multiclass_planes(*repeated_rows(seed, times), COST, slack=False)
    return planes, enumerate_optimum(*planes, C=1.0, tol=1e-8)


@pytest.mark.parametrize("solver", DUAL_METHODS, ids=str)
@pytest.mark.parametrize("times", [2, 3])
def test_repeated_rows(solver, times):
    for seed in range(4):
        X, y = repeated_rows(seed, times)
        planes, optimum = optimum_of_repeated_rows(seed, times)
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
    duals = Duals(*[np.zeros(0)] * 2, alpha.copy(), *[np.zeros(0)] * 3)
    assert not repair_alpha(duals)
    np.testing.assert_array_equal(duals.alpha, alpha)


class Forgetful(PythonMulticlass):
    """Its decode forgets the loss."""

    def decode(self, x, w, y_true=None, rescaling="margin"):
        return super().decode(x, w)


def clustered(n=60):
    random = np.random.RandomState(0)
    y = random.randint(0, 3, n)
    return random.randn(3, 4)[y] + 0.8 * random.randn(n, 4), y


EXACT = [mm.OneSlack(), mm.OneSlack(cache=0), mm.NSlack(), mm.SDM(), mm.BCFW()]


@pytest.mark.parametrize("solver", EXACT, ids=str)
def test_an_oracle_without_the_loss_is_found(solver):
    X, y = clustered()
    with pytest.raises(ProblemError, match=r"example \d+.*check_problem"):
        train(Forgetful(COST), X, list(y), C=1.0, solver=solver, tol=1e-4)


@pytest.mark.parametrize("solver", EXACT, ids=str)
def test_data_that_change_during_training_are_found(solver):
    X, y = clustered()
    X += 5 * np.eye(4)[y]  # C is small: with longer rows P is far below the dual of the old ones
    changed = []

    def change(record, state):
        if not changed and record.dual > 0.5 * record.primal:
            changed.append(record.iteration)
            X[:] *= 10.0

    with pytest.raises(ProblemError, match="check_problem"):
        train(Multiclass(3), X, y, C=1e-4, solver=solver, tol=1e-6, callbacks=[change])
    assert changed


@njit
def delta_outside(data, i, y, z, idx, val):
    nnz = class_delta(data, i, y, z, idx, val)
    if y[0] != z[0]:
        idx[0] = 3 * data.X.shape[1]
    return nnz


class Outside(NumbaClasses):
    """Its delta writes behind the end of w: into the eight bytes that malloc leaves there."""

    functions = Functions(class_decode, class_loss, delta_outside)


def test_a_delta_that_writes_outside_of_w_is_found():
    X, y = clustered()
    with pytest.raises(ProblemError, match=r"check_problem|w has 12 entries"):
        train(Outside(), X, y, C=1.0, solver=mm.SDM(), tol=1e-5, max_iter=200)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("C", [1e-8, 1e6])
@pytest.mark.parametrize("solver", [*EXACT, mm.Subgradient()], ids=str)
def test_honest_problems_of_any_scale_are_believed(solver, C, scale):
    X, y = repeated_rows(3, 2)
    X = scale * np.c_[X, np.zeros(len(X)), np.full(len(X), 100.0)]
    y[:2] = 0, 1  # the same row with two labels
    result = train(Multiclass(3), X, y, C=C, solver=solver, tol=1e-12, max_iter=50)
    assert np.isfinite(result.primal)


def long_primal(w, X, y, C):
    """P(w) of a multi-class problem from its definition, in long double."""
    X, W = X.astype(np.longdouble), w.astype(np.longdouble).reshape(X.shape[1], -1)
    scores = X @ W
    values = scores - scores[np.arange(len(y)), y][:, None] + (np.arange(W.shape[1]) != y[:, None])
    return (W * W).sum() / 2 + np.longdouble(C) * values.max(axis=1).sum()


@pytest.mark.parametrize("tol", [1e-6, 1e-8, 1e-11])
@pytest.mark.parametrize("solver", [mm.OneSlack(), mm.OneSlack(cache=0, step=1.0)], ids=str)
def test_the_dual_of_long_rows_is_not_above_the_primal(solver, tol):
    """|w|^2 from the Gram matrix of the cuts would lose all digits here."""
    for seed in range(3):
        random = np.random.RandomState(seed)
        X, C = 1e4 * random.randn(40, 4), 100.0
        y = (X @ random.randn(4, 3) + 6e4 * random.randn(40, 3)).argmax(axis=1)
        result = train(Multiclass(3), X, y, C=C, solver=solver, tol=tol, max_iter=120)
        P = long_primal(result.w, X, y, C)
        assert float(P) == pytest.approx(result.primal, rel=1e-12)
        assert result.dual - P <= 1e-12 * C * len(y)


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0, -1.0])
@pytest.mark.parametrize("estimator", [mm.MulticlassSVC, mm.BinarySVC])
def test_intercept_scaling_is_finite_and_positive(estimator, value):
    X, y = clustered()
    with pytest.raises(DataError, match="intercept_scaling"):
        estimator(fit_intercept=True, intercept_scaling=value).fit(X, y > 0)


@pytest.mark.parametrize(
    "scale, options",
    [(1.0, {"kernel": "rbf", "gamma": 1e308}), (1e300, {"kernel": "rbf", "gamma": 1.0}),
     (1e200, {"kernel": "poly"}), (1e200, {"kernel": "poly", "gamma": 1.0})],
)  # fmt: skip
@pytest.mark.parametrize("more", [{}, {"n_basis": 5}, {"solver": "sampled-linear"}], ids=str)
def test_kernel_values_are_finite(scale, options, more):
    X, y = clustered()
    with pytest.raises(DataError, match=r"kernel=.*gamma|X has entries"):
        mm.MulticlassSVC(**options, **more).fit(scale * X, y)


@pytest.mark.parametrize("layout", [np.asarray, csr_matrix], ids=["dense", "csr"])
def test_entries_of_x_have_a_range(layout):
    X, y = clustered()
    with pytest.raises(DataError, match=r"X has entries of up to .*e\+300"):
        mm.MulticlassSVC().fit(layout(-1e300 * X), y)


@pytest.mark.parametrize("solver", [*EXACT, mm.Subgradient()], ids=str)
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
def test_numbers_out_of_range_reach_no_certificate(solver):
    X, y = clustered()
    planes = multiclass_planes(1e200 * X, y, COST, slack=False)
    try:
        result = train(Multiclass(3), 1e200 * X, y, solver=solver, max_iter=50)
    except DataError as error:
        assert "not finite" in str(error)
    else:
        assert primal(result.w, *planes, C=1.0) == pytest.approx(result.primal)


@pytest.mark.parametrize("bounds", [(np.nan, 0.0), (np.inf, 0.0), (1.0, np.nan), (1.0, np.inf)])
def test_a_certificate_takes_finite_bounds_only(bounds):
    with pytest.raises(DataError, match="not finite"):
        Certificate().update(np.zeros(2), *bounds)


def test_features_that_are_not_finite_reach_no_certificate():
    X, y = clustered()
    with pytest.raises((DataError, ProblemError)):
        train(NumbaClasses(), np.where(X > 1, np.nan, X), y, solver=mm.SDM(), max_iter=50)
