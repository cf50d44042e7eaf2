"""Table 2: 1-slack training of binary classifiers against a decomposition method."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..framework.data import Dataset
from ..framework.display import Column, count, percent2, ratio, seconds
from ..framework.figures import clean, legend, log_scale, style
from ..framework.registry import Verdict, experiment
from ..framework.runs import run_values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Group, Session

TOL = 1e-3
CAP = 300.0

LIBSVM, LIBLINEAR, PRINTED, DEFAULT = "libsvm", "liblinear", "1-slack", "default"

#: libsvm is measured up to this many examples; larger n are extrapolated by its own exponent.
MOST = 20_000


class Task(NamedTuple):
    """Some classes of a data set against the others, with the paper's row if there is one."""

    data: str
    positive: tuple[int, ...]
    C: float
    paper: str = ""


TASKS = {
    "CCAT, small": Task("rcv1_ccat_small", (1,), 1.0, "58.0 / 20,075.5"),
    "R8 earn": Task("reuters_r8", (2,), 1.0),
    "news20 comp": Task("news20", (1, 2, 3, 4, 5), 1.0),
    "Adult": Task("adult", (1,), 0.1),
    "Covertype 1": Task("covertype", (0,), 0.01, "53.4 / 25,514.3"),
}


@experiment(
    "joachims-2009-table2-binary",
    title="Binary classification: 1-slack, libsvm and liblinear (Joachims et al. 2009, table 2)",
    claim="1-slack training (no cache) is faster than a decomposition method (libsvm, linear "
    "kernel) on every task with at least 10,000 examples, and tests as well (within 1 point).",
    data=tuple(sorted({task.data for task in TASKS.values()})),
)
def run(session: Session) -> Verdict:
    """All programs on all examples; libsvm on two smaller sizes if all would take too long."""
    grid: dict[str, dict[str, Group]] = {}
    for name, task in TASKS.items():
        n = session.load(task.data).n
        n = min(n, 1_000) if session.quick else n
        least = min(n, 500 if session.quick else MOST)
        grid[name] = {
            LIBSVM: measure(session, name, LIBSVM, least),
            f"{LIBSVM}, half": measure(session, name, LIBSVM, least // 2),
            **{other: measure(session, name, other, n) for other in (LIBLINEAR, PRINTED, DEFAULT)},
        }
    show(session, grid)
    session.draw(lambda figure: paint(figure, grid), height=4.2)
    return judge(grid)


def measure(session: Session, name: str, program: str, n: int) -> Group:
    """One program on n examples; libsvm is run once, because it takes long."""
    task = TASKS[name]
    config = {"task": name, "program": program, "n": n, "C": task.C, "tol": TOL, "cap": CAP}

    def once(seed: int) -> dict[str, Any]:
        data = two_classes(session.load(task.data, seed), task).first(n)
        train = {LIBSVM: run_libsvm, LIBLINEAR: run_liblinear}.get(program)
        return train(data, task.C) if train else run_ours(data, task.C, program, seed)

    return session.measure(config, once, repeats=1 if program == LIBSVM else None)


def two_classes(data: Dataset, task: Task) -> Dataset:
    """y = 1 for the classes of the task, 0 for the others."""
    return data._replace(
        y=np.isin(data.y, task.positive).astype(int),
        y_test=np.isin(data.y_test, task.positive).astype(int),
    )


def run_ours(data: Dataset, C: float, program: str, seed: int) -> dict[str, Any]:
    """1-slack as printed, or what "auto" chooses."""
    from maxmargin import BinarySVC, OneSlack

    solver = OneSlack(step=1.0, cache=0) if program == PRINTED else "auto"
    clf = BinarySVC(C=C, solver=solver, tol=TOL, max_time=CAP, random_state=seed)
    clf.fit(data.X, data.y)
    return run_values(clf.result_) | {"accuracy": float(clf.score(data.X_test, data.y_test))}


def run_libsvm(data: Dataset, C: float) -> dict[str, Any]:
    """Train libsvm, which always fits a bias term."""
    from sklearn.svm import SVC

    return _time(SVC(kernel="linear", C=C, tol=TOL, cache_size=1000), data)


def run_liblinear(data: Dataset, C: float) -> dict[str, Any]:
    """The same objective as ours, without a bias term."""
    from sklearn.svm import LinearSVC

    peer = LinearSVC(loss="hinge", fit_intercept=False, C=C, tol=TOL, max_iter=10_000)
    return _time(peer, data)


def _time(peer: Any, data: Dataset) -> dict[str, Any]:
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        peer.fit(data.X, data.y)
    return {
        "time": time.perf_counter() - start,
        "accuracy": float(peer.score(data.X_test, data.y_test)),
        "converged": not any(issubclass(w.category, ConvergenceWarning) for w in caught),
    }


def extrapolated(groups: dict[str, Group]) -> tuple[float, bool]:
    """libsvm's seconds on all examples, and whether they had to be extrapolated."""
    full, half = groups[LIBSVM], groups[f"{LIBSVM}, half"]
    n = groups[PRINTED].config["n"]
    if full.config["n"] == n:
        return full.median("time"), False
    exponent = math.log(full.median("time") / half.median("time")) / math.log(
        full.config["n"] / half.config["n"]
    )
    return full.median("time") * (n / full.config["n"]) ** exponent, True


def show(session: Session, grid: dict[str, dict[str, Group]]) -> None:
    """Seconds and test results side by side."""
    rows = []
    for name, groups in grid.items():
        took, guessed = extrapolated(groups)
        config = {
            "task": name,
            "n": groups[PRINTED].config["n"],
            "libsvm": ("~ " if guessed else "") + seconds(took),
            "ratio": took / groups[PRINTED].median("time"),
            "paper": TASKS[name].paper,
        }
        values = {
            f"{key} {p}": groups[p].median(key) for p in groups for key in ("time", "accuracy")
        }
        values["complete"] = groups[PRINTED].every("converged")
        rows.append(groups[PRINTED]._replace(config=config, values=[values]))
    columns = [
        Column("task", "task"),
        Column("n", "n", count),
        Column(f"time {PRINTED}", "1-slack s", seconds, "complete"),
        Column("libsvm", "libsvm s"),
        Column("ratio", "ratio", ratio),
        Column(f"time {LIBLINEAR}", "liblinear s", seconds),
        Column(f"time {DEFAULT}", "default s", seconds),
        Column(f"accuracy {PRINTED}", "test: 1-slack", percent2),
        Column(f"accuracy {LIBSVM}", "libsvm", percent2),
        Column("paper", "paper s"),
    ]
    title = f"one core, tol = {TOL:g}; ~ extrapolated from {MOST:,} examples; > time limit reached"
    session.table(rows, columns, title)


def judge(grid: dict[str, dict[str, Group]]) -> Verdict:
    """Compare times on large tasks, and test results where libsvm had all examples."""
    passed, lines = True, []
    for name, groups in grid.items():
        took, guessed = extrapolated(groups)
        faster = took / groups[PRINTED].median("time")
        apart = groups[PRINTED].median("accuracy") - groups[LIBSVM].median("accuracy")
        if groups[PRINTED].config["n"] >= 10_000:
            passed &= faster > 1 and groups[PRINTED].every("converged")
        passed &= guessed or abs(apart) <= 0.01
        lines.append(
            f"{name}: {ratio(faster)}{' (extrapolated)' if guessed else ''}, "
            f"{100 * apart:+.2f} points"
        )
    return Verdict(passed, "\n".join(lines))


def paint(figure: Figure, grid: dict[str, dict[str, Group]]) -> None:
    """A line for each task, a mark for each program."""
    axes = figure.subplots()
    places = range(len(grid))
    for number, program in enumerate((LIBSVM, PRINTED, LIBLINEAR, DEFAULT)):
        times = [
            extrapolated(groups)[0] if program == LIBSVM else groups[program].median("time")
            for groups in grid.values()
        ]
        look = style(number, markersize=8, linestyle="none")
        axes.plot(times, places, label=program, **look)
    names = [f"{name}, n = {groups[PRINTED].config['n']:,}" for name, groups in grid.items()]
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    log_scale(axes, "x")
    clean(axes, "libsvm extrapolated where n is too large for it", "seconds", "")
    legend(figure, axes, columns=4)
