"""Figure 6 and section 5.6: how many oracle calls the caches of one-slack training save."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..framework.display import Column, count, seconds
from ..framework.figures import clean, legend, style, unfinished
from ..framework.registry import Verdict, experiment
from ..framework.runs import run_values, train_multiclass

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from maxmargin.result import Result

    from ..framework.session import Group, Session

SIZES = (0, 2, 5, 10, 20)
MAX_TIME = 120.0

#: Options of one-slack training. The sizes of the cache are compared as the paper does, at the
#: QP's own solutions (step 1).
VARIANTS: dict[str, dict[str, Any]] = {
    **{f"f = {f}": {"cache": f, "step": 1.0} for f in SIZES},
    "f = 5, a tenth, cyclic": {"cache": 5, "step": 1.0, "share": 0.1, "select": "cyclic"},
    "f = 5, a tenth, by gain": {"cache": 5, "step": 1.0, "share": 0.1, "select": "gain"},
    "f = 0, short steps": {"cache": 0, "step": 0.1},
    "f = 5, short steps": {"cache": 5, "step": 0.1},
}


class Case(NamedTuple):
    """A problem: its number of examples, its tolerance, and ``train(n, **options)``."""

    n: int
    tol: float
    train: Callable[..., Result]


@experiment(
    "joachims-2009-fig6-cache",
    title="Oracle calls and time of one-slack training with caches of f outputs",
    claim="A cache of f = 5 saves more than half of the oracle calls, f = 20 saves little more "
    "(less than a quarter of those left), and asking a chosen tenth first saves further calls.",
    data=("letter",),
)
def run(session: Session) -> Verdict:
    """Every problem with every variant."""
    grid = {
        problem: {variant: measure(session, problem, case, variant) for variant in VARIANTS}
        for problem, case in problems(session).items()
    }
    show(session, [group for groups in grid.values() for group in groups.values()])
    session.draw(lambda figure: paint(figure, grid), width=10, height=6.6)
    return judge(grid)


def problems(session: Session) -> dict[str, Case]:
    """Two problems whose oracle is as cheap as a cache look-up, one with an expensive oracle."""
    from ..framework.tagger import train_tagger

    def multiclass(name: str) -> Callable[..., Result]:
        return lambda n, **options: train_multiclass(session.load(name).first(n), C=0.1, **options)

    quick = session.quick
    return {
        "digits": Case(400 if quick else 1_347, 1e-3, multiclass("digits")),
        "letter": Case(500 if quick else 5_000, 1e-3, multiclass("letter")),
        "Python tagger": Case(20 if quick else 100, 1e-2, train_tagger),
    }


def measure(session: Session, problem: str, case: Case, variant: str) -> Group:
    """Train to the case's tolerance with the options of this variant."""

    def once(seed: int) -> dict[str, Any]:
        from maxmargin import OneSlack

        solver = OneSlack(**VARIANTS[variant])
        result = case.train(
            case.n, solver=solver, tol=case.tol, max_time=MAX_TIME, random_state=seed
        )
        return run_values(result) | {"calls_each": result.n_oracle / case.n}

    config = {"problem": problem, "n": case.n, "variant": variant, "tol": case.tol, "cap": MAX_TIME}
    return session.measure(config, once)


def show(session: Session, groups: list[Group]) -> None:
    """One row per run."""
    columns = [
        Column("problem", "problem"),
        Column("tol", "tol", lambda value: f"{value:g}"),
        Column("variant", "one-slack"),
        Column("iterations", "iterations", count, "converged"),
        Column("calls_each", "oracle calls / n", lambda value: f"{value:.1f}", "converged"),
        Column("time", "seconds", seconds, "converged"),
    ]
    session.table(groups, columns, "one core; > time limit reached")


def judge(grid: dict[str, dict[str, Group]]) -> Verdict:
    """Three ratios of oracle calls for every problem."""
    passed, parts = True, []
    for problem, groups in grid.items():
        calls = {variant: group.median("calls_each") for variant, group in groups.items()}
        five, twenty = calls["f = 5"] / calls["f = 0"], calls["f = 20"] / calls["f = 5"]
        some = min(calls[v] for v in calls if "tenth" in v) / calls["f = 5"]
        complete = all(group.every("converged") for group in groups.values())
        passed &= complete and five < 0.5 and twenty > 0.75 and some < 1
        parts.append(
            f"{problem}: calls {five:.2f}x with f = 5, f = 20 {twenty:.2f}x of that, "
            f"a tenth first {some:.2f}x of that" + ("" if complete else " (not all converged)")
        )
    return Verdict(passed, "\n".join(parts))


def paint(figure: Figure, grid: dict[str, dict[str, Group]]) -> None:
    """A column for each problem: oracle calls above, seconds below."""
    panels = figure.subplots(2, len(grid), sharex=True)
    for column, (problem, groups) in enumerate(grid.items()):
        for axes, key in zip(panels[:, column], ("calls_each", "time"), strict=True):
            values = [groups[f"f = {f}"].median(key) for f in SIZES]
            places = range(len(SIZES))
            axes.plot(places, values, label="step 1, as printed", **style(0, markersize=6))
            unfinished(axes, places, [groups[f"f = {f}"] for f in SIZES], values)
            for number, (variant, f) in enumerate(_points(), 1):
                look = style(number, linestyle="none", markersize=7)
                axes.plot(SIZES.index(f), groups[variant].median(key), label=variant, **look)
            axes.set_xticks(list(places), [str(f) for f in SIZES])
            axes.set_ylim(bottom=0)
        n, first = next(iter(groups.values())).config["n"], column == 0
        title = f"{problem}, n = {n:,}"
        clean(panels[0, column], title, "", "oracle calls / n" if first else "")
        clean(panels[1, column], "", "cached outputs f", "seconds" if first else "")
    legend(figure, panels[0, 0], columns=5)


def _points() -> list[tuple[str, int]]:
    """The variants besides the cache sizes, and their places on the axis."""
    return [(v, options["cache"]) for v, options in VARIANTS.items() if "," in v]
