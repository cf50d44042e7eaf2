"""Trees for people: drawings, evaluations, and what a parser is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

from ...cli.show import Console
from ...data.tree_text import draw_text
from ...metrics import BracketEvaluation

if TYPE_CHECKING:
    from .command import Parsed

#: So many trees with most errors are drawn.
_WORST = 10

#: So many labels have a line in the table.
_LABELS = 20


def draw_trees(trees: list[Any]) -> None:
    """Draw on standard output, as wide as it is."""
    console = Console()
    for number, tree in enumerate(trees):
        picture = Text(draw_text(tree, console.width), no_wrap=True)
        picture.highlight_regex(r"[─│┌┐┬┴┼├┤└]+", "dim")
        console.print(picture, soft_wrap=True)
        if number < len(trees) - 1:
            console.print()


def print_bracket_evaluation(evaluation: BracketEvaluation) -> None:
    """evalb's summary with an interval of F1, and the most frequent labels."""
    print(evaluation)
    if len(evaluation) > 1:
        low, high = evaluation.interval()
        print(f"\nF1 lies between {100 * low:.2f} % and {100 * high:.2f} % (95 %, bootstrap)")
    labels = evaluation.labels
    few = type(labels)(
        labels.names[:_LABELS], labels.correct[:_LABELS], labels.found[:_LABELS],
        labels.support[:_LABELS],
    )  # fmt: skip
    print(f"\n{few}")
    if len(labels) > _LABELS:
        print(f"and {len(labels) - _LABELS} rarer labels")


def draw_worst(parsed: Parsed, path: Path) -> None:
    """The trees with most wrong and missing brackets, each above its true tree."""
    from ...data.tree_svg import write_svg

    correct, found, support = parsed.evaluation.trees[:, :3].T
    errors = found + support - 2 * correct
    worst = [i for i in np.argsort(-errors, kind="stable")[:_WORST].tolist() if errors[i]]
    items = []
    for i in worst or [0]:
        said = f"{correct[i]} of {found[i]} brackets are right, {support[i]} are true"
        items.append((f"tree {i + 1}, predicted: {said}", parsed.found[i], parsed.truth[i]))
        items.append((f"tree {i + 1}, true", parsed.truth[i], parsed.found[i]))
    write_svg(path, items)


def describe(estimator: Any) -> str:
    """The size of a parser, for the end of ``train``."""
    grammar = estimator.grammar_
    return (
        f"{len(grammar.features):,} rules, {len(grammar.labels):,} labels, "
        f"{len(grammar.tags):,} tags, {len(estimator.coef_):,} features"
    )


def cfg_rows(content: dict[str, Any]) -> list[tuple[str, str]]:
    """What ``info`` says of a parser beside what it says of all models."""
    cfg = content["cfg"]
    data = cfg["data"] or {}
    kept = "with function tags" if data.get("functions") else "without function tags"
    return [
        ("data", f"trees in brackets, {kept}" if data else "trees given in Python"),
        ("labels", f"{len(cfg['labels']):,} ({' '.join(cfg['labels'])})"),
        ("tags", f"{len(cfg['tags']):,} ({' '.join(sorted(cfg['tags']))})"),
        (
            "grammar",
            f"{cfg['binary_rules']:,} binary rules, {cfg['unary_chains']:,} unary chains, "
            f"{cfg['words']:,} words",
        ),
    ]


def explain_cfg(estimator: Any, n: int) -> dict[str, Any]:
    """The rules with the largest and with the smallest weights."""
    grammar = estimator.grammar_
    weights = estimator.coef_[: len(grammar.features)]
    order = np.argsort(-weights, kind="stable")

    def listed(numbers: Any) -> list[dict[str, Any]]:
        return [
            {"rule": _rule(grammar.features[k]), "weight": float(weights[k])}
            for k in numbers.tolist()
        ]

    return {"largest": listed(order[:n]), "smallest": listed(order[::-1][:n])}


def print_rules(content: dict[str, Any]) -> None:
    """The same for people."""
    for title, rules in content.items():
        print(f"rules with the {title} weights")
        for rule in rules:
            print(f"{rule['weight']:10.4f}  {rule['rule']}")


def _rule(names: tuple[Any, ...]) -> str:
    """``NP -> DT NN``; what a part does not remember are dots."""
    parent, *parts = names
    shown = []
    for symbol in parts:
        rest = getattr(symbol, "rest", None)
        shown += [_name(symbol)] if rest is None else [*map(_name, rest)]
        shown += ["..."] if rest is not None and symbol.owner is not None else []
    head = f"{_name(parent.owner)} -> ..." if getattr(parent, "owner", None) else _name(parent)
    return f"{head} {' '.join(shown)}" if "->" in head else f"{head} -> {' '.join(shown)}"


def _name(symbol: Any) -> str:
    parent = getattr(symbol, "parent", None)
    return (
        f"{getattr(symbol, 'label', '...')}^{parent}" if parent else getattr(symbol, "label", "...")
    )
