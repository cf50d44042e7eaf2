"""Files that are written completely or not at all, and what killed processes leave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import maxmargin as mm
from maxmargin.errors import MaxMarginError, ModelFileError
from maxmargin.saving.atomic import atomic_file, write_lines_atomic


@pytest.fixture(scope="module")
def model():
    """Fitted when it is needed: every process of the tests imports this file, and would compile."""
    return mm.BinarySVC().fit(np.eye(4), [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a\0b", r"'a\\x00b' is not the name of a file"),
        ("\ud800", "is not the name of a file"),
        ("", "is not the name of a file"),
        (3, "3 is not the name of a file"),
        (None, "None is not the name of a file"),
        (".", "is a directory, name a file in it"),
        ("missing/m.mm", "missing/m.mm: cannot be written: No such file"),
        ("x" * 300, "cannot be written: File name too long"),
    ],
)
def test_names_that_no_file_can_have(model, name, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelFileError, match=message):
        model.save(name)
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not os.path.isdir("/sys/kernel"), reason="needs a folder without permission")
def test_a_folder_without_permission(model):
    with pytest.raises(ModelFileError, match="cannot be written: "):
        model.save("/sys/kernel/m.mm")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk(model):
    with pytest.raises(ModelFileError, match="/dev/full: cannot be written: No space left"):
        model.save("/dev/full")
    with pytest.raises(MaxMarginError, match="No space left"):
        write_lines_atomic("/dev/full", ["x" * 100_000])


@pytest.mark.parametrize("name", ["a\0b", "", "\ud800"])
def test_names_that_cannot_be_loaded(name):
    with pytest.raises(ModelFileError):
        mm.load(name)


SAVER = """
import sys, time
from maxmargin.saving.atomic import atomic_file
with atomic_file(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("ready", flush=True)
    time.sleep(60)
"""


def start_saver(path):
    saver = subprocess.Popen(
        [sys.executable, "-c", SAVER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert saver.stdout.readline() == "ready\n"
    return saver


def test_the_next_save_removes_what_a_killed_one_left(model, tmp_path):
    saver = start_saver(tmp_path / "killed.mm")
    try:
        assert len(os.listdir(tmp_path)) == 1
        model.save(tmp_path / "m.mm")
        assert len(os.listdir(tmp_path)) == 2, "the temporary file of a live process is removed"
    finally:
        saver.send_signal(signal.SIGKILL)
        saver.wait()
        saver.stdout.close()
    assert len(os.listdir(tmp_path)) == 2
    others = [".maxmargin-other.tmp", ".0123456789abcdef.tmp", ".maxmargin-0123456789abcdef.tmp~"]
    for name in others:
        (tmp_path / name).write_text("not ours")
    model.save(tmp_path / "m.mm")
    assert sorted(os.listdir(tmp_path)) == sorted(["m.mm", *others])


def test_links_and_folders_with_such_names_are_left_alone(model, tmp_path):
    target = tmp_path / "data"
    target.write_text("precious")
    (tmp_path / ".maxmargin-0123456789abcdef.tmp").symlink_to(target)
    (tmp_path / ".maxmargin-0123456789abcde0.tmp").mkdir()
    model.save(tmp_path / "m.mm")
    assert target.read_text() == "precious"
    assert len(os.listdir(tmp_path)) == 4


def test_savers_at_the_same_time_do_not_disturb_each_other(tmp_path):
    failures = []

    def save(number):
        try:
            for k in range(30):
                with atomic_file(tmp_path / f"{k % 3}") as file:
                    file.write(b"%d\n" % number * 100)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=save, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sorted(os.listdir(tmp_path)) == ["0", "1", "2"]
    for path in Path(tmp_path).iterdir():
        assert len(set(path.read_text().splitlines())) == 1
