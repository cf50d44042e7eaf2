"""Minimum cuts of grids and other graphs against SciPy, enumeration and exact fractions."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import maximum_flow

from maxmargin import errors
from maxmargin.inference import cut_grid
from maxmargin.inference.cut_grid import SHIFT, cut_four
from maxmargin.inference.search_trees import CONTROLS
from small_graphs import Model, decode


def grid_value(gain, right, down, x):
    """The value of labels x, without rounding."""
    gain, right, down = (np.vectorize(Fraction, otypes=[object])(a) for a in (gain, right, down))
    total = (gain * x).sum() - (right * (x[:, 1:] != x[:, :-1])).sum()
    return total - (down * (x[1:] != x[:-1])).sum()


def flow_of_scipy(gain, edges, coupling):
    """The largest flow, for whole numbers."""
    n, (a, b) = len(gain), edges.T
    up, down = np.flatnonzero(gain > 0), np.flatnonzero(gain < 0)
    tail = np.concatenate([a, b, np.full(len(up), n), down])
    head = np.concatenate([b, a, up, np.full(len(down), n + 1)])
    size = np.concatenate([coupling, coupling, gain[up], -gain[down]]).astype(np.int32)
    matrix = sp.csr_matrix((size, (tail, head)), shape=(n + 2, n + 2))
    return maximum_flow(matrix, n, n + 1).flow_value


def steps(h, w, *offsets):
    """The edges of a grid by the steps down and to the right."""
    cells = np.arange(h * w).reshape(h, w)
    found = [
        np.stack([cells[r, c], cells[r + down, c + right]])
        for down, right in offsets
        for r in range(h - down)
        for c in range(max(0, -right), w - max(0, right))
    ]
    return np.array(found, np.int64).reshape(-1, 2)


WHOLE = st.integers(-20, 20)


@st.composite
def grids(draw, values=WHOLE, largest=7):
    """Gains, and couplings to the right and down, of a grid."""
    h, w = draw(st.integers(1, largest)), draw(st.integers(1, largest))

    def some(*shape):
        size = shape[0] * shape[1]
        drawn = draw(st.lists(values, min_size=size, max_size=size))
        return np.array(drawn, np.float64).reshape(shape)

    return some(h, w), abs(some(h, w - 1)), abs(some(h - 1, w))


@given(grids(), st.booleans())
@settings(max_examples=300)
def test_whole_numbers_have_the_flow_of_scipy(grid, shortest):
    """Also along shortest paths alone, which are taken after many pushes."""
    gain, right, down = grid
    h, w = gain.shape
    if shortest:
        labels, link = np.zeros((h, w), np.int32), np.array([1, -1, w, -w])
        number, control = np.zeros(((h + 2) * w) << (SHIFT + 1)), np.zeros(CONTROLS, np.int64)
        value = cut_four(gain, right, down, labels, link, number, control, 0)
    else:
        labels, value = cut_grid(gain, right, down)
    edges = np.concatenate([steps(h, w, (0, 1)), steps(h, w, (1, 0))])
    coupling = np.concatenate([right.ravel(), down.ravel()])
    flow = flow_of_scipy(gain.ravel().astype(int), edges, coupling.astype(int))
    assert value == np.maximum(gain, 0).sum() - flow
    assert value == grid_value(gain, right, down, labels)


@given(
    st.integers(1, 8), st.integers(1, 8), st.booleans(), st.booleans(),
    st.integers(0, 2**32 - 1),
)  # fmt: skip
@settings(max_examples=150)
def test_decoders_know_grids_and_other_graphs(h, w, eight, chords, seed):
    """Grids with 4 and 8 neighbours, and with edges more, in any order and direction."""
    rng, n = np.random.default_rng(seed), h * w
    offsets = [(0, 1), (1, 0), (1, 1), (1, -1)][: 4 if eight else 2]
    edges = steps(h, w, *offsets)
    if chords and n > 1:
        more = np.array([rng.choice(n, 2, replace=False) for _ in range(4)])
        edges = np.concatenate([edges, more])
    edges = rng.permutation(edges)
    edges[::2] = edges[::2, ::-1]
    gain, coupling = rng.integers(-9, 10, n), rng.integers(0, 6, len(edges))
    pair = np.zeros((len(edges), 2, 2))
    pair[:, 0, 1] = pair[:, 1, 0] = -coupling
    model = Model(np.stack([0.0 * gain, gain], axis=1), edges, pair)
    labels, value = decode("min-cut", model)
    assert value == np.maximum(gain, 0).sum() - flow_of_scipy(gain, edges, coupling)
    assert value == model.value(labels)


EXTREME = st.sampled_from(
    [0.0, 1e-300, -1e-300, 5e-324, 1e-16, -0.3, 0.1, 1.0, -1.0, 1e300, -1e300]
)


@given(grids(EXTREME, largest=3))
@settings(max_examples=300)
def test_capacities_of_very_different_sizes(grid):
    """The search ends, and its labels are the best ones up to rounding of the largest numbers."""
    gain, right, down = grid
    labels, value = cut_grid(gain, right, down)
    found = grid_value(gain, right, down, labels)
    every = itertools.product((0, 1), repeat=gain.size)
    best = max(grid_value(gain, right, down, np.reshape(x, gain.shape)) for x in every)
    scale = Fraction(abs(gain).sum() + right.sum() + down.sum())
    assert best - found <= scale / 10**14
    assert abs(Fraction(value) - best) <= scale / 10**14


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ((np.zeros(3), np.zeros((1, 2)), np.zeros((0, 3))), r"gain has shape \(3,\)"),
        ((np.zeros((2, 2)), np.zeros((2, 2)), np.zeros((1, 2))), r"2 x 2 pixels need \(2, 1\)"),
        ((np.zeros((2, 2)), np.zeros((2, 1)), -np.ones((1, 2))), r"down\[0, 0\] is -1.0"),
        ((np.zeros((2, 2)), np.full((2, 1), np.inf), np.ones((1, 2))), r"right\[0, 0\] is inf"),
        ((np.full((2, 2), np.nan), np.zeros((2, 1)), np.ones((1, 2))), r"gain\[0, 0\] is nan"),
        ((np.full((2, 2), 1e308), np.zeros((2, 1)), np.ones((1, 2))), "value of 1e\\+308"),
        (([["a"]], np.zeros((1, 0)), np.zeros((0, 1))), "gain is an array of"),
    ],
)
def test_wrong_grids_are_named(arrays, message):
    with pytest.raises(errors.DataError, match=message):
        cut_grid(*arrays)


def test_grids_without_pixels():
    labels, value = cut_grid(np.zeros((0, 3)), np.zeros((0, 2)), np.zeros((0, 3)))
    assert (labels.shape, value) == ((0, 3), 0.0)
