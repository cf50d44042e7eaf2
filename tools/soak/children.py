"""Child processes of trials: forked, killed, and what they leave behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import ROOT
from .trial import CRASH, RAW, FoundError


def fork(work: Callable[[], Any]) -> int:
    """Start ``work`` in a child; returns its process id. An exception is exit code 1."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException as error:
            import traceback

            traceback.print_exception(error)
        finally:
            os._exit(code)
    return pid


def end(pid: int, kill: bool = False) -> bool:
    """Wait for a child, or kill it now; returns whether it was killed before its end."""
    if kill:
        os.kill(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if kill and code == -signal.SIGKILL:
        return True
    if code < 0:
        raise FoundError(CRASH, f"a child ended by {signal.Signals(-code).name}")
    if code > 0:
        printed = Path("/proc/self/fd/2").read_text(errors="replace")
        raise FoundError(RAW, f"a child ended with an error:\n{printed[-3000:]}")
    return False


def is_done(pid: int) -> bool:
    """Whether a child has ended; it is still to be waited for."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def start_python(*arguments: Any, mark: str, **environment: str) -> subprocess.Popen[str]:
    """Another Python, whose descendants can all be found by the mark in their environment."""
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "src", ROOT / "tests")))
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": paths, "SOAK_MARK": mark} | environment,
        cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def marked(mark: str) -> list[int]:
    """Living processes with the mark."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            alive = (place / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
            if alive and f"SOAK_MARK={mark}".encode() in (place / "environ").read_bytes():
                found.append(int(place.name))
        except OSError:
            continue  # it has ended
    return found


def wait_until_gone(mark: str, seconds: float) -> list[int]:
    """The marked processes that are still alive after some time; none as soon as there are none."""
    limit = time.monotonic() + seconds
    while (left := marked(mark)) and time.monotonic() < limit:
        time.sleep(0.2)
    return left


def commands(pids: list[int]) -> list[str]:
    """What these processes run."""
    found = []
    for pid in pids:
        with suppress(OSError):
            line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
            found.append(f"{pid} {line.decode(errors='replace')[:300]}")
    return found


def remove_marked(mark: str) -> None:
    """Kill what a trial has started."""
    for pid in marked(mark):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def remove_folder(path: Path) -> None:
    """Remove a folder in which processes may still be writing."""
    for _ in range(10):
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            return
        time.sleep(0.2)
