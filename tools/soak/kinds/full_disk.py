"""Disks that are full: an error of ours, and every file that was there is as it was."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import maxmargin as mm
from maxmargin.errors import MaxMarginError

from ..trial import LEFT, WRONG, FoundError, Kind, Trial
from . import killed_saving, packed_shards

CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 1 << 18


def prepare(folder: Path) -> tuple[Any, Any]:
    """Writers of files with what they write, and data files for caches."""
    return killed_saving.prepare(folder), packed_shards.prepare(folder)


def trial(trial: Trial) -> None:
    """Write where there is not enough room: on a small tmpfs, under a limit, to /dev/full."""
    saved, packed = trial.ready
    what = trial.random.random()
    if what < 0.6:
        overwrite(trial, *trial.random.choice(saved))
    elif what < 0.7:
        trial.count("writes to /dev/full")
        with trial.refusals():
            trial.random.choice(saved)[0][0](Path("/dev/full"))
    elif what < 0.85:
        train(trial)
    else:
        cache(trial, trial.random.choice(packed))


def overwrite(trial: Trial, pair: Any, contents: Any) -> None:
    """A new version of a file that exists."""
    with little_room(trial, len(contents[0]), len(contents[0]) + 2 * len(contents[1])) as disk:
        path = disk / "file"
        if not attempt(lambda: pair[0](path)):
            return trial.count("refused")
        done = attempt(lambda: pair[1](path))
        trial.count("accepted" if done else "refused")
        if path.read_bytes() != contents[int(done)]:
            raise FoundError(WRONG, f"written: {done}, and the file is another one")
        left = [p.name for p in disk.iterdir() if p != path]
        if left:
            raise FoundError(LEFT, str(left))


def train(trial: Trial) -> None:
    """Training with a checkpoint, or a report of it."""
    X, y = mm.datasets.make_multiclass(30, 20, 3)
    with little_room(trial, 4096, 120_000) as disk:
        checkpoint = mm.Checkpoint(disk / "run.ck", every=0)

        def fit() -> None:
            result = (
                mm.MulticlassSVC(tol=1e-4, max_iter=20, checkpoint=checkpoint).fit(X, y).result_
            )
            result.plot(disk / "report.html")

        trial.count("accepted" if attempt(fit) else "refused")
        left = {p.name for p in disk.iterdir()} - {"run.ck", "report.html"}
        if left:
            raise FoundError(LEFT, str(sorted(left)))


def cache(trial: Trial, case: Any) -> None:
    """The cache of ``mm.Files``."""
    with little_room(trial, 4096, 40_000) as disk:
        trial.count("accepted" if attempt(lambda: _fit(case, trial, disk)) else "refused")
        left = [p.name for p in disk.rglob("*") if ".tmp" in p.name or p.name.startswith(".")]
        if left:
            raise FoundError(LEFT, str(left))


def _fit(case: Any, trial: Trial, disk: Path) -> None:
    data = trial.folder / "data"
    data.mkdir()
    for name, content in case.source.items():
        (data / name).write_bytes(content)
    case.estimator().fit(mm.Files(str(data / case.pattern), cache=disk))


def attempt(write: Callable[[], Any]) -> bool:
    """Whether something was written; errors other than ours are raised."""
    try:
        write()
    except MaxMarginError:
        return False
    return True


@contextmanager
def little_room(trial: Trial, least: int, most: int) -> Iterator[Path]:
    """A folder in which little can be written: a small disk if it can be mounted, or a limit."""
    disk, size = trial.folder / "disk", trial.random.randrange(least, most)
    disk.mkdir()
    if mount(disk, size):
        trial.count("writes to full disks")
        try:
            yield disk
        finally:
            ctypes.CDLL(None).umount2(os.fsencode(disk), 2)
        return
    trial.count("writes beyond a limit")
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        yield disk
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)


def mount(place: Path, size: int) -> bool:
    """Mount a tmpfs that only this process sees, and that is gone with it; needs to be root."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not getattr(mount, "alone", False):
        if libc.unshare(CLONE_NEWNS) or libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None):
            return False
        mount.alone = True  # type: ignore[attr-defined]
    options = f"size={max(size, 4096)}".encode()
    return libc.mount(b"tmpfs", os.fsencode(place), b"tmpfs", 0, options) == 0


KIND = Kind(
    "full disks",
    "models, checkpoints, reports, text files and caches written to disks that are full (a small "
    "tmpfs, a limit of the file size, /dev/full); files that were there stay as they were",
    trial, share=0.5, prepare=prepare, batch=50,
)  # fmt: skip
