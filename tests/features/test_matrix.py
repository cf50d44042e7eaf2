"""The feature matrix of a template, compared with SciPy's sums of entries."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.features import coding, matrix
from maxmargin.features.matrix import Occurrences, binary_matrix


@settings(max_examples=60)
@given(
    n=st.integers(1, 9),
    most=st.integers(1, 4),
    patterns=st.integers(1, 3),
    seed=st.integers(0, 1000),
)
def test_entries_are_those_of_all_patterns(n, most, patterns, seed):
    random = np.random.RandomState(seed)
    found, expected = [], np.zeros((n, 12))
    for _ in range(patterns):
        tokens = np.repeat(np.arange(n), random.randint(1, most + 1, n)).astype(np.int32)
        own = random.choice(np.arange(-1, 12), 4, replace=False).astype(np.int32)
        inverse = random.randint(4, size=len(tokens))
        found.append(Occurrences(tokens, inverse, own))
        columns = own[inverse]
        np.add.at(expected, (tokens[columns >= 0], columns[columns >= 0]), 1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matrix, "BLOCK", 4)
        result = binary_matrix(found, (n, 12))
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result.toarray(), expected)
    again = sp.csr_array(result)
    again.sort_indices()
    np.testing.assert_array_equal(result.indices, again.indices)


@pytest.mark.parametrize("n", [1, 7, 300])
def test_distinct_codes_by_hashing_and_by_sorting(monkeypatch, n):
    codes = np.random.RandomState(n).randint(0, 10**12, 40)[
        np.random.RandomState(0).randint(40, size=n)
    ]
    expected = coding.distinct(codes, 10**12)
    monkeypatch.setattr(coding, "MANY", 0)
    found = coding.distinct(codes, 10**12)
    np.testing.assert_array_equal(found.first, np.sort(expected.first))
    np.testing.assert_array_equal(codes[found.first][found.inverse], codes)
    np.testing.assert_array_equal(found.counts, np.bincount(found.inverse))
