"""Compile several functions at the same time, in processes, where there are cores for it.

numba compiles one function at a time. Copies of this process (``os.fork``) compile a part of the
functions each and write the code to disk (``keep.py``), from where this process loads it. If a copy
fails or takes too long, its functions are compiled here.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence

from .keep import NotKeptError, only_load, writeable_folder

#: A call that compiles a function or loads its code.
Job = Callable[[], None]

#: Seconds to wait for the other processes after this one has finished its part.
PATIENCE = 60.0


def make_ready(jobs: Sequence[Job]) -> None:
    """Make all calls; what is not on disk is compiled in several processes if possible."""
    missing = [job for job in jobs if not _load(job)]
    n_processes = min(_n_cores(), len(missing)) if _can_fork() else 1
    children = [_start(missing[k::n_processes]) for k in range(1, n_processes)]
    try:
        for job in missing[::n_processes] if children else missing:
            job()
        _wait(children)
        for job in missing if children else ():
            job()
    finally:
        _stop(children)


def _load(job: Job) -> bool:
    """Whether the code was on disk and is loaded now."""
    try:
        with only_load():
            job()
    except NotKeptError:
        return False
    return True


def _can_fork() -> bool:
    """Whether a copy of this process can compile and hand over its code.

    A copy has only the thread that made it. It would wait forever for a lock that another thread
    held at that moment.
    """
    alone = threading.active_count() == 1
    return sys.platform == "linux" and alone and writeable_folder() is not None


def _n_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def _start(jobs: Sequence[Job]) -> int:
    """The number of a new process that does this work."""
    with warnings.catch_warnings():
        # Python warns about threads of OpenBLAS, which handles a fork.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            for job in jobs:
                job()
        except BaseException:  # the parent compiles it and meets the same error
            pass
        finally:
            os._exit(0)
    return child


def _wait(children: list[int]) -> None:
    """Wait for processes to end, for a limited time."""
    deadline = time.monotonic() + PATIENCE
    while children and time.monotonic() < deadline:
        children[:] = [child for child in children if os.waitpid(child, os.WNOHANG)[0] == 0]
        time.sleep(0.005)


def _stop(children: list[int]) -> None:
    """End the processes that are still at work."""
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
