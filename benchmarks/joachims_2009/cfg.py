"""Parsing: the solvers of table 1 and figure 5, and the cache of figure 6."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..framework.display import Column, count, seconds
from ..framework.figures import clean, legend, log_scale, style, unfinished
from ..framework.registry import Verdict, experiment
from ..framework.runs import run_values
from ..framework.treebank import load_treebank, read_problem, train_trees

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Group, Session

#: The paper's C = 20,000 and epsilon = 0.1 with a loss of 100.
CN = 200.0
TOL = 1e-3

QUICK = 40
SIZES = (0, 2, 5, 10, 20)
MAX_TIME = 300.0

PLAIN = "1-slack"
CACHED = "1-slack, f = 10"


def solvers() -> dict[str, Any]:
    """The paper's three algorithms, 1-slack at the QP's own solutions, and SDM."""
    from maxmargin import SDM, NSlack, OneSlack

    return {
        PLAIN: OneSlack(cache=0, step=1.0),
        CACHED: OneSlack(cache=10, step=1.0),
        "n-slack": NSlack(),
        "SDM": SDM(),
    }


def measure(
    session: Session, solver: str, n: int, loss: str = "zero-one", *, cn: float = CN,
    tol: float = TOL, data: str = "wsj_cfg", cache: int | None = None, shuffle: bool = False,
) -> Group:  # fmt: skip
    """Train on n trees: 1-slack with ``cache`` outputs per tree if given, else a named solver."""

    def once(seed: int) -> dict[str, Any]:
        from maxmargin import OneSlack

        chosen = solvers()[solver] if cache is None else OneSlack(cache=cache, step=1.0)
        bank = load_treebank(data, session.directory, seed if shuffle else None).first(n)
        problem = read_problem(bank.trees, loss)
        result = train_trees(
            problem, bank.trees, C=cn / n, solver=chosen, tol=tol, max_time=MAX_TIME,
            random_state=seed,
        )  # fmt: skip
        values = run_values(result) | {
            "calls_each": result.n_oracle / n,
            "planes": result.history[-1].planes,
            "rules": problem.grammar.n_rules,
            "features": len(problem.grammar.features),
        }
        if (
            "oracle" in result.shares
        ):  # of 1-slack; other solvers call the oracle between other work
            values["call_time"] = result.shares["oracle"] / result.n_oracle
        return values

    config = {
        "data": data, "shuffled": shuffle, "solver": solver, "loss": loss, "n": n, "C n": cn,
        "tol": tol, "cap": MAX_TIME,
    }  # fmt: skip
    return session.measure(config, once)


@experiment(
    "joachims-2009-cfg-solvers",
    title="Parsing: the same optimum by all solvers, and the oracle calls of each",
    claim="1-slack with and without a cache, n-slack and SDM certify the same optimum, and 1-slack "
    "with a cache asks the oracle less than half as often as without.",
    data=("wsj_cfg",),
)
def run_solvers(session: Session) -> Verdict:
    """All solvers on all sentences of at most 15 words, with both losses."""
    n = QUICK if session.quick else len(load_treebank("wsj_cfg", session.directory).trees)
    grid = {
        loss: {solver: measure(session, solver, n, loss) for solver in solvers()}
        for loss in ("zero-one", "bracket")
    }
    columns = [
        Column("loss", "loss"),
        Column("solver", "solver"),
        Column("primal", "primal", lambda value: f"{value:.3f}", "converged"),
        Column("dual", "dual", lambda value: f"{value:.3f}"),
        Column("iterations", "iterations", count, "converged"),
        Column("calls_each", "oracle calls / n", lambda value: f"{value:.1f}", "converged"),
        Column("planes", "planes", count),
        Column("time", "seconds", seconds, "converged"),
    ]
    groups = [group for column in grid.values() for group in column.values()]
    title = f"n = {n}, C n = {CN:g}, tol = {TOL:g}, one core; > time limit reached"
    session.table(groups, columns, title)
    return judge_solvers(grid)


def judge_solvers(grid: dict[str, dict[str, Group]]) -> Verdict:
    """Whether the intervals from dual to primal have a point in common."""
    passed, parts = True, []
    for loss, groups in grid.items():
        high = min(min(group.numbers("primal")) for group in groups.values())
        low = max(max(group.numbers("dual")) for group in groups.values())
        complete = all(group.every("converged") for group in groups.values())
        saved = groups[CACHED].median("calls_each") / groups[PLAIN].median("calls_each")
        # Differences of rounding do not count.
        passed &= complete and low <= high * (1 + 1e-9) and saved < 0.5
        parts.append(
            f"{loss}: the optimum lies between {low:.4f} and {high:.4f} by all certificates; "
            f"a cache of 10 needs {saved:.2f}x the calls"
            + ("" if complete else "; not all converged")
        )
    return Verdict(passed, "\n".join(parts))


@experiment(
    "joachims-2009-cfg-cache",
    title="Parsing: oracle calls of one-slack training with caches of f trees",
    claim="A cache of f = 5 saves more than half of the oracle calls, and f = 20 saves little more "
    "(less than a quarter of those left).",
    data=("wsj_cfg",),
)
def run_cache(session: Session) -> Verdict:
    """Every size of the cache on all trees; with and without a cache as n grows."""
    n = QUICK if session.quick else len(load_treebank("wsj_cfg", session.directory).trees)
    sizes = {f: measure(session, f"1-slack, f = {f}", n, cache=f) for f in SIZES}
    few = [m for m in (20, 50, 100, 200, 400) if m < n]
    growth = {
        solver: [measure(session, solver, m, shuffle=True) for m in (*few, n)]
        for solver in (PLAIN, CACHED, "n-slack")
    }
    columns = [
        Column("solver", "solver"),
        Column("n", "n", count),
        Column("iterations", "iterations", count, "converged"),
        Column("calls_each", "oracle calls / n", lambda value: f"{value:.1f}", "converged"),
        Column("time", "seconds", seconds, "converged"),
    ]
    title = f"C n = {CN:g}, tol = {TOL:g}, one core; > time limit reached"
    session.table(sizes.values(), columns, f"figure 6: {title}")
    session.table([g for groups in growth.values() for g in groups], columns, f"figure 5: {title}")
    session.draw(lambda figure: paint_cache(figure, sizes, growth))
    return judge_cache(sizes)


def judge_cache(sizes: dict[int, Group]) -> Verdict:
    """Ratios of oracle calls."""
    calls = {f: group.median("calls_each") for f, group in sizes.items()}
    five, twenty = calls[5] / calls[0], calls[20] / calls[5]
    complete = all(group.every("converged") for group in sizes.values())
    shown = ", ".join(f"f = {f}: {value:.1f}" for f, value in calls.items())
    return Verdict(
        complete and five < 0.5 and twenty > 0.75,
        f"calls / n: {shown}; f = 5 needs {five:.2f}x of f = 0, f = 20 {twenty:.2f}x of f = 5"
        + ("" if complete else " (not all converged)"),
    )


def paint_cache(figure: Figure, sizes: dict[int, Group], growth: dict[str, list[Group]]) -> None:
    """Calls over the size of the cache, and over n."""
    left, right = figure.subplots(1, 2)
    places, values = range(len(sizes)), [group.median("calls_each") for group in sizes.values()]
    left.plot(places, values, **style(0, markersize=6))
    unfinished(left, places, list(sizes.values()), values)
    left.set_xticks(list(places), [str(f) for f in sizes])
    left.set_ylim(bottom=0)
    for number, (solver, groups) in enumerate(growth.items()):
        n = [group.config["n"] for group in groups]
        calls = [group.median("oracle_calls") for group in groups]
        right.plot(n, calls, label=solver, **style(number))
        unfinished(right, n, groups, calls)
    log_scale(right, "x")
    log_scale(right, "y")
    n = next(iter(sizes.values())).config["n"]
    clean(left, f"Figure 6: all {n:,} trees", "cached trees f", "oracle calls / n")
    clean(right, "Figure 5: as n grows", "training trees n", "oracle calls")
    legend(figure, right, columns=3)
