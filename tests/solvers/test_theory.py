"""What the paper proves about Algorithms 3 and 4, on problems small enough for it to bite.

The paper's C is our C n, its epsilon our tol.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.solvers import OneSlack
from maxmargin.structures.multiclass.problem import Multiclass
from maxmargin.training import train
from reference import enumerate_optimum, multiclass_planes

AS_PRINTED = OneSlack(cache=0, step=1.0)


@pytest.mark.parametrize("C", [1.0, 2.0])
def test_tight_example_is_violated_by_one_over_k_plus_one(C):
    """Section 3.2: one example, one feature, many classes.

    The first weight is k/(k + 1) and at most C: printed for C >= 1/2, it needs C >= 1 for all k.
    """
    seen = []

    def look(record, state):
        k, w = record.iteration, state.model.w
        outside = 1 - (w[0] - w[k + 1 :])
        seen.append((len(state.model), outside, 1 / (k + 1)))

    train(Multiclass(12), np.ones((1, 1)), [0], C=C, tol=1e-9, solver=AS_PRINTED, max_iter=10,
          callbacks=[look])  # fmt: skip
    assert len(seen) == 10
    for k, (size, outside, violation) in enumerate(seen, start=1):
        assert size == k
        np.testing.assert_allclose(outside, violation, rtol=1e-9)


def test_tight_example_with_small_c():
    """C <= 1/2: after k cuts the others are violated by C/k (more than the shared slack)."""
    C, seen = 0.25, []

    def look(record, state):
        w = state.model.w
        seen.append((1 - (w[0] - w[record.iteration + 1 :])) - state.model.slack())

    train(Multiclass(12), np.ones((1, 1)), [0], C=C, tol=1e-9, solver=AS_PRINTED, max_iter=10,
          callbacks=[look])  # fmt: skip
    for k, violation in enumerate(seen, start=1):
        np.testing.assert_allclose(violation, C / k, rtol=1e-9)


def iteration_bound(R2, Delta, C, eps, slack):
    """Theorems 5 and 6: the most iterations that Algorithms 3 and 4 can take."""
    if slack:
        return math.ceil(max(math.log2(1 / (4 * R2 * Delta * C)), 0)) + math.ceil(
            16 * R2 * Delta**2 * C / eps
        )
    return math.ceil(max(math.log2(Delta / (4 * R2 * C)), 0)) + math.ceil(16 * R2 * C / eps)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    slack=st.booleans(),
    eps=st.sampled_from([0.3, 0.1, 0.03]),
    C=st.sampled_from([0.02, 0.2, 1.0]),
    solver=st.sampled_from([AS_PRINTED, OneSlack(cache=0, qp="line-search"), OneSlack(cache=2)]),
)
def test_number_of_iterations_is_bounded(seed, slack, eps, C, solver):
    """The proof needs only a line search in each iteration, so the variant obeys it as well."""
    random = np.random.RandomState(seed)
    n, d, K = 6, 3, 4
    X, y = random.randn(n, d), random.randint(0, K, n)
    cost = random.randint(1, 4, (K, K)) * (1.0 - np.eye(K))
    R2, Delta = 2 * (X**2).sum(axis=1).max(), cost.max()
    eps = min(eps, 4 * R2 * C * (Delta**2 if slack else 1))
    result = train(
        Multiclass(K, cost), X, y, C=C / n, tol=eps, solver=solver,
        rescaling="slack" if slack else "margin",
    )  # fmt: skip
    assert result.converged
    assert result.n_iter <= iteration_bound(R2, Delta, C, eps, slack) + 1  # one pass to see it


def test_the_bound_bites():
    """On the tight example the iterations grow as 1/eps, within a constant of the bound."""
    for eps in (0.2, 0.1, 0.05):
        result = train(Multiclass(60), np.ones((1, 1)), [0], C=0.5, tol=eps, solver=AS_PRINTED)
        bound = iteration_bound(2.0, 1.0, 0.5, eps, slack=False)
        assert bound / 70 <= result.n_iter <= bound


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), slack=st.booleans(), eps=st.sampled_from([0.5, 0.05, 1e-3]))
def test_correctness(seed, slack, eps):
    """Theorems 3 and 4: the working set's objective is below the optimum, P within C eps of it."""
    random = np.random.RandomState(seed)
    X, y, C = random.randn(5, 3), random.randint(0, 3, 5), 0.7
    cost = random.rand(3, 3) * (1 - np.eye(3))
    optimum = enumerate_optimum(*multiclass_planes(X, y, cost, slack), C=C).primal
    result = train(
        Multiclass(3, cost), X, y, C=C, tol=eps, solver=AS_PRINTED,
        rescaling="slack" if slack else "margin",
    )  # fmt: skip
    assert result.dual <= optimum * (1 + 1e-8)
    assert optimum * (1 - 1e-8) <= result.primal <= result.dual + eps * C * 5 + 1e-12
