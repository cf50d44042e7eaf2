"""What the paper names as future work: shorter steps, and other rates for bound examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..framework.display import Column, count, percent2, seconds
from ..framework.figures import clean, legend, log_scale, named_ticks, style, unfinished
from ..framework.registry import Verdict, experiment
from .kernel_data import Task
from .kernel_runs import measure_ours

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Group, Session

STEPS = (1.0, 0.5, 0.3, 0.1)
RATES = ((1.0, 1.0), (1.0, 3.0), (3.0, 1.0))
TOLERANCES = (1e-2, 3e-3)
CAP = 60.0


@experiment(
    "yu-2008-improvements",
    title="Linear-time sampled cuts: step lengths, and rates of bound examples",
    claim="The default step needs at most 0.8 of the iterations of the algorithm as printed, on "
    "Checkers and on Adult.",
    data=("adult", "checkers"),
)
def run(session: Session) -> Verdict:
    """Every data set and tolerance; all steps, and all rates at the default step."""
    n = (1_500, 2_000) if session.quick else (30_000, None)
    tasks = [Task("checkers", n[0]), Task("adult", n[1])]
    steps = {
        (task.name, tol): [measure(session, task, tol, {"step": step}) for step in STEPS]
        for task in tasks
        for tol in TOLERANCES[: 1 if session.quick else None]
    }
    rates = {
        key: [measure(session, t, key[1], {"rates": pair}) for pair in RATES]
        for key in steps
        for t in tasks
        if t.name == key[0]
    }
    show(session, [g for row in (*steps.values(), *rates.values()) for g in row])
    session.draw(lambda figure: paint(figure, steps, rates), width=10)
    return judge(steps)


def measure(session: Session, task: Task, tol: float, options: dict[str, Any]) -> Group:
    """One setting of the linear-time algorithm."""
    from maxmargin import SampledCuts

    name = ", ".join(f"{key} = {value}" for key, value in options.items())
    cap = 20.0 if session.quick else CAP
    return measure_ours(session, task, name, {"solver": SampledCuts(**options)}, tol=tol, cap=cap)


def show(session: Session, groups: list[Group]) -> None:
    """One row per setting."""
    columns = [
        Column("data", "data"),
        Column("tol", "tol", lambda value: f"{value:g}"),
        Column("program", "setting"),
        Column("iterations", "iterations", count, "converged"),
        Column("time", "seconds", seconds, "converged"),
        Column("error", "test error", percent2),
        Column("support", "support vectors", count),
    ]
    session.table(groups, columns, "one core; > time limit reached")


def judge(steps: dict[tuple[str, float], list[Group]]) -> Verdict:
    """Iterations as printed and with the default step."""
    from maxmargin.solvers.sampled_cuts import STEP

    default = STEPS.index(STEP["linear"])
    parts = {
        key: groups[default].median("iterations") / groups[0].median("iterations")
        for key, groups in steps.items()
    }
    lines = [
        f"{name}, tol = {tol:g}: {part:.2f} of the iterations"
        for (name, tol), part in parts.items()
    ]
    return Verdict(max(parts.values()) <= 0.8, "\n".join(lines))


def paint(
    figure: Figure,
    steps: dict[tuple[str, float], list[Group]],
    rates: dict[tuple[str, float], list[Group]],
) -> None:
    """Iterations over the step on the left, over the rates on the right."""
    left, right = figure.subplots(1, 2, sharey=True)
    for number, (name, tol) in enumerate(steps):
        for axes, x, groups in (
            (left, STEPS, steps[name, tol]),
            (right, range(len(RATES)), rates[name, tol]),
        ):
            values = np.array([np.mean(g.numbers("iterations")) for g in groups])
            spread = np.array([np.std(g.numbers("iterations")) for g in groups])
            axes.errorbar(x, values, yerr=spread, capsize=2, label=f"{name}, tol = {tol:g}",
                          **style(number))  # fmt: skip
            unfinished(axes, list(x), groups, values)
    left.set_xscale("log")
    named_ticks(left, STEPS)
    right.set_xticks(range(len(RATES)), [f"{a:g} : {b:g}" for a, b in RATES])
    log_scale(left, "y")
    clean(left, "Length of the step (1: as printed)", "step", "iterations")
    clean(right, "Rates of bound and other examples", "bound : other", "")
    legend(figure, left, columns=2)
