"""What the second core gives: threads that share w, certificates and prediction."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..framework.display import Column, count, ratio, seconds
from ..framework.figures import clean, legend, style
from ..framework.registry import Verdict, experiment
from ..framework.runs import run_values, train_multiclass
from ..framework.session import side_by_side
from .threads import MANY, TREES, train_task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Group, Session

COVERTYPE = "Covertype"

#: Task: C, tol, examples of a quick run, and the smallest fraction of the ceiling.
TASKS = {
    "chunking": (0.1, 0.01, 300, 0.8),
    "POS": (0.1, 0.01, 300, 0.8),
    MANY: (0.05, 0.01, 20, 0.9),
    TREES: (0.3, 0.01, 60, 0.9),
    COVERTYPE: (0.01, 0.01, 5_000, 0.9),
}

#: Way: threads, and whether the result is that of one thread bit by bit.
WAYS = {"1 thread": (1, True), "2 threads": (2, True), "2 free threads": (2, False)}

#: Work that is deterministic in any number of threads, and the fraction asked of it.
FIXED, FIXED_FRACTION = ("certificate", "prediction", "features"), 0.9

#: Steps of the loop whose speed in two threads is the ceiling.
STEPS = 50_000_000

Measurement = tuple[dict[str, Any], Callable[[int], dict[str, Any]]]


@experiment(
    "all-cores",
    title="Two threads that share w against one thread, beside the machine's own ceiling",
    claim="SDM with deterministic=False gains at least 0.8 of what two threads of pure computation "
    "gain on chunking and POS, and 0.9 of it on chains of 500 labels, parsing and Covertype; "
    "certificates, prediction and feature extraction 0.9 of it.",
    data=("conll2000", "wsj_cfg", "covertype"),
)
def run(session: Session) -> Verdict:
    """Training in all ways, and other passes, each next to the ceiling of that moment."""
    grid = {
        task: session.measure_in_turn([
            ceiling(task), *(training(session, task, way) for way in WAYS),
        ])
        for task in TASKS
    }  # fmt: skip
    grid |= {
        kind: session.measure_in_turn([
            ceiling(kind), *(fixed(session, kind, jobs) for jobs in (1, 2)),
        ])
        for kind in FIXED
    }  # fmt: skip
    show(session, grid)
    session.draw(lambda figure: paint(figure, grid))
    return judge(grid)


def ceiling(row: str) -> Measurement:
    """Two threads of pure computation against one."""

    def once(seed: int) -> dict[str, Any]:
        compute(10)
        alone = _seconds_of(1)
        return {"gain": 2 * alone / _seconds_of(2)}

    return {"task": row, "way": "ceiling"}, once


def _seconds_of(n: int) -> float:
    threads = [threading.Thread(target=compute, args=(STEPS,)) for _ in range(n)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start


def compute(steps: int) -> float:
    """A loop that reads no memory, without the GIL."""
    from numba import njit

    if "compiled" not in _compiled:
        _compiled["compiled"] = njit(_loop, nogil=True)
    return _compiled["compiled"](steps)


_compiled: dict[str, Any] = {}


def _loop(steps):
    x = 1.0
    for _ in range(steps):
        x = x * 1.0000001 + 1e-9
        if x > 2:
            x -= 1
    return x


def training(session: Session, task: str, way: str) -> Measurement:
    """SDM to tol."""
    C, tol, few, _ = TASKS[task]
    jobs, deterministic = WAYS[way]
    n = few if session.quick else (300 if task == MANY else None)
    limit = 20.0 if session.quick else 300.0
    options = {
        "C": C, "tol": tol, "solver": "sdm", "n_jobs": jobs, "deterministic": deterministic,
        "max_time": limit,
    }  # fmt: skip

    def once(seed: int) -> dict[str, Any]:
        if task == COVERTYPE:
            data = session.load("covertype")
            return run_values(train_multiclass(data if n is None else data.first(n), **options))
        return run_values(train_task(session, task, n, **options))

    return {"task": task, "way": way, "n": n, "C": C, "tol": tol, "cap": limit}, once


def fixed(session: Session, kind: str, jobs: int) -> Measurement:
    """Three passes over chunking that do not change w."""
    n = 300 if session.quick else None

    def once(seed: int) -> dict[str, Any]:
        work, end = (features if kind == "features" else values)(session, kind, n, jobs)
        work()  # compiles
        start = time.perf_counter()
        for _ in range(3):
            work()
        found = time.perf_counter() - start
        end()
        return {"time": found}

    return {"task": kind, "way": f"{jobs} thread{'s' * (jobs > 1)}", "n": n}, once


Work = tuple[Callable[[], Any], Callable[[], None]]


def values(session: Session, kind: str, n: int | None, jobs: int) -> Work:
    """All oracles, or all predictions, at a w of ordinary size; and what ends the threads."""
    from maxmargin.engine.shard import Shard, predict_labels
    from maxmargin.problem import MARGIN
    from maxmargin.structures.chain.problem import Chain

    data = session.tagged("chunking", n)
    problem = Chain(len(data.labels))
    pack = problem.pack(data.X, data.Y)
    w = np.random.default_rng(0).normal(0, 0.1, pack.dim)
    shard = Shard(problem, pack, jobs)
    if kind == "certificate":
        return lambda: shard.hinge(w, MARGIN), shard.close
    return lambda: predict_labels(problem, pack, w, jobs), shard.close


def features(session: Session, kind: str, n: int | None, jobs: int) -> Work:
    """The features of the tokens, of which all are known."""
    from maxmargin.features import Extractor

    from ..framework.sequences import TASKS as SEQUENCES
    from ..framework.sequences import read_columns

    source = SEQUENCES["chunking"]
    rows = read_columns(source, session.directory)[0][0][:n]
    extractor = Extractor(source.template)
    extractor.fit_transform(rows)
    return lambda: extractor.transform(rows, n_jobs=jobs), lambda: None


def gain(groups: list[Group]) -> float:
    """How many times faster the last way is than one thread; the median over repeats."""
    alone, together = (np.array(group.numbers("time")) for group in (groups[1], groups[-1]))
    return float(np.median(alone / together))


def fraction(groups: list[Group]) -> float:
    """The gain as a fraction of the ceiling of the same moment."""
    return gain(groups) / groups[0].median("gain")


def asked(row: str) -> float:
    """The fraction of the ceiling that is claimed."""
    return TASKS[row][3] if row in TASKS else FIXED_FRACTION


def show(session: Session, grid: dict[str, list[Group]]) -> None:
    """One row per task."""
    ways = [Column(f"time {way}", f"s, {way}", seconds) for way in WAYS]
    columns = [
        Column("task", "task"),
        Column("gain ceiling", "ceiling", ratio),
        Column("iterations 1 thread", "iterations, 1 thread", count),
        Column("iterations 2 free threads", "2 free threads", count),
        *ways,
    ]
    rows = [side_by_side(grid[task], "way") for task in TASKS]
    session.table(rows, columns, "SDM: solver's seconds to tol")
    columns = [columns[0], columns[1], *ways[:2]]
    rows = [side_by_side(grid[kind], "way") for kind in FIXED]
    session.table(rows, columns, "chunking, nothing changes w: seconds of three passes")


def judge(grid: dict[str, list[Group]]) -> Verdict:
    """Every row against its part of the ceiling."""
    rows = [
        f"{row}: {ratio(gain(groups))} where the ceiling is {ratio(groups[0].median('gain'))}, "
        f"{fraction(groups):.2f} of it, {asked(row)} asked"
        for row, groups in grid.items()
    ]
    ended = all(
        value["converged"] for task in TASKS for group in grid[task][1:] for value in group.values
    )
    passed = ended and all(fraction(groups) >= asked(row) for row, groups in grid.items())
    return Verdict(passed, "\n".join(rows if ended else [*rows, "NOT all runs have converged"]))


def paint(figure: Figure, grid: dict[str, list[Group]]) -> None:
    """Gain and ceiling of each row."""
    axes = figure.subplots()
    heights = {
        "ceiling": [groups[0].median("gain") for groups in grid.values()],
        "two threads": [gain(groups) for groups in grid.values()],
    }
    for number, (name, values) in enumerate(heights.items()):
        places = [k + 0.4 * (number - 0.5) for k in range(len(grid))]
        axes.bar(places, values, 0.36, color=style(number)["color"], label=name)
    axes.axhline(1.0, color="#555555", linewidth=1)
    axes.set_xticks(range(len(grid)), list(grid))
    clean(axes, "higher is better", "", "times faster than one thread")
    legend(figure, axes, columns=2)
