"""Distances far from the origin: an rbf kernel does not change if all rows are moved."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import maxmargin as mm
from maxmargin.kernels import KernelRows, make_kernel
from tests.kernels.test_kernels import blobs

FAR_AWAY = [0.0, 1e3, 1e6]


def objective(clf, X, y, moved):
    """P of the model, from kernel values in double precision at the origin."""
    vectors, coef = clf.support_vectors_ - moved, clf.dual_coef_.ravel()

    def values(rows):
        return np.exp(-clf.kernel_.gamma * ((rows[:, None] - vectors[None]) ** 2).sum(axis=2))

    scores = values(X) @ coef
    sign = np.where(y == clf.classes_[1], 1, -1)
    return 0.5 * coef @ values(vectors) @ coef + np.maximum(0, 1 - sign * scores).sum()


@pytest.mark.parametrize("moved", FAR_AWAY)
@pytest.mark.parametrize(
    "options", [{}, {"n_basis": 60}, {"solver": mm.SampledCuts(r=300)}, {"solver": "sdm"}]
)
def test_the_certified_primal_is_that_of_the_model(moved, options, tmp_path):
    X, y = blobs(300)
    clf = mm.BinarySVC(kernel="rbf", gamma=2.0, **options).fit(X + moved, y)
    assert clf.result_.converged
    assert clf.result_.primal == pytest.approx(objective(clf, X, y, moved), rel=1e-4)
    clf.save(tmp_path / "m.mm")
    loaded = mm.load(tmp_path / "m.mm")
    for other in (X + moved, sp.csr_matrix(X + moved)):
        found = loaded.decision_function(other)
        np.testing.assert_allclose(found, clf.decision_function(X + moved), atol=1e-2)


@pytest.mark.parametrize("moved", FAR_AWAY)
@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_values_in_float32(moved, scale):
    """Rows that are far apart as well are computed in float64."""
    X, _ = blobs(50)
    X = scale * X
    rows = KernelRows(make_kernel("rbf", X + moved, 1.0), X + moved).in_type(np.float32)
    assert rows.dtype == (np.float32 if scale == 1 else np.float64)
    expected = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(rows.block(rows), expected, atol=2e-4)
    some = rows.take(np.arange(7))
    np.testing.assert_allclose(rows.block(some), expected[:, :7], atol=2e-4)


def test_no_value_is_above_one():
    """Times in seconds, whose squares have more digits than float64."""
    X = np.column_stack([1.7e9 + np.arange(40) % 3, np.arange(40) % 2])
    for other in (X, sp.csr_matrix(X)):
        for dtype in (np.float32, np.float64):
            rows = KernelRows(make_kernel("rbf", other, 0.5), other).in_type(dtype)
            assert rows.block(rows).max() <= 1.0
