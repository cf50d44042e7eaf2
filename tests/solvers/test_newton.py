"""Newton's method on a smooth objective: the optimum, its certificate, and its parts."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import maxmargin as mm
from maxmargin.engine.shard import Shard
from maxmargin.engine.smooth import curvature_at, outputs_of, values_at
from maxmargin.engine.smooth_passes import soft_slope, soften
from maxmargin.errors import DataError
from maxmargin.problem import MARGIN, SLACK
from maxmargin.solvers.newton import _search
from maxmargin.structures.binary.problem import Binary
from maxmargin.structures.multiclass.problem import Multiclass
from reference import enumerate_optimum, primal
from tests.solvers.test_solvers import C, example

RESCALINGS = pytest.mark.parametrize("rescaling", ["margin", "slack"])
NAMES = pytest.mark.parametrize("name", ["binary", "multiclass"])


@NAMES
@RESCALINGS
def test_reaches_the_optimum(name, rescaling):
    """With weights of examples, and costs that are not 0 and 1."""
    data = example(name)
    planes = data.planes(rescaling == "slack")
    best = enumerate_optimum(*planes, C=C, weights=data.weight)
    found = mm.train(
        data.problem, data.X, data.Y, C=C, sample_weight=data.weight, solver="newton", tol=1e-6,
        rescaling=rescaling,
    )  # fmt: skip
    assert found.converged
    assert found.primal == pytest.approx(best.primal, rel=1e-5)
    assert found.primal == pytest.approx(primal(found.w, *planes, C=C, weights=data.weight))
    assert found.dual <= best.primal * (1 + 1e-9)


def noisy(n=3000, seed=0):
    """More examples than a part of them needs, with labels that no weights predict."""
    random = np.random.RandomState(seed)
    X = random.randn(n, 3)
    return X, (X @ [1.0, -1.0, 0.5] + random.randn(n) > 0).astype(int)


def test_parts_of_the_examples_lead_to_the_optimum_of_all():
    X, y = noisy()
    newton, sdm = (
        mm.BinarySVC(C=1.0, tol=1e-5, solver=solver, max_iter=10_000).fit(X, y).result_
        for solver in ("newton", "sdm")
    )
    assert newton.converged and sdm.converged
    assert abs(newton.primal - sdm.primal) <= max(newton.gap, sdm.gap)
    assert newton.n_oracle < newton.n_iter * len(X)


def test_result_does_not_depend_on_threads():
    X, y = noisy()
    one, two = (
        mm.MulticlassSVC(C=0.5, solver="newton", n_jobs=jobs).fit(X, y).result_ for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.w, two.w)
    assert (one.primal, one.dual, one.n_iter) == (two.primal, two.dual, two.n_iter)


def test_resumes_bit_by_bit(tmp_path):
    X, y = noisy()
    options = {"C": 1.0, "tol": 1e-4, "solver": "newton"}
    whole = mm.BinarySVC(**options).fit(X, y).result_
    assert whole.converged
    path = tmp_path / "run.ck"
    for limit in range(3, whole.n_iter + 3, 3):
        clf = mm.BinarySVC(**options, checkpoint=path, max_iter=limit)
        found = clf.fit(X, y).result_ if limit >= whole.n_iter else _stopped(clf, X, y)
    np.testing.assert_array_equal(found.w, whole.w)
    assert (found.primal, found.dual) == (whole.primal, whole.dual)


def _stopped(clf, X, y):
    with pytest.warns(ConvergenceWarning):
        return clf.fit(X, y).result_


@pytest.mark.parametrize("mode", [MARGIN, SLACK])
def test_gradient_and_curvature_are_derivatives(mode):
    """Compared with differences of the soft maximum along random directions."""
    random = np.random.RandomState(3)
    cost = random.rand(3, 3) + 0.5
    np.fill_diagonal(cost, 0.0)
    problem = Multiclass(3, cost, bias=1.0)
    X, y = sp.csr_array(random.randn(8, 4)), random.randint(0, 3, 8)
    shard = Shard(problem, problem.pack(X, y, random.rand(8)))
    outputs, t, dim = outputs_of(shard), 0.3, shard.pack.dim
    w, v = random.randn(2, dim)

    def mean_plane(w):
        value, share = np.empty((2, 8, 3))
        values_at(shard, w, mode, shard.everyone, outputs, value)
        soften(value, shard.pack.weight, shard.everyone, t, share, np.zeros(3))
        return curvature_at(shard, mode, shard.everyone, outputs, share), value

    (g, H, _), value = mean_plane(w)
    direction = np.empty((8, 3))
    values_at(shard, v, mode, shard.everyone, outputs, direction, part=0.0)
    slope = soft_slope(value, direction, shard.pack.weight, shard.everyone, t, 0.0)
    assert slope == pytest.approx(-g @ v)  # a plane is minus the derivative of a value
    step = 1e-5
    (after, _, _), _ = mean_plane(w + step * v)
    (before, _, _), _ = mean_plane(w - step * v)
    np.testing.assert_allclose((before - after) / (2 * step), H @ v / t, rtol=1e-5, atol=1e-7)


def test_other_problems_are_refused():
    chain = mm.ChainSVC(solver="newton")
    with pytest.raises(DataError, match="'newton' needs few outputs for each example"):
        chain.fit([np.eye(2)], [["a", "b"]])
    X = sp.csr_array((np.ones(2), ([0, 1], [0, 5000])), (2, 5001))
    with pytest.raises(DataError, match="at most 4,096 weights, and there are 5,001"):
        mm.train(Binary(), X, [-1, 1], solver="newton")


@given(
    st.lists(st.floats(1e-4, 10.0), min_size=1, max_size=6),
    st.lists(st.floats(1e-3, 1e4), min_size=6, max_size=6),
    st.floats(1e-6, 1e3),
)
def test_the_line_search_never_raises_the_objective(places, jumps, decrement):
    """Convex functions with kinks, beyond which slopes can be small and the value larger."""
    w, direction = np.zeros(1), np.zeros(1)  # all slopes are those of ``soft``

    def slope(step):
        return -decrement + sum(jump for at, jump in zip(places, jumps, strict=False) if step > at)

    def value(step):
        kinks = zip(places, jumps, strict=False)
        return -decrement * step + sum(jump * max(step - at, 0.0) for at, jump in kinks)

    step = _search(w, direction, decrement, slope)
    assert step > 0 and value(step) < 0
