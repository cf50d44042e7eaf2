"""Minimum cuts and roof duality against enumeration and HiGHS."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from maxmargin.inference import maximise, plan_graph
from maxmargin.inference.binary import HALF
from maxmargin.inference.slow import relaxation
from maxmargin.inference.two_labels import roof_dual, roof_dual_size
from small_graphs import Model, decode, models


def relaxed(model):
    """States and bound of the roof dual."""
    n, m = len(model.unary), len(model.edges)
    state, work = np.full(n, 99, np.int32), np.full(roof_dual_size(n, m), np.nan)
    plan = plan_graph(n, model.edges)
    return state, roof_dual(plan, model.unary.ravel(), model.pair.ravel(), state, work)


@given(models(labels=(2, 2), nodes=8, attractive=True))
@settings(max_examples=1000)
def test_cuts_of_attractive_models_are_exact(model):
    y, value = decode("min-cut", model)
    assert value == model.value(y) == model.maximum()


@given(models(labels=(2, 2), nodes=8))
@settings(max_examples=1000)
def test_branches_find_the_maximum(model):
    y, value = decode("branch", model)
    assert value == model.value(y) == model.maximum()


@given(models(labels=(2, 2), nodes=8, attractive=True, whole=False))
@settings(max_examples=300)
def test_real_scores_too(model):
    y, value = decode("min-cut", model)
    np.testing.assert_allclose([value, model.value(y)], model.maximum(), atol=1e-12)


@given(models(labels=(2, 2), nodes=8))
@settings(max_examples=300)
def test_the_bound_of_a_cut_holds_for_models_that_are_not_attractive(model):
    _, bound = decode("min-cut", model)
    assert bound >= model.maximum()


@given(models(labels=(2, 2), nodes=8))
@settings(max_examples=1000)
def test_roof_duality_is_persistent(model):
    """Some best labelling has all labels that the relaxation decides."""
    state, bound = relaxed(model)
    outputs, values = model.values()
    best, decided = outputs[values == values.max()], state != HALF
    assert (best[:, decided] == state[decided]).all(axis=1).any()
    assert bound >= values.max()
    assert bound == values.max() or not decided.all()


@given(models(labels=(2, 2), nodes=8))
@settings(max_examples=100)
def test_the_roof_dual_is_the_optimum_of_the_relaxation(model):
    bound, _ = relaxation(*model)
    np.testing.assert_allclose(relaxed(model)[1], bound, atol=1e-6)


@given(models(labels=(2, 2), nodes=8))
@settings(max_examples=300)
def test_half_nodes_are_completed(model):
    state, _ = relaxed(model)
    y, bound = decode("roof-dual", model)
    decided = state != HALF
    assert set(y) <= {0, 1}
    assert model.value(y) <= model.maximum() <= bound
    assert model.value(y) == model.maximum() or not decided.all()


@given(models(labels=(2, 2), nodes=8, whole=False))
@settings(max_examples=500)
def test_roof_duality_with_real_scores(model):
    """Rounding must not decide nodes: both terminals may be saturated up to the last digits."""
    state, bound = relaxed(model)
    outputs, values = model.values()
    decided = state != HALF
    agreeing = values[(outputs[:, decided] == state[decided]).all(axis=1)]
    np.testing.assert_allclose(agreeing.max(), values.max(), atol=1e-9)
    assert bound >= values.max() - 1e-9
    assert not decided.all() or bound <= values.max() + 1e-9


@pytest.mark.parametrize("attractive", [True, False])
def test_dense_graphs(attractive):
    """All pairs of 18 nodes: nodes are decided before the cut, and others remain."""
    rng, kind = np.random.default_rng(0), "min-cut" if attractive else "roof-dual"
    edges, left = np.array(list(itertools.combinations(range(18), 2)), np.int32), 0
    for scale in (0.05, 0.2, 0.4):
        unary, pair = rng.normal(size=(18, 2)), np.zeros((len(edges), 2, 2))
        pair[:, 1, 1] = scale * rng.normal(size=len(edges))
        if attractive:
            pair = np.maximum(pair, 0)
        model = Model(unary, edges, pair)
        y, bound = decode(kind, model)
        value, _ = relaxation(*model)
        np.testing.assert_allclose(bound, value, atol=1e-6)
        assert not attractive or model.value(y) == pytest.approx(bound)
        sums = np.bincount(edges.ravel(), np.repeat(abs(pair[:, 1, 1]), 2))
        left += (abs(unary[:, 1] - unary[:, 0]) < sums / 2).sum()
    assert left > 0


def test_a_frustrated_triangle_is_half_everywhere():
    """Neighbours that must differ: at best two of three edges, and all three in the relaxation."""
    differ = np.array([[0.0, 1.0], [1.0, 0.0]])
    model = Model(np.zeros((3, 2)), np.array([[0, 1], [1, 2], [2, 0]]), np.array([differ] * 3))
    state, bound = relaxed(model)
    assert state.tolist() == [HALF] * 3
    assert bound == 3
    y, bound = decode("roof-dual", model)
    assert (model.value(y), bound) == (2, 3)


def test_an_even_cycle_of_repelling_pairs_is_solved():
    differ = np.array([[0.0, 1.0], [1.0, 0.0]])
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    unary = np.array([[0.5, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    y, bound = maximise(unary, edges, [differ] * 4, inference="roof-dual")
    assert (y.tolist(), bound) == ([0, 1, 0, 1], 4.5)


@pytest.mark.parametrize("hard", [False, True])
def test_cuts_of_a_grid_have_the_flow_of_scipy(hard):
    """Integer capacities, so that the maximum flow of SciPy can be compared exactly."""
    import scipy.sparse as sp
    from scipy.sparse.csgraph import maximum_flow

    rng, side = np.random.default_rng(0), 30
    n, cells = side * side, np.arange(side * side).reshape(side, side)
    pairs = [(cells[:, :-1], cells[:, 1:]), (cells[:-1], cells[1:])]
    edges = np.concatenate([np.stack([a.ravel(), b.ravel()], 1) for a, b in pairs])
    gain, coupling = rng.integers(-9, 10, n), rng.integers(0, 6, len(edges))
    if hard:  # sources and sinks only at two sides: long paths
        gain = np.where(
            np.arange(n) % side == 0, 50, np.where(np.arange(n) % side == side - 1, -50, 0)
        )
    pair = np.zeros((len(edges), 2, 2))
    pair[:, 0, 1] = pair[:, 1, 0] = -coupling
    y, bound = maximise(np.stack([0 * gain, gain], 1), edges, pair, inference="min-cut")
    a, b = edges.T
    up, down = np.flatnonzero(gain > 0), np.flatnonzero(gain < 0)
    tail = np.concatenate([a, b, np.full(len(up), n), down])
    head = np.concatenate([b, a, up, np.full(len(down), n + 1)])
    size = np.concatenate([coupling, coupling, gain[up], -gain[down]]).astype(np.int32)
    flow = maximum_flow(sp.csr_matrix((size, (tail, head)), shape=(n + 2, n + 2)), n, n + 1)
    assert bound == gain[up].sum() - flow.flow_value
    assert bound == (gain * y).sum() - (coupling * (y[a] != y[b])).sum()
