"""Products and sums of many long vectors, block by block."""

import numpy as np
import pytest

from maxmargin.engine.many_vectors import BLOCK, add_all, dots
from maxmargin.engine.threads import Threads
from maxmargin.engine.vectors import Vector


def vectors(dim):
    """Sparse ones, dense ones, one without entries and one in the last block only."""
    random = np.random.RandomState(0)
    dense = [random.randn(dim) for _ in range(2)]
    sparse = [random.randn(dim) * (random.rand(dim) < part) for part in (0.01, 0.2, 0.0)]
    last = np.zeros(dim)
    last[-1] = 2.0
    return [*dense, *sparse, last], [Vector.take(v.copy()) for v in [*dense, *sparse, last]]


@pytest.mark.parametrize("dim", [5, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
def test_products_and_sums_are_those_of_dense_vectors(dim):
    arrays, made = vectors(dim)
    assert {v.where is None for v in made} == {True, False}
    v, scales = np.random.RandomState(1).randn(dim), np.arange(1.0, 7.0)
    expected = np.array(arrays) @ v
    size = np.abs(arrays) @ np.abs(v) + 1
    for n in (1, 2):
        threads = Threads(n)
        assert (abs(dots(made, v, threads) - expected) <= 1e-12 * size).all()
        out = v.copy()
        add_all(made, scales, out, threads)
        np.testing.assert_allclose(out, v + scales @ np.array(arrays), rtol=1e-10, atol=1e-10)
        threads.close()


def test_threads_do_not_change_the_last_bit():
    dim = 2 * BLOCK + 3
    _, made = vectors(dim)
    v = np.random.RandomState(2).randn(dim)
    results = []
    for n in (1, 3):
        threads, out = Threads(n), np.zeros(dim)
        add_all(made, np.ones(len(made)), out, threads)
        results.append((dots(made, v, threads), out))
        threads.close()
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)
