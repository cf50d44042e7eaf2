"""Judges many altered files in one process, with limits on its memory and on the time of each."""

from __future__ import annotations

import faulthandler
import resource
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random

#: Limits for each file: seconds, and bytes of address space of the process.
SECONDS, MEMORY = 10, 6 * 2**30


def run_limited(
    seed: str,
    count: int,
    contents: dict[str, bytes],
    alter: Callable[[bytes, Random], bytes],
    judge: Callable[[Path, str], str],
) -> None:
    """Print a line for each file: its number, its kind, and what ``judge`` says or raises.

    File k of a seed is always the same. A file that takes too long ends the process with the
    traceback; one that crashes it is that of the last line.
    """
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "altered"
        for number in range(count):
            random = Random(f"{seed} {number}")
            kind = random.choice(list(contents))
            path.write_bytes(alter(contents[kind], random))
            print(number, kind, sep="\t", end="\t", flush=True)
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            try:
                found = judge(path, kind)
            except BaseException as error:
                found = f"RAW {_place(error)} {error!r}"
            faulthandler.cancel_dump_traceback_later()
            found = found.replace("\n", " ")[:400]
            print(found.encode("ascii", "backslashreplace").decode(), flush=True)


def _place(error: BaseException) -> str:
    """The file and line that raised an error."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return (
        "" if place is None else f"{Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}"
    )
