"""Kernels that are no inner products: no certificate in a space that does not exist."""

from __future__ import annotations

import numpy as np
import pytest

import maxmargin as mm
from maxmargin.kernels import KernelRows, make_kernel
from maxmargin.kernels.definite import SAMPLE, check_symmetric, is_complete, is_definite
from tests.kernels.test_kernels import blobs

INDEFINITE = {
    "sigmoid": {"kernel": "sigmoid", "gamma": 1.0, "coef0": -1.0},
    "poly": {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": -1.0},
    "function": {"kernel": lambda A, B: -((A[:, None] - B[None]) ** 2).sum(axis=2) + 1.0},
}


@pytest.mark.parametrize("name", INDEFINITE)
def test_a_certificate_says_what_it_is_for(name):
    X, y = blobs(120)
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        clf = mm.BinarySVC(**INDEFINITE[name]).fit(X, y)
    result = clf.result_
    assert result.dual <= result.primal
    assert "among models with these" in result.bounds and result.method == "basis"
    # The objective from the predictions themselves: P of a model of these functions.
    hinge = np.maximum(0, 1 - np.where(y == clf.classes_[1], 1, -1) * clf.decision_function(X))
    assert hinge.sum() <= result.primal + 1e-6
    with pytest.raises(mm.DataError, match="no certificate in its whole space"):
        result.audit()
    for kind in ("linear", "constant"):
        with pytest.raises(mm.DataError, match="no certificate in its whole space"):
            mm.BinarySVC(**INDEFINITE[name], solver=mm.SampledCuts(kind)).fit(X, y)


def test_asymmetric_values_are_named():
    X, y = blobs(60)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    mm.BinarySVC(kernel="precomputed").fit(K, y)
    K[7, 31] += 0.1
    with pytest.raises(mm.DataError, match=r"not symmetric.*rows (7 and 31|31 and 7)"):
        mm.BinarySVC(kernel="precomputed").fit(K, y)
    with pytest.raises(mm.DataError, match="not symmetric"):
        mm.BinarySVC(kernel=lambda A, B: A[:, :1] + 2 * B[:, 0]).fit(X, y)


@pytest.mark.parametrize("name", ["linear", "rbf", "poly", "sigmoid", "function", "precomputed"])
@pytest.mark.parametrize("n", [50, SAMPLE + 50])
def test_inner_products_are_recognised(name, n):
    X, _ = blobs(n)
    kernel = {"function": lambda A, B: A @ B.T, "precomputed": "precomputed"}.get(name, name)
    X = (X @ X.T).astype(np.float32) if name == "precomputed" else X
    # The sigmoid of a small gamma and a large positive coef0 is nearly constant: definite.
    made = make_kernel(kernel, X, 0.5 if name != "sigmoid" else 1e-9, 3, 0.5)
    rows = KernelRows(made, X)
    check_symmetric(rows)
    assert is_definite(rows)


def test_incomplete_features_are_found():
    K = np.kron(np.array([[0.0, 1.0], [1.0, 0.0]]), np.eye(3)) + np.diag([1.0, 0, 0, 0, 0, 0])
    rows = KernelRows(make_kernel("precomputed", K), K)
    Z = np.zeros((6, 1))
    Z[0] = 1.0
    assert not is_complete(rows, Z)  # the diagonal alone would agree
    assert is_complete(KernelRows(make_kernel("precomputed", Z @ Z.T), Z @ Z.T), Z)
