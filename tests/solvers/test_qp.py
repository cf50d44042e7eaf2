"""The QP over the simplex against an independent solver."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from maxmargin.solvers import qp
from maxmargin.solvers.qp import solve_simplex_qp


def objective(beta, G, loss, N):
    return loss @ beta - 0.5 * N * beta @ G @ beta


def reference(G, loss, N):
    """A point of the simplex; SLSQP may leave it where N is small, and is put back."""
    m = len(loss)
    found = minimize(
        lambda b: -objective(b, G, loss, N), np.full(m, 1 / m), jac=lambda b: N * G @ b - loss,
        bounds=[(0, 1)] * m, constraints={"type": "eq", "fun": lambda b: b.sum() - 1},
        method="SLSQP", options={"ftol": 1e-14, "maxiter": 1000},
    ).x.clip(0)  # fmt: skip
    return found / found.sum()


def random_qp(seed, m, rank):
    random = np.random.RandomState(seed)
    A = np.vstack([np.zeros(rank), random.randn(m - 1, rank)])
    return A @ A.T, np.append(0.0, random.rand(m - 1))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    m=st.integers(2, 25),
    rank=st.integers(1, 12),
    N=st.sampled_from([1e-3, 1.0, 1e4]),
)
def test_reaches_the_maximum_also_when_singular(seed, m, rank, N):
    G, loss = random_qp(seed, m, rank)
    start = np.zeros(m)
    start[0] = 1.0
    beta = solve_simplex_qp(G, loss, N, start, tol=1e-10)
    assert beta.min() >= 0
    assert beta.sum() == pytest.approx(1)
    best = objective(reference(G, loss, N), G, loss, N)
    assert objective(beta, G, loss, N) >= best - 1e-7 * max(1, abs(best))
    slope = loss - N * G @ beta  # the objective is concave: this bounds what is left to gain
    assert slope.max() - slope @ beta <= 1e-7 * max(1, abs(slope).max())


def test_warm_start_keeps_an_optimal_point():
    G, loss = random_qp(0, 20, 6)
    start = np.zeros(20)
    start[0] = 1.0
    beta = solve_simplex_qp(G, loss, 2.0, start, tol=1e-12)
    np.testing.assert_allclose(solve_simplex_qp(G, loss, 2.0, beta, tol=1e-12), beta, atol=1e-12)
    assert (beta == 0).any()


def test_precision_is_a_knob():
    """A loose tolerance returns early, yet within the tolerance of the maximum."""
    G, loss = random_qp(1, 200, 40)
    start = np.zeros(200)
    start[0] = 1.0
    rough, fine = (solve_simplex_qp(G, loss, 50.0, start, tol) for tol in (0.1, 1e-10))
    lost = objective(fine, G, loss, 50.0) - objective(rough, G, loss, 50.0)
    assert 0 < lost <= 0.1
    assert (rough > 0).sum() < (fine > 0).sum()


def test_repeated_cuts_do_no_harm():
    G, loss = random_qp(2, 8, 3)
    twice = np.r_[np.arange(8), np.arange(8)]
    start = np.zeros(16)
    start[0] = 1.0
    beta = solve_simplex_qp(G[np.ix_(twice, twice)], loss[twice], 1.0, start, tol=1e-10)
    single = solve_simplex_qp(G, loss, 1.0, start[:8], tol=1e-10)
    assert objective(beta, G[np.ix_(twice, twice)], loss[twice], 1.0) == pytest.approx(
        objective(single, G, loss, 1.0), rel=1e-9
    )


def test_a_precision_beyond_rounding_is_not_pursued(monkeypatch):
    """Inner products of 1e9 times N leave no digits for the tolerance: it ends where they end."""
    steps, factor = [], qp.cho_factor
    monkeypatch.setattr(
        qp, "cho_factor", lambda *args, **options: steps.append(1) or factor(*args, **options)
    )
    random = np.random.RandomState(0)
    A = np.vstack([np.zeros(12), 2e4 * random.randn(80, 12)])
    loss = np.append(0.0, random.rand(80))
    beta = solve_simplex_qp(A @ A.T, loss, 3000.0, np.eye(81)[0], tol=1e-12)
    assert beta.min() >= 0 and beta.sum() == pytest.approx(1)
    assert len(steps) < 500  # 2530 is the limit of the loop


@pytest.mark.parametrize("size", [0.0, 1e-160, 1e-320])
def test_cuts_that_are_nearly_zero(size):
    """The ridge has a floor: with a Gram matrix of zeros none would ever be large enough."""
    G = size * np.ones((3, 3))
    beta = solve_simplex_qp(G, np.array([0.0, 0.5, 0.2]), 1e-160, np.eye(3)[0], tol=1e-12)
    np.testing.assert_allclose(beta, [0.0, 1.0, 0.0], atol=1e-12)
