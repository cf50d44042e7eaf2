"""Table 1, the shares of time of section 5.2, and the comparison of figure 7."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..framework.display import Column, count, percent, percent2, ratio, seconds
from ..framework.figures import clean, legend, log_scale, style, unfinished
from ..framework.registry import Verdict, experiment
from .slacks import APPLICATIONS, CACHED, DATA, N_SLACK, STORE, measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Group, Session


class Paper(NamedTuple):
    """The paper's row: the number of examples; each other value is (1-slack with cache, n-slack).

    The order in figure 7 follows the text below it, which gives 1-slack the 96.71 of the HMM.
    """

    n: int
    hours: tuple[float, float]
    calls: tuple[int, int]
    support: tuple[int, int]
    right: tuple[float, float]


PAPER = {
    "MultiC": Paper(
        522_911, (1.05, 1180.56), (4_183_288, 10_981_131), (98, 334_524), (72.33, 72.35)
    ),
    "HMM": Paper(35_531, (0.90, 177.00), (1_314_647, 4_476_906), (139, 83_126), (96.71, 96.69)),
    "CFG": Paper(9_780, (2.90, 8.52), (224_940, 479_220), (70, 12_890), (70.22, 70.09)),
}


@experiment(
    "joachims-2009-table1-slacks",
    title="1-slack with a cache against n-slack (Joachims et al. 2009, table 1)",
    claim="On every task 1-slack with a cache is faster than n-slack and needs fewer oracle calls "
    "and at least 10 times fewer support vectors; both test equally well (within 0.5 points).",
    data=DATA,
    store=STORE,
)
def run(session: Session) -> Verdict:
    """Both programs on each task."""
    grid = {
        name: [
            measure(session, name, program, one.few if session.quick else one.n)
            for program in (CACHED, N_SLACK)
        ]
        for name, one in APPLICATIONS.items()
    }
    show(session, grid)
    return judge(grid)


def show(session: Session, grid: dict[str, list[Group]]) -> None:
    """Ours, then the paper's numbers in the same order."""
    columns = [
        Column("task", "task"),
        Column("program", "program"),
        Column("n", "n", count),
        Column("time", "seconds", seconds, "converged"),
        Column("oracle_calls", "oracle calls", count, "converged"),
        Column("support", "support vectors", count),
        Column("oracle_share", "oracle", percent),
        Column("qp_share", "QP", percent),
        Column("accuracy", "test", percent2),
    ]
    groups = [group for groups in grid.values() for group in groups]
    session.table(
        groups, columns, "to the paper's precision, one core; > time limit reached; shares of time"
    )
    columns = [
        Column(key, label)
        for key, label in (
            ("task", "task"), ("program", "program"), ("n", "n"), ("hours", "hours"),
            ("calls", "oracle calls"), ("support", "support vectors"), ("right", "test %"),
        )
    ]  # fmt: skip
    session.table([_of_paper(group) for group in groups], columns, "the paper's")


def _of_paper(group: Group) -> Group:
    paper, place = PAPER[group.config["task"]], int(group.config["program"] == N_SLACK)
    config: dict[str, Any] = {key: group.config[key] for key in ("task", "program")}
    values = [(key, value) for key, value in paper._asdict().items() if key != "n"]
    config |= {"n": f"{paper.n:,}"} | {key: f"{value[place]:,}" for key, value in values}
    return group._replace(config=config)


def judge(grid: dict[str, list[Group]]) -> Verdict:
    """A run that reached the time limit is a lower bound of time and calls."""
    passed, lines = True, []
    for name, (one, many) in grid.items():
        faster = many.median("time") / one.median("time")
        fewer = many.median("oracle_calls") / one.median("oracle_calls")
        support = many.median("support") / max(one.median("support"), 1)
        apart = abs(many.median("accuracy") - one.median("accuracy"))
        passed &= one.every("converged") and faster > 1 and fewer > 1
        passed &= support >= 10 and apart <= 0.005
        bound = "" if many.every("converged") else " at least (n-slack reached its time limit)"
        lines.append(
            f"{name}: {ratio(faster)} faster{bound}, {ratio(fewer)} fewer calls, "
            f"{support:.0f} times fewer support vectors, {100 * apart:.2f} points apart"
            + ("" if one.every("converged") else "; 1-slack reached its time limit too")
        )
    return Verdict(passed, "\n".join(lines))


#: Multiples of the task's own C n.
PARTS = (0.001, 0.01, 0.1, 1.0)


@experiment(
    "joachims-2009-fig7-solutions",
    title="Dual values and test results of 1-slack and n-slack (Joachims et al. 2009, figure 7)",
    claim="For every C the dual values of 1-slack and n-slack differ by less than the precision "
    "asked for allows, and at the best C both test equally well (within 0.5 points).",
    data=DATA,
    store=STORE,
)
def compare_solutions(session: Session) -> Verdict:
    """Both programs over C, on some of the examples."""
    grid = {
        name: [
            [
                measure(
                    session, name, program, one.few if session.quick else one.some,
                    Cn=part * one.Cn,
                )
                for program in (CACHED, N_SLACK)
            ]
            for part in PARTS
        ]
        for name, one in APPLICATIONS.items()
    }  # fmt: skip
    columns = [
        Column("task", "task"),
        Column("program", "program"),
        Column("C n", "C n", lambda value: f"{value:g}"),
        Column("dual", "dual", lambda value: f"{value:,.2f}"),
        Column("time", "seconds", seconds, "converged"),
        Column("accuracy", "test", percent2),
    ]
    session.table(
        [group for pairs in grid.values() for pair in pairs for group in pair], columns,
        "to the paper's precision; > time limit reached",
    )  # fmt: skip
    session.draw(lambda figure: paint_solutions(figure, grid))
    return judge_solutions(grid)


def difference(pair: list[Group]) -> float:
    """(dual of 1-slack - dual of n-slack) / dual of n-slack, as in the figure."""
    one, many = pair[0].median("dual"), pair[1].median("dual")
    return (one - many) / many


def judge_solutions(grid: dict[str, list[list[Group]]]) -> Verdict:
    """Each dual value is within C n tol of the optimum, so they differ by at most that."""
    passed, lines = True, []
    for name, pairs in grid.items():
        done = [pair for pair in pairs if all(group.every("converged") for group in pair)]
        allowed = [p[0].config["C n"] * p[0].config["tol"] / p[1].median("dual") for p in done]
        apart = [abs(difference(pair)) for pair in done]
        best = [max(pair[k].median("accuracy") for pair in done or pairs) for k in (0, 1)]
        passed &= len(done) == len(pairs) and abs(best[0] - best[1]) <= 0.005
        passed &= all(a <= b + 1e-9 for a, b in zip(apart, allowed, strict=True))
        lines.append(
            f"{name}: dual values differ by at most {percent2(max(apart, default=0))}; test "
            f"{percent2(best[0])} and {percent2(best[1])}"
            + (
                ""
                if len(done) == len(pairs)
                else f"; time limit reached at {len(pairs) - len(done)} C"
            )
        )
    return Verdict(passed, "\n".join(lines))


def paint_solutions(figure: Figure, grid: dict[str, list[list[Group]]]) -> None:
    """The relative difference over C n, and next to it the test results."""
    left, right = figure.subplots(1, 2)
    for number, (name, pairs) in enumerate(grid.items()):
        C = [pair[0].config["C n"] for pair in pairs]
        apart = [100 * difference(pair) for pair in pairs]
        left.plot(C, apart, label=name, **style(number))
        for k, line in ((0, "-"), (1, "--")):
            groups = [pair[k] for pair in pairs]
            unfinished(left, C, groups, apart)
            right_part = [100 * group.median("accuracy") for group in groups]
            right.plot(C, right_part, **style(number, linestyle=line))
            unfinished(right, C, groups, right_part)
    for axes in (left, right):
        log_scale(axes, "x")
    clean(left, "Dual of 1-slack above that of n-slack", "C n", "%")
    clean(right, "Test results (dashed: n-slack)", "C n", "right (CFG: F1), %")
    legend(figure, left, columns=3)
