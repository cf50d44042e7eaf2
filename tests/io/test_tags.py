"""Conversion of chunk tags, against entities that were drawn at random."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxmargin as mm
from command_line import error_of, passed, run
from maxmargin.io import convert_tags

SCHEMES = ["iob1", "bio", "bioes"]

#: Entities and gaps, one after the other: a type (or None) and a length.
PIECES = st.lists(st.tuples(st.sampled_from([None, "PER", "LOC-2"]), st.integers(1, 3)), max_size=6)


def written(pieces, scheme):
    """The tags of pieces, from the definitions of the schemes."""
    tags, before = [], None
    for kind, length in pieces:
        if kind is None:
            tags += ["O"] * length
        else:
            first = "I" if scheme == "iob1" and before != kind else "B"
            prefixes = [first] + ["I"] * (length - 1)
            if scheme == "bioes":
                prefixes = ["S"] if length == 1 else [*prefixes[:-1], "E"]
            tags += [f"{prefix}-{kind}" for prefix in prefixes]
        before = kind
    return tags


@given(pieces=PIECES, source=st.sampled_from(SCHEMES), target=st.sampled_from(SCHEMES))
def test_every_scheme_to_every_other(pieces, source, target):
    tags = written(pieces, source)
    assert convert_tags([tags], target) == [written(pieces, target)]


def test_tags_without_type_and_of_bilou():
    assert convert_tags([["B", "I", "O", "B"]], "bioes") == [["B", "E", "O", "S"]]
    assert convert_tags([["B-X", "L-X", "U-X"]], "bio") == [["B-X", "I-X", "B-X"]]
    assert convert_tags([[]], "bio") == [[]]


def test_mistakes():
    with pytest.raises(mm.DataError, match="'NN' of token 1 of sequence 0"):
        convert_tags([["O", "NN"]], "bio")
    with pytest.raises(mm.DataError, match="scheme must be"):
        convert_tags([["O"]], "iob3")


def test_a_model_converts_all_files_that_it_reads(tmp_path):
    text = "a I-X\nb I-X\nc O\n\nd I-X\ne O\nf I-Y\n\n"
    (tmp_path / "d").write_text(text)
    passed("train", "chain", tmp_path / "d", "-o", tmp_path / "m", "--scheme", "bioes",
           "--transitions", "bioes", "--C", "10", "-q")  # fmt: skip
    assert set(mm.load(tmp_path / "m").classes_) == {"B-X", "E-X", "S-X", "S-Y", "O"}
    shown = passed("evaluate", tmp_path / "m", tmp_path / "d").stdout
    assert "accuracy: 100.00%" in shown
    assert "converted to bioes" in passed("info", tmp_path / "m").stdout.replace("\n", " ")
    (tmp_path / "bad").write_text("a I-X\nb NN\n")
    message = error_of(run("train", "chain", tmp_path / "bad", "-o", tmp_path / "n",
                           "--scheme", "bio"))  # fmt: skip
    assert "bad, line 2" in message and "'NN'" in message
