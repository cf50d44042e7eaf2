"""The decoders of a chain against enumeration; test_chain.py runs them compiled."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from maxmargin.structures.chain import viterbi as decoders


@st.composite
def scores(draw):
    """Random scores of a chain; some transitions, first and last labels are forbidden."""
    K, L = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    random = np.random.RandomState(draw(st.integers(0, 10**6)))
    forbidden = draw(st.sampled_from([0.0, 0.3, 0.6]))
    T = np.where(random.rand(K * K + 2 * K) < forbidden, -np.inf, random.randn(K * K + 2 * K))
    return random.randn(L * K), T, K, L


def score_of(y, s, T, K):
    """The score of a sequence from the definition, without that of its last label."""
    total = T[K * K + y[0]] + sum(s[t * K + k] for t, k in enumerate(y))
    return total + sum(T[a * K + b] for a, b in itertools.pairwise(y))


@settings(max_examples=60)
@given(chain=scores())
def test_viterbi_finds_the_best_sequence(chain):
    s, T, K, L = chain
    last = T[K * K + K :]
    best = max(score_of(y, s, T, K) + last[y[-1]] for y in itertools.product(range(K), repeat=L))
    assume(np.isfinite(best))
    y = np.full(L, -1, np.int16)
    decoders.viterbi(s, T, K, L, y, np.full(L * K, np.nan))
    assert score_of(y, s, T, K) + last[y[-1]] == pytest.approx(best, abs=1e-12)


@settings(max_examples=60)
@given(chain=scores(), seed=st.integers(0, 10**6), clipped=st.booleans())
def test_the_best_sequence_for_each_number_of_errors(chain, seed, clipped):
    s, T, K, L = chain
    errors = np.random.RandomState(seed).randint(0, 3, L * K).astype(float)
    most = 1 if clipped else int(errors.reshape(L, K).max(axis=1).sum())
    best = np.full(L * (most + 1) * K + K, np.nan)
    decoders.count_errors(s, T, K, L, errors, most, best)
    table = best[: L * (most + 1) * K].reshape(L, most + 1, K)[-1]
    expected = np.full((most + 1, K), -np.inf)
    for y in itertools.product(range(K), repeat=L):
        place = min(n_errors(y, errors, K), most), y[-1]
        expected[place] = max(expected[place], score_of(y, s, T, K))
    np.testing.assert_allclose(table, expected, atol=1e-12)
    for count, last in np.argwhere(np.isfinite(expected)):
        y = np.full(L, -1, np.int16)
        decoders.trace_errors(T, K, L, errors, most, count, last, y, best)
        assert y[-1] == last
        assert min(n_errors(y, errors, K), most) == count
        assert score_of(y, s, T, K) == pytest.approx(expected[count, last], abs=1e-12)


def n_errors(y, errors, K):
    return int(sum(errors[t * K + k] for t, k in enumerate(y)))
