"""The relaxation to the local polytope against HiGHS, and its points as integers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.inference import maximise, message_size
from maxmargin.inference.core import core_size, make_core, store_counts
from maxmargin.inference.lp import TOLERANCE
from maxmargin.inference.plan import plan_graph
from maxmargin.inference.points import (
    FINE,
    is_consistent,
    point_length,
    quantise,
    write_counts,
    write_halves,
)
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
def test_points_of_any_core_are_consistent(model, seed, sharp):
    """Shares of nodes and edges that have nothing to do with each other; also whole ones.

    The core has a random choice of labels; where it has one label, the node is decided.
    """
    (n, K), m = model.unary.shape, len(model.edges)
    rng, plan = np.random.default_rng(seed), plan_graph(n, model.edges)
    kept = np.eye(K)[rng.integers(K, size=n)]
    work = np.zeros(core_size(n, m, K))
    unary, pair = model.unary.ravel().astype(float), model.pair.ravel().astype(float)
    core = make_core(plan, n, K, unary, pair, rng.random(n * K), 0.4, kept.ravel(), work)
    labels, pairs = core.start[core.n], core.at[core.m]
    x = shares(rng, np.diff(core.start[: core.n + 1]), sharp)
    z = shares(rng, np.diff(core.at[: core.m + 1]))
    lam, count, table = rng.normal(size=core.arc[core.m]), np.zeros(labels), np.zeros(pairs)
    value = quantise(core, FINE, lam, x, z, count, table, np.zeros(2 * K))
    assert np.abs(count / FINE - x).max(initial=0) <= 1 / FINE + 1e-12
    nodes, edges = np.full(n * K, 7.0), np.full(m * K * K, 7.0)
    store_counts(plan, n, K, FINE, core, count, table, nodes, edges)
    assert is_consistent(plan, n, K, FINE, nodes, edges)
    assert value == pytest.approx((nodes @ unary + edges @ pair) / FINE)
    y = np.zeros(point_length(n, m, K), np.int32)
    write_counts(plan, n, K, nodes, edges, y)
    assert is_point(y, n, model.edges, K, FINE)
    for counts in (nodes, edges):
        if len(counts):
            counts[0] += 1.0
            assert not is_consistent(plan, n, K, FINE, nodes, edges)
            counts[0] -= 1.0


def shares(rng, sizes, sharp=False):
    """Random shares of 1 for groups of these sizes, or single ones."""
    groups = [
        np.eye(size)[rng.integers(size)] if sharp else rng.dirichlet(np.full(size, 0.3))
        for size in sizes
    ]
    return np.concatenate([np.zeros(0), *groups])


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
