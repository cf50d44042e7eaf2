"""Compiled code kept on disk, in files that are named by hashes of everything it depends on.

numba's cache checks the time stamp of one file only, although functions that the code calls in
other files may have changed. Here a file is named by a hash of everything that the code was
compiled from (``code_hash.py``). After an edit the name differs, and if the edit is undone the old
file is found again. There is no index, so processes can compile at the same time. This works for
functions typed in a notebook as well as for functions in a file.
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

#: Number of versions of a function that are kept, per machine and types of arguments.
VERSIONS = 4

#: Delete code that has not been used for this many days.
DAYS = 120

# numba numbers the functions that it compiles, and the symbols in machine code contain the number.
# A process can load code from two other processes, so numbers of all processes must differ.
FunctionIdentity._unique_ids = itertools.count(uuid.uuid4().int >> 80)

inner_code.install()

#: Do not say what is compiled.
quiet = False

#: The value of NUMBA_CACHE_DIR for code of this module; None: that of numba.
cache_dir: str | None = None

#: " (k of n)" while the k-th of n functions is being compiled.
_place = ""

#: Whether functions whose code is not on disk raise NotKeptError instead of being compiled.
_only_load = False


class NotKeptError(Exception):
    """The code of a function is not on disk."""


def keep(function: Callable[..., Any], label: str | None = None) -> Any:
    """``@njit(nogil=True)`` whose code is kept on disk; with a label, compiling is announced."""
    options: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}
    compiled = njit(**options)(function)
    if hasattr(compiled, "_cache"):  # not where numba is switched off
        compiled._cache = KeptCode(compiled, label)
    return compiled


def leaf(function: Callable[..., Any]) -> Any:
    """For functions that are called both from Python and from compiled passes.

    If Python calls the function, its code is compiled once and kept on disk; in a compiled pass it
    is compiled as part of the pass.
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
    """Say in messages that function ``number`` of ``total`` is being compiled."""
    global _place
    _place = f" ({number} of {total})"
    try:
        yield
    finally:
        _place = ""


@contextmanager
def only_load() -> Iterator[None]:
    """Raise NotKeptError at the first function whose code is not on disk."""
    global _only_load
    _only_load = True
    try:
        yield
    finally:
        _only_load = False


class KeptCode(_Cache):
    """The compiled versions of one function, in place of numba's cache.

    Parameters
    ----------
    compiled : Dispatcher
        The function.
    label : str, optional
        The name in the message that is printed when it is compiled.
    """

    def __init__(self, compiled: Any, label: str | None):
        self.compiled, self.label = compiled, label
        self.enabled = True

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for these types; None makes numba compile it."""
        target_context.refresh()
        name = self._file_name(sig, target_context.codegen()) if self.enabled else None
        found = None if name is None else _load(name, sig, target_context)
        if found is None and _only_load:
            raise NotKeptError(self.compiled.py_func.__name__)
        if found is None and self.label is not None and not quiet:
            _announce(self.label, kept=name is not None and writeable_folder() is not None)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the code for these types to a file, if possible."""
        folder = writeable_folder()
        name = self._file_name(sig, data.codegen) if self.enabled else None
        lifted = any(not loop.can_cache for loop in data.lifted)
        if folder is None or name is None or lifted or data.library.has_dynamic_globals:
            return
        try:
            _write(folder / name, dumps(data._reduce()))
            prune(folder, name)
        except OSError:  # for example a full disk; this process has its code in memory
            pass

    def _file_name(self, sig: Any, codegen: Any) -> str | None:
        """``function-where-what``: name, hash of types and machine, hash of everything used."""
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
        """Use files."""
        self.enabled = True

    def disable(self) -> None:
        """Do not use files."""
        self.enabled = False

    def flush(self) -> None:
        """Does nothing: an outdated file has a different name."""


def _load(name: str, sig: Any, target_context: Any) -> Any:
    """The code of a file from the first folder that contains it, or None."""
    from numba.core.compiler import CompileResult
    from numba.core.typing.templates import signature

    for folder in folders():
        try:
            payload = pickle.loads((folder / name).read_bytes())
            found = CompileResult._rebuild(target_context, *payload)
        except FileNotFoundError:
            continue
        except Exception:  # a damaged file, or a module that cannot be imported
            continue
        _touch(folder / name)
        # Classes of a script or notebook are copies after loading; numba looks for the types that
        # it asked for.
        return found._replace(signature=signature(found.signature.return_type, *sig))
    return None


def folders() -> list[Path]:
    """The folders in which code is searched; only the last one may be writeable.

    The first is ``NUMBA_CACHE_DIR`` if it is set, otherwise a folder next to this file, so that a
    container image or a shared installation can include compiled code. If it is read-only, the
    user's cache folder follows, and then a temporary folder.
    """
    return list(_folders(config.CACHE_DIR if cache_dir is None else cache_dir))


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
    """The folder to which code is written; None if there is no writeable folder."""
    last = folders()[-1]
    return last if _can_write(last) else None


@lru_cache(maxsize=8)
def _can_write(folder: Path) -> bool:
    """Whether files can be created there; a temporary folder must belong to this user."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        mine = not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()
    except OSError:
        return False
    return mine or folder.parent != Path(tempfile.gettempdir())


def _write(path: Path, data: bytes) -> None:
    """Write a file that other processes see only when it is complete."""
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _touch(path: Path) -> None:
    """Update the time stamp of a file in use, once a day."""
    try:
        if time.time() - path.stat().st_mtime > 86400:
            path.touch()
    except OSError:
        pass


def prune(folder: Path, name: str) -> None:
    """Delete old versions of the function in file ``name``, and files unused for long."""
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
    """Print one line about the function that is being compiled."""
    when = "once on this machine" if kept else "in each process: it cannot be kept on disk"
    print(f"maxmargin: compiling {label}{_place}, {when}", file=sys.stderr, flush=True)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
