"""What a shard's steps have changed, and the outputs that it drops."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.engine.arrays import Duals
from maxmargin.engine.exchange import (
    DENSE,
    SHIFT,
    SHORT,
    drop_new_zeros,
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


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.booleans())
def test_outputs_without_weight_before_and_now_are_dropped(seed, with_gram):
    random = np.random.RandomState(seed)
    n, slots, lengths = 3, 6, random.randint(1, 4, 3)
    offsets = np.cumsum([0, *lengths])
    count = random.randint(1, slots + 1, n)
    used = np.arange(slots) < count[:, None]
    alpha, old = (np.where(used & (random.rand(n, slots) < 0.4), 0.5, 0.0) for _ in range(2))
    gram = random.randn(n if with_gram else 0, slots, slots).astype(np.float32)
    known = count.copy()
    known[0] -= count[0] > 1  # the Gram matrix of example 0 is not complete
    labels = random.randint(0, 9, slots * offsets[-1]).astype(np.int16)
    duals = Duals(labels.copy(), random.rand(n, slots), alpha.copy(), count.copy(), gram.copy(),
                  known.copy())  # fmt: skip
    loss, before = duals.loss.copy(), old.copy()
    drop_new_zeros(duals, before, offsets, np.arange(n))
    for i in range(n):
        kept = [0, *(r for r in range(1, count[i]) if alpha[i, r] > 0 or old[i, r] > 0)]
        if with_gram and known[i] != count[i]:
            kept = list(range(count[i]))
        else:
            assert duals.known[i] == len(kept)
        assert duals.count[i] == len(kept)
        np.testing.assert_array_equal(duals.alpha[i, : len(kept)], alpha[i, kept])
        np.testing.assert_array_equal(before[i, : len(kept)], old[i, kept])
        np.testing.assert_array_equal(duals.loss[i, : len(kept)], loss[i, kept])
        assert not duals.alpha[i, len(kept) :].any() and not before[i, len(kept) :].any()
        rows = (slots * offsets[i] + np.arange(slots)[:, None] * lengths[i]) + np.arange(lengths[i])
        np.testing.assert_array_equal(duals.labels[rows[: len(kept)]], labels[rows[kept]])
        if with_gram:
            found, expected = duals.gram[i, 1 : len(kept), 1 : len(kept)], gram[i][kept][:, kept]
            np.testing.assert_array_equal(found, expected[1:, 1:])
