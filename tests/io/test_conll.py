"""Reading and writing CoNLL files."""

from __future__ import annotations

import gzip
import io
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import KFold, train_test_split

from maxmargin.errors import DataError
from maxmargin.features import Rows
from maxmargin.io import conll_lines, read_conll, write_conll
from maxmargin.io.conll import find_words

ROWS = [[("the", "DT"), ("dog", "NN")], [("yes", "UH")]]
LABELS = [["B", "I"], ["O"]]

words = st.text(st.sampled_from("ab|=#\xa0\u3000é犬"), min_size=1, max_size=3)
tokens = st.tuples(words, words, words)
sequences = st.lists(st.lists(tokens, min_size=1, max_size=4), min_size=1, max_size=5)


def read(content, **options):
    return read_conll(
        io.BytesIO(content.encode() if isinstance(content, str) else content), **options
    )


# ---- what is accepted --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "the DT B\ndog NN I\n\nyes UH O\n",
        "the DT B\ndog NN I\n\nyes UH O",
        "the DT B\r\ndog NN I\r\n\r\nyes UH O\r\n\r\n",
        "\n\n \nthe DT B\ndog NN I\n\t\n\n\nyes UH O\n\n\n",
        "the\tDT\tB\n  dog \t NN  I \n\nyes  UH O\n",
        "-DOCSTART- -X- O\n\nthe DT B\ndog NN I\n\n-DOCSTART- -X- -X- O\n\nyes UH O\n",
        "-DOCSTART-\nthe DT B\ndog NN I\n-DOCSTART-\nyes UH O\n-DOCSTART-\n",
        "\ufeffthe DT B\ndog NN I\n\nyes UH O\n",
    ],
)
def test_reads_the_same_from_all_spellings(text):
    rows, labels = read(text)
    assert rows == ROWS
    assert labels == LABELS
    assert read(gzip.compress(text.encode())) == (rows, labels)


def test_reads_files_and_standard_input(tmp_path, monkeypatch):
    path = tmp_path / "train.txt"
    path.write_text("a X\n\nb Y\n")
    expected = ([[("a",)], [("b",)]], [["X"], ["Y"]])
    assert read_conll(path) == expected
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert read_conll("-") == expected


def test_the_label_column():
    text = "a b c\n"
    assert read(text, label=0) == ([[("b", "c")]], [["a"]])
    assert read(text, label=-2) == ([[("a", "c")]], [["b"]])
    assert read(text, label=None) == ([[("a", "b", "c")]], None)
    assert read("a\n", label=None) == ([[("a",)]], None)


def test_blanks_of_unicode_belong_to_words():
    assert read("a\xa0b X\n")[0] == [[("a\xa0b",)]]


def test_sequences_may_cross_the_blocks_of_a_large_file():
    expected = [[(f"w{i}", "x" * 50) for i in range(n)] for n in (3, 40_000, 1, 30_000)]
    rows, labels = read("\n\n".join("\n".join(" ".join((*t, "L")) for t in s) for s in expected))
    assert rows == expected
    assert list(map(len, labels)) == [3, 40_000, 1, 30_000]


@pytest.mark.parametrize("blank", ["\n" * 300_000, " " * 600_000 + "\n"], ids=["lines", "spaces"])
@pytest.mark.parametrize("tokens", [65_536, 65_537])
def test_blocks_without_a_token_end_a_sequence(blank, tokens):
    rows, _ = read("a X\n" * tokens + blank + "b X\n")
    assert list(map(len, rows)) == [tokens, 1]


@settings(max_examples=60)
@given(sequences, st.sampled_from([" ", "\t"]))
def test_reads_what_it_writes(sequences, separator):
    rows = [[token[:2] for token in s] for s in sequences]
    labels = [[token[2] for token in s] for s in sequences]
    lines = conll_lines(rows, labels, separator=separator)
    assert read("\n".join(lines)) == (rows, labels)


# ---- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("\n\na b\n\nc d e\n", {}, "line 5: 3 columns, where the first token (line 3) has 2"),
        ("a b\nc\n", {}, "line 2: 1 columns"),
        ("", {}, "contains no tokens"),
        ("\n \n-DOCSTART- O\n\n", {}, "contains no tokens"),
        (b"a b\nc d\n\xe9t\xe9 b\n", {}, "line 3: column 0, '\\xe9t\\xe9', is not UTF-8"),
        ("a\nb\n", {}, "only one column"),
        ("a b\n", {"label": 2}, "there is no column 2"),
        ("a b\n", {"label": -3}, "there is no column -3"),
    ],
)
def test_errors_name_the_file_and_the_line(content, options, message, tmp_path):
    path = tmp_path / "train.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(DataError) as caught:
        read_conll(path, **options)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_an_error_after_many_lines_has_the_right_number():
    good = "word" * 20 + " X\n"
    with pytest.raises(DataError, match=r"line 30001: 1 columns"):
        read(good * 30_000 + "word\n")
    with pytest.raises(DataError, match=r"line 30001: column 1, .* is not UTF-8"):
        read(good.encode() * 30_000 + b"word \xff\n" * 2)
    with pytest.raises(DataError, match=r"line 30001: contains a zero byte"):
        read(good.encode() * 30_000 + b"wo\0rd X\n")


def test_a_missing_file():
    with pytest.raises(DataError, match=r"nowhere\.txt: cannot be read"):
        read_conll("nowhere.txt")


# ---- writing -----------------------------------------------------------------------------------


def test_writes_label_columns(tmp_path):
    path = tmp_path / "out.txt"
    write_conll(path, Rows.of(ROWS), LABELS, [[1, 2], [3]])
    assert path.read_text() == "the DT B 1\ndog NN I 2\n\nyes UH O 3\n"
    assert list(conll_lines(ROWS)) == ["the DT", "dog NN", "", "yes UH"]


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (ROWS, [["B", "I"]], "label column 0 has 1 sequences, the rows have 2"),
        (ROWS, [["B"], ["O"]], "sequence 0 has 2 tokens, but 1 labels"),
        (ROWS, [["B", "I"], ["O O"]], "'O O' cannot be written"),
        (ROWS, [["B", "I"], [""]], "'' cannot be written"),
        ([[("New York",)]], [["B"]], "'New York' cannot be written"),
    ],
)
def test_refuses_to_write_what_it_could_not_read(rows, labels, message, tmp_path):
    with pytest.raises(DataError, match=message):
        write_conll(tmp_path / "out.txt", rows, labels)
    assert not list(tmp_path.iterdir())


# ---- rows --------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(sequences, st.slices(5), st.data())
def test_rows_are_used_like_a_list(sequences, part, data):
    rows = Rows.of(sequences)
    assert len(rows) == len(sequences)
    assert list(rows) == sequences
    assert rows == sequences and sequences == rows
    assert rows != sequences[1:]
    assert rows[part] == sequences[part]
    assert Rows.of(rows) is rows
    assert pickle.loads(pickle.dumps(rows)) == sequences
    chosen = data.draw(st.lists(st.integers(-len(sequences), len(sequences) - 1), max_size=4))
    assert rows[np.array(chosen, int)] == [sequences[i] for i in chosen]
    for i in chosen:
        assert rows[i] == rows[np.int64(i)] == sequences[i]
    with pytest.raises(IndexError):
        rows[len(sequences)]


def test_rows_go_through_the_splitters_of_scikit_learn():
    rows = Rows.of([[(str(i), "x")] * (i + 1) for i in range(6)])
    labels = [["L"] * (i + 1) for i in range(6)]
    train, test, _, _ = train_test_split(rows, labels, test_size=2, random_state=0)
    assert sorted(map(len, train + test)) == [1, 2, 3, 4, 5, 6]
    for _, where in KFold(3).split(rows, labels):
        assert rows[where] == [rows[i] for i in where]


def test_a_token_may_be_a_word_and_a_sequence_may_be_empty():
    assert Rows.of([["a", "b"], [], ["c"]]) == [[("a",), ("b",)], [], [("c",)]]
    assert Rows.of([]) == []
    assert Rows.of([[]]).n_columns == 0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["a"], ["b", ("c",)]], "sequence 0, token 0 is 'a'"),
        ([[("a", "b")], [("c", "d"), ("e",)]], "sequence 1, token 1 has 1 columns"),
        ([[("a", "b")], [("c", 7)]], "sequence 1, token 0 has the column value 7"),
        ([[{"word": "a"}]], "sequence 0, token 0 is {'word': 'a'}"),
        ([[()]], "sequence 0, token 0 has 0 columns"),
    ],
)
def test_tokens_of_other_kinds_are_named(rows, message):
    with pytest.raises(DataError, match=message):
        Rows.of(rows)


@given(st.text("a \t\n\r\x0b\x0cb", max_size=40))
def test_words_of_lines_are_found_as_by_split(text):
    block = text.encode()
    lines = block.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    begins, ends, widths = find_words(np.frombuffer(block, np.uint8))
    assert widths.tolist() == [len(line.split()) for line in lines]
    found = [block[a:b] for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]
    assert found == block.split()
