"""Vector instructions over labels: the same numbers as plain loops, for every number of labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from numba.core.errors import TypingError

from maxmargin.engine.lanes import FEWEST, GROUP, LANES, add_scaled, max_plus, sum_rows

#: One group of vectors and a part of the next, with every kind of remainder.
LABELS = range(FEWEST, (GROUP + 1) * LANES + LANES + 2)

#: What is after the last label must not change.
BEYOND = 7.0


@njit
def call_sum_rows(values, indices, n, w, K, ahead, s):
    """``sum_rows`` as compiled code."""
    sum_rows(values, indices, n, w, K, ahead, s)


@njit
def call_max_plus(before, T, K, score, now):
    """``max_plus`` as compiled code."""
    max_plus(before, T, K, score, now)


@njit
def call_add_scaled(a, scale, b, K, out):
    """``add_scaled`` as compiled code."""
    add_scaled(a, scale, b, K, out)


@given(st.integers(0, 2**31), st.integers(0, 12), st.sampled_from([0, 1, 24]))
def test_sums_of_rows_are_those_of_a_plain_loop(seed, n, ahead):
    """To the last bit, whether rows are fetched ahead or not, also for a row without features."""
    random = np.random.RandomState(seed)
    values, indices = random.randn(n), random.randint(30, size=n + 5).astype(np.uint32)
    for K in LABELS:
        w, s = random.randn(30 * K), np.full(K + 3, BEYOND)
        call_sum_rows(values, indices, n, w, K, ahead, s)
        expected = np.zeros(K)
        for p in range(n):
            expected += values[p] * w[indices[p] * K :][:K]
        assert np.array_equal(s[:K], expected)
        assert (s[K:] == BEYOND).all()


def test_values_in_single_precision_are_multiplied_in_double_precision():
    """As the plain loops do."""
    w, s, values = np.arange(40.0) / 7, np.empty(20), np.array([0.1, 0.7], np.float32)
    call_sum_rows(values, np.array([1, 0], np.uint32), 2, w, 20, 0, s)
    expected = np.float64(values[0]) * w[20:] + np.float64(values[1]) * w[:20]
    assert np.array_equal(s, expected)


@given(st.integers(0, 2**31), st.floats(0, 1))
def test_maxima_are_those_of_a_plain_loop(seed, forbidden):
    """To the last bit, with transitions that are forbidden."""
    random = np.random.RandomState(seed)
    for K in LABELS:
        before, T, score = random.randn(K), random.randn(K * K + 2 * K), random.randn(K)
        T[random.rand(len(T)) < forbidden] = -np.inf
        now = np.full(K + 3, BEYOND)
        call_max_plus(before, T, K, score, now)
        expected = (before[:, None] + T[: K * K].reshape(K, K)).max(axis=0) + score
        assert np.array_equal(now[:K], expected)
        assert (now[K:] == BEYOND).all()


def test_scaled_additions_are_those_of_a_plain_loop():
    """To the last bit."""
    random = np.random.RandomState(0)
    for K in LABELS:
        a, b, out = random.randn(K), random.randn(K), np.full(K + 3, BEYOND)
        call_add_scaled(a, 0.3, b, K, out)
        assert np.array_equal(out[:K], a + 0.3 * b)
        assert (out[K:] == BEYOND).all()


def test_interpreted_code_computes_the_same():
    """The functions as Python calls them; sums of rows may be rounded differently."""
    random, K = np.random.RandomState(1), 13
    values, indices, w = random.rand(4), np.array([3, 0, 3, 9], np.uint32), random.randn(10 * K)
    for call, plain, args in (
        (call_sum_rows, sum_rows, (values, indices, 4, w, K, 2)),
        (call_max_plus, max_plus, (w[:K], random.randn(K * K), K, w[K : 2 * K])),
        (call_add_scaled, add_scaled, (w[:K], 0.5, w[K : 2 * K], K)),
    ):
        compiled, interpreted = np.empty(K), np.empty(K)
        call(*args, compiled)
        plain(*args, interpreted)
        assert interpreted == pytest.approx(compiled, rel=1e-12)


def test_other_arrays_do_not_compile():
    """Vectors are read at addresses: arrays of other numbers, or with gaps, would be misread."""
    long = np.zeros(40)
    for a in (np.zeros(20, np.float32), long[::2]):
        with pytest.raises(TypingError):
            call_add_scaled(a, 1.0, long[:20], 20, np.empty(20))
