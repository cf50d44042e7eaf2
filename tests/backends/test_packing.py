"""Packing that is killed, interrupted or done twice at the same time, and what it leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import maxmargin as mm
from maxmargin.backends.file_progress import FileProgress
from maxmargin.backends.files import FileData
from maxmargin.backends.packed import Part, read_packed
from maxmargin.backends.packing import FORGOTTEN, write_packed
from maxmargin.saving.leftovers import LOCKS, take_lock
from maxmargin.structures.chain.problem import Chain

SRC = str(Path(__file__).parents[2] / "src")
needs_locks = pytest.mark.skipif(not LOCKS, reason="this system has no locks")

KILLED = """
import os, signal, sys
from pathlib import Path
from test_packing import part
from maxmargin.backends.packing import write_packed

def die():
    os.kill(os.getpid(), signal.SIGKILL)

write_packed(Path(sys.argv[1]), [lambda: part(0), lambda: part(1), die], 4)
"""


def part(number, ones=False):
    """Three sequences with features that depend on the number."""
    random = np.random.RandomState(number)
    matrix = sp.csr_matrix((random.rand(6, 4) < 0.5) * (1.0 if ones else random.rand(6, 4)))
    return Part(matrix, random.randint(3, size=6), np.array([0, 1, 3, 6]), None)


def arrays(place):
    found = read_packed(place, 4, 3)
    return [found.matrix.toarray(), found.codes, found.offsets, found.weight]


def check_same(place, other):
    for a, b in zip(arrays(place), arrays(other), strict=True):
        np.testing.assert_array_equal(a, b)


def readers(numbers, called, **options):
    def reader(number):
        def read():
            called.append(number)
            return part(number, **options)

        return read

    return [reader(number) for number in numbers]


@needs_locks
def test_a_killed_packing_is_continued(tmp_path):
    place, called = tmp_path / "cache" / "shard", []
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([SRC, str(Path(__file__).parent)])}
    done = subprocess.run([sys.executable, "-c", KILLED, str(place)], env=env, check=False)
    assert done.returncode == -signal.SIGKILL
    assert os.listdir(place.parent) == [".shard.partial"]
    # A file that was written in part when the process was killed is cut off.
    with open(place.parent / ".shard.partial" / "indices.npy", "ab") as file:
        file.write(b"half a file")
    seen = []
    write_packed(place, readers(range(4), called), 4, lambda *number: seen.append(number))
    assert called == [2, 3]
    assert seen == [(0, True), (1, True), (2, False), (3, False)]
    assert os.listdir(place.parent) == ["shard"]
    assert not {"lock", "journal.json"} & set(os.listdir(place))
    write_packed(tmp_path / "whole", readers(range(4), []), 4)
    check_same(place, tmp_path / "whole")


@needs_locks
def test_an_interrupted_packing_is_continued(tmp_path):
    def interrupt():
        raise KeyboardInterrupt

    place, called = tmp_path / "shard", []
    with pytest.raises(KeyboardInterrupt):
        write_packed(place, [*readers([0], called), interrupt], 4)
    write_packed(place, readers(range(2), called), 4)
    assert called == [0, 1]


@needs_locks
@pytest.mark.parametrize("damage", [b"", b"{}", b'{"checksum": 1}', b"[]", None])
def test_a_damaged_journal_starts_again(tmp_path, damage):
    def interrupt():
        raise KeyboardInterrupt

    place, called = tmp_path / "shard", []
    with pytest.raises(KeyboardInterrupt):
        write_packed(place, [*readers([0], called), interrupt], 4)
    folder = tmp_path / ".shard.partial"
    if damage is None:  # an array that is shorter than the journal says
        os.truncate(folder / "codes.npy", 130)
    else:
        (folder / "journal.json").write_bytes(damage)
    write_packed(place, readers(range(2), called), 4)
    assert called == [0, 0, 1]
    write_packed(tmp_path / "whole", readers(range(2), []), 4)
    check_same(place, tmp_path / "whole")


@needs_locks
def test_two_processes_may_pack_the_same_shard(tmp_path):
    """The second one uses a folder with a random name, and those of dead processes are removed."""
    place, called = tmp_path / "shard", []
    (tmp_path / ".shard.partial").mkdir()
    lock = take_lock(tmp_path / ".shard.partial" / "lock")
    dead, alive = tmp_path / ".shard-dead", tmp_path / ".shard-alive"
    for folder in (dead, alive):
        folder.mkdir()
        (folder / "lock").touch()
    other = take_lock(alive / "lock")
    assert take_lock(alive / "lock") is None
    write_packed(place, readers(range(2), called), 4)
    os.close(lock)
    os.close(other)
    assert called == [0, 1]
    assert sorted(os.listdir(tmp_path)) == [".shard-alive", ".shard.partial", "shard"]


def test_values_are_stored_from_the_first_that_is_not_one(tmp_path):
    write_packed(tmp_path / "a", readers([0, 1], [], ones=True), 4)
    assert not (tmp_path / "a" / "values.npy").exists()
    mixed = [*readers([0], [], ones=True), *readers([1], [])]
    write_packed(tmp_path / "b", mixed, 4)
    found = read_packed(tmp_path / "b", 4, 3).matrix.toarray()
    np.testing.assert_array_equal(
        found, np.vstack([part(0, True).matrix.toarray(), part(1).matrix.toarray()])
    )


def write_text(path, n, seed):
    random = np.random.RandomState(seed)
    lines = []
    for _ in range(n):
        words = random.randint(30, size=random.randint(1, 7))
        lines += [f"w{word} {'AB'[word % 2]} {'XYZ'[word % 3]}" for word in words] + [""]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("min_count", [1, 3])
def test_one_file_gives_the_weights_of_the_same_data_in_memory(tmp_path, min_count):
    path = write_text(tmp_path / "a.conll", 40, 0)
    options = {"C": 0.2, "template": "chunking", "min_count": min_count}
    X, Y = mm.io.read_conll(path)
    memory = mm.ChainSVC(**options).fit(X, Y)
    disk = mm.ChainSVC(**options).fit(mm.Files(path, cache=tmp_path / "cache"))
    assert disk.feature_names_ == memory.feature_names_
    np.testing.assert_array_equal(disk.result_.w, memory.result_.w)


def test_features_of_several_files_are_counted_together(tmp_path):
    paths = [write_text(tmp_path / f"{k}.conll", 20, k) for k in range(3)]
    X = [sentence for path in paths for sentence in mm.io.read_conll(path)[0]]
    Y = [tags for path in paths for tags in mm.io.read_conll(path)[1]]
    memory = mm.ChainSVC(template="chunking", min_count=3).fit(X, Y)
    disk = mm.ChainSVC(template="chunking", min_count=3)
    disk.fit(mm.Files(paths, cache=tmp_path / "cache"))
    assert set(disk.feature_names_) == set(memory.feature_names_)
    assert disk.tol_ == memory.tol_
    allowed = disk.tol_ * disk.C * len(X)
    assert abs(disk.result_.primal - memory.result_.primal) <= allowed
    with pytest.raises(mm.DataError, match="min_count = 1000"):
        mm.ChainSVC(template="chunking", min_count=1000).fit(mm.Files(paths, cache=tmp_path))


def test_no_array_of_a_chain_is_copied_into_memory(tmp_path):
    path = write_text(tmp_path / "a.conll", 40, 0)
    pack = FileData(mm.Files(path, cache=tmp_path / "cache"), None, "chunking").pack(Chain(3))
    rows = pack.data.rows
    assert rows.ones and len(rows.values) < 20
    for array in (rows.indices, rows.indptr):
        while not isinstance(array, np.memmap):
            array = array.base
            assert array is not None


def test_the_file_with_other_columns_is_named(tmp_path):
    good, bad = write_text(tmp_path / "good.conll", 5, 0), tmp_path / "bad.conll"
    bad.write_text("one X\ntwo Y\n")
    with pytest.raises(mm.DataError, match=r"bad\.conll: does not have the same number"):
        mm.ChainSVC(template="default").fit(mm.Files([good, bad], cache=tmp_path / "cache"))


def test_the_time_left_is_that_of_the_bytes_left():
    progress = FileProgress([100, 300], verbose=0)
    with progress.shown():
        progress.add(0, known=True)  # takes no time, so says nothing
        assert progress.line(0, 5.0) == "collecting features: 1 of 2 files, 5.0 s elapsed"
        progress.add(1, known=False)
        assert progress.line(1, 6.0).endswith("6.0 s elapsed, about 8.0 s left")
    with progress.shown():
        progress.add(0, known=False)
        assert progress.line(0, 8.0) == "packing: 1 of 2 files, 8.0 s elapsed, about 6.0 s left"


def test_progress_is_shown_if_wanted(capsys, monkeypatch):
    monkeypatch.setattr("maxmargin.backends.file_progress.FIRST_LINE", 0.0)
    for verbose, expected in ((0, ""), (1, "collecting features: 1 of 1 files, ")):
        progress = FileProgress([10], verbose)
        with progress.shown():
            progress.add(0, known=False)
        assert capsys.readouterr().err.startswith(expected)


@needs_locks
def test_packings_of_other_files_are_removed_when_they_are_old(tmp_path):
    old, new = (tmp_path / f".shard-{name}.partial" for name in ("old", "new"))
    for folder in (old, new):
        folder.mkdir()
        (folder / "lock").touch()
    past = time.time() - 2 * FORGOTTEN
    for path in (old / "lock", old):
        os.utime(path, (past, past))
    write_packed(tmp_path / "shard-mine", [lambda: part(0)], 4)
    assert new.exists() and not old.exists()
