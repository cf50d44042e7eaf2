"""Plain sentences given to a tagger: read with --raw, and recognised as a likely mistake."""

from __future__ import annotations

import pytest

import maxmargin as mm
from command_line import error_of, passed, run

SENTENCES = [[("the", "B"), ("dog", "I"), ("barks", "O")], [("a", "B"), ("cat", "I")]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Models of words alone (words.mm) and of words and their tags (tagged.mm)."""
    folder = tmp_path_factory.mktemp("raw")
    for name, row in (("words", "{} {}"), ("tagged", "{} NN {}")):
        text = "\n\n".join("\n".join(row.format(*t) for t in s) for s in SENTENCES * 3)
        (folder / name).write_text(text + "\n")
        passed("train", "chain", folder / name, "-qo", folder / f"{name}.mm", "-C", 1)
    (folder / "plain").write_text("the dog barks\n\na cat\r\n")
    (folder / "one").write_text("the dog barks\n")
    return folder


def test_raw_sentences_are_tagged_as_their_columns_are(folder, tmp_path):
    outcome = passed("predict", folder / "words.mm", folder / "plain", "--raw")
    assert outcome.stdout == "the B\ndog I\nbarks O\n\na B\ncat I\n"
    assert outcome.stderr == ""
    (tmp_path / "columns").write_text("the\ndog\nbarks\n\na\ncat\n")
    for more in ([], ["--m-best", 2]):
        expected = passed("predict", folder / "words.mm", tmp_path / "columns", *more).stdout
        found = passed("predict", folder / "words.mm", folder / "plain", "--raw", *more).stdout
        assert found == expected


def test_raw_from_standard_input(folder):
    outcome = passed("predict", folder / "words.mm", "-", "--raw", input=b"a cat\n")
    assert outcome.stdout == "a B\ncat I\n"


def test_tokenizers(folder, tmp_path, monkeypatch):
    (tmp_path / "text").write_text("The dog, it's 3.5 years.\n")

    def words(*options):
        outcome = passed("predict", folder / "words.mm", tmp_path / "text", "--raw", *options)
        return [line.split()[0] for line in outcome.stdout.splitlines()]

    assert words() == words("--tokenizer", "spaces") == ["The", "dog,", "it's", "3.5", "years."]
    assert words("--tokenizer", "words") == ["The", "dog", ",", "it's", "3.5", "years", "."]
    (tmp_path / "my_own_tokens.py").write_text("def cut(line): return [line[:3], line[4:7]]\n")
    monkeypatch.chdir(tmp_path)
    assert words("--tokenizer", "my_own_tokens:cut") == ["The", "dog"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tokenizer", "magic"], "tokenizer 'magic' is not one of spaces, words or a module"),
        (["--tokenizer", "no_such_module:f"], "there is no module no_such_module"),
        (["--tokenizer", "string:no_such"], "the module string has no 'no_such'"),
        (["--tokenizer", "string:digits"], "tokenizer 'string:digits' is not one of"),
        (["--tokenizer", "builtins:int"], "plain, line 1: the tokenizer fails: ValueError"),
        (["--tokenizer", "builtins:list"], "line 1: the tokenizer returned ' ': words are"),
    ],
)
def test_unusable_tokenizers(folder, options, message):
    outcome = run("predict", folder / "words.mm", folder / "plain", "--raw", *options)
    assert message in error_of(outcome)


def test_a_tokenizer_needs_raw(folder):
    outcome = run("predict", folder / "words.mm", folder / "plain", "--tokenizer", "words")
    assert outcome.exit_code == 2
    assert "needs --raw" in outcome.stderr


def test_raw_needs_a_model_of_words(folder):
    message = error_of(run("predict", folder / "tagged.mm", folder / "plain", "--raw"))
    assert "--raw reads words alone, but the model was trained on 2 columns" in message


def test_a_sentence_that_looks_like_a_token_is_warned_of(folder):
    outcome = passed("predict", folder / "tagged.mm", folder / "one")
    assert outcome.stdout.startswith("the dog barks ")
    warning = " ".join(outcome.stderr.split())
    assert "contains no label of the model, but for example 'barks'" in warning
    assert "write one token per line with its 2 columns" in warning


def test_a_short_sentence_that_looks_like_a_token_without_label(folder, tmp_path):
    (tmp_path / "two").write_text("dogs bark\n")
    outcome = passed("predict", folder / "tagged.mm", tmp_path / "two")
    warning = " ".join(outcome.stderr.split())
    assert "no value of column 1 (counted from 0) occurs in the training data" in warning
    assert "for example 'bark'" in warning
    (tmp_path / "two").write_text("dogs NN\nbark VB\n")  # one known value is enough
    assert passed("predict", folder / "tagged.mm", tmp_path / "two").stderr == ""


def test_other_numbers_of_columns_name_the_way_out(folder):
    message = error_of(run("predict", folder / "words.mm", folder / "one"))
    assert "number of columns: 3" in message and "use maxmargin predict --raw" in message
    message = error_of(run("predict", folder / "words.mm", folder / "plain"))
    assert "line 3: 2 columns, where" in message and "maxmargin predict --raw" in message


def test_text_without_words(tmp_path):
    (tmp_path / "empty").write_text(" \n\n")
    with pytest.raises(mm.DataError, match="contains no words"):
        mm.io.raw.read_raw(tmp_path / "empty", str.split)
