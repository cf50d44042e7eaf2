"""Max-marginals, m-best and diverse labellings against enumeration."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.inference import plan_graph
from maxmargin.inference.m_best import (
    PairModel,
    every_label,
    exact_kind,
    m_best,
    max_marginals,
    near_labellings,
    several_labellings,
)
from small_graphs import models

FORESTS = models(labels=(1, 3), nodes=5, forest=True).map(lambda model: (model, "forest"))
CUTS = models(labels=(2, 2), nodes=5, attractive=True).map(lambda model: (model, "min-cut"))
EXACT = st.one_of(FORESTS, CUTS)


def pair_model(model, seed=None):
    """The model; with a seed some labels of nodes are excluded."""
    n, K = model.unary.shape
    instead, allowed = every_label(n, K), np.ones((n, K), bool)
    if seed is not None:
        rng = np.random.default_rng(seed)
        allowed = rng.random((n, K)) < 0.7
        allowed[np.arange(n), rng.integers(K, size=n)] = True
        instead = np.where(allowed, instead, allowed.argmax(axis=1)[:, None])
    outputs, values = model.values()
    possible = allowed[np.arange(n), outputs].all(axis=1)
    plan = plan_graph(n, model.edges)
    pair = np.ascontiguousarray(model.pair)
    return PairModel(plan, model.unary, pair, instead), outputs[possible], values[possible]


@given(EXACT, st.one_of(st.none(), st.integers(0, 2**32 - 1)))
@settings(max_examples=200)
def test_max_marginals_are_the_best_values_with_each_label(case, seed):
    (model, kind), (n, K) = case, case[0].unary.shape
    pairs, outputs, values = pair_model(model, seed)
    found = max_marginals(pairs, kind)
    for v in range(n):
        for k in range(K):
            best = values[outputs[:, v] == k].max(initial=-np.inf)
            assert found[v, k] == best or found[v, k] == pytest.approx(best, abs=1e-9)


@given(EXACT, st.one_of(st.none(), st.integers(0, 2**32 - 1)))
@settings(max_examples=100)
def test_the_best_labellings_are_found_in_order(case, seed):
    model, kind = case
    pairs, _, values = pair_model(model, seed)
    found = list(islice(m_best(pairs, kind), 6))
    assert [value for _, value in found] == pytest.approx(-np.sort(-values)[:6])
    assert len({tuple(y) for y, _ in found}) == len(found) == min(6, len(values))
    assert all(model.value(y) == pytest.approx(value) for y, value in found)


@given(EXACT, st.sampled_from([0.5, 3.0]))
@settings(max_examples=60)
def test_each_next_labelling_has_the_highest_value_with_its_rewards(case, diversity):
    model, kind = case
    pairs, outputs, values = pair_model(model)
    found = several_labellings(pairs, kind, 4, diversity, True)
    for r, (y, value) in enumerate(found):
        rewards = sum((outputs != z).sum(axis=1) for z, _ in found[:r])
        new = np.ones(len(outputs), bool)
        for z, _ in found[:r]:
            new &= (outputs != z).any(axis=1)
        mine = (outputs == y).all(axis=1)
        worth = values + diversity * rewards
        assert new[mine].all() and worth[mine][0] == pytest.approx(worth[new].max())
        assert value == pytest.approx(values[mine][0])


@given(models(labels=(3, 3), nodes=5))
@settings(max_examples=30)
def test_other_decoders_give_different_labellings(model):
    pairs, _, _ = pair_model(model)
    found = several_labellings(pairs, "combined", 3, 2.0, False)
    assert 1 <= len(found) == len({tuple(y) for y, _ in found})
    assert exact_kind("combined", pairs.plan, len(pairs.unary)) in ("forest", None)


@given(models(labels=(1, 3), nodes=5), st.one_of(st.none(), st.integers(0, 2**32 - 1)))
@settings(max_examples=60)
def test_a_search_finds_the_best_changes_of_single_nodes(model, seed):
    """It begins at the best labelling here; of m = all labellings it finds all, in order."""
    pairs, outputs, values = pair_model(model, seed)
    best = outputs[values.argmax()]
    every = near_labellings(pairs, best, len(outputs))
    assert [value for _, value in every] == pytest.approx(-np.sort(-values))
    assert len({tuple(y) for y, _ in every}) == len(outputs)
    if len(outputs) > 1:
        single = values[(outputs != best).sum(axis=1) == 1].max(initial=-np.inf)
        (_, first), (_, second) = near_labellings(pairs, best, 2)
        assert first == pytest.approx(values.max()) and second >= single - 1e-9
