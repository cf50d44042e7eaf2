"""Ten million tokens in files, trained on one machine with little memory of its own.

``python -m benchmarks.ours.out_of_core WHERE FOLDER`` trains in a separate process on the files of
a folder (``disk``: packed in a cache there, ``memory``: read into memory) and prints times and the
peak of anonymous memory as JSON. Mapped pages of the cache are not counted: the system can drop
them at any time.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ..framework.child import run_module
from ..framework.data import find_files
from ..framework.display import Column, count, ratio, seconds
from ..framework.registry import Verdict, experiment

if TYPE_CHECKING:
    from ..framework.session import Group, Session

#: Each copy of the corpus has 211,727 tokens; in memory there are those of five copies.
COPIES, QUICK_COPIES, IN_MEMORY = 48, 5, 5

#: One token in this number gets a word that occurs in no other copy, for new features.
ALTERED = 100

#: MB of anonymous memory, and how much longer a token may take than in memory.
MEMORY, SLOWER = 2_000, 1.5

TOL = 0.1


@experiment(
    "out-of-core",
    title="Chunking, copies of CoNLL 2000 with altered words: training from packed files",
    claim=f"10^7 tokens are trained with less than {MEMORY:,} MB of anonymous memory, and the "
    f"solver takes at most {SLOWER} times as long per token as on 10^6 tokens in memory.",
    data=("conll2000",),
)
def run(session: Session) -> Verdict:
    """The files from disk, once packed and once mapped only, and a part of them from memory."""
    copies = QUICK_COPIES if session.quick else COPIES
    first, _ = find_files("conll2000", session.directory)
    with tempfile.TemporaryDirectory(dir=session.out) as folder:
        write_copies(first, Path(folder), copies)
        groups = [
            session.measure(
                {"from": name, "copies": n},
                lambda seed, where=where, n=n: run_module(__name__, where, folder, str(n)),
                repeats=1,
            )
            for name, where, n in (
                ("files", "disk", copies),
                ("packed files", "disk", copies),
                ("memory", "memory", IN_MEMORY),
            )
        ]
    columns = [
        Column("from", "data from"),
        Column("tokens", "tokens", count),
        Column("features", "features", count),
        Column("prepare", "prepare s", seconds),
        Column("solver", "solver s", seconds),
        Column("iterations", "iterations", count),
        Column("microseconds", "solver µs per token", ratio),
        Column("anonymous_mb", "anonymous MB", count),
    ]
    session.table(groups, columns, f"tol = {TOL}, one core; 1 token in {ALTERED} altered")
    return judge(groups)


def judge(groups: list[Group]) -> Verdict:
    """The peak of memory from files, and the time per token beside that in memory."""
    files, packed, memory = groups
    peak = max(files.median("anonymous_mb"), packed.median("anonymous_mb"))
    slower = packed.median("microseconds") / memory.median("microseconds")
    return Verdict(
        peak < MEMORY and slower <= SLOWER,
        f"{files.median('tokens'):,.0f} tokens: {peak:,.0f} MB, {slower:.2f} times the time per "
        f"token; preparing took {files.median('prepare'):.0f} s, {packed.median('prepare'):.0f} s "
        "when packed",
    )


def write_copies(source: Path, folder: Path, copies: int) -> None:
    """Files ``part-0.txt``, ...: the same sentences, some of whose words exist in one copy only."""
    with gzip.open(source, "rt", encoding="utf8") as file:
        lines = re.split(r"\n\n+", file.read().strip())
    text = "\n\n".join(lines).split("\n")
    for copy in range(copies):
        chance = random.Random(copy)
        with open(folder / f"part-{copy:02d}.txt", "w", encoding="utf8") as out:
            for line in text:
                if line and copy and chance.randrange(ALTERED) == 0:
                    word, rest = line.split(" ", 1)
                    line = f"{word}~{copy} {rest}"
                out.write(f"{line}\n")
            out.write("\n")


class Sampler(threading.Thread):
    """The peak of the anonymous memory of this process, sampled ten times per second."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = 0.0
        self.over = threading.Event()

    def run(self) -> None:
        """Sample until ``over``."""
        while not self.over.wait(0.1):
            self.peak = max(self.peak, self.now())

    @staticmethod
    def now() -> float:
        """Anonymous memory in megabytes."""
        status = Path("/proc/self/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("RssAnon"))
        return int(line.split()[1]) * 1024 / 1e6


def main(where: str, folder: str, copies: str) -> None:
    """Train on the first files of a folder; times are CPU seconds of this process."""
    from maxmargin.backends.files import Files
    from maxmargin.io import read_conll
    from maxmargin.structures.chain.estimator import ChainSVC

    sampler = Sampler()
    sampler.start()
    paths = sorted(Path(folder).glob("part-*.txt"))[: int(copies)]
    model = ChainSVC(C=0.1, tol=TOL, template="chunking")
    start, wall = time.process_time(), time.perf_counter()
    if where == "disk":
        model.fit(Files(paths, "conll", cache=Path(folder) / "cache"))
    else:
        X, Y = [], []
        for path in paths:
            rows, tags = read_conll(path)
            X += list(rows)
            Y += tags or []
        model.fit(X, Y)
    took, wall = time.process_time() - start, time.perf_counter() - wall
    sampler.over.set()
    result = model.result_
    solver = took * result.time / wall  # the solver's part of the wall-clock, in CPU seconds
    tokens = sum(1 for path in paths for line in path.open("rb") if line.strip())
    print(
        json.dumps(
            {
                "tokens": tokens,
                "features": model.n_features_in_,
                "prepare": took - solver,
                "solver": solver,
                "iterations": result.n_iter,
                "primal": result.primal,
                "microseconds": 1e6 * solver / tokens,
                "anonymous_mb": sampler.peak,
                "wall": wall,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
