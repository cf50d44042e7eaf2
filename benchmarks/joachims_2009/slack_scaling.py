"""Figures 1 to 5: time, iterations, support vectors and oracle calls as n grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..framework.display import Column, count, percent2, seconds
from ..framework.figures import GREY, clean, legend, log_scale, style, unfinished
from ..framework.registry import Verdict, experiment
from .slacks import APPLICATIONS, CACHED, DATA, N_SLACK, PLAIN, STORE, measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Group, Session

PICTURES = {
    "time": "Training time, s",
    "iterations": "Iterations",
    "support": "Support vectors",
    "oracle_calls": "Oracle calls",
}

PROGRAMS = (N_SLACK, PLAIN, CACHED)

#: The values of C to choose from where it is tuned, as multiples of the task's own C n.
TUNED = (0.01, 0.1, 1.0)


def sizes(session: Session, name: str) -> list[int]:
    """Numbers of training examples."""
    one = APPLICATIONS[name]
    return [one.few // 4, one.few] if session.quick else list(one.sizes)


@experiment(
    "joachims-2009-fig1-scaling",
    title="As n grows, with C n fixed (Joachims et al. 2009, figures 1, 3, 4 and 5)",
    claim="With and without a cache the iterations and the support vectors of 1-slack do not grow "
    "with n (largest / smallest below 3), its time grows at most linearly (exponent at most "
    "1.1), and the cache saves oracle calls; n-slack's support vectors grow with n. Where the "
    "grammar grows with n (CFG) iterations and time may grow, as section 5.4 says.",
    data=DATA,
    store=STORE,
)
def run(session: Session) -> Verdict:
    """Every task, program and size."""
    grid = {
        (name, program): [measure(session, name, program, n) for n in sizes(session, name)]
        for name in APPLICATIONS
        for program in PROGRAMS
    }
    show(session, grid)
    session.draw(lambda figure: paint(figure, grid), width=11, height=3 * len(APPLICATIONS) + 0.6)
    return judge(grid)


def show(session: Session, grid: dict[tuple[str, str], list[Group]]) -> None:
    """One row per point."""
    columns = [
        Column("task", "task"),
        Column("program", "program"),
        Column("n", "n", count),
        Column("time", "seconds", seconds, "converged"),
        Column("iterations", "iterations", count, "converged"),
        Column("oracle_calls", "oracle calls", count, "converged"),
        Column("support", "support vectors", count),
        Column("accuracy", "test", percent2),
    ]
    session.table(
        [group for groups in grid.values() for group in groups], columns,
        "C n fixed, one core; > time limit reached",
    )  # fmt: skip


def slope(groups: list[Group], key: str = "time") -> float:
    """Exponent of n in a value, by least squares over the runs that ended in time."""
    done = [group for group in groups if group.every("converged")]
    if len(done) < 2:
        return float("nan")
    n, values = [g.config["n"] for g in done], [g.median(key) for g in done]
    return float(np.polyfit(np.log(n), np.log(values), 1)[0])


def growth(exponent: float) -> str:
    """How time grows, in words."""
    return "too few runs ended" if np.isnan(exponent) else f"time ~ n^{exponent:.2f}"


def judge(grid: dict[tuple[str, str], list[Group]]) -> Verdict:
    """Each part of the claim, for every task."""
    passed, lines = True, []
    for (name, program), groups in grid.items():
        done = [group for group in groups if group.every("converged")]
        late = len(groups) - len(done)
        told = f"{name}, {program}: {growth(slope(groups))}"
        if program == N_SLACK:
            support = [group.median("support") for group in groups]
            passed &= support == sorted(support)
            told += f", support vectors {support[0]:,.0f} to {support[-1]:,.0f}"
        else:
            grows = APPLICATIONS[name].grows
            for key in ("iterations", "support") if done else ():
                values = [group.median(key) for group in done]
                passed &= max(values) < 3 * min(values) or (grows and key == "iterations")
                told += f", {key} {min(values):,.0f} to {max(values):,.0f}"
            passed &= late == 0 and (grows or slope(groups) <= 1.1)
        lines.append(told + (f"; time limit reached by {late}" if late else ""))
    for name in {name for name, _ in grid}:
        pairs = zip(grid[name, PLAIN], grid[name, CACHED], strict=True)
        passed &= all(p.median("oracle_calls") > c.median("oracle_calls") for p, c in pairs)
    return Verdict(passed, "\n".join(lines))


def paint(figure: Figure, grid: dict[tuple[str, str], list[Group]]) -> None:
    """A row for each task, a panel for each quantity."""
    names = list(dict.fromkeys(name for name, _ in grid))
    panels = figure.subplots(len(names), len(PICTURES), squeeze=False)
    for row, name in zip(panels, names, strict=True):
        for axes, (key, title) in zip(row, PICTURES.items(), strict=True):
            for number, program in enumerate(PROGRAMS):
                groups = grid[name, program]
                n = [group.config["n"] for group in groups]
                values = [max(group.median(key), 1e-3) for group in groups]
                axes.plot(n, values, label=program, **style(number))
                unfinished(axes, n, groups, values)
                if key == "time" and program == CACHED:
                    line = [values[-1] * m / n[-1] / 2 for m in n]
                    axes.plot(n, line, color=GREY, linestyle="--", linewidth=1)
            log_scale(axes, "x")
            log_scale(axes, "y")
            clean(axes, f"{name}: {title}", "n", "")
    legend(figure, panels[0, 0], columns=3)


@experiment(
    "joachims-2009-fig2-tuned-c",
    title="As n grows, with the C that tests best at each n (Joachims et al. 2009, figure 2)",
    claim="The time of 1-slack grows at most linearly with n (exponent at most 1.2) also when C is "
    "tuned at each n, unless the grammar grows with n (CFG).",
    data=DATA,
    store=STORE,
)
def run_tuned(session: Session) -> Verdict:
    """For each n all values of C; the one with the best test result is shown."""
    grid = {
        (name, program): [
            max(
                (measure(session, name, program, n, Cn=part * one.Cn) for part in TUNED),
                key=lambda group: group.median("accuracy"),
            )
            for n in sizes(session, name)[:3]  # each of them with three values of C
        ]
        for name, one in APPLICATIONS.items()
        for program in PROGRAMS
    }
    columns = [
        Column("task", "task"),
        Column("program", "program"),
        Column("n", "n", count),
        Column("C n", "best C n", lambda value: f"{value:g}"),
        Column("time", "seconds", seconds, "converged"),
        Column("accuracy", "test", percent2),
    ]
    session.table(
        [g for groups in grid.values() for g in groups], columns, "one core; > time limit reached"
    )
    session.draw(lambda figure: paint_tuned(figure, grid), width=9, height=4.2)
    slopes = {key: slope(groups) for key, groups in grid.items()}
    return Verdict(
        all(
            value <= 1.2 or APPLICATIONS[name].grows or program == N_SLACK
            for (name, program), value in slopes.items()
        ),
        "\n".join(f"{name}, {program}: {growth(v)}" for (name, program), v in slopes.items()),
    )


def paint_tuned(figure: Figure, grid: dict[tuple[str, str], list[Group]]) -> None:
    """Time over n, for each program."""
    for axes, program in zip(figure.subplots(1, len(PROGRAMS)), PROGRAMS, strict=True):
        for number, name in enumerate(APPLICATIONS):
            groups = grid[name, program]
            n, times = zip(*((g.config["n"], g.median("time")) for g in groups), strict=True)
            axes.plot(n, times, label=name, **style(number))
            unfinished(axes, n, groups, times)
        log_scale(axes, "x")
        log_scale(axes, "y")
        clean(axes, program, "n", "seconds")
    legend(figure, figure.axes[0], columns=3)
