"""Figure 3: iterations and time of one-slack training as n grows, with C n fixed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..framework.display import Column, count, seconds
from ..framework.figures import GREY, clean, legend, log_scale, style, unfinished
from ..framework.registry import Verdict, experiment
from ..framework.runs import run_values, train_multiclass

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Group, Session

#: The paper's precision: 0.1 of a loss of 100.
TOL = 1e-3

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
STEPS = {"as printed": 1.0, "short steps": 0.1}

#: C = 1/100 and C = 1/1000 at the full n.
CN = (5229.11, 522.911)

MAX_TIME = 300.0


@experiment(
    "joachims-2009-fig3-scaling-covertype",
    title="Covertype: one-slack training as n grows, with C n fixed",
    claim="With C n fixed the iterations do not grow with n (largest / smallest below 3) and the "
    "time grows linearly (exponent at most 1.1).",
    data=("covertype",),
)
def run(session: Session) -> Verdict:
    """Every size, both step lengths, both values of C n."""
    full = session.load("covertype").n
    sizes = SIZES[:3] if session.quick else (*(n for n in SIZES if n < full), full)
    curves = {
        (cn, variant): [measure(session, cn, variant, n) for n in sizes]
        for cn in (CN[1:] if session.quick else CN)
        for variant in STEPS
    }
    show(session, [group for groups in curves.values() for group in groups])
    session.draw(lambda figure: paint(figure, curves))
    return judge(curves)


def measure(session: Session, cn: float, variant: str, n: int) -> Group:
    """One point of a curve; the repeats draw different examples."""

    def once(seed: int) -> dict[str, Any]:
        from maxmargin import OneSlack

        solver = OneSlack(step=STEPS[variant], cache=0)
        result = train_multiclass(
            session.load("covertype", seed).first(n),
            C=cn / n, solver=solver, tol=TOL, max_time=MAX_TIME,
        )  # fmt: skip
        return run_values(result)

    config = {"one-slack": variant, "C n": cn, "n": n, "tol": TOL, "cap": MAX_TIME}
    return session.measure(config, once)


def show(session: Session, groups: list[Group]) -> None:
    """One row per point."""
    columns = [
        Column("one-slack", "one-slack"),
        Column("C n", "C n", lambda value: f"{value:,.0f}"),
        Column("n", "n", count),
        Column("iterations", "iterations", count, "converged"),
        Column("oracle_calls", "oracle calls", count, "converged"),
        Column("time", "seconds", seconds, "converged"),
    ]
    session.table(groups, columns, f"to tol = {TOL:g}, one core, no cache; > time limit reached")


def exponent(groups: list[Group]) -> float:
    """Slope of log time over log n, by least squares."""
    n = [group.config["n"] for group in groups]
    return float(np.polyfit(np.log(n), np.log([g.median("time") for g in groups]), 1)[0])


def judge(curves: dict[tuple[float, str], list[Group]]) -> Verdict:
    """Both parts of the claim, for every curve; a run that did not converge is a miss."""
    passed, parts = True, []
    for (cn, variant), groups in curves.items():
        iterations = [group.median("iterations") for group in groups]
        spread, slope = max(iterations) / min(iterations), exponent(groups)
        complete = all(group.every("converged") for group in groups)
        passed &= complete and spread < 3 and slope <= 1.1
        parts.append(
            f"{variant}, C n = {cn:,.0f}: iterations {min(iterations):.0f} to "
            f"{max(iterations):.0f} ({spread:.2f}x), time ~ n^{slope:.2f}"
            + ("" if complete else ", not all converged")
        )
    return Verdict(passed, "\n".join(parts))


def paint(figure: Figure, curves: dict[tuple[float, str], list[Group]]) -> None:
    """Iterations on the left, time and a line O(n) on the right."""
    left, right = figure.subplots(1, 2)
    n = [group.config["n"] for group in next(iter(curves.values()))]
    for number, ((cn, variant), groups) in enumerate(curves.items()):
        for axes, key in ((left, "iterations"), (right, "time")):
            low, middle, high = (
                np.array([f(group.numbers(key)) for group in groups]) for f in (min, np.median, max)
            )
            axes.errorbar(
                n, middle, yerr=[middle - low, high - middle], capsize=2,
                label=f"{variant}, C n = {cn:,.0f}: time ~ n^{exponent(groups):.2f}",
                **style(number),
            )  # fmt: skip
            unfinished(axes, n, groups, middle)
    line = 0.6 * min(groups[-1].median("time") for groups in curves.values()) / n[-1] * np.array(n)
    right.plot(n, line, color=GREY, linestyle="--", linewidth=1, label="O(n)")
    right.annotate(
        "O(n)", (n[1], line[1]), xytext=(6, -8),
        textcoords="offset points", color=GREY, fontsize=9,
    )  # fmt: skip
    left.set_ylim(bottom=10)
    for axes in (left, right):
        log_scale(axes, "x")
        log_scale(axes, "y")
    clean(left, f"Iterations to tol = {TOL:g}", "training examples n", "iterations")
    clean(right, "Training time, one core", "training examples n", "seconds")
    legend(figure, left, columns=2)
