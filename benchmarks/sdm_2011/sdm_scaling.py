"""Table 4: training time of SDM as the POS task grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.result import Status

from ..framework.display import Column, count, seconds
from ..framework.figures import GREY, clean, legend, log_scale, named_ticks, style, unfinished
from ..framework.registry import Verdict, experiment
from ..framework.runs import run_values, train_chain
from .sdm_tables import as_printed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Group, Session

TASK = "POS 7200"
SIZES = (450, 900, 1800, 3600, 7200)
QUICK = (60, 120, 240)
MAX_TIME = 300.0

#: The paper's seconds for each C.
PAPER = {0.1: (12, 18, 32, 53, 77), 1.0: (14, 28, 45, 92, 160)}

LARGEST_SLOPE = 1.1


@experiment(
    "sdm-2011-table4-scaling",
    title="Training time of SDM as printed on POS tagging (Balamurugan et al. 2011, table 4)",
    claim="The time of SDM as printed to tau-optimality grows at most linearly with the number of "
    "sentences (exponent at most 1.1), for C = 0.1 and C = 1.",
    data=("conll2000",),
)
def run(session: Session) -> Verdict:
    """Every size and both values of C."""
    sizes = QUICK if session.quick else SIZES
    curves = {C: [measure(session, C, n) for n in sizes] for C in PAPER}
    show(session, curves)
    session.draw(lambda figure: paint(figure, curves), width=7.5)
    return judge(curves)


def measure(session: Session, C: float, n: int) -> Group:
    """Train until the paper's own rule ends it: no violation above tau."""

    def once(seed: int) -> dict[str, Any]:
        result = train_chain(
            session.tagged(TASK, n), C=C, solver=as_printed(), tol=1e-7, max_time=MAX_TIME,
            random_state=seed,
        )  # fmt: skip
        # A run that its own rule ended counts as converged here.
        return run_values(result) | {"converged": result.status is Status.OWN_RULE}

    return session.measure({"C": C, "n": n, "cap": MAX_TIME}, once)


def show(session: Session, curves: dict[float, list[Group]]) -> None:
    """One row per point, next to the paper's seconds."""
    columns = [
        Column("C", "C", lambda value: f"{value:g}"),
        Column("n", "sentences", count),
        Column("time", "seconds", seconds, "converged"),
        Column("iterations", "iterations", count, "converged"),
        Column("oracle_calls", "oracle calls", count, "converged"),
        Column("paper", "paper s"),
    ]
    groups = [
        group._replace(config={**group.config, "paper": _paper(C, group.config["n"])})
        for C, groups in curves.items()
        for group in groups
    ]
    session.table(groups, columns, "to tau = 0.25, one core; > time limit reached")


def _paper(C: float, n: int) -> str:
    return str(PAPER[C][SIZES.index(n)]) if n in SIZES else ""


def slope(n: Any, time: Any) -> float:
    """Of log time over log n, by least squares."""
    return float(np.polyfit(np.log(n), np.log(time), 1)[0])


def judge(curves: dict[float, list[Group]]) -> Verdict:
    """The fitted exponents; a run that did not end by its rule is a miss."""
    passed, lines = True, []
    for C, groups in curves.items():
        found = slope([g.config["n"] for g in groups], [g.median("time") for g in groups])
        complete = all(group.every("converged") for group in groups)
        passed &= complete and found <= LARGEST_SLOPE
        lines.append(
            f"C = {C:g}: time ~ n^{found:.2f} (the paper's: n^{slope(SIZES, PAPER[C]):.2f})"
            + ("" if complete else ", not all ended in time")
        )
    return Verdict(passed, "\n".join(lines))


def paint(figure: Figure, curves: dict[float, list[Group]]) -> None:
    """Ours and the paper's, and a line O(n)."""
    axes = figure.subplots()
    for number, (C, groups) in enumerate(curves.items()):
        n = [group.config["n"] for group in groups]
        times = [group.numbers("time") for group in groups]
        low, middle, high = (np.array([f(t) for t in times]) for f in (min, np.median, max))
        axes.errorbar(
            n, middle, yerr=[middle - low, high - middle], capsize=2,
            label=f"ours, C = {C:g}: n^{slope(n, middle):.2f}", **style(number),
        )  # fmt: skip
        unfinished(axes, n, groups, middle)
        if set(n) <= set(SIZES):
            look = style(number, linestyle="--", markersize=4, linewidth=1, alpha=0.6)
            axes.plot(SIZES, PAPER[C], **look,
                      label=f"paper (2011), C = {C:g}: n^{slope(SIZES, PAPER[C]):.2f}")  # fmt: skip
    n = np.array([group.config["n"] for group in curves[0.1]])
    line = 0.6 * curves[0.1][-1].median("time") * n / n[-1]
    axes.plot(n, line, color=GREY, linestyle=":", label="O(n)")
    log_scale(axes, "y")
    axes.set_xscale("log")
    named_ticks(axes, n.tolist())
    clean(axes, "to tau = 0.25, one core", "training sentences n", "seconds")
    legend(figure, axes, columns=3)
