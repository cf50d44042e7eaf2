"""Figures 3, 8 and 9 for parsing, and section 5.4: a grammar that grows with n."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..framework.display import Column, count, seconds
from ..framework.figures import clean, legend, log_scale, style, unfinished
from ..framework.registry import Verdict, experiment
from ..framework.treebank import load_treebank
from .cfg import CACHED, CN, PLAIN, QUICK, TOL, measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Group, Session

SIZES = {"wsj_cfg": (25, 50, 100, 200, 400), "gum_cfg": (50, 150, 500, 1500)}
FACTORS = (0.01, 0.1, 1.0, 10.0)
TOLERANCES = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3)
SOLVERS = (PLAIN, CACHED)


@experiment(
    "joachims-2009-cfg-scaling",
    title="Parsing: iterations and oracle calls as n, C and the precision change",
    claim="With C n fixed the grammar grows with n, one oracle call takes longer with more rules, "
    "and the iterations grow more slowly than n; they grow at most like C and like 1 / tol.",
    data=("wsj_cfg", "gum_cfg"),
)
def run(session: Session) -> Verdict:
    """Curves over n on both treebanks, over C and over tol on the smaller one."""
    full = len(load_treebank("wsj_cfg", session.directory).trees)
    n = QUICK if session.quick else full
    over_n = {
        (data, solver): [
            measure(session, solver, m, data=data, shuffle=True)
            for m in ((20, QUICK) if session.quick else _sizes(session, data))
        ]
        for data in SIZES
        for solver in SOLVERS
    }
    factors = FACTORS[:3] if session.quick else FACTORS
    over_c = {s: [measure(session, s, n, cn=CN * factor) for factor in factors] for s in SOLVERS}
    tolerances = TOLERANCES[:3] if session.quick else TOLERANCES
    over_tol = {s: [measure(session, s, n, tol=tol) for tol in tolerances] for s in SOLVERS}
    show(session, over_n, over_c, over_tol)
    session.draw(lambda figure: paint(figure, over_n, over_c, over_tol), width=11, height=7)
    return judge(over_n, over_c, over_tol)


def _sizes(session: Session, data: str) -> tuple[int, ...]:
    return (*SIZES[data], len(load_treebank(data, session.directory).trees))


def show(session: Session, over_n: Any, over_c: Any, over_tol: Any) -> None:
    """A table for each of the three."""
    first = [Column("data", "trees"), Column("solver", "solver"), Column("n", "n", count)]
    last = [
        Column("iterations", "iterations", count, "converged"),
        Column("calls_each", "oracle calls / n", lambda value: f"{value:.1f}", "converged"),
        Column("time", "seconds", seconds, "converged"),
    ]
    grammar = [
        Column("features", "rules", count),
        Column("rules", "binary", count),
        Column("call_time", "ms per call", lambda value: f"{1000 * value:.3g}"),
    ]
    scale = [Column("C n", "C n", lambda value: f"{value:g}")]
    tol = [Column("tol", "tol", lambda value: f"{value:g}")]
    mark = "one core; > time limit reached"
    for title, curves, columns in (
        (f"figure 3 and section 5.4: C n = {CN:g}, tol = {TOL:g}", over_n, grammar),
        (f"figure 9: tol = {TOL:g}", over_c, scale),
        (f"figure 8: C n = {CN:g}", over_tol, tol),
    ):
        groups = [group for groups in curves.values() for group in groups]
        session.table(groups, [*first, *columns, *last], f"{title}, {mark}")


def slope(groups: list[Group], x: str, y: str) -> float:
    """The exponent of y over x, by least squares in logarithms."""
    places = [np.log(group.config[x]) for group in groups]
    return float(np.polyfit(places, [np.log(group.median(y)) for group in groups], 1)[0])


def judge(over_n: Any, over_c: Any, over_tol: Any) -> Verdict:
    """Exponents of all curves, without the runs that reached the time limit."""
    passed, parts = True, []
    every = [over_n, over_c, over_tol]
    over_n, over_c, over_tol = ended = [_ended(curves) for curves in every]
    late = _count(every) - _count(ended)
    if any(len(groups) < 2 for curves in ended for groups in curves.values()):
        return Verdict(False, f"{late} runs did not end in time: too few are left")
    for (data, solver), groups in over_n.items():
        growth = slope(groups, "n", "iterations")
        rules = _times(groups, "features")
        passed &= growth < 1 and rules > 1
        more = ""
        if solver == PLAIN:
            call = _times(groups, "call_time")
            passed &= call > 1
            more = f", time of a call {call:.1f}x"
        parts.append(
            f"{data}, {solver}: n {_span(groups, 'n')}: rules {rules:.1f}x{more}, iterations ~ "
            f"n^{growth:.2f}"
        )
    for name, key, curves, sign in (("C", "C n", over_c, 1), ("1/tol", "tol", over_tol, -1)):
        for solver, groups in curves.items():
            growth = sign * slope(groups, key, "iterations")
            passed &= growth <= 1
            parts.append(f"{solver}: iterations ~ ({name})^{growth:.2f}")
    if late:
        parts.append(f"{late} runs did not end in time and are left out of the exponents")
    return Verdict(passed, "\n".join(parts))


def _ended(curves: Any) -> Any:
    return {key: [g for g in groups if g.every("converged")] for key, groups in curves.items()}


def _count(every: list[Any]) -> int:
    return sum(len(groups) for curves in every for groups in curves.values())


def _times(groups: list[Group], key: str) -> float:
    return groups[-1].median(key) / groups[0].median(key)


def _span(groups: list[Group], key: str) -> str:
    return f"{groups[0].config[key]:,} to {groups[-1].config[key]:,}"


def paint(figure: Figure, over_n: Any, over_c: Any, over_tol: Any) -> None:
    """Iterations above, oracle calls below; the grammar in the corner."""
    panels = figure.subplots(2, 4)
    names = {key: f"{key[0].partition('_')[0].upper()}, {key[1]}" for key in over_n}
    for column, (curves, key) in enumerate([(over_n, "n"), (over_c, "C n"), (over_tol, "tol")]):
        for number, (name, groups) in enumerate(curves.items()):
            x = [group.config[key] for group in groups]
            shown = names.get(name, f"WSJ, {name}")
            for axes, value in zip(panels[:, column], ("iterations", "oracle_calls"), strict=True):
                y = [group.median(value) for group in groups]
                axes.plot(x, y, label=shown, **style(number))
                unfinished(axes, x, groups, y)
    for row, (value, label) in enumerate([("features", "rules"), ("call_time", "s per call")]):
        axes = panels[row, 3]
        for number, ((_, solver), groups) in enumerate(over_n.items()):
            if solver == PLAIN:
                x = [group.config["n"] for group in groups]
                axes.plot(x, [group.median(value) for group in groups], **style(number))
        clean(axes, "Section 5.4" if row == 0 else "", "trees n", label)
    for axes in panels.flat:
        log_scale(axes, "x")
        log_scale(axes, "y")
    titles = ("Figure 3", "Figure 9", "Figure 8")
    for column, (title, x) in enumerate(zip(titles, ("trees n", "C n", "tol"), strict=True)):
        clean(panels[0, column], title, "", "iterations")
        clean(panels[1, column], "", x, "oracle calls")
    legend(figure, panels[0, 0], columns=4)
