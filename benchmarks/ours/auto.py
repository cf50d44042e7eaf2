"""Whether "auto" chooses well: every solver on rows and on sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..framework.display import Column, ratio, seconds
from ..framework.figures import clean, legend, log_scale, style, unfinished
from ..framework.registry import Verdict, experiment
from ..framework.runs import run_values, train_chain, train_multiclass
from ..framework.sequences import OCR
from ..framework.session import Group, side_by_side

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Session

TOL = 1e-2
CS = (0.1, 1.0)
AUTO = "auto"
MOST = 1.5

#: Data of rows and of sequences, with the examples of a quick run.
ROWS = {"digits": 200, "letter": 300, "usps": 200, "news20": 150}
SEQUENCES = {OCR: 60, "chunking": 40, "BioCreative": 40}

#: Time limit of a run in seconds, and from how many seconds on it is measured only once; then the
#: same for a quick run.
CAP, LONG = 20.0, 5.0
QUICK_CAP, QUICK_LONG = 1.5, 0.3


@experiment(
    "auto-choice",
    title="Seconds to tol = 0.01 of every solver, and of the one that auto chooses",
    claim="auto is never slower than 1.5 times the best single solver.",
    data=("bc2gm", "conll2000", "letter", "news20", "ocr_letters", "usps"),
)
def run(session: Session) -> Verdict:
    """Every data set, C and solver."""
    from maxmargin.solvers import solver_names

    names = [*solver_names(for_kernels=False), AUTO]
    grid = {
        (data, C): [measure(session, data, C, solver) for solver in names]
        for data in [*ROWS, *SEQUENCES]
        for C in CS
    }
    show(session, grid)
    session.draw(lambda figure: paint(figure, grid), width=10, height=6.4)
    return judge(grid)


def measure(session: Session, data: str, C: float, solver: str) -> Group:
    """Train to ``TOL`` or to the time limit; a long run is measured once."""
    cap, long = (QUICK_CAP, QUICK_LONG) if session.quick else (CAP, LONG)
    if solver == AUTO:
        cap *= MOST  # enough to decide the claim
    few = (ROWS | SEQUENCES)[data] if session.quick else None

    def once(seed: int) -> dict[str, Any]:
        options = {"C": C, "solver": solver, "tol": TOL, "max_time": cap, "random_state": seed}
        if data in SEQUENCES:
            return run_values(train_chain(session.tagged(data, few), **options))
        rows = session.load(data)
        return run_values(train_multiclass(rows if few is None else rows.first(few), **options))

    config = {
        "data": data,
        "n": few or "all",
        "C": C,
        "solver": solver,
        "tol": TOL,
        "cap": cap,
    }
    first = session.measure(config, once, repeats=1)
    return first if first.median("time") > long else session.measure(config, once)


def show(session: Session, grid: dict[tuple[str, float], list[Group]]) -> None:
    """One row per problem, one column per solver."""
    names = [group.config["solver"] for group in next(iter(grid.values()))]
    columns = [
        Column("data", "data"),
        Column("C", "C", lambda value: f"{value:g}"),
        *(Column(f"time {name}", name, seconds, f"converged {name}") for name in names),
        Column("ratio", "auto / best", ratio),
    ]
    rows = []
    for groups in grid.values():
        row = side_by_side(groups, "solver")
        rows.append(row._replace(config={**row.config, "ratio": to_best(groups)}))
    title = f"seconds to tol = {TOL:g}, one core, compiling apart; > time limit reached"
    session.table(rows, columns, title)


def needed(group: Group) -> float:
    """Seconds to the tolerance; infinite if the time limit was reached."""
    return group.median("time") if group.every("converged") else float("inf")


def to_best(groups: list[Group]) -> float:
    """The time of auto over that of the best single solver; 0 if none was in time.

    If auto made the same run as a single solver, with the same iterations and oracle calls, their
    times differ only by noise of the machine: both count as measurements of that run.
    """
    *single, auto = groups
    pooled = [
        group._replace(values=group.values + auto.values) if same_run(group, auto) else group
        for group in single
    ]
    best = min(map(needed, pooled))
    own = next((p for p, g in zip(pooled, single, strict=True) if same_run(g, auto)), auto)
    return needed(own) / best if best < float("inf") else 0.0


def same_run(one: Group, other: Group) -> bool:
    """Whether both converged in the same iterations with the same oracle calls."""
    keys = ("converged", "iterations", "oracle_calls")
    return one.every("converged") and [one.values[0][k] for k in keys] == [
        other.values[0][k] for k in keys
    ]


def judge(grid: dict[tuple[str, float], list[Group]]) -> Verdict:
    """The worst ratio, and all problems on which it is too high."""
    ratios = {key: to_best(groups) for key, groups in grid.items()}
    best = {key: min(groups[:-1], key=needed).config["solver"] for key, groups in grid.items()}
    bad = {key: value for key, value in ratios.items() if value > MOST}
    judged = sum(value > 0 for value in ratios.values())
    lines = [f"at most {MOST} times the best on {judged - len(bad)} of {judged} problems"]
    if judged < len(ratios):
        lines.append(f"no solver was in time on {len(ratios) - judged} more")
    lines += [
        f"{data}, C = {C:g}: "
        + (f"{value:.2f}x" if value < float("inf") else "not in time")
        + f", where {best[data, C]} is best"
        for (data, C), value in bad.items()
    ]
    return Verdict(not bad, "\n".join(lines))


def paint(figure: Figure, grid: dict[tuple[str, float], list[Group]]) -> None:
    """A line for each problem, a mark for each solver."""
    axes = figure.subplots()
    problems = list(grid)
    places = range(len(problems))
    for number, group in enumerate(grid[problems[0]]):
        name = group.config["solver"]
        groups = [grid[key][number] for key in problems]
        times = [g.median("time") for g in groups]
        if name == AUTO:
            look = style(6, marker="o", markersize=15, fillstyle="none")
        else:
            look = style(number, markersize=7)
            unfinished(axes, times, groups, places)
        look["linestyle"] = "none"
        axes.plot(times, places, label=name, **look)
    axes.set_yticks(places, [f"{data}, C = {C:g}" for data, C in problems])
    axes.invert_yaxis()
    log_scale(axes, "x")
    clean(
        axes, f"to tol = {TOL:g}, one core; white dots: time limit reached",
        "seconds (packing and compiling apart)", "",
    )  # fmt: skip
    legend(figure, axes, columns=6)
