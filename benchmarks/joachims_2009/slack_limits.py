"""Figures 8 and 9: iterations and oracle calls over the precision and over C."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..framework.display import Column, count, seconds
from ..framework.figures import clean, legend, log_scale, style, unfinished
from ..framework.registry import Verdict, experiment
from .slacks import APPLICATIONS, CACHED, DATA, PLAIN, STORE, measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Group, Session


class Sweep(NamedTuple):
    """The quantity that is varied: multiples of the task's own value, the easiest first."""

    what: str
    factors: tuple[float, ...]
    label: str


EPSILON = Sweep("tol", (30.0, 10.0, 3.0, 1.0, 0.3), "tol, over the paper's 0.1")
REGULARISER = Sweep("C n", (0.001, 0.01, 0.1, 1.0), "C n, over the table's")


@experiment(
    "joachims-2009-fig8-precision",
    title="Iterations and oracle calls over the precision (Joachims et al. 2009, figure 8)",
    claim="Iterations grow more slowly than 1/epsilon, and with a cache the oracle calls far more "
    "slowly still (exponents below 1 and below 0.5).",
    data=DATA,
    store=STORE,
)
def run_precision(session: Session) -> Verdict:
    """Algorithm 3 with and without its cache for falling epsilon."""
    return compare(session, EPSILON)


@experiment(
    "joachims-2009-fig9-c",
    title="Iterations and oracle calls over C (Joachims et al. 2009, figure 9)",
    claim="Iterations grow more slowly than C, and with a cache the oracle calls far more slowly "
    "still (exponents below 1 and below 0.5).",
    data=DATA,
    store=STORE,
)
def run_c(session: Session) -> Verdict:
    """Algorithm 3 with and without its cache for growing C."""
    return compare(session, REGULARISER)


def compare(session: Session, sweep: Sweep) -> Verdict:
    """Measure, show and judge."""
    grid = {
        (name, program): [point(session, name, program, sweep, f) for f in sweep.factors]
        for name in APPLICATIONS
        for program in (PLAIN, CACHED)
    }
    columns = [
        Column("task", "task"),
        Column("program", "program"),
        Column("C n", "C n", lambda value: f"{value:g}"),
        Column("tol", "tol", lambda value: f"{value:g}"),
        Column("iterations", "iterations", count, "converged"),
        Column("oracle_calls", "oracle calls", count, "converged"),
        Column("time", "seconds", seconds, "converged"),
    ]
    rows = [group for groups in grid.values() for group in groups]
    session.table(rows, columns, "one core; > time limit reached")
    session.draw(lambda figure: paint(figure, grid, sweep))
    return judge(grid, sweep)


def point(session: Session, name: str, program: str, sweep: Sweep, factor: float) -> Group:
    """One run; the quantity that is not varied is the task's own."""
    one = APPLICATIONS[name]
    # At a tenth of the task's C n runs end by their precision, not by the time limit.
    Cn = 0.1 * one.Cn if sweep is EPSILON else factor * one.Cn
    tol = factor * one.tol if sweep is EPSILON else one.tol
    n = one.few if session.quick else one.some
    return measure(session, name, program, n, Cn=Cn, tol=tol)


def growth(groups: list[Group], sweep: Sweep, key: str) -> float:
    """Exponent of 1/epsilon or of C in a value, by least squares over the runs that ended."""
    done = [group for group in groups if group.every("converged")]
    if len(done) < 2:
        return float("nan")
    sign = -1.0 if sweep is EPSILON else 1.0
    x, values = [g.config[sweep.what] for g in done], [g.median(key) for g in done]
    return sign * float(np.polyfit(np.log(x), np.log(values), 1)[0])


def judge(grid: dict[tuple[str, str], list[Group]], sweep: Sweep) -> Verdict:
    """The exponents; at least three of the runs must have ended in time."""
    passed, lines = True, []
    for name in dict.fromkeys(name for name, _ in grid):
        plain, cached = grid[name, PLAIN], grid[name, CACHED]
        iterations = growth(plain, sweep, "iterations")
        calls = growth(cached, sweep, "oracle_calls")
        ended = min(sum(g.every("converged") for g in groups) for groups in (plain, cached))
        passed &= iterations < 1 and calls < 0.5 and ended >= 3
        what = "1/epsilon" if sweep is EPSILON else "C"
        lines.append(
            f"{name}: iterations ~ ({what})^{iterations:.2f}, oracle calls with the cache ~ "
            f"({what})^{calls:.2f}; {ended} of {len(plain)} runs ended in time"
        )
    return Verdict(passed, "\n".join(lines))


def paint(figure: Figure, grid: dict[tuple[str, str], list[Group]], sweep: Sweep) -> None:
    """Iterations without the cache, oracle calls with it."""
    left, right = figure.subplots(1, 2)
    for number, name in enumerate(dict.fromkeys(name for name, _ in grid)):
        for axes, program, key in (
            (left, PLAIN, "iterations"),
            (right, CACHED, "oracle_calls"),
        ):
            groups = grid[name, program]
            values = [group.median(key) for group in groups]
            axes.plot(sweep.factors, values, label=name, **style(number))
            unfinished(axes, sweep.factors, groups, values)
    for axes in (left, right):
        log_scale(axes, "x")
        log_scale(axes, "y")
        if sweep is EPSILON:
            axes.invert_xaxis()
    clean(left, "Iterations, no cache", sweep.label, "")
    clean(right, "Oracle calls, with the cache", sweep.label, "")
    legend(figure, left, columns=3)
