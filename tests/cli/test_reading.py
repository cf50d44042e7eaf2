"""The progress line while data are read: on a terminal only, and only where reading takes long."""

from __future__ import annotations

import os
import select
import sys

import pytest

import maxmargin as mm
from command_line import run
from maxmargin.cli import reading
from maxmargin.cli.reading import line, progress_line
from maxmargin.io import sources


def test_the_line_tells_how_much_has_been_read(tmp_path):
    (tmp_path / "data").write_bytes(bytes(2_000_000))
    with open(tmp_path / "data", "rb") as file:
        assert line("data", file, 3.0) == "reading data: 0 % of 2.0 MB, 3.0 s elapsed"
        while file.raw.tell() < 500_000:
            file.read(1 << 12)
        assert line("data\x1b", file, 3.0).startswith("reading data\\x1b: 25 % of 2.0 MB")
    assert line("data", file, 3.0) == "reading data, 3.0 s elapsed"  # closed


def test_nothing_is_shown_without_a_terminal(tmp_path, capfd):
    (tmp_path / "data").write_text("1 1:1\n")
    with open(tmp_path / "data", "rb") as file, progress_line("data", file):
        pass
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(os.name == "nt", reason="needs pseudo-terminals")
@pytest.mark.parametrize("slow", [True, False])
def test_a_terminal_shows_slow_reads_only(tmp_path, monkeypatch, slow):
    import pty

    (tmp_path / "data").write_bytes(bytes(1000))
    leader, follower = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(reading, "DELAY", 0.0 if slow else 60.0)
    with os.fdopen(follower, "w") as terminal, open(tmp_path / "data", "rb") as file:
        monkeypatch.setattr(sys, "stderr", terminal)
        shown = b""
        with progress_line("data", file):
            while slow and b"reading" not in shown:
                assert select.select([leader], [], [], 30)[0], "no line was shown"
                shown += os.read(leader, 1 << 16)
        terminal.write("END")
        terminal.flush()
        monkeypatch.undo()
        shown += os.read(leader, 1 << 16)
    os.close(leader)
    assert (b"reading data: 0 % of 0.0 MB" in shown) == slow


def test_commands_watch_files_and_python_does_not(tmp_path, monkeypatch):
    watched = []
    (tmp_path / "data").write_text("1 1:1\n2 1:x\n")

    def watch(name, file):
        watched.append(name)
        return progress_line(name, file)

    monkeypatch.setattr("maxmargin.cli.commands.progress_line", watch)
    arguments = ["train", "binary", tmp_path / "data", "-o", tmp_path / "m"]
    assert "line 2" in run(*arguments).stderr
    assert watched == [str(tmp_path / "data")]
    run(*arguments, "--quiet")
    with pytest.raises(mm.DataError):
        mm.io.read_svmlight(tmp_path / "data")
    assert len(watched) == 1 and sources.on_open is None
