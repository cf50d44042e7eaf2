"""Files of SVM-HMM: what is read, what is refused and where, and back to lines."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import maxmargin as mm

TEXT = """# two sequences
2 qid:1 1:1 3:0.5 # the
1 qid:1 2:-2.5 # dog

3 qid:7 3:1 # barks"""


def stream(text):
    return io.BytesIO(text.encode())


def test_reads_sequences_and_tags():
    X, Y = mm.io.read_hmm(stream(TEXT))
    assert Y == [[2, 1], [3]]
    assert X.offsets.tolist() == [0, 2, 3]
    assert X.matrix.toarray().tolist() == [[1, 0, 0.5], [0, -2.5, 0], [0, 0, 1]]
    assert all(type(tag) is int for tags in Y for tag in tags)


def test_gzip_and_windows_line_ends_are_the_same_file():
    text = TEXT.replace("\n", "\r\n").encode()
    X, Y = mm.io.read_hmm(io.BytesIO(gzip.compress(text)))
    assert Y == [[2, 1], [3]]
    assert X.matrix.shape == (3, 3)


def test_features_above_n_features_are_dropped():
    X, _ = mm.io.read_hmm(stream(TEXT), n_features=2)
    assert X.matrix.toarray().tolist() == [[1, 0], [0, -2.5], [0, 0]]
    X, _ = mm.io.read_hmm(stream(TEXT), n_features=5)
    assert X.matrix.shape == (3, 5)


def test_lines_without_qid_are_one_sequence():
    X, Y = mm.io.read_hmm(stream("1 1:1\n2 2:1\n"))
    assert (len(X), Y) == (1, [[1, 2]])


def test_tag_0_is_for_files_to_be_tagged():
    assert mm.io.read_hmm(stream("0 qid:1 1:1\n"), unknown=True)[1] == [[0]]
    with pytest.raises(mm.DataError, match="below 1"):
        mm.io.read_hmm(stream("0 qid:1 1:1\n"))


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("1 qid:2 1:1\n\n2 qid:1 1:1\n", 3, "qid:1 comes after qid:2"),
        ("1 qid:1 1:1\nNN qid:1 1:1\n", 2, "'NN' is not an integer"),
        ("1 qid:1 1:1\n1.5 qid:1 1:1\n", 2, "1.5 is not an integer"),
        ("1_0 qid:1 1:1\n", 1, "'1_0' is not an integer"),
        ("1 qid:1 1:1\n-1 qid:1 1:1\n", 2, "-1 is below 1"),
        ("1 qid:1 1:1\n2147483648 qid:1 1:1\n", 2, "above"),
        ("1 qid:1 1:1\n1e300 qid:1 1:1\n", 2, "too large"),
        ("1 qid:1 2:1 1:1\n", 1, "sort the features"),
    ],
)
def test_errors_name_file_and_line(tmp_path, text, line, reason):
    path = tmp_path / "tokens.dat"
    path.write_text(text)
    with pytest.raises(mm.DataError, match=reason) as caught:
        mm.io.read_hmm(path)
    assert (caught.value.path, caught.value.line) == (str(path), line)


# Lines


numbers = st.floats(-1e6, 1e6).filter(lambda value: abs(value) > 1e-6)
tokens = st.tuples(st.integers(1, 9), st.dictionaries(st.integers(0, 5), numbers, max_size=4))


@given(st.lists(st.lists(tokens, min_size=1, max_size=4), min_size=1, max_size=4))
def test_lines_read_back_as_they_were(content):
    X, Y = [], []
    for sequence in content:
        rows = np.zeros((len(sequence), 6))
        for row, (_, features) in zip(rows, sequence, strict=True):
            row[list(features)] = list(features.values())
        X.append(sp.csr_array(rows))
        Y.append([tag for tag, _ in sequence])
    text = "\n".join(mm.io.hmm_lines(X, Y))
    again, tags = mm.io.read_hmm(stream(text), n_features=6)
    assert tags == Y
    assert np.array_equal(again.matrix.toarray(), np.vstack([x.toarray() for x in X]))


def test_lines_of_dense_rows_with_words():
    lines = list(mm.io.hmm_lines([np.eye(2, dtype=bool)], [[np.int64(1), 0]], [["a#b", "c"]]))
    assert lines == ["1 qid:1 1:1 # a#b", "0 qid:1 2:1 # c"]


@pytest.mark.parametrize(
    ("Y", "words", "reason"),
    [
        ([["NN", "VB"]], None, "'NN' is not an integer"),
        ([[1, -1]], None, "-1 is not an integer"),
        ([[1]], None, "2 tokens and 1 tags"),
        ([[1, 1], [1]], None, "1 sequences and Y has 2"),
        ([[1, 1]], [["a", "b\nc"]], "line end"),
    ],
)
def test_lines_refuse_what_could_not_be_read_back(Y, words, reason):
    with pytest.raises(mm.DataError, match=reason):
        list(mm.io.hmm_lines([np.eye(2)], Y, words))
