"""The certificate keeps long weights by their non-zeros; results are those of dense weights."""

from __future__ import annotations

import numpy as np
import pytest

import maxmargin as mm
from maxmargin.engine.vectors import Vector
from maxmargin.solvers import certificate
from maxmargin.solvers.certificate import Certificate

X = [[["a", f"only {i}"], ["b"], ["a", "c"]] for i in range(30)]
Y = [["x", "y", "z"] for _ in range(30)]


def sparse(w):
    best = Certificate()
    best.update(w, 2.0, 1.0)
    return best


def test_sparse_weights_come_back(monkeypatch):
    monkeypatch.setattr(certificate, "LONG", 0)
    w = np.zeros(40)
    w[[3, 17]] = 1.5, -2.0
    best = sparse(w)
    assert isinstance(best.w, Vector)
    np.testing.assert_array_equal(best.weights(40), w)
    assert best.weights(40, w) is w
    for change in (3, 4):  # another value, another non-zero
        other = w.copy()
        other[change] = 7.0
        found = best.weights(40, other)
        assert found is not other
        np.testing.assert_array_equal(found, w)
    best.update(np.ones(40), 1.5, 1.0)
    assert isinstance(best.w, np.ndarray)


@pytest.mark.parametrize("solver", ["sdm", "one-slack", "bcfw", "n-slack"])
def test_results_do_not_depend_on_the_form(monkeypatch, tmp_path, solver):
    options = {"C": 0.1, "solver": solver, "tol": 0.05, "max_iter": 40, "warm_start": True}
    dense = mm.ChainSVC(**options).fit(X, Y)
    monkeypatch.setattr(certificate, "LONG", 0)
    monkeypatch.setattr(certificate, "FEW", 1.0)
    model = mm.ChainSVC(**options, checkpoint=tmp_path / "ck").fit(X, Y)
    np.testing.assert_array_equal(model.result_.w, dense.result_.w)
    before = model.result_.w.copy()
    first = model.result_
    model.set_params(C=0.2, checkpoint=None).fit(X, Y)  # a warm start leaves the first result alone
    np.testing.assert_array_equal(first.w, before)
    again = mm.ChainSVC(**options, checkpoint=tmp_path / "ck").fit(X, Y)
    np.testing.assert_array_equal(again.result_.w, before)
