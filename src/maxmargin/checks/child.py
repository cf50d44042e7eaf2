"""``check_problem`` for compiled functions: in a child process, with checks of all bounds.

Compiled code does not check bounds, so that a mistake can end the process, or change memory and
be noticed much later. The child process compiles everything with checks (``NUMBA_BOUNDSCHECK``).
It uses an empty folder for numba's cache, which ignores this setting; files of ``engine/keep.py``
are named by it and used again. If the child crashes all the same, the last call that it has noted
is reported.
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from numba import config

from ..engine import keep
from ..errors import MaxMarginError, ProblemError
from . import probing

#: The child uses the module path of the parent, and does not import its main script.
_CODE = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from maxmargin.checks.child import serve; serve()"
)

#: Maximum length in bytes of the name of the present call.
LONGEST = 1024


class NotSentError(Exception):
    """The problem or the examples cannot be pickled."""


def check_in_child(request: Any) -> Any:
    """``find_mistakes(request)``, called in a child process."""
    import cloudpickle

    try:
        content = cloudpickle.dumps(request)
    except Exception as error:
        raise NotSentError(str(error)) from error
    with tempfile.TemporaryDirectory(prefix="maxmargin-check-") as folder:
        note = Path(folder) / "call"
        note.write_bytes(b" " * LONGEST)
        settings = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": folder}
        child = subprocess.Popen(
            [sys.executable, "-c", _CODE, str(note), config.CACHE_DIR],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **settings},
        )  # fmt: skip
        try:
            answer, _ = child.communicate(pickle.dumps(sys.path) + content)
        finally:
            child.kill()
            child.wait()
        return _read_answer(answer, child.returncode, note)


def _read_answer(answer: bytes, code: int, note: Path) -> Any:
    """What the child has found; a ProblemError if it found a mistake, or crashed."""
    try:
        found, error = pickle.loads(answer)
    except (EOFError, pickle.UnpicklingError) as reason:
        call = note.read_bytes().decode(errors="replace").strip() or "the start"
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        raise ProblemError(
            f"{call} crashed ({how}): it writes outside of its arrays, or needs more memory than "
            "there is. Compiled functions may write to y, work, idx and val only, and not outside "
            "of them"
        ) from reason
    if error is not None:
        raise error
    return found


def serve() -> None:
    """The child process: read the problem, check it, and write what was found."""
    from .check import find_mistakes

    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # text printed by the user's code goes to stderr
    keep.quiet = True  # the parent has said that it takes some seconds
    keep.cache_dir = sys.argv[2]
    with open(sys.argv[1], "r+b") as file, mmap.mmap(file.fileno(), LONGEST) as note:

        def write(call: str) -> None:
            note[:] = call.encode()[:LONGEST].ljust(LONGEST)

        probing.on_call = write
        try:
            answer = (find_mistakes(pickle.load(source)), None)
        except Exception as error:
            known = isinstance(error, MaxMarginError)
            text = str(error) if known else f"{type(error).__name__}: {error}"
            answer = (None, (type(error) if known else ProblemError)(text))
        sink.write(pickle.dumps(answer))
        sink.flush()
