"""Sequences of feature rows: selection, stacking and refusals."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import DataError, Sequences
from maxmargin.data.sequences import check_finite, offsets_of, stack_sequences

LAYOUTS = pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
ROWS = np.arange(12.0).reshape(6, 2)


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else matrix


@LAYOUTS
def test_selection(layout):
    X = Sequences(layout(ROWS), [0, 2, 2, 6], weight=np.arange(6))
    assert (len(X), X.n_features, X.lengths.tolist()) == (3, 2, [2, 0, 4])
    np.testing.assert_array_equal(dense(X[0]), ROWS[:2])
    np.testing.assert_array_equal(dense(X[-1]), ROWS[2:])
    assert X[np.int64(1)].shape == (0, 2)
    assert [x.shape[0] for x in X] == [2, 0, 4]
    for key, numbers in (
        (slice(1, None), [1, 2]),
        ([2, 0], [2, 0]),
        (np.array([True, False, True]), [0, 2]),
        (slice(0, 0), []),
    ):
        part = X[key]
        assert part.lengths.tolist() == [int(X.lengths[i]) for i in numbers]
        rows = [r for i in numbers for r in range(X.offsets[i], X.offsets[i + 1])]
        np.testing.assert_array_equal(dense(part.matrix), ROWS[rows])
        np.testing.assert_array_equal(part.weight, rows)
    with pytest.raises(IndexError):
        X[3]


def test_rows_are_located():
    X = Sequences(ROWS, [0, 0, 2, 2, 6, 6])
    assert [X.locate(row) for row in range(6)] == [(1, 0), (1, 1), (3, 0), (3, 1), (3, 2), (3, 3)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((ROWS, [0, 2]), "offsets"),
        ((ROWS, [1, 6]), "offsets"),
        ((ROWS, [0, 4, 2, 6]), "offsets"),
        ((np.zeros(6), [0, 6]), "matrix"),
        ((ROWS, [0, 6], np.ones(5)), "token weights have shape"),
        ((ROWS, [0, 2, 6], [1, 1, 1, -1, 1, 1]), "token 1 of sequence 1 is -1"),
        ((ROWS, [0, 2, 6], [1, np.nan, 1, 1, 1, 1]), "token 1 of sequence 0 is nan"),
    ],
    ids=["short", "start", "falling", "flat", "weights", "negative", "nan"],
)
def test_what_is_wrong_is_said(arguments, message):
    with pytest.raises(DataError, match=message):
        Sequences(*arguments)


@LAYOUTS
def test_stacking(layout):
    parts = [layout(ROWS[:2]), layout(np.zeros((0, 2))), layout(ROWS[2:])]
    X = stack_sequences(parts)
    np.testing.assert_array_equal(dense(X.matrix), ROWS)
    assert X.offsets.tolist() == [0, 2, 2, 6]
    assert stack_sequences(X) is X
    assert sp.issparse(X.matrix) == (layout is sp.csr_matrix)


def test_stacking_lists_and_mixtures():
    np.testing.assert_array_equal(
        stack_sequences([[[1, 2]], [], [[3, 4]]]).matrix, [[1, 2], [3, 4]]
    )
    mixed = stack_sequences([ROWS[:2], sp.csr_matrix(ROWS[2:])])
    np.testing.assert_array_equal(mixed.matrix.toarray(), ROWS)
    cube = stack_sequences(ROWS.reshape(3, 2, 2))
    assert cube.lengths.tolist() == [2, 2, 2]
    assert stack_sequences([[], []]).matrix.shape == (0, 0)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([], "X is empty"),
        (
            [np.ones((2, 3)), np.ones((2, 4))],
            "sequence 1 has 4 features, the sequences before it have 3",
        ),
        ([np.ones(3)], r"sequence 0 has shape \(3,\)"),
        ([np.array([["a"]])], "features must be numbers"),
    ],
    ids=["nothing", "features", "flat", "strings"],
)
def test_what_cannot_be_stacked_is_named(X, message):
    with pytest.raises(DataError, match=message):
        stack_sequences(X)


def test_rows_of_different_lengths_are_named():
    with pytest.raises(DataError, match="sequence 1"):
        stack_sequences([[[1.0, 2.0]], [[1.0, 2.0], [1.0]]])


@LAYOUTS
@pytest.mark.parametrize("value", [np.nan, np.inf], ids=str)
def test_values_that_are_not_finite_are_named(value, layout):
    rows = ROWS.copy()
    rows[3, 1] = value
    with pytest.raises(DataError, match=f"feature 1 of token 1 of sequence 1 is {value}"):
        check_finite(Sequences(layout(rows), [0, 2, 6]))
    check_finite(Sequences(layout(ROWS), [0, 2, 6]))


def test_offsets():
    assert offsets_of([2, 0, 3]).tolist() == [0, 2, 2, 5]
    assert offsets_of([]).tolist() == [0]
