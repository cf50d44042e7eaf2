"""What a shard's steps have changed."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.engine.exchange import (
    DENSE,
    SHIFT,
    SHORT,
    marks_for,
    take_all_changes,
    take_changes,
)


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(0, 10**6))
def test_all_changes_are_those_of_the_marked_places(dim, seed):
    random = np.random.RandomState(seed)
    old = random.randn(dim)
    new = np.where(random.rand(dim) < 0.3, random.randn(dim), old)
    lists = []
    for everywhere in (True, False):
        mine, where, value = new.copy(), np.empty(dim + 8, np.int32), np.empty(dim + 8)
        if everywhere:
            count = take_all_changes(mine, old, 0.5, where, value)
        else:
            blocks = np.unique(np.flatnonzero(new != old) >> SHIFT)
            count = take_changes(mine, old, blocks, 0.5, where, value)
        np.testing.assert_array_equal(mine, old)
        lists.append((where[:count].tolist(), value[:count].tolist()))
    assert lists[0] == lists[1]
    changed = np.flatnonzero(new != old)
    assert lists[0] == (changed.tolist(), (0.5 * (new - old))[changed].tolist())


def test_counts_decide_whether_all_weights_are_compared():
    assert len(marks_for(SHORT, 1)) == len(marks_for(DENSE * SHORT, SHORT)) == 0
    assert len(marks_for(DENSE * SHORT + 1, SHORT)) == (DENSE * SHORT >> SHIFT) + 1
