"""The order of the examples: sorted by class, reversed, as in the file, and shuffled."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..framework.display import Column, count, seconds
from ..framework.registry import Verdict, experiment
from ..framework.runs import stop_at, train_multiclass

if TYPE_CHECKING:
    from ..framework.data import Dataset
    from ..framework.session import Group, Session

C = 0.05

#: Numbers of examples; n-slack and the subgradient would take long on all of them.
SOLVERS = {
    "sdm": 522_911, "bcfw": 50_000, "n-slack": 20_000, "one-slack": 50_000, "subgradient": 50_000,
}  # fmt: skip

#: The primal to reach, relative to that of a run with a small tol. Subgradient is slow at the end.
ABOVE = {"subgradient": 1.1}

#: What counts as independent of the order: the largest number of calls over the smallest.
SPREAD = 1.1

ORDERS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "shuffled": lambda y: np.random.default_rng(0).permutation(len(y)),
    "file": lambda y: np.arange(len(y)),
    "sorted": lambda y: np.argsort(y, kind="stable"),
    "reversed": lambda y: np.argsort(y, kind="stable")[::-1],
}


@experiment(
    "order",
    title="Covertype in four orders of its examples",
    claim="Oracle calls to the same primal differ by a factor of at most 1.1 between the orders.",
    data=("covertype",),
)
def run(session: Session) -> Verdict:
    """Every solver with every order."""
    groups = [measure(session, solver, order) for solver in SOLVERS for order in ORDERS]
    columns = [
        Column("solver", "solver"),
        Column("n", "examples", count),
        Column("order", "order"),
        Column("calls", "oracle calls", count),
        Column("time", "s", seconds),
    ]
    session.table(groups, columns, f"Covertype, C = {C:g}, one core")
    return judge(groups)


def measure(session: Session, solver: str, order: str) -> Group:
    """Oracle calls and seconds until the primal is as low as that of a precise run."""
    n = 2_000 if session.quick else SOLVERS[solver]

    def once(seed: int) -> dict[str, Any]:
        data = some(session.load("covertype", None), n)
        best = train_multiclass(data, C=C, tol=1e-3, max_time=300.0).primal
        chosen = ORDERS[order](data.y)
        result = train_multiclass(
            data._replace(X=data.X[chosen], y=data.y[chosen]), C=C, solver=solver, tol=1e-9,
            max_time=300.0, random_state=seed, callbacks=[stop_at(ABOVE.get(solver, 1.01) * best)],
        )  # fmt: skip
        reached = result.primal <= ABOVE.get(solver, 1.01) * best
        return {"calls": result.n_oracle if reached else None, "time": result.time}

    return session.measure({"solver": solver, "n": n, "order": order, "C": C}, once)


def some(data: Dataset, n: int) -> Dataset:
    """n examples from all parts of the file, in its order."""
    chosen = np.linspace(0, data.n - 1, n).astype(int)
    return data._replace(X=data.X[chosen], y=data.y[chosen])


def judge(groups: list[Group]) -> Verdict:
    """The spread of the calls of each solver."""
    lines, worst = [], 0.0
    for solver in SOLVERS:
        calls = {
            g.config["order"]: g.median("calls") for g in groups if g.config["solver"] == solver
        }
        spread = max(calls.values()) / min(calls.values())
        worst = max(worst, spread)
        lines.append(f"{solver}: {spread:.2f} ({max(calls, key=calls.__getitem__)} needs most)")
    return Verdict(worst <= SPREAD, "\n".join(lines))
