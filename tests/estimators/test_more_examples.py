"""partial_fit with what is learned from all examples: nothing of an earlier run may stay valid."""

from __future__ import annotations

import numpy as np
import pytest

import maxmargin as mm

SOLVERS = ["one-slack", "sdm", "bcfw", "n-slack"]


def check_same_optimum(make, first, second, joined):
    """Adding examples and training on all of them have certificates that agree."""
    warm = make().partial_fit(*first).partial_fit(*second).result_
    cold = make().fit(*joined).result_
    assert warm.converged and cold.converged
    assert warm.dual <= cold.primal + 1e-9 * cold.primal
    assert cold.dual <= warm.primal + 1e-9 * cold.primal


@pytest.mark.parametrize("solver", SOLVERS)
def test_balanced_weights_change_with_the_examples(solver):
    X1 = [np.full((2, 1), -5.0)] * 11 + [np.zeros((2, 1))]
    X2, Y1, Y2 = [np.full((2, 1), 5.0)] * 12, [[0, 0]] * 11 + [[1, 1]], [[1, 1]] * 12
    options = {"class_weight": "balanced", "tol": 1e-4, "solver": solver}
    check_same_optimum(lambda: mm.ChainSVC(**options), (X1, Y1), (X2, Y2), (X1 + X2, Y1 + Y2))
    x1, x2 = (np.array([x[0] for x in X]) for X in (X1, X2))
    y1, y2 = ([y[0] for y in Y] for Y in (Y1, Y2))
    joined = np.concatenate([x1, x2]), y1 + y2
    for make in (mm.BinarySVC, mm.MulticlassSVC):
        check_same_optimum(lambda make=make: make(**options), (x1, y1), (x2, y2), joined)


def test_the_scale_of_contrasts_changes_with_the_images():
    random = np.random.RandomState(1)
    X1 = [random.rand(3, 3, 1) * 0.1 for _ in range(6)]
    Y1 = [random.randint(0, 2, (3, 3)) for _ in X1]
    X2 = [np.ones((3, 3, 1)) * (np.arange(3)[:, None, None] * 10)]
    Y2 = [np.repeat([[0], [1], [1]], 3, 1)]
    check_same_optimum(
        lambda: mm.GridSVC(
            C=10.0, contrast=True, inference="roof-dual", solver="one-slack", tol=1e-4
        ),
        (X1, Y1), (X2, Y2), (X1 + X2, Y1 + Y2),
    )  # fmt: skip


def test_a_cost_matrix_that_is_too_large_to_be_printed():
    random = np.random.RandomState(0)
    X, y = random.randn(80, 3), np.arange(80) % 40
    loss = 100 * (1 - np.eye(40))
    clf = mm.MulticlassSVC(C=1e-3, loss=loss, solver="one-slack", tol=1e-3).partial_fit(X, y)
    loss = loss.copy()
    loss[5:35] /= 100
    found = clf.set_params(loss=loss).partial_fit(X[:1], y[:1]).result_
    joined = np.concatenate([X, X[:1]]), np.append(y, y[0])
    expected = mm.MulticlassSVC(C=1e-3, loss=loss, tol=1e-3).fit(*joined).result_
    assert found.dual <= expected.primal and expected.dual <= found.primal


def test_cuts_of_the_same_examples_are_kept(monkeypatch):
    from maxmargin.solvers.one_slack import OneSlack

    extended = []
    extend = OneSlack.extend

    def record(self, *arguments):
        extended.append(extend(self, *arguments))
        return extended[-1]

    monkeypatch.setattr(OneSlack, "extend", record)
    X = np.random.RandomState(0).randn(60, 4)
    y = X[:, :3].argmax(axis=1)
    options = {"solver": "one-slack", "tol": 1e-4}
    mm.MulticlassSVC(**options).partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    sequences, tags = np.split(X, 12), np.split(y, 12)
    chain = mm.ChainSVC(**options).partial_fit(sequences[:8], tags[:8])
    chain.partial_fit(sequences[8:], tags[8:])
    assert len(extended) == 2 and None not in extended


def test_images_of_another_size_and_labels_of_another_type():
    random = np.random.RandomState(0)
    clf = mm.GridSVC().partial_fit(random.rand(2, 3, 3, 1), random.randint(0, 2, (2, 3, 3)))
    clf.partial_fit(random.rand(2, 4, 5, 1), random.randint(0, 2, (2, 4, 5)))
    assert [y.shape for y in clf.predict([np.zeros((2, 2, 1))])] == [(2, 2)]
    X = random.randn(12, 2)
    both = mm.MulticlassSVC().partial_fit(X[:6], np.arange(6) % 3)
    both.partial_fit(X[6:], np.array(list("012012")))
    assert len(both.classes_) == 6


def test_an_oracle_that_is_not_exact_does_not_stall():
    """Short steps: near the best point it may find nothing, again and again."""
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    for seed in (35, 36, 37):
        random = np.random.RandomState(seed)
        X = [mm.Graph(random.randn(4, 2), edges, random.randn(5, 2)) for _ in range(3)]
        Y = [random.randint(0, 2, 4) for _ in X]
        one, sdm = (
            mm.GraphSVC(C=5.0, tol=1e-3, solver=solver).fit(X, Y).result_
            for solver in ("one-slack", "sdm")
        )
        assert one.status is not mm.Status.STALLED
        assert one.gap_optimisation <= 1e-3 * 5.0 * 3 + 1e-9
        assert one.dual <= sdm.primal + 1e-9 and sdm.dual <= one.primal + 1e-9
