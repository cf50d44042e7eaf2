"""``mm.frozen``: arrays that functions cannot change and that numba gives one type."""

import numba
import numpy as np
import pytest

import maxmargin as mm


@pytest.mark.parametrize("values", [[3, 1, 2], np.arange(6.0)[::2], np.ones((2, 3)).T], ids=str)
def test_frozen_arrays(values):
    found = mm.frozen(values, np.float64)
    assert np.array_equal(found, values)
    assert found.dtype == np.float64 and found.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 7


def test_a_frozen_array_is_a_copy():
    source = np.arange(3.0)
    found = mm.frozen(source, np.float64)
    source[0] = 7
    assert found[0] == 0
    assert source.flags.writeable


def test_numba_sees_one_type():
    arrays = [np.arange(6.0)[::2], np.arange(3, dtype=np.float32), [1, 2, 3]]
    assert len({numba.typeof(mm.frozen(values, np.float64)) for values in arrays}) == 1
