"""Compiled code kept on disk, in files whose names are hashes of all that it was made of.

numba's own cache looks at the time stamp of one file; what it calls in other files may have changed
since. Here a file is named by the hash of everything that the code was compiled from
(``code_hash.py``): after an edit the name is another one, and after the edit is taken back the old
file is found again. There is no index, so processes that compile at the same time do not disturb
each other. This works for functions typed in a notebook as well as for those of a file.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import pickle
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any

from numba import config, njit
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import _Cache
from numba.core.serialize import dumps
from numba.extending import overload

from . import inner_code
from .code_hash import UnknownValueError, code_hash, describe_type

#: How many versions of a function are kept, for each machine and each kind of arguments.
VERSIONS = 4

#: Code that has not been used for so many days is deleted.
DAYS = 120

# numba numbers the functions that it compiles, and the names of machine code carry the number. Code
# of two processes can meet in a third one, where two versions of a function must differ in name.
FunctionIdentity._unique_ids = itertools.count(uuid.uuid4().int >> 80)

inner_code.install()

#: What is being compiled is the k-th of n pieces: " (k of n)".
_place = ""


def keep(function: Callable[..., Any], label: str | None = None) -> Any:
    """``@njit(nogil=True)`` whose code is kept on disk; with a label, compiling is announced."""
    options: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}
    compiled = njit(**options)(function)
    if hasattr(compiled, "_cache"):  # not where numba is switched off
        compiled._cache = KeptCode(compiled, label)
    return compiled


def leaf(function: Callable[..., Any]) -> Any:
    """For functions that Python calls and that loops call: compiled apart only for Python.

    When Python calls it, its code is compiled once and kept on disk; in a loop it is a part of it.
    """
    compiled = keep(function)

    @wraps(function)
    def call(*args: Any) -> Any:
        return compiled(*args)

    if hasattr(compiled, "_cache"):
        overload(call, strict=False)(lambda *_, **__: function)
    return call


@contextmanager
def piece(number: int, total: int) -> Iterator[None]:
    """What is compiled in here is piece ``number`` of ``total``: for the announcement."""
    global _place
    _place = f" ({number} of {total})"
    try:
        yield
    finally:
        _place = ""


class KeptCode(_Cache):
    """The compiled versions of one function, as numba asks for them.

    Parameters
    ----------
    compiled : Dispatcher
        The function.
    label : str, optional
        What to call it while it is compiled.
    """

    def __init__(self, compiled: Any, label: str | None):
        self.compiled, self.label = compiled, label
        self.enabled = True

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for these types, or None: numba then compiles it."""
        target_context.refresh()
        name = self._file_name(sig, target_context.codegen()) if self.enabled else None
        found = None if name is None else _load(name, sig, target_context)
        if found is None and self.label is not None:
            _announce(self.label, kept=name is not None and writeable_folder() is not None)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write code for these types, where it can be kept."""
        folder = writeable_folder()
        name = self._file_name(sig, data.codegen) if self.enabled else None
        lifted = any(not loop.can_cache for loop in data.lifted)
        if folder is None or name is None or lifted or data.library.has_dynamic_globals:
            return
        try:
            _write(folder / name, dumps(data._reduce()))
            prune(folder, name)
        except OSError:  # a full disk, say: this process has its code
            pass

    def _file_name(self, sig: Any, codegen: Any) -> str | None:
        """``function-where-what``: a name, types and machine, and all that the function reaches."""
        settings = [getattr(config, name, None) for name in ("OPT", "BOUNDSCHECK")]
        function = self.compiled.py_func
        try:
            where = _short(repr(([*map(describe_type, sig)], codegen.magic_tuple(), settings)))
            what = code_hash(self.compiled)
        except UnknownValueError:
            return None
        title = f"{function.__module__}.{self.label or function.__name__}".replace(": ", ".")
        return f"{title}-{where}-{what[:32]}.code"

    @property
    def cache_path(self) -> Any:
        """The folder where code is written."""
        folder = writeable_folder()
        return None if folder is None else str(folder)

    def enable(self) -> None:
        """Use the files."""
        self.enabled = True

    def disable(self) -> None:
        """Neither read nor write files."""
        self.enabled = False

    def flush(self) -> None:
        """Nothing to do: a file that should not be used has another name."""


def _load(name: str, sig: Any, target_context: Any) -> Any:
    """The code of a file, in the first folder that has it."""
    from numba.core.compiler import CompileResult
    from numba.core.typing.templates import signature

    for folder in folders():
        try:
            payload = pickle.loads((folder / name).read_bytes())
            found = CompileResult._rebuild(target_context, *payload)
        except FileNotFoundError:
            continue
        except Exception:  # a damaged file, or of a module that cannot be imported: compile
            continue
        _touch(folder / name)
        # Classes of a script or notebook come out of a file as copies; numba looks for the types
        # that it has asked for.
        return found._replace(signature=signature(found.signature.return_type, *sig))
    return None


def folders() -> list[Path]:
    """Where code is looked for: folders that can only be read, then the first that can be written.

    ``NUMBA_CACHE_DIR`` if it is set, otherwise a folder next to this file, so that an image or a
    shared installation can bring its code along; then the user's cache, then a temporary folder.
    """
    return list(_folders(config.CACHE_DIR))


@lru_cache(maxsize=8)
def _folders(first: str) -> tuple[Path, ...]:
    from numba.misc.appdirs import AppDirs

    user = Path(AppDirs("maxmargin", appauthor=False).user_cache_dir)
    near = Path(first) / "maxmargin" if first else Path(__file__).parent / "__pycache__"
    temporary = Path(tempfile.gettempdir()) / f"maxmargin-{getattr(os, 'getuid', int)()}"
    found = []
    for folder in (near, user, temporary):
        found.append(folder)
        if _can_write(folder):
            break
    return tuple(found)


def writeable_folder() -> Path | None:
    """Where code is written; None where no folder can be written."""
    last = folders()[-1]
    return last if _can_write(last) else None


@lru_cache(maxsize=8)
def _can_write(folder: Path) -> bool:
    """Whether files can be made there, in a folder that belongs to this user alone or to root."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        mine = not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()
    except OSError:
        return False
    return mine or folder.parent != Path(tempfile.gettempdir())


def _write(path: Path, data: bytes) -> None:
    """Write a file that others see only when it is complete."""
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _touch(path: Path) -> None:
    """Note that a file is in use, once a day."""
    try:
        if time.time() - path.stat().st_mtime > 86400:
            path.touch()
    except OSError:
        pass


def prune(folder: Path, name: str) -> None:
    """Delete old versions of the function that file ``name`` holds, and what is long unused."""
    same = name.rsplit("-", 1)[0] + "-"
    age: dict[Path, float] = {}
    for path in folder.glob("*.code*"):
        try:
            age[path] = time.time() - path.stat().st_mtime
        except OSError:  # another process has deleted it
            continue
    same_function = [p for p in age if p.name.startswith(same) and p.suffix == ".code"]
    versions = sorted(same_function, key=age.__getitem__)
    for path in {*versions[VERSIONS:], *(p for p in age if age[p] > DAYS * 86400)}:
        path.unlink(missing_ok=True)


def _announce(label: str, kept: bool) -> None:
    """One line about what is being compiled now."""
    when = "once on this machine" if kept else "in each process: it cannot be kept on disk"
    print(f"maxmargin: compiling {label}{_place}, {when}", file=sys.stderr, flush=True)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
