"""A path over C against separate runs: what planes and dual variables are worth at the next C."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..framework.display import Column, count, percent, seconds
from ..framework.figures import clean, legend, log_scale, style
from ..framework.registry import Verdict, experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Group, Session

TASK, TOL = "chunking", 0.05

#: Number of sentences per solver; one-slack would take long on all of them.
SOLVERS = {"sdm": 8_936, "one-slack": 1_000}

#: Ten values of C; fewer in a quick run.
VALUES, QUICK = np.logspace(-3, 0, 10), np.logspace(-2, -1, 3)


@experiment(
    "c-path",
    title="Ten values of C on CoNLL-2000 chunking: one path against separate runs",
    claim="A path needs fewer oracle calls and less time than separate runs to the same gap, and "
    "both certify the same optima.",
    data=("conll2000",),
)
def run(session: Session) -> Verdict:
    """Each solver along the path and from scratch."""
    groups = [measure(session, solver) for solver in SOLVERS]
    columns = [
        Column("solver", "solver"),
        Column("n", "sentences", count),
        Column("calls", "oracle calls", count),
        Column("calls_apart", "separate", count),
        Column("saved", "saved", percent),
        Column("time", "s", seconds),
        Column("time_apart", "s, separate", seconds),
    ]
    session.table(groups, columns, f"{TASK}, tol = {TOL:g}, one core")
    session.draw(lambda figure: paint(figure, groups))
    return judge(groups)


def measure(session: Session, solver: str) -> Group:
    """The path and the separate runs."""
    n = 300 if session.quick else SOLVERS[solver]
    values = QUICK if session.quick else VALUES

    def once(seed: int) -> dict[str, Any]:
        from maxmargin.estimators.path import regularization_path
        from maxmargin.structures.chain.problem import Chain

        data = session.tagged(TASK, n)
        found = regularization_path(
            Chain(len(data.labels)), data.X, data.Y, values, solver=solver, tol=TOL,
            max_time=120.0, random_state=seed, compare=True,
        )  # fmt: skip
        pairs = list(zip(found.results, found.separate, strict=True))
        return {
            "calls": found.n_oracle,
            "calls_apart": sum(result.n_oracle for result in found.separate),
            "saved": found.saved,
            "time": found.time,
            "time_apart": sum(result.time for result in found.separate),
            "agree": all(
                max(a.dual, b.dual) <= min(a.primal, b.primal) * (1 + 1e-9) for a, b in pairs
            ),
            "converged": all(a.converged and b.converged for a, b in pairs),
            "Cs": found.Cs.tolist(),
            "each": [a.n_oracle for a, _ in pairs],
            "each_apart": [b.n_oracle for _, b in pairs],
        }

    config = {"solver": solver, "n": n, "tol": TOL, "values": len(values)}
    return session.measure(config, once, repeats=1)


def judge(groups: list[Group]) -> Verdict:
    """Calls and seconds of both."""
    passed = all(
        g.every("agree") and g.every("converged") and g.median("saved") > 0
        and g.median("time") < g.median("time_apart")
        for g in groups
    )  # fmt: skip
    lines = [
        f"{g.config['solver']}: {percent(g.median('saved'))} of the oracle calls saved, "
        f"{seconds(g.median('time'))} s against {seconds(g.median('time_apart'))} s"
        for g in groups
    ]
    return Verdict(passed, "\n".join(lines))


def paint(figure: Figure, groups: list[Group]) -> None:
    """Oracle calls for each value of C."""
    panels = figure.subplots(1, len(groups), sharey=True, squeeze=False)[0]
    for axes, group in zip(panels, groups, strict=True):
        values = group.values[0]
        axes.plot(values["Cs"], values["each_apart"], label="separate runs", **style(1))
        axes.plot(values["Cs"], values["each"], label="path", **style(0))
        log_scale(axes, "x")
        log_scale(axes, "y")
        clean(axes, group.config["solver"], "C", "oracle calls" if axes is panels[0] else "")
    legend(figure, panels[0], columns=2)
