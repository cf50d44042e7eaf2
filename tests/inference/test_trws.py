"""Bounds and labellings of TRW-S against enumeration."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from small_graphs import decode, models


@given(models(), st.integers(1, 5), st.integers(0, 2**32 - 1))
@settings(max_examples=1000)
def test_the_bound_is_never_below_the_maximum(model, effort, seed):
    """Messages of any content leave the bound valid."""
    K = model.unary.shape[1]
    messages = np.random.default_rng(seed).normal(scale=5, size=len(model.edges) * K)
    y, bound = decode("trws", model, messages, effort)
    assert ((y >= 0) & (y < K)).all()
    assert model.value(y) <= model.maximum() <= bound + 1e-9


@given(models(forest=True), st.booleans())
@settings(max_examples=200)
def test_paths_and_stars_are_solved_by_one_sweep(model, star):
    """Where no node but the root has two children, a pass back is dynamic programming."""
    later = np.arange(1, len(model.edges) + 1)
    model = model._replace(edges=np.stack([0 * later if star else later - 1, later], axis=1))
    y, bound = decode("trws", model, effort=1)
    assert model.value(y) == model.maximum()
    np.testing.assert_allclose(bound, model.maximum(), atol=1e-9)


@given(models(whole=False))
@settings(max_examples=300)
def test_the_bound_falls_from_call_to_call(model):
    """Messages are kept, so that a second call starts where the first one ended."""
    messages = np.zeros(len(model.edges) * model.unary.shape[1])
    _, first = decode("trws", model, messages, effort=1)
    _, second = decode("trws", model, messages, effort=1)
    _, both = decode("trws", model, effort=2)
    assert second <= first + 1e-9
    np.testing.assert_allclose(both, second, atol=1e-9)
