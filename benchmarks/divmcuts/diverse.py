"""The DivMCuts paper: several cuts per iteration, for each way of combining the outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..framework.display import Column, count, ratio, seconds
from ..framework.figures import clean, legend, style, unfinished
from ..framework.registry import Verdict, experiment
from ..framework.runs import run_values, train_multiclass
from ..framework.sequences import OCR, Tagged
from ..framework.session import Group

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from maxmargin.result import Result

    from ..framework.session import Session

SIZES = (1, 2, 5, 10)

#: The paper's ways of combining outputs and ours. The programs may use the most violated output
#: again, because otherwise they have nothing to decide.
WAYS: dict[str, dict[str, Any]] = {
    "ordering": {"combine": "ordering"},
    "ilp": {"combine": "ilp", "reuse_map": True},
    "relaxed": {"combine": "relaxed", "reuse_map": True},
    "greedy": {"combine": "greedy"},
}
STRENGTHS = (0.0, 0.1, 0.5, 2.0, "auto")

#: The problem that finds further outputs by steps through its oracle: reported, not judged.
WITHOUT_DECODER = "Python tagger"

#: Options of what else saves oracle calls, for comparison: caches and short steps.
OTHERS: dict[str, dict[str, Any]] = {
    "cache of 5": {"cache": 5},
    "cache of 5, outputs only kept": {"cache": 5, "m_cuts": 5, "combine": "none"},
    "cache of 5, greedy": {"cache": 5, "m_cuts": 5},
    "short steps": {"step": 0.1},
    "short steps, greedy": {"step": 0.1, "m_cuts": 5},
}


class Case(NamedTuple):
    """A problem: examples, C, tolerance, ``train(n, **options)``, and the seconds of a run."""

    n: int
    C: float
    tol: float
    train: Callable[..., Result]
    cap: float = 45.0


@experiment(
    "divmcuts-diverse-cuts",
    title="Iterations, oracle calls and time of one-slack training with M cuts per iteration",
    claim="With M = 5, greedy cuts need at most 0.7 times the iterations of one cut on problems "
    "with an m-best decoder, and fewer than every way of the paper.",
    data=("ocr_letters", "conll2000", "letter", "wsj_cfg"),
)
def run(session: Session) -> Verdict:
    """Every problem with every way and number of cuts, then variations of one problem."""
    cases = problems(session)
    grid = {name: sizes(session, name, case) for name, case in cases.items()}
    for name, groups in grid.items():
        show(session, name, groups)
    for name, extra in conditions(session, cases).items():
        show(session, name, extra)
    session.draw(lambda figure: paint(figure, grid), width=12, height=6.6)
    return judge(grid)


def problems(session: Session) -> dict[str, Case]:
    """Chains of letters and of words, classes, trees, and a slow oracle for a single output."""
    from ..framework.tagger import train_tagger
    from ..framework.treebank import load_treebank, read_problem, train_trees

    def chain(task: str, loss: str = "hamming") -> Callable[..., Result]:
        return lambda n, **options: train_with(session.tagged(task, n), loss, **options)

    def letter(n: int, **options: Any) -> Result:
        return train_multiclass(session.load("letter").first(n), **options)

    def tagger(n: int, C: float, **options: Any) -> Result:
        return train_tagger(n, **options)

    def trees(n: int, **options: Any) -> Result:
        examples = load_treebank("wsj_cfg", session.directory, 0).trees[:n]
        return train_trees(read_problem(examples), examples, **options)

    quick = session.quick
    return {
        "OCR words": Case(60 if quick else 2_000, 0.1, 0.02, chain(OCR)),
        "chunking": Case(25 if quick else 1_000, 0.1, 0.05, chain("chunking"), 120.0),
        "letter": Case(200 if quick else 5_000, 0.1, 0.01, letter),
        "parsing": Case(20 if quick else 400, 0.3, 0.003, trees),
        WITHOUT_DECODER: Case(5 if quick else 50, 0.01, 0.02, tagger),
    }


def train_with(data: Tagged, loss: str, **options: Any) -> Result:
    """Train a chain with this loss."""
    from maxmargin.structures.chain.problem import Chain
    from maxmargin.training import train

    return train(Chain(len(data.labels), loss), data.X, data.Y, **options)


def sizes(session: Session, name: str, case: Case) -> dict[str, Group]:
    """One cut, then every way with every M, with the full steps of the paper's algorithm."""
    groups = {"one cut": measure(session, name, case, "one cut", {})}
    for way, options in WAYS.items():
        for m in SIZES[1:]:
            label = f"{way}, M = {m}"
            groups[label] = measure(session, name, case, label, {"m_cuts": m, **options})
    for label, options in OTHERS.items():
        groups[label] = measure(session, name, case, label, options)
    return groups


def conditions(session: Session, cases: dict[str, Case]) -> dict[str, dict[str, Group]]:
    """OCR words with other strengths of diversity, larger C, another loss and slack rescaling."""
    words, found = cases["OCR words"], {}
    strengths = {
        f"{way}, diversity {strength}": {"m_cuts": 5, "combine": way, "diversity": strength}
        for way in ("ordering", "greedy")
        for strength in STRENGTHS
    }
    name = "OCR words, diversity"
    found[name] = {v: measure(session, name, words, v, o) for v, o in strengths.items()}
    three = {"one cut": {}, "ordering, M = 5": {"m_cuts": 5, "combine": "ordering"},
             "greedy, M = 5": {"m_cuts": 5}}  # fmt: skip

    def zero_one(n: int, **options: Any) -> Result:
        return train_with(session.tagged(OCR, n), "zero-one", **options)

    def slack(n: int, **options: Any) -> Result:
        return words.train(n, rescaling="slack", **options)

    others = {
        "OCR words, C = 1": words._replace(C=1.0),
        "OCR words, C = 10": words._replace(C=10.0, tol=0.1),
        "OCR words, zero-one loss": words._replace(train=zero_one),
        "OCR words, slack rescaling": words._replace(n=words.n // 4, train=slack),
    }
    for name, case in others.items():
        found[name] = {v: measure(session, name, case, v, o) for v, o in three.items()}
    return found


def measure(
    session: Session, problem: str, case: Case, variant: str, options: dict[str, Any]
) -> Group:
    """Train to the case's tolerance, with full steps and no cache unless the options say so."""

    def once(seed: int) -> dict[str, Any]:
        from maxmargin import OneSlack

        solver = OneSlack(**{"cache": 0, "step": 1.0, **options})
        result = case.train(
            case.n, C=case.C, solver=solver, tol=case.tol, max_time=case.cap, random_state=seed
        )
        return run_values(result) | {
            "outputs": result.n_oracle / case.n,
            "passes": result.n_oracle / case.n / options.get("m_cuts", 1),
        }

    config = {"problem": problem, "n": case.n, "C": case.C, "tol": case.tol, "variant": variant,
              "options": repr(options), "cap": case.cap}  # fmt: skip
    return session.measure(config, once)


def show(session: Session, problem: str, groups: dict[str, Group]) -> None:
    """One row per variant, with its iterations relative to those of one cut."""
    base = groups.get("one cut")
    rows = []
    for group in groups.values():
        values = group.values
        if base is not None:
            one = base.median("iterations")
            values = [v | {"against": v["iterations"] / one} for v in values]
        rows.append(group._replace(values=values))
    columns = [
        Column("variant", problem),
        Column("iterations", "iterations", count, "converged"),
        Column("against", "of one cut", ratio),
        Column("passes", "oracle passes", lambda value: f"{value:.1f}", "converged"),
        Column("outputs", "outputs / n", lambda value: f"{value:.1f}", "converged"),
        Column("time", "seconds", seconds, "converged"),
    ]
    first = next(iter(groups.values())).config
    session.table(rows, columns, f"n = {first['n']:,}, C = {first['C']:g}, tol = {first['tol']:g}")


def judge(grid: dict[str, dict[str, Group]]) -> Verdict:
    """Iterations at M = 5 relative to one cut; a run at its time limit gives a lower bound."""
    passed, parts = True, []
    for problem, groups in grid.items():
        one = groups["one cut"].median("iterations")
        needed = {way: groups[f"{way}, M = 5"].median("iterations") / one for way in WAYS}
        complete = {way: groups[f"{way}, M = 5"].every("converged") for way in WAYS}
        if problem != WITHOUT_DECODER:
            best = min(needed.values())
            passed &= complete["greedy"] and needed["greedy"] <= 0.7 and needed["greedy"] == best
        shown = ", ".join(
            f"{way} {'' if complete[way] else '> '}{value:.2f}" for way, value in needed.items()
        )
        faster = groups["one cut"].median("time") / groups["greedy, M = 5"].median("time")
        parts.append(f"{problem}: {shown}; time of one cut / of greedy: {ratio(faster)}")
    return Verdict(passed, "iterations with M = 5 / with one cut\n" + "\n".join(parts))


def paint(figure: Figure, grid: dict[str, dict[str, Group]]) -> None:
    """A column for each problem: iterations above, seconds below."""
    panels = figure.subplots(2, len(grid), sharex=True, squeeze=False)
    places = list(range(len(SIZES)))
    for column, (problem, groups) in enumerate(grid.items()):
        for axes, key in zip(panels[:, column], ("iterations", "time"), strict=True):
            for number, way in enumerate(WAYS):
                runs = [groups["one cut"], *(groups[f"{way}, M = {m}"] for m in SIZES[1:])]
                values = [group.median(key) for group in runs]
                axes.plot(places, values, label=way, **style(number, markersize=6))
                unfinished(axes, places, runs, values)
            cached = groups["cache of 5"].median(key)
            axes.axhline(cached, color="#999999", linestyle="--", label="one cut, cache of 5")
            axes.set_xticks(places, [str(m) for m in SIZES])
            axes.set_ylim(bottom=0)
        n, first = groups["one cut"].config["n"], column == 0
        clean(panels[0, column], f"{problem}, n = {n:,}", "", "iterations" if first else "")
        clean(panels[1, column], "", "cuts per iteration, M", "seconds" if first else "")
    legend(figure, panels[0, 0], columns=len(WAYS) + 1)
