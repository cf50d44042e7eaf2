"""Vectors as long as w, in slices: the same for any number of threads."""

from contextlib import closing

import numpy as np
import pytest

from maxmargin.engine.long_vectors import SLICE, move_sum, move_towards, sparse_copy, square
from maxmargin.engine.threads import Threads


@pytest.fixture(params=[1, 3])
def threads(request, monkeypatch):
    monkeypatch.setattr("maxmargin.engine.threads.WORTH", 0.0)
    with closing(Threads(request.param)) as found:
        yield found


def long_vector(length):
    """One entry in seven is not zero."""
    w = np.random.RandomState(0).randn(length)
    w[np.arange(length) % 7 != 0] = 0.0
    return w


LENGTHS = [0, 5, SLICE, 2 * SLICE + 3]


@pytest.mark.parametrize("length", LENGTHS)
def test_squares(length, threads):
    w = long_vector(length)
    found = square(w, threads)
    assert found == pytest.approx(float(w @ w), rel=1e-12)
    assert found == square(w, Threads(1))


@pytest.mark.parametrize("length", LENGTHS)
def test_moving_average(length, threads):
    average, w = np.ones(length), long_vector(length)
    move_towards(average, w, 0.25, threads)
    np.testing.assert_allclose(average, 0.75 + 0.25 * w, atol=1e-15)


@pytest.mark.parametrize("length", LENGTHS)
def test_sums_are_moved(length, threads):
    w, more = np.ones(length), [long_vector(length), np.full(length, 2.0)]
    expected = w + more[0] + more[1]
    move_sum(more, w, threads)
    np.testing.assert_array_equal(w, expected)
    assert not more[0].any() and not more[1].any()


@pytest.mark.parametrize("length", LENGTHS)
def test_copies_by_non_zeros(length, threads):
    v = long_vector(length)
    where = np.flatnonzero(v)
    found = sparse_copy(v, len(where), threads)
    assert found is not None and found.where is not None
    np.testing.assert_array_equal(found.where, where)
    np.testing.assert_array_equal(found.value, v[where])
    if len(where):
        assert sparse_copy(v, len(where) - 1, threads) is None
