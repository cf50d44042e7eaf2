"""Compiled code on disk must not outlive the sources it was made of.

numba keeps what it compiles beside the file that defines a function and looks only at that file's
time stamp. Our bindings are made of many files, and an index that names a type which has since
moved cannot even be read. So a mark in numba's directory holds a hash of all kernel sources; when
it differs, after an edit or an upgrade, the code there is deleted.
"""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path

PACKAGE = Path(__file__).parent
MARK = "maxmargin-kernels.txt"


@lru_cache(maxsize=1)
def delete_outdated() -> None:
    """Delete the compiled code of this package if its sources have changed since."""
    from . import compiled

    # Plain functions when numba is switched off: they keep nothing.
    stats = getattr(compiled.binary_decode, "stats", None)
    if stats is not None and stats.cache_path is not None:
        clean(Path(stats.cache_path), kernel_hash())


def kernel_hash() -> str:
    """A hash of every file whose functions or types are part of compiled code."""
    files = [path for folder in ("", "problems") for path in (PACKAGE / folder).glob("*.py")]
    texts = {str(path.relative_to(PACKAGE)): path.read_bytes() for path in files}
    kernels = {k: t for k, t in sorted(texts.items()) if b"numba" in t or b"NamedTuple" in t}
    return hashlib.sha256(repr(kernels).encode()).hexdigest()


def clean(directory: Path, wanted: str) -> None:
    """Delete numba's files in ``directory`` unless it carries the mark ``wanted``.

    Directories that cannot be written are left alone: nothing new can be kept there either.
    """
    mark = directory / MARK
    try:
        if mark.exists() and mark.read_text() == wanted:
            return
        for path in directory.glob("*.nb[ic]"):
            path.unlink(missing_ok=True)
        directory.mkdir(parents=True, exist_ok=True)
        temporary = directory / f"{MARK}.{os.getpid()}"
        temporary.write_text(wanted)
        temporary.replace(mark)
    except OSError:
        return
