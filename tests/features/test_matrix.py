"""The feature matrix of a template, compared with its entries; words and names as integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.errors import DataError
from maxmargin.features import Extractor, Template
from maxmargin.features.matrix import binary_matrix, sort_rows
from maxmargin.features.tree import NameTree
from maxmargin.features.windows import Occurrences
from maxmargin.features.words import Words


@settings(max_examples=60)
@given(
    n=st.integers(1, 9),
    most=st.integers(1, 8),
    patterns=st.integers(1, 3),
    seed=st.integers(0, 1000),
)
def test_entries_are_those_of_all_patterns(n, most, patterns, seed):
    random = np.random.RandomState(seed)
    # Nodes 0..9 of the first pattern, 10..19 of the second, and so on; some have no column.
    columns = random.permutation(np.append(np.arange(10 * patterns - 5), [-1] * 5)).astype(np.int32)
    columns = np.append(columns, np.int32(-1))
    blocks, expected = [], np.zeros((2 * n, 10 * patterns - 5))
    for start in (0, n):
        entries = []
        for p in range(patterns):
            counts = random.randint(1, most + 1, n) if random.rand() < 0.7 else np.ones(n, int)
            tokens = np.repeat(np.arange(n), counts).astype(np.int32)
            own = [random.choice(np.append(np.arange(9), -1 - 10 * p), c, False) for c in counts]
            nodes = (np.concatenate(own) + 10 * p).astype(np.int32)
            entries.append(Occurrences(None if (counts == 1).all() else tokens, nodes))
            known = columns[nodes] >= 0
            expected[start + tokens[known], columns[nodes][known]] = 1.0
        blocks.append(sort_rows(entries, columns, n))
    result = binary_matrix(blocks, 10 * patterns - 5)
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result.toarray(), expected)
    for row in np.split(result.indices, result.indptr[1:-1]):
        assert (np.diff(row) > 0).all()


@settings(max_examples=60)
@given(st.lists(st.lists(st.binary(max_size=3), max_size=30), max_size=4))
def test_words_are_numbered_in_the_order_in_which_they_are_seen(blocks):
    words, index = Words(), {}
    for block in blocks:
        ends = np.cumsum([0, *map(len, block)])
        text = np.frombuffer(b"".join(block), np.uint8)
        expected = [index.setdefault(word, len(index)) for word in block]
        assert words.encode(text, ends[:-1], ends[1:]).tolist() == expected
    assert words.since(0) == list(index)


def test_many_words_keep_their_numbers():
    words = Words()
    for start in (0, 5_000, 60_000):
        block = [str(i).encode() for i in range(start + 5_000)]
        ends = np.cumsum([0, *map(len, block)])
        found = words.encode(np.frombuffer(b"".join(block), np.uint8), ends[:-1], ends[1:])
        assert found.tolist() == list(range(start + 5_000))


def test_memory_is_that_of_the_words_and_not_of_the_text_around_them():
    words = Words()
    words.encode(np.frombuffer(b"a " * 10**6, np.uint8), np.array([0, 2]), np.array([1, 3]))
    assert sum(value.nbytes for value in vars(words).values() if hasattr(value, "nbytes")) < 1000


@settings(max_examples=60)
@given(
    st.lists(
        st.lists(
            st.tuples(st.text("a|\\=<é", max_size=3), st.text("b|\\", max_size=2)), max_size=4
        ),
        min_size=1,
        max_size=4,
    ).filter(any)
)
def test_features_are_found_by_their_names(rows):
    text = "bias\nword\nword[-1]|pos\nprefix(word)|word[1]|pos[0]\nword|pos[-1]"
    extractor = Extractor(text)
    expected = extractor.fit_transform(rows)
    names = extractor.names_
    assert len(set(names)) == len(names)
    again = Extractor.from_names(text, names).transform(rows)
    np.testing.assert_array_equal(again.matrix.toarray(), expected.matrix.toarray())
    some = Extractor.from_names(text, names[::2]).transform(rows)
    np.testing.assert_array_equal(some.matrix.toarray(), expected.matrix.toarray()[:, ::2])


def test_names_that_a_template_cannot_give_are_never_found():
    names = ["word[0]", "bias=", "word[0]=a", "bias", "pos[0]=b", "word[0]|pos[0]=a",
             "word[0]|pos[0]=a|b|c", "word[0]|pos[0]=a|b", "word[0]|pos[0]=\\||c", ""]  # fmt: skip
    tree, columns = NameTree.of_names(Template("bias\nword\nword|pos"), names)
    found = Extractor.from_names("bias\nword\nword|pos", names).transform([[("a", "b")]])
    assert found.matrix.indices.tolist() == [2, 3, 7]
    assert sorted(columns[columns >= 0].tolist()) == [2, 3, 7, 8]
    assert tree.names(np.flatnonzero(columns == 8)) == [names[8]]


def test_equal_names_are_refused():
    with pytest.raises(DataError, match="not all different"):
        Extractor.from_names("word", ["word[0]=a", "word[0]=a"]).transform([["a"]])
