"""How well parsers do on new sentences: counted rules, trained rules, and rich features.

About half of the test trees have a rule (or a unary chain) that no training tree has. All of them
are tested: a parser with the training trees' rules gets only parts of such a tree right. The
last parser can put new rules together.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from ..framework.display import Column, count, percent, percent2, seconds
from ..framework.figures import COLORS, GREY, clean
from ..framework.registry import Verdict, experiment
from ..framework.session import Group
from ..framework.treebank import (
    load_treebank,
    parse,
    read_problem,
    relative_frequencies,
    train_trees,
    within_grammar,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from maxmargin.data.trees import Tree

    from ..framework.session import Session

PCFG, RULES, RICH = "treebank PCFG", "rule counts", "rich features"
NEW = f"{RICH}, new rules"

#: Training options of each parser; the first one only counts rules.
MODELS: dict[str, dict[str, Any]] = {
    PCFG: {},
    f"{RULES}, 0/1 loss": {"loss": "zero-one"},
    RULES: {"loss": "bracket"},
    RICH: {"loss": "bracket", "features": "rich"},
    NEW: {"loss": "bracket", "features": "rich", "horizontal": 2},
}

#: C is chosen among these on every fifth of the first training trees, and then trained on all.
GRID = (0.03, 0.3, 3.0)
FIRST = 1500
TOL = 0.05
QUICK = 60
MAX_TIME = 900.0

Setting = tuple[str, str]  # treebank and input


@experiment(
    "joachims-2009-cfg-accuracy",
    title="Parsing new sentences: labelled brackets by evalb's rules",
    claim="Rich features parse better than rule counts, trained or counted by relative "
    "frequency, from raw words and from tagged ones: the bootstrap interval of each difference "
    "is above 0.",
    data=("wsj_cfg", "gum_cfg"),
)
def run(session: Session) -> Verdict:
    """Every parser on both treebanks, from raw words and from given tags."""
    banks = ("wsj_cfg",) if session.quick else ("wsj_cfg", "gum_cfg")
    settings = [(bank, kind) for bank in banks for kind in ("words", "tagged")]
    grid = {
        setting: {name: measure(session, setting, name) for name in MODELS} for setting in settings
    }
    columns = [
        Column("data", "trees"),
        Column("input", "input"),
        Column("parser", "parser"),
        Column("C", "C", lambda value: f"{value:g}"),
        Column("f1", "F1", percent2),
        Column("low", "from", percent),
        Column("high", "to", percent),
        Column("exact", "exact", percent),
        Column("tags", "tags", percent),
        Column("f1_seen", "F1, rules seen", percent),
        Column("f1_unseen", "F1, not", percent),
        Column("rules", "binary rules", count),
        Column("time", "seconds", seconds),
    ]
    groups = [group for parsers in grid.values() for group in parsers.values()]
    session.table(groups, columns, "test sentences of at most 15 words; intervals of 95 %")
    session.draw(lambda figure: paint(figure, grid), width=4.5 + 2.5 * len(grid), height=3.6)
    return judge(grid)


def measure(session: Session, setting: Setting, name: str) -> Group:
    """Choose C, train on all and test; done once, because the random state changes little."""
    bank, kind = setting
    n = QUICK if session.quick else None

    def once(seed: int) -> dict[str, Any]:
        data = load_treebank(bank, session.directory, 0)
        trees, test = data.trees[:n], data.test[:n]
        C = 0.0 if name == PCFG else choose(trees[:FIRST], name, kind, GRID[1:2] if n else GRID)
        return evaluate_parser(trees, test, name, kind, C)

    config = {"data": bank, "input": kind, "parser": name, "n": n, "tol": TOL}
    return session.measure(config, once, repeats=1)


def choose(trees: list[Tree], name: str, kind: str, grid: tuple[float, ...]) -> float:
    """The C with the best F1 on every fifth tree, trained on the others."""
    if len(grid) == 1:
        return grid[0]
    held = trees[::5]
    rest = [tree for i, tree in enumerate(trees) if i % 5]
    scores = {C: evaluate_parser(rest, held, name, kind, C)["f1"] for C in grid}
    return max(grid, key=lambda C: scores[C])


def evaluate_parser(
    trees: list[Tree], test: list[Tree], name: str, kind: str, C: float
) -> dict[str, Any]:
    """Train (or count) and evaluate."""
    from maxmargin.metrics import BracketEvaluation

    problem = read_problem(trees, input=kind, **MODELS[name])
    took = 0.0
    if name == PCFG:
        w = relative_frequencies(problem, trees)
    else:
        result = train_trees(problem, trees, C=C, tol=TOL, max_time=MAX_TIME)
        w, took = result.w, result.time
    every = BracketEvaluation.of(test, parse(problem, w, test))
    seen = np.array(within_grammar(problem, test))
    low, high = every.interval()
    return {
        "C": C,
        "time": took,
        "f1": every.f1,
        "low": low,
        "high": high,
        "exact": every.exact_match,
        "tags": every.tagging_accuracy,
        "f1_seen": dataclasses.replace(every, trees=every.trees[seen]).f1,
        "f1_unseen": dataclasses.replace(every, trees=every.trees[~seen]).f1,
        "seen": float(seen.mean()),
        "rules": problem.grammar.n_rules,
        "trees": every.trees.tolist(),
    }


def gain(groups: dict[str, Group], better: str, worse: str) -> tuple[float, float]:
    """The interval of the difference of two F1 on the same sentences."""
    from maxmargin.metrics import BracketEvaluation
    from maxmargin.metrics.counts import Counts

    none = np.zeros(0, np.int64)
    first, second = (
        BracketEvaluation(np.array(groups[name].values[0]["trees"]), Counts([], none, none, none))
        for name in (better, worse)
    )
    return first.difference(second)


def judge(grid: dict[Setting, dict[str, Group]]) -> Verdict:
    """The differences to rich features, with their intervals."""
    passed, parts = True, []
    for (bank, kind), groups in grid.items():
        f1 = {name: group.median("f1") for name, group in groups.items()}
        best = max(RULES, f"{RULES}, 0/1 loss", key=lambda name: f1[name])
        gains = {name: gain(groups, RICH, name) for name in (PCFG, best)}
        passed &= all(low > 0 for low, _ in gains.values())
        shown = ", ".join(
            f"{name} {percent2(f1[name])} (difference {100 * low:.1f} to {100 * high:.1f})"
            for name, (low, high) in gains.items()
        )
        parts.append(
            f"{bank} from {kind}: F1 {percent2(f1[RICH])} with rich features; {shown}; "
            f"{percent(groups[PCFG].median('seen'))} of the test trees have only rules of training "
            f"trees, the others can be right in part; with new rules {percent2(f1[NEW])}"
        )
    return Verdict(passed, "\n".join(parts))


def paint(figure: Figure, grid: dict[Setting, dict[str, Group]]) -> None:
    """F1 with its interval, a line for each parser."""
    panels = figure.subplots(1, len(grid), squeeze=False, sharey=True)[0]
    for axes, ((bank, kind), groups) in zip(panels, grid.items(), strict=True):
        for place, (name, group) in enumerate(groups.items()):
            f1, low, high = (100 * group.median(key) for key in ("f1", "low", "high"))
            color = GREY if name == PCFG else COLORS[0]
            axes.errorbar(
                [f1], [place], xerr=[[f1 - low], [high - f1]], fmt="o", color=color, capsize=4,
                markersize=8,
            )  # fmt: skip
            axes.annotate(
                f"{f1:.1f}", (f1, place), xytext=(0, 9), textcoords="offset points", ha="center",
                fontsize=9,
            )  # fmt: skip
        axes.set_yticks(range(len(groups)), list(groups))
        axes.set_ylim(len(groups) - 0.5, -0.6)
        clean(axes, f"{bank} from {kind}", "F1, %", "")
        axes.grid(False, axis="y")
