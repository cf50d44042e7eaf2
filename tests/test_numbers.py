"""Numbers out of range: a DataError that names the parameter, or a right result. Nothing hangs."""

import numpy as np
import pytest

import maxmargin as mm
from maxmargin.errors import DataError
from maxmargin.structures.multiclass.problem import Multiclass
from maxmargin.training import train
from reference import multiclass_planes, primal
from solver_tables import all_variants

VARIANTS = all_variants()
SOLVERS = pytest.mark.parametrize("solver", VARIANTS.values(), ids=VARIANTS)
ESTIMATORS = pytest.mark.parametrize("estimator", [mm.MulticlassSVC, mm.BinarySVC])


def clustered(n=30):
    random = np.random.RandomState(0)
    y = random.randint(0, 3, n)
    return random.randn(3, 4)[y] + 0.8 * random.randn(n, 4), y


@pytest.mark.parametrize("C", [1e308, 1e101, 1e-101, 1e-320, 0.0, -1.0, np.inf, np.nan, "x", None])
@pytest.mark.parametrize(
    "options", [{}, {"kernel": "rbf"}, {"n_basis": 5, "kernel": "rbf"}], ids=str
)
def test_c(C, options):
    X, y = clustered()
    with pytest.raises(DataError, match=r"^C must be"):
        mm.MulticlassSVC(C=C, **options).fit(X, y)


@SOLVERS
@pytest.mark.parametrize("C", [1e-100, 1e40, 1e100])
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
def test_c_within_its_range(solver, C):
    """Nothing ends in an endless loop or in a raw error, and what is returned is true."""
    X, y = clustered()
    planes = multiclass_planes(X, y, 1.0 - np.eye(3), slack=False)
    try:
        result = train(Multiclass(3), X, y, C=C, solver=solver, max_iter=20)
    except DataError as error:
        assert "not finite" in str(error)
        return
    assert primal(result.w, *planes, C=C) == pytest.approx(result.primal, rel=1e-9)
    assert result.dual <= result.primal * (1 + 1e-9)


@pytest.mark.parametrize("weight", [1e300, 1e308, 1e101, 1e-101, -1.0, np.nan, np.inf])
@ESTIMATORS
def test_sample_weight(estimator, weight):
    X, y = clustered()
    with pytest.raises(
        DataError, match=r"sample_weight\[7\] is .*weights must be 0 or in 1e-100 to"
    ):
        estimator().fit(X, y > 0, sample_weight=np.where(np.arange(30) == 7, weight, 1.0))


@pytest.mark.parametrize(
    "weight", [["1"] * 30, [[1.0]] * 30, np.ones(29)], ids=["text", "2d", "29"]
)
def test_sample_weight_is_a_list_of_numbers(weight):
    X, y = clustered()
    with pytest.raises(DataError, match="sample_weight has shape"):
        mm.MulticlassSVC().fit(X, y, sample_weight=weight)


@SOLVERS
@pytest.mark.parametrize("scale", [1e153, 1e155, 1e300])
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid", "ignore:divide")
def test_long_rows(solver, scale):
    """Without an estimator, which limits X to 1e100, squares of features may overflow."""
    X, y = clustered()
    planes = multiclass_planes(scale * X, y, 1.0 - np.eye(3), slack=False)
    try:
        result = train(Multiclass(3), scale * X, y, solver=solver, max_iter=20)
    except DataError as error:
        assert "not finite" in str(error)
        return
    assert primal(result.w, *planes, C=1.0) == pytest.approx(result.primal)
    assert result.dual <= result.primal * (1 + 1e-9)


@pytest.mark.parametrize("n_jobs", [10**6, -(10**6), 1.5, "x", True, np.nan, [2]])
@pytest.mark.parametrize("options", [{}, {"kernel": "rbf"}], ids=str)
def test_n_jobs(n_jobs, options):
    X, y = clustered()
    with pytest.raises(DataError, match=r"^n_jobs must be an integer in -\d+ to \d+"):
        mm.MulticlassSVC(n_jobs=n_jobs, **options).fit(X, y)


@pytest.mark.parametrize("seed", [-1, 2**32, 1.5, "x", [1, 2]], ids=str)
@pytest.mark.parametrize("options", [{}, {"n_basis": 5, "kernel": "rbf"}], ids=str)
def test_random_state(seed, options):
    X, y = clustered()
    with pytest.raises(DataError, match=r"^random_state must be an integer in 0 to 4294967295"):
        mm.MulticlassSVC(random_state=seed, **options).fit(X, y)


@pytest.mark.parametrize(
    "seed", [None, 0, np.int64(3), 2**32 - 1, np.random.default_rng(0)], ids=str
)
def test_random_states_that_are_taken(seed):
    X, y = clustered()
    assert mm.MulticlassSVC(random_state=seed, solver="sdm").fit(X, y).result_.converged


@pytest.mark.parametrize("max_iter", [0, -1, 1.5, "x", np.nan, np.inf, True])
def test_max_iter(max_iter):
    X, y = clustered()
    with pytest.raises(DataError, match=r"^max_iter must be an integer in 1 to"):
        mm.MulticlassSVC(max_iter=max_iter).fit(X, y)


@pytest.mark.parametrize("value", [0, 0.0, 1e308, 1e-320, -1, np.nan, "x"])
@ESTIMATORS
def test_intercept_scaling(estimator, value):
    X, y = clustered()
    with pytest.raises(DataError, match=r"^intercept_scaling must be"):
        estimator(fit_intercept=True, intercept_scaling=value).fit(X, y > 0)


def masked(values):
    mask = np.zeros(np.shape(values), bool)
    mask.flat[0] = True
    return np.ma.MaskedArray(values, mask)


def test_masked_entries_are_refused():
    X, y = clustered()
    good = mm.MulticlassSVC().fit(X, y)
    weight = np.ones(30)
    for name, args, options in (
        ("X", (masked(X), y), {}),
        ("y", (X, masked(y)), {}),
        ("sample_weight", (X, y), {"sample_weight": masked(weight)}),
    ):
        with pytest.raises(DataError, match=f"^{name} has masked entries"):
            mm.MulticlassSVC().fit(*args, **options)
    with pytest.raises(DataError, match=r"^X has masked entries"):
        good.predict(masked(X))
    with pytest.raises(DataError, match=r"^Y has masked entries"):
        train(Multiclass(3), X, masked(y))
    with pytest.raises(DataError, match=r"^X has masked entries"):
        train(Multiclass(3), masked(X), y)


def test_masked_entries_of_sequences_are_refused():
    X, Y = [np.eye(3)[[0, 1, 2]], np.eye(3)[[1, 0]]], [[0, 1, 2], [1, 0]]
    good = mm.ChainSVC().fit(X, Y)
    with pytest.raises(DataError, match=r"^sequence 1 has masked entries"):
        mm.ChainSVC().fit([X[0], masked(X[1])], Y)
    with pytest.raises(DataError, match=r"^sequence 0 has masked entries"):
        good.predict([masked(X[0])])
    with pytest.raises(DataError, match="missing"):
        mm.ChainSVC().fit(X, [masked(np.array(Y[0])), Y[1]])
    with pytest.raises(DataError, match=r"^token_weight has masked entries"):
        mm.ChainSVC().fit(X, Y, token_weight=[masked(np.ones(3)), np.ones(2)])


def test_a_masked_array_without_masked_entries_is_an_array():
    X, y = clustered()
    plain = mm.MulticlassSVC().fit(X, y)
    same = mm.MulticlassSVC().fit(np.ma.MaskedArray(X), np.ma.MaskedArray(y))
    np.testing.assert_array_equal(plain.coef_, same.coef_)
