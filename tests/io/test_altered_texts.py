"""Altered data files are refused with their name and line, or work; never anything else."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

import maxmargin as mm
from command_line import error_of, run
from maxmargin.backends.formats import Layout, survey_file
from maxmargin.features import Template
from plugins import ROOT, run_python
from tests.saving.alter_models import npy, parts


def test_no_altered_text_crashes_or_hangs():
    """In another process, with limits on memory and time."""
    script = Path(__file__).with_name("alter_texts.py")
    done = run_python(script, "suite", "30", paths=(ROOT / "tests", ROOT))
    assert done.returncode == 0, done.stdout[-300:] + done.stderr[-2000:]
    lines = [line.split("\t", 2) for line in done.stdout.splitlines()]
    assert len(lines) == 30
    assert not [line for line in lines if not line[2].startswith(("refused", "works"))]
    assert {line[2].partition(":")[0] for line in lines} == {"refused", "works"}


@pytest.mark.parametrize("depth", [21, 5000, 100_000])
def test_deeply_nested_functions_of_a_template(depth):
    with pytest.raises(
        mm.DataError, match=r"line 1: term 'lower.*more than 20 functions"
    ) as caught:
        Template("lower(" * depth + "word" + ")" * depth + "\n")
    assert len(str(caught.value)) < 400
    assert Template("lower(" * 20 + "word" + ")" * 20 + "\n").names


def npz(path, compression=zipfile.ZIP_STORED, **arrays):
    """An npz file; an array may be given as [type, order, shape, bytes]."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, array in arrays.items():
            entry = array if isinstance(array, bytes) else npy(*array)
            archive.writestr(f"{name}.npy", entry)
    return str(path)


X, Y = parts(np.eye(2)), parts(np.arange(2))


@pytest.mark.parametrize(
    "arrays",
    [
        {"X": ["<f8", False, [10**12, 10], b""], "y": Y},
        {"X": ["<f8", False, [2, 2], bytes(31)], "y": Y},
        {"X": ["<U999999999", False, [2], b""], "y": Y},
        {"X": ["|O", False, [2], b"x"], "y": Y},
        {"X": b"not an array", "y": Y},
        {"X": b"\x93NUMPY\x03\x00" + bytes(100), "y": Y},
        {"X": parts(np.zeros((0, 10**6))), "y": Y},
        {"data": parts(np.float64(1)), "indices": Y, "indptr": Y, "shape": Y, "y": Y},
        {"data": X, "indices": Y, "indptr": Y, "shape": parts(np.zeros((0, 9))), "y": Y},
    ],
    ids=range(9),
)
def test_npz_files_are_checked_before_they_are_read(arrays, tmp_path):
    path = npz(tmp_path / "x.npz", **arrays)
    with pytest.raises(mm.DataError, match=r"x\.npz: "):
        survey_file(path, Layout("npz", -1, None), None)


def test_other_files_are_not_npz(tmp_path):
    path = tmp_path / "x.npz"
    array = io.BytesIO()
    np.save(array, np.eye(2))
    for content in (array.getvalue(), b"", b"PK\x03\x04", b"1 1:1\n"):
        path.write_bytes(content)
        with pytest.raises(mm.DataError, match=r"x\.npz: is not an npz file of plain arrays"):
            survey_file(str(path), Layout("npz", -1, None), None)


def test_targets_beyond_integers_name_their_line(tmp_path):
    (tmp_path / "data").write_text("1 1:1\n1e300 2:1\n")
    line = error_of(run("train", "multiclass", tmp_path / "data", "-o", tmp_path / "m.mm"))
    assert "data, line 2: the target 1e+300 is not a class" in line
