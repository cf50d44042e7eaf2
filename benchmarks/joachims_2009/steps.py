"""How far to step towards the QP's solution: what justifies the default of one-slack training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..framework.display import Column, count, percent, seconds
from ..framework.figures import clean, legend, log_scale, named_ticks, style, unfinished
from ..framework.registry import Verdict, experiment
from ..framework.runs import run_values, train_multiclass
from ..framework.session import side_by_side

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Group, Session

STEPS = (1.0, 0.5, 0.3, 0.1, 0.05)
DEFAULT = 0.1
TOL = 1e-2
MAX_TIME = 120.0

#: Data set: training examples of a quick run, and the values of C.
GRID = {
    "digits": (400, (0.01, 0.1, 1.0, 10.0)),
    "usps": (800, (0.01, 0.1, 1.0, 10.0)),
    "news20": (500, (0.1, 1.0, 10.0)),
    "covertype": (3_000, (0.01, 0.1, 1.0)),
}

#: Use this many examples of Covertype: only the number of iterations matters here.
LARGEST = 20_000


@experiment(
    "joachims-2009-steps",
    title="Iterations of one-slack training against the length of its steps",
    claim="Steps of 0.1 need at most 1.5 times the iterations of the best step length on every "
    "problem, and fewer than the algorithm as printed (1) where C is largest.",
    data=("covertype", "news20", "usps"),
)
def run(session: Session) -> Verdict:
    """Every data set, C and step length."""
    grid = {
        (name, C): [measure(session, name, C, step) for step in STEPS]
        for name, (_, values) in GRID.items()
        for C in values
    }
    show(session, grid)
    session.draw(lambda figure: paint(figure, grid), width=12, height=6.6)
    return judge(grid)


def measure(session: Session, name: str, C: float, step: float) -> Group:
    """Train to ``TOL``; the repeats only show the spread of the time."""
    n = GRID[name][0] if session.quick else min(session.load(name).n, LARGEST)

    def once(seed: int) -> dict[str, Any]:
        from maxmargin import OneSlack

        data = session.load(name).first(n)
        solver = OneSlack(step=step, cache=0)
        return run_values(train_multiclass(data, C=C, solver=solver, tol=TOL, max_time=MAX_TIME))

    config = {"data": name, "n": n, "C": C, "step": step, "tol": TOL, "cap": MAX_TIME}
    return session.measure(config, once)


def show(session: Session, grid: dict[tuple[str, float], list[Group]]) -> None:
    """One row per problem, one column per step length."""
    columns = [
        Column("data", "data"),
        Column("C", "C", lambda value: f"{value:g}"),
        *(Column(f"iterations {s}", f"at {s:g}", count, f"converged {s}") for s in STEPS),
        Column("time 1.0", "s at 1", seconds, "converged 1.0"),
        Column(f"time {DEFAULT}", f"s at {DEFAULT}", seconds, f"converged {DEFAULT}"),
        Column(f"qp_share {DEFAULT}", "in the QP", percent),
    ]
    session.table(
        [side_by_side(groups, "step") for groups in grid.values()], columns,
        f"iterations to tol = {TOL:g} at each step, one core, no cache; > time limit reached",
    )  # fmt: skip


def judge(grid: dict[tuple[str, float], list[Group]]) -> Verdict:
    """The worst case of the default step, and its gain over the printed algorithm.

    Iterations of a run that reached the time limit are a lower bound, which cannot favour the
    default.
    """
    default, printed = STEPS.index(DEFAULT), STEPS.index(1.0)
    complete = all(groups[default].every("converged") for groups in grid.values())
    needed = {key: [g.median("iterations") for g in groups] for key, groups in grid.items()}
    worst, where = max((row[default] / min(row), key) for key, row in needed.items())
    gains = {}
    for name, (_, values) in GRID.items():
        row = needed[name, max(values)]
        gains[name] = row[printed] / row[default]
    numbers = (
        f"worst case: {worst:.2f}x the best step ({where[0]}, C = {where[1]:g})\n"
        "iterations as printed / with the default, at the largest C: "
        + ", ".join(f"{name} {gain:.2f}" for name, gain in gains.items())
        + ("" if complete else "\nnot all runs with the default converged")
    )
    return Verdict(complete and worst <= 1.5 and min(gains.values()) > 1, numbers)


def paint(figure: Figure, grid: dict[tuple[str, float], list[Group]]) -> None:
    """A column for each data set: iterations above, the QP's share of the time below."""
    panels = figure.subplots(2, len(GRID), sharex=True, sharey="row")
    colors = sorted({C for _, C in grid})
    for column, name in enumerate(GRID):
        above, below = panels[:, column]
        for C in GRID[name][1]:
            groups, look = grid[name, C], style(colors.index(C), markersize=6)
            needed = [group.median("iterations") for group in groups]
            above.plot(STEPS, needed, label=f"C = {C:g}", **look)
            unfinished(above, STEPS, groups, needed)
            below.plot(STEPS, [100 * g.median("qp_share") for g in groups], **look)
        for axes in (above, below):
            axes.axvline(DEFAULT, color="#bbbbbb", linewidth=6, alpha=0.4, zorder=0)
            axes.set_xscale("log")
            named_ticks(axes, STEPS)
        n, first = grid[name, GRID[name][1][0]][0].config["n"], column == 0
        clean(above, f"{name}, n = {n:,}", "", "iterations" if first else "")
        clean(below, "", "step (shaded: the default)", "QP, % of the time" if first else "")
    log_scale(panels[0, 0], "y")
    legend(figure, panels[0, 0], columns=len(colors))
