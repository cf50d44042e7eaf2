"""Dynamic programming on forests against enumeration."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.inference import is_forest, plan_graph
from maxmargin.inference.forest import forest_max_marginals
from small_graphs import Model, decode, models


@given(models(forest=True))
@settings(max_examples=1000)
def test_forests_are_decoded_exactly(model):
    y, value = decode("forest", model)
    assert value == model.value(y) == model.maximum()


@given(models(forest=True, whole=False))
@settings(max_examples=200)
def test_real_scores_too(model):
    y, value = decode("forest", model)
    np.testing.assert_allclose([value, model.value(y)], model.maximum(), atol=1e-12)


@given(models(forest=True, nodes=5))
@settings(max_examples=300)
def test_max_marginals(model):
    (n, K), (outputs, values) = model.unary.shape, model.values()
    found = np.full(n * K, np.nan)
    arrays = model.unary.ravel(), model.pair.ravel()
    plan = plan_graph(n, model.edges)
    assert forest_max_marginals(plan, K, *arrays, found, np.empty((n + 2) * K)) == values.max()
    for v in range(n):
        for k in range(K):
            assert found[v * K + k] == values[outputs[:, v] == k].max()


def test_a_long_chain_and_a_star_against_each_other():
    """A star of paths is the same graph under another numbering."""
    rng = np.random.default_rng(0)
    n, K = 2000, 3
    unary, pair = rng.integers(-9, 9, (n, K)) * 1.0, rng.integers(-9, 9, (n - 1, K, K)) * 1.0
    edges = np.array([(rng.integers(v), v) for v in range(1, n)])
    name = rng.permutation(n)
    renamed = np.empty_like(unary)
    renamed[name] = unary
    y, value = decode("forest", Model(unary, edges, pair))
    z, same = decode("forest", Model(renamed, name[edges], pair))
    assert value == same == Model(unary, edges, pair).value(y)
    assert value == Model(unary, edges, pair).value(z[name])


@given(st.integers(1, 8), st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=10))
@settings(max_examples=300)
def test_the_plan_describes_the_graph(n, edges):
    edges = np.array([(a, b) for a, b in edges if a < n and b < n and a != b]).reshape(-1, 2)
    m, plan = len(edges), plan_graph(n, edges)
    ends, start, arcs, order, split = np.split(plan, np.cumsum([2 * m, n + 1, 2 * m, n]))
    place = np.argsort(order)
    assert (ends.reshape(-1, 2) == edges).all()
    assert sorted(arcs) == list(range(2 * m))
    assert sorted(order) == list(range(n))
    for v in range(n):
        mine = arcs[start[v] : start[v + 1]]
        others = place[ends[mine ^ 1]]
        assert (ends[mine] == v).all()
        assert (np.diff(others) >= 0).all()
        assert (others < place[v]).sum() == split[v]
    assert is_forest(plan, n) == (m == n - components(n, edges))


def components(n, edges):
    """The number of connected components, by merging."""
    group = list(range(n))
    for a, b in edges:
        group = [group[a] if g == group[b] else g for g in group]
    return len(set(group))
