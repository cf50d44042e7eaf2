"""Compiled parsing of large svm_light files: the numbers of Python, or none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.errors import DataError
from maxmargin.io import read_svmlight
from maxmargin.io import svmlight as module
from maxmargin.io.number_pairs import parse_pairs

#: Decimal numbers as programs and people write them, some of them with too many digits.
NUMBERS = st.from_regex(r"[-+]?([0-9]{1,17}\.?[0-9]{0,9}|\.[0-9]{1,17})", fullmatch=True)


@given(st.lists(st.tuples(st.integers(0, 10**10 - 1), NUMBERS), min_size=1, max_size=20))
def test_numbers_are_those_of_python(pairs):
    """To the last bit, or the text is left to other code because of a long number."""
    text = " ".join(f"{index}:{value}" for index, value in pairs).encode()
    found = parse_pairs(text, len(pairs))
    digits = [sum(c.isdigit() for c in value) for _, value in pairs]
    if max(digits) > 15:
        assert found is None
        return
    indices, values = found
    assert indices.tolist() == [index for index, _ in pairs]
    expected = np.array([float(value) for _, value in pairs])
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(np.signbit(values), np.signbit(expected))


@pytest.mark.parametrize(
    "text",
    ["1:", ":1", "1", " 1:1", "1:1  2:1", "1:1e3", "1:nan", "1:1.2.3", "1:--1", "1:+", "a:1",
     "12345678901:1", "1:1,5", "1:1 2", "1:1:2", "+1:1", "1:."],
)  # fmt: skip
def test_anything_else_is_left_to_other_code(text):
    assert parse_pairs(text.encode(), text.count(":")) is None


def test_the_number_of_tokens_is_checked():
    """Arrays are written without checks of bounds."""
    assert parse_pairs(b"1:1 2:2", 1) is None
    assert parse_pairs(b"1:1 2:2", 3) is None


@given(st.binary(max_size=60))
def test_any_bytes(text):
    """No crash; what is accepted has a colon per token."""
    n = text.count(b":")
    found = parse_pairs(text, n)
    assert found is None or len(found[0]) == n == len(text.split())


def test_large_files_are_read_as_small_ones(tmp_path):
    """And errors in them name the line."""
    random = np.random.RandomState(0)
    lines = [
        "1 " + " ".join(f"{j + 1}:{x:.6g}" for j, x in enumerate(random.rand(20))) + " # word"
        for _ in range(3000)
    ]
    path = tmp_path / "data.txt"
    path.write_text("\n".join(lines))
    assert path.stat().st_size > 2 * module.LONG
    X, _ = read_svmlight(path)
    expected = [[float(pair.split(":")[1]) for pair in line.split()[1:21]] for line in lines]
    np.testing.assert_array_equal(X.toarray(), expected)
    lines[2000] = "1 3:0.5 2:0.5"
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match="2001"):
        read_svmlight(path)
