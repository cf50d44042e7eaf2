"""Figures 4 to 7 and table 1: sample size and C on Adult, with the Cholesky baseline.

The C of the paper multiplies the average loss, and its features y Phi(x) are twice ours, so its
C = c n is our C = 4 c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..framework.display import Column, count, percent2, seconds
from ..framework.figures import clean, legend, log_scale, style, unfinished
from ..framework.registry import Verdict, experiment
from .kernel_data import Task
from .kernel_runs import LIBSVM, measure_libsvm, measure_ours

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Group, Session

SIZES = (100, 400, 1_000, 4_000, 10_000)
COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)
KINDS = ("constant", "linear")
FUNCTIONS = (250, 500, 1_000, 2_000)

#: The precision of the paper.
TOL = 1e-3

#: Seconds for each run, meant to let at least 40 of the 50 settings end; the paper gave 5 days.
CAP = 900.0

#: Memory in bytes for kernel values: all of Adult's, 22,696 squared numbers of 4 bytes.
CACHE = 2_100_000_000

Grid = dict[tuple[str, float], list["Group"]]


@experiment(
    "yu-2008-figures",
    title="Adult, rbf gamma = 0.05: sampled cuts against sample size and C (figures 4 to 7)",
    claim="More examples in a cut need fewer iterations; the test error hardly depends on their "
    "number (at most 1 point between 400 and 4,000 for C >= 0.1 n), and is within 0.5 points of "
    "libsvm's.",
    data=("adult",),
)
def run(session: Session) -> Verdict:
    """Every kind, sample size and C; libsvm and basis functions at every C."""
    quick = session.quick
    task = Task("adult", 2_000 if quick else None)
    sizes, costs = (SIZES[:2], COSTS[1:3]) if quick else (SIZES, COSTS)
    cap = 20.0 if quick else CAP
    grid = {
        (kind, c): [measure(session, task, kind, r, c, cap) for r in sizes]
        for kind in KINDS
        for c in costs
    }
    peers = {c: measure_libsvm(session, task, 4 * c, repeats=1) for c in costs if c <= 10}
    bases = {
        c: [
            measure_ours(session, task, f"{k} functions", {"n_basis": k}, 4 * c, TOL, cap)
            for k in FUNCTIONS[: 2 if quick else None]
        ]
        for c in costs
    }
    show(session, grid, peers, bases)
    session.draw(lambda figure: paint(figure, grid, sizes), width=13, height=10)
    return judge(grid, peers, sizes)


def measure(session: Session, task: Task, kind: str, r: int, c: float, cap: float) -> Group:
    """Sampled cuts as the paper prints them: full steps."""
    from maxmargin import SampledCuts

    options: dict[str, Any] = {"solver": SampledCuts(kind, r=r, step=1.0, cache_bytes=CACHE)}
    found = measure_ours(session, task, f"{kind} time, r = {r}", options, 4 * c, TOL, cap)
    return found._replace(config=found.config | {"r": r, "kind": kind, "c": c})


def show(
    session: Session, grid: Grid, peers: dict[float, Group], bases: dict[float, list[Group]]
) -> None:
    """Table 1, for all values of C: means and standard deviations over the seeds."""
    columns = [
        Column("program", "program"),
        Column("C", "C", lambda value: f"{value:g}"),
        Column("iterations", "iterations", count, "converged"),
        Column("time", "seconds", seconds, "converged"),
        Column("error", "test error", percent2),
        Column("deviation", "std", percent2),
        Column("train_error", "training error", percent2),
    ]
    groups = [
        *(g for row in grid.values() for g in row),
        *(g for row in bases.values() for g in row),
    ]
    rows = [with_deviation(g) for g in (*peers.values(), *groups)]
    session.table(rows, columns, f"tol = {TOL:g}, one core; > time limit reached")


def with_deviation(group: Group) -> Group:
    """The same with the standard deviation of the test error."""
    more = {"deviation": float(np.std(group.numbers("error")))}
    base = {"iterations": 0}
    return group._replace(values=[base | value | more for value in group.values])


def judge(grid: Grid, peers: dict[float, Group], sizes: tuple[int, ...]) -> Verdict:
    """Judge by the runs that ended in time, and count the others."""
    passed, lines, late = True, [], 0
    for (kind, c), groups in grid.items():
        ended = [g for g in groups if g.every("converged")]
        late += len(groups) - len(ended)
        if len(ended) < 2:
            continue
        first, last = ended[0].median("iterations"), ended[-1].median("iterations")
        passed &= last <= first
        middle = [g.median("error") for g in ended if 400 <= g.config["r"] <= 4000 and c >= 0.1]
        spread = max(middle, default=0.0) - min(middle, default=0.0)
        passed &= spread <= 0.01
        text = f"{kind}, C = {c:g} n: iterations {first:.0f} to {last:.0f}, "
        text += f"test errors {percent2(spread)} apart"
        if c in peers and middle:
            above = max(middle) - peers[c].median("error")
            passed &= above <= 0.005
            text += f", at most {percent2(above)} above {LIBSVM}"
        lines.append(text)
    return Verdict(passed, "\n".join([*lines, f"{late} settings did not end in time"]))


def paint(figure: Figure, grid: Grid, sizes: tuple[int, ...]) -> None:
    """A row for each figure, a column for each algorithm."""
    keys = {"time": "seconds", "iterations": "iterations", "train_error": "training error, %",
            "error": "test error, %"}  # fmt: skip
    panels = figure.subplots(len(keys), 2, sharex=True, sharey="row")
    costs = sorted({c for _, c in grid})
    for column, kind in enumerate(KINDS):
        for row, (key, label) in enumerate(keys.items()):
            axes = panels[row, column]
            factor = 100.0 if "error" in key else 1.0
            for number, c in enumerate(costs):
                groups = grid[kind, c]
                values = np.array([factor * np.mean(g.numbers(key)) for g in groups])
                spread = np.array([factor * np.std(g.numbers(key)) for g in groups])
                axes.errorbar(sizes, values, yerr=spread, capsize=2, label=f"C = {c:g} n",
                              **style(number))  # fmt: skip
                unfinished(axes, sizes, groups, values)
            log_scale(axes, "x")
            if key == "time":
                log_scale(axes, "y")
            title = f"{kind} time" if row == 0 else ""
            clean(axes, title, "examples in a cut, r" if row == 3 else "", "" if column else label)
    legend(figure, panels[0, 0], columns=len(costs))
