"""Labels of all kinds on the terminal: nothing in them is obeyed, and data output is exact."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

import maxmargin as mm
from command_line import error_of, passed, run

STRANGE = "\x1b[31mred\x07"
LABELS = [STRANGE, "[red]", "[/]", "\u202eabc", "\x9b2J"]


@pytest.fixture(scope="module")
def tagger(tmp_path_factory):
    """A tagger of such labels with such words, and its data."""
    folder = tmp_path_factory.mktemp("tagger")
    lines = [f"word{k}{label}\t{label}" for k, label in enumerate(LABELS)]
    (folder / "data").write_text("\n\n".join(["\n".join(lines)] * 4) + "\n", encoding="utf8")
    passed("train", "chain", folder / "data", "-o", folder / "m.mm", "--C", "1")
    return folder


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    """A classifier of words as labels."""
    folder = tmp_path_factory.mktemp("classifier")
    labels = [label for label in LABELS if not label.startswith("\x9b")]
    lines = [f"{label} {k + 1}:1" for k, label in enumerate(labels)]
    (folder / "data").write_text("\n".join(lines * 4) + "\n", encoding="utf8")
    passed("train", "multiclass", folder / "data", "-o", folder / "m.mm", "--C", "10")
    return folder


def assert_harmless(text):
    assert not any(c in text for c in "\x1b\x07\x9b\u202e"), text


@pytest.mark.parametrize("command", ["info", "explain", "evaluate", "suspects"])
@pytest.mark.parametrize("kind", ["tagger", "classifier"])
def test_tables_show_controls(kind, command, request):
    folder = request.getfixturevalue(kind)
    data = [folder / "data"] if command in ("evaluate", "suspects") else []
    done = passed(command, folder / "m.mm", *data)
    assert_harmless(done.output)
    if command in ("info", "evaluate"):
        assert "\\x1b[31mred\\x07" in done.output.replace("\n", "")
        assert "[red]" in done.output and "[/]" in done.output


def test_suspects_of_wrong_labels(tagger, tmp_path):
    text = (tagger / "data").read_text(encoding="utf8")
    first, rest = text.split("\n\n", 1)
    swapped = first.replace(f"\t{STRANGE}", "\tX").replace("\t[red]", f"\t{STRANGE}")
    (tmp_path / "wrong").write_text(swapped.replace("\tX", "\t[red]") + "\n\n" + rest)
    done = passed("suspects", tagger / "m.mm", tmp_path / "wrong")
    assert_harmless(done.output)
    assert "word0\\x1b[31mred" in done.stdout and "[red]" in done.stdout


def test_data_output_is_exact(tagger, classifier, tmp_path):
    for folder in (tagger, classifier):
        done = passed("predict", folder / "m.mm", folder / "data")
        passed("predict", folder / "m.mm", folder / "data", "-o", tmp_path / "out")
        assert STRANGE in done.stdout and "\u202e" in done.stdout
        assert (tmp_path / "out").read_bytes() == done.stdout_bytes


def test_a_terminal_gets_escapes(classifier):
    """A pseudo-terminal as standard output."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "maxmargin", "predict", classifier / "m.mm"]
    command.append(classifier / "data")
    done = subprocess.Popen(list(map(str, command)), stdout=slave)
    os.close(slave)
    shown = b""
    try:
        while part := os.read(master, 1000):
            shown += part
    except OSError:  # how a terminal ends
        pass
    os.close(master)
    assert done.wait() == 0
    assert_harmless(shown.decode())
    assert "\\x1b[31mred\\x07" in shown.decode()


def test_error_messages(tagger, tmp_path):
    name = f"{STRANGE}\u202e.mm"
    line = error_of(run("info", tmp_path / name))
    assert_harmless(line)
    assert "\\x1b[31mred\\x07\\u202e.mm" in line
    (tmp_path / "data").write_text(f"a\t{STRANGE}\nb\n")
    assert_harmless(error_of(run("evaluate", tagger / "m.mm", tmp_path / "data")))
    (tmp_path / "same").write_text(f"a\t{STRANGE}\nb\t{STRANGE}\n")
    line = error_of(run("train", "chain", tmp_path / "same", "-o", tmp_path / "n.mm"))
    assert_harmless(line)


def test_trees_and_rules(tmp_path):
    tree = f"(S{STRANGE} (N\u202e dog\x1b) (V bar[/]ks))"
    (tmp_path / "trees").write_text(f"{tree}\n(S (N cat) (V sees))\n")
    model = tmp_path / "m.mm"
    passed("train", "cfg", tmp_path / "trees", "-o", model, "--C", "10")
    for command in (["info", model], ["explain", model], ["evaluate", model, tmp_path / "trees"]):
        done = passed(*command)
        assert_harmless(done.output)
    done = passed(
        "predict", model, tmp_path / "trees", "--draw", "--svg", tmp_path / "t.svg",
        "-o", tmp_path / "out",
    )  # fmt: skip
    assert_harmless(done.stdout)
    assert_harmless((tmp_path / "t.svg").read_text(encoding="utf8"))
    assert "bar[/]ks" in done.stdout
    assert STRANGE in (tmp_path / "out").read_text(encoding="utf8")


def test_labels_that_utf8_cannot_express(tmp_path):
    """A single surrogate can come from Python only."""
    X = [[["a"]], [["b"]]]
    model = mm.ChainSVC(C=10.0).fit(X, [["\ud800"], ["n"]])
    model.save(tmp_path / "m.mm")
    assert "\\ud800" in passed("info", tmp_path / "m.mm").stdout
    assert "\\ud800" in passed("explain", tmp_path / "m.mm").stdout
