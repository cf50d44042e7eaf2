"""Files that are no text are called what they are."""

from __future__ import annotations

import bz2
import gzip
import lzma

import numpy as np
import pytest

import maxmargin as mm

READERS = [mm.io.read_conll, mm.io.read_trees, mm.io.read_sentences, mm.io.read_svmlight]
CONTENTS = {
    "numbers": (np.arange(9).tobytes(), "line 1: contains a zero byte, so it is a binary file"),
    "later": (b"the DT\ncat\0 NN\n", "line 2: contains a zero byte, so it is a binary file"),
    "packed": (gzip.compress(b"\0" * 99), "contains a zero byte, so it is a binary file"),
    "zip": (b"PK\x03\x04 and so on", "is a binary file .a model or a zip archive., not text"),
    "bz2": (bz2.compress(b"the DT\n"), "is compressed with bzip2"),
    "xz": (lzma.compress(b"the DT\n"), "is compressed with xz"),
    "UTF-16": ("the DT\n".encode("utf-16"), "is UTF-16 text"),
}


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("kind", CONTENTS)
def test_binary_files_are_called_binary(tmp_path, read, kind):
    content, said = CONTENTS[kind]
    (tmp_path / "data").write_bytes(content)
    with pytest.raises(mm.DataError, match=f"data.*{said}"):
        read(tmp_path / "data")
