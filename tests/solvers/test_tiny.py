"""Every variant of every solver is honest on tiny problems of any scale.

P is recomputed in long double from its definition, by enumeration of the classes. By weak duality
no dual value of any run may be above P of any point; one-slack's points are close to the optimum.
"""

from itertools import product

import numpy as np
import pytest

from maxmargin.structures.multiclass.problem import Multiclass
from maxmargin.training import train
from reference import enumerate_optimum, multiclass_planes
from solver_tables import all_variants
from tests.solvers.test_certificates import long_primal

VARIANTS = all_variants()

#: In units of C n: rounding of sums of a few numbers of the size of the losses.
ROUNDING = 1e-12


def repeated_rows(seed, scale):
    """Rows that are given twice, some of them with another label, and rows of zeros."""
    random = np.random.RandomState(seed)
    X, y = random.randn(5, 3), random.randint(0, 3, 5)
    X = np.concatenate([X, X, X[:2], np.zeros((2, 3))])
    y = np.concatenate([y, y, random.randint(0, 3, 2), [0, 1]])
    return scale * X, y


#: Every other pair of the grid, with its corners and its middle.
SCALES = list(product([1e-6, 1e-3, 1.0, 1e3, 1e6], [1e-8, 1e-4, 1.0, 1e3, 1e6]))[::2]


@pytest.mark.parametrize(("scale", "C"), SCALES)
def test_every_variant_is_honest(scale, C):
    X, y = repeated_rows(seed=0, scale=scale)
    N, tol = C * len(y), 1e-3
    runs = {
        name: train(Multiclass(3), X, y, C=C, solver=solver, tol=tol, max_iter=20)
        for name, solver in VARIANTS.items()
    }
    exact = {name: long_primal(run.w, X, y, C) for name, run in runs.items()}
    lowest = min(exact.values())
    for name, run in runs.items():
        assert abs(exact[name] - run.primal) <= ROUNDING * N, name
        assert run.dual - lowest <= ROUNDING * N, name
        assert run.primal <= N, name  # that of w = 0
        if run.converged:
            assert exact[name] - run.dual <= tol * N * (1 + 1e-9), name


@pytest.mark.parametrize("C", [1e-3, 1.0])
def test_every_variant_agrees_with_an_independent_optimum(C):
    X, y = repeated_rows(seed=1, scale=1.0)
    best = enumerate_optimum(*multiclass_planes(X, y, 1.0 - np.eye(3), slack=False), C=C)
    for name, solver in VARIANTS.items():
        run = train(Multiclass(3), X, y, C=C, solver=solver, tol=1e-2, max_iter=200)
        assert run.dual <= best.primal * (1 + 1e-9), name
        assert run.primal >= best.dual * (1 - 1e-9), name
        if run.converged:
            assert run.primal <= best.primal + 1e-2 * C * len(y) * (1 + 1e-9), name
