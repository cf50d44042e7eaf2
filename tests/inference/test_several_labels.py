"""Expansion moves and the combined decoder against enumeration."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.inference import message_size
from small_graphs import Model, decode, models, random_edges


def one_change(model, y):
    """The highest value after changing the label of one node."""
    n, K = model.unary.shape
    changed = [[*y[:v], k, *y[v + 1 :]] for v in range(n) for k in range(K)]
    return max(model.value(z) for z in changed)


def one_expansion(model, y):
    """The highest value of a labelling in which some nodes of y have changed to one label."""
    outputs, values = model.values()
    best = -np.inf
    for k in range(model.unary.shape[1]):
        reached = ((outputs == y) | (outputs == k)).all(axis=1)
        best = max(best, values[reached].max())
    return best


@given(models(), st.sampled_from(["expansion", "combined"]), st.integers(0, 2**32 - 1))
@settings(max_examples=600)
def test_bounds_are_valid_and_labels_are_locally_best(model, kind, seed):
    """Numbers that were kept may have any content."""
    n, K = model.unary.shape
    rng = np.random.default_rng(seed)
    messages = rng.normal(scale=3, size=message_size(kind, n, len(model.edges), K))
    messages[-1] = abs(messages[-1])
    y, bound = decode(kind, model, messages, effort=3)
    assert ((y >= 0) & (y < K)).all()
    assert one_change(model, y) == model.value(y) <= model.maximum() <= bound + 1e-9


@given(models(labels=(3, 4), nodes=5))
@settings(max_examples=200)
def test_no_expansion_move_improves_potts_models(model):
    """With tables that reward equal labels every move is attractive and solved exactly."""
    same = np.abs(model.pair[:, :1, :1]) * np.eye(model.unary.shape[1])
    model = model._replace(pair=same)
    y, _ = decode("expansion", model)
    assert model.value(y) == one_expansion(model, y)


@given(models(forest=True))
@settings(max_examples=100)
def test_combined_solves_forests(model):
    """A move on an induced forest is then a move of all nodes."""
    y, bound = decode("combined", model, effort=1)
    assert model.value(y) == model.maximum() <= bound + 1e-9


def test_combined_is_better_than_its_parts_on_frustrated_graphs():
    rng, total = np.random.default_rng(0), dict.fromkeys(["trws", "expansion", "combined"], 0.0)
    for _ in range(20):
        n, K = 40, 4
        edges = random_edges(rng, n, 0.15)
        model = Model(rng.normal(size=(n, K)), edges, rng.normal(size=(len(edges), K, K)))
        for kind in total:
            total[kind] += model.value(decode(kind, model, effort=10)[0])
    assert total["combined"] > total["trws"]
    assert total["combined"] > total["expansion"]


def test_labels_of_the_last_call_are_not_forgotten():
    """A call at the same scores never ends lower than the one before."""
    rng = np.random.default_rng(1)
    n, K = 40, 4
    edges = random_edges(rng, n, 0.2)
    model = Model(rng.normal(size=(n, K)), edges, rng.normal(size=(len(edges), K, K)))
    for kind in ("expansion", "combined"):
        messages = np.zeros(message_size(kind, n, len(edges), K))
        values = [model.value(decode(kind, model, messages, effort=1)[0]) for _ in range(6)]
        assert (np.diff(values) >= -1e-9).all()
