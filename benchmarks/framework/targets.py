"""Runs of chains until a primal value is certified, for several experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .display import Column, count, percent2, seconds
from .runs import TokenAccuracy, run_values, stop_at, time_to, train_chain

if TYPE_CHECKING:
    from .session import Group, Session

#: The solvers that are measured, by the names in the tables.
OURS = {"auto": "default solver", "sdm": "SDM"}


def cap(session: Session) -> float:
    """The time limit of a run in seconds."""
    return 10.0 if session.quick else 120.0


def measure_to(session: Session, task: str, n: int, C: float, solver: str, target: float) -> Group:
    """Train until the primal is certified to be at most ``target``, and test the final w.

    ``reach`` is the solver's time in seconds; features, packing and compiling are separate.
    """
    limit = cap(session)

    def once(seed: int) -> dict[str, Any]:
        data = session.tagged(task, n)
        result = train_chain(
            data, C=C, solver=solver, tol=1e-7, max_time=limit, random_state=seed,
            callbacks=[stop_at(target)],
        )  # fmt: skip
        return {
            **run_values(result),
            "reach": time_to(result, target, packing=False),
            "accuracy": TokenAccuracy(data)(result.w),
            "extract_time": data.extract_time,
        }

    config = {"program": OURS[solver], "n": n, "C": C, "target": target, "cap": limit}
    return session.measure(config, once)


def show_runs(session: Session, peers: list[Group], ours: list[Group], title: str) -> None:
    """Times and accuracies, then the times that they do not include."""
    ends = [g._replace(values=[v | {"reach": v["time"]} for v in g.values]) for g in peers]
    columns = [
        Column("program", "program"),
        Column("target", "to primal", lambda value: f"{value:,.1f}"),
        Column("reach", "seconds", seconds),
        Column("oracle_calls", "oracle calls", count),
        Column("accuracy", "test accuracy", percent2),
    ]
    session.table([*ends, *ours], columns, title)
    columns = [
        *columns[:2],
        Column("extract_time", "features s", hundredths),
        Column("prepare_time", "packing s", hundredths),
        Column("compile_time", "compiling s", hundredths),
    ]
    session.table(ours, columns, "times that are not included above")


def hundredths(value: float) -> str:
    """Seconds with two digits after the point."""
    return f"{value:.2f}"
