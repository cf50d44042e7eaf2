"""The relaxation to the local polytope against HiGHS, and its points as integers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.inference import maximise, message_size
from maxmargin.inference.lp import TOLERANCE
from maxmargin.inference.plan import plan_graph
from maxmargin.inference.points import FINE, point_length, quantise, quantise_size, write_halves
from maxmargin.inference.slow import relaxation
from maxmargin.structures.graph.relaxed import is_point
from small_graphs import Model, decode, models, random_edges


@given(models(labels=(1, 4), nodes=5))
@settings(max_examples=150)
def test_the_bound_is_the_optimum_of_the_relaxation(model):
    y, bound = decode("lp", model, effort=500)
    lp, _ = relaxation(*model)
    assert abs(bound - lp) <= 2 * TOLERANCE * (1 + abs(lp))
    assert model.value(y) <= model.maximum() <= bound + 1e-9


@given(models(labels=(3, 3), nodes=5), st.integers(0, 2**32 - 1))
@settings(max_examples=100)
def test_whatever_was_kept_the_bound_is_one(model, seed):
    n, K = model.unary.shape
    rng = np.random.default_rng(seed)
    messages = rng.normal(scale=3, size=message_size("lp", n, len(model.edges), K))
    messages[-1] = abs(messages[-1])
    y, bound = decode("lp", model, messages, effort=1)
    assert ((y >= 0) & (y < K)).all()
    assert model.value(y) <= model.maximum() <= bound + 1e-9


def test_the_optimum_of_larger_frustrated_graphs():
    """Scaling the scores scales the optimum, and a second call starts at it."""
    rng = np.random.default_rng(0)
    edges = random_edges(rng, 30, 0.15)
    model = Model(rng.normal(size=(30, 4)), edges, rng.normal(size=(len(edges), 4, 4)))
    lp, _ = relaxation(*model)
    for scale in (1.0, 1e4):
        scaled = model._replace(unary=scale * model.unary, pair=scale * model.pair)
        messages = np.zeros(message_size("lp", 30, len(edges), 4))
        _, bound = decode("lp", scaled, messages, effort=500)
        assert abs(bound - scale * lp) <= 2 * TOLERANCE * (1 + scale * abs(lp))
        _, again = decode("lp", scaled, messages, effort=5)
        assert abs(again - scale * lp) <= 2 * TOLERANCE * (1 + scale * abs(lp))


def test_two_labels_are_solved_by_roof_duality():
    """A triangle whose edges want different labels: every node is 1/2 in the relaxation."""
    unary, edges = np.zeros((3, 2)), np.array([[0, 1], [1, 2], [0, 2]])
    pair = np.tile([[0.0, 1.0], [1.0, 0.0]], (3, 1, 1))
    assert maximise(unary, edges, pair, inference="lp")[1] == 3.0


@given(models(labels=(3, 4), nodes=4), st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=100)
def test_quantised_points_are_consistent(model, seed, sharp):
    """Shares of nodes and edges that have nothing to do with each other; also whole ones."""
    (n, K), m = model.unary.shape, len(model.edges)
    rng, plan = np.random.default_rng(seed), plan_graph(n, model.edges)
    x, z = rng.dirichlet(np.full(K, 0.3), n), rng.dirichlet(np.full(K * K, 0.3), m)
    if sharp:
        x = np.eye(K)[x.argmax(axis=1)]
    y, work = np.zeros(point_length(n, m, K), np.int32), np.zeros(quantise_size(n, K))
    lam = rng.normal(size=2 * m * K)
    value = quantise(
        plan, n, K, FINE, model.unary.ravel(), model.pair.ravel(), lam, x.ravel(), z.ravel(), y,
        work,
    )  # fmt: skip
    assert is_point(y, n, model.edges, K, FINE)
    nodes, tables = whole(y, n, model.edges, K, FINE)
    assert value == pytest.approx((nodes * model.unary).sum() + (tables * model.pair).sum())
    assert np.abs(nodes - x).max() <= 1 / FINE + 1e-12


def whole(y, n, edges, K, units):
    """Shares of all labels and pairs of labels, from a point."""
    L = K - 1
    nodes, tables = np.zeros((n, K)), np.zeros((len(edges), K, K))
    nodes[:, 1:] = y[: n * L].reshape(n, L)
    tables[:, 1:, 1:] = y[n * L :].reshape(-1, L, L)
    nodes[:, 0] = units - nodes.sum(axis=1)
    a, b = edges.reshape(-1, 2).T
    tables[:, 0, 1:] = nodes[b, 1:] - tables[:, 1:, 1:].sum(axis=1)
    tables[:, 1:, 0] = nodes[a, 1:] - tables[:, 1:, 1:].sum(axis=2)
    tables[:, 0, 0] = nodes[a, 0] - tables[:, 0, 1:].sum(axis=1)
    return nodes / units, tables / units


@given(models(labels=(2, 2), nodes=5), st.integers(0, 2**32 - 1))
@settings(max_examples=100)
def test_halves_are_paired_in_the_better_way(model, seed):
    n, m = len(model.unary), len(model.edges)
    state = np.random.default_rng(seed).integers(0, 3, n)
    y = np.zeros(n + m, np.int8)
    write_halves(plan_graph(n, model.edges), n, model.pair.ravel(), state, y)
    assert is_point(y, n, model.edges, 2, 2)
    _, tables = whole(y, n, model.edges, 2, 2)
    for (a, b), table, pair in zip(model.edges, tables, model.pair, strict=True):
        if state[a] == state[b] == 2:
            best = max(pair[0, 0] + pair[1, 1], pair[0, 1] + pair[1, 0]) / 2
            assert (table * pair).sum() == best
