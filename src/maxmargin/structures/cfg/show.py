"""Output for trees: drawings, evaluations, and descriptions of parsers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.text import Text

from ...data.brackets import as_tree
from ...data.frames import data_frame
from ...data.printable import printable
from ...data.tree_svg import draw_many
from ...data.tree_text import draw_text
from ...errors import MaxMarginError
from ...metrics import BracketEvaluation, evaluate_sequences
from ...report.console import Console
from ...report.results import Outcome
from ...saving.atomic import write_lines_atomic
from ..show import Row, Show

#: Number of trees that are drawn, those with the most errors.
_WORST = 10

#: Number of labels in the table.
_LABELS = 20


@dataclass(frozen=True)
class Parsed:
    """True trees, predicted trees and their evaluation."""

    truth: list[Any]
    found: list[Any]
    evaluation: BracketEvaluation

    def to_dict(self) -> dict[str, Any]:
        """All counts and scores."""
        return self.evaluation.to_dict()

    def print(self) -> None:
        """Print the summary of evalb."""
        print_bracket_evaluation(self.evaluation)

    def plot(self, path: Path) -> None:
        """Draw the trees with the most errors."""
        draw_worst(self, path)


@dataclass(frozen=True)
class Rules:
    """The rules with the largest and with the smallest weights."""

    content: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The rules as a dict, for JSON output."""
        return self.content

    def to_frame(self) -> Any:
        """A data frame with the columns rule and weight."""
        return data_frame(
            (rule for rules in self.content.values() for rule in rules), ("rule", "weight")
        )

    def __str__(self) -> str:
        lines = []
        for title, rules in self.content.items():
            lines.append(f"rules with the {title} weights")
            lines += [f"{rule['weight']:10.4f}  {printable(rule['rule'])}" for rule in rules]
        return "\n".join(lines)


class CFGShow(Show):
    """Parse trees."""

    def describe(self, estimator: Any) -> str:
        """The size of the grammar."""
        grammar = estimator.grammar_
        return (
            f"{len(grammar.features):,} rules, {len(grammar.labels):,} labels, "
            f"{len(grammar.tags):,} tags, {len(estimator.coef_):,} features"
        )

    def info(self, content: dict[str, Any]) -> list[Row]:
        """Labels, tags and the size of the grammar."""
        return cfg_rows(content)

    def evaluate(self, estimator: Any, examples: Any) -> Parsed:
        """Evaluate constituents by the rules of evalb."""
        found = estimator.predict(examples.X)
        return Parsed(examples.Y, found, BracketEvaluation.of(examples.Y, found))

    def outcome(self, estimator: Any, data: str, X: Any, Y: Any) -> Outcome:
        """Confusion of tags, and measures of constituents by the rules of evalb."""
        sentences, trees = estimator._examples(X, Y)
        trees = [as_tree(tree) for tree in trees]
        found = estimator._parse(sentences)[2]
        tags = evaluate_sequences(
            [tree.tags() for tree in trees], [tree.tags() for tree in found],
            estimator.grammar_.tags,
        )  # fmt: skip
        scores = BracketEvaluation.of(trees, found)
        more = (
            f"Constituents, as evalb counts them: precision {100 * scores.precision:.2f}, recall "
            f"{100 * scores.recall:.2f}, F1 {100 * scores.f1:.2f} %; "
            f"{100 * scores.exact_match:.1f} % of the trees are right as a whole."
        )
        return Outcome(
            data, tags.labels, tags.confusion, "tags", more, scores.labels, "constituents"
        )

    def check_plot(self, path: Path) -> None:
        """Raise an error unless the file is an SVG file."""
        check_svg(path)

    def explain(self, estimator: Any, n: int) -> Rules:
        """The rules with the largest and with the smallest weights."""
        return Rules(explain_cfg(estimator, n))


def write_svg(path: Path, items: Iterable[tuple[str, Any, Any]]) -> None:
    """Draw trees to a file, which is written atomically; see ``data.tree_svg.draw_many``."""
    write_lines_atomic(path, [draw_many(items)])


def check_svg(path: Path) -> None:
    """Raise an error if a picture of trees has another format than SVG."""
    if path.suffix.lower() != ".svg":
        raise MaxMarginError(f"{path}: trees are drawn as SVG: name a file that ends in .svg")


def draw_trees(trees: list[Any]) -> None:
    """Draw trees to standard output, with the width of the terminal."""
    console = Console()
    for number, tree in enumerate(trees):
        picture = Text(draw_text(tree, console.width), no_wrap=True)
        picture.highlight_regex(r"[─│┌┐┬┴┼├┤└]+", "dim")
        console.print(picture, soft_wrap=True)
        if number < len(trees) - 1:
            console.print()


def print_bracket_evaluation(evaluation: BracketEvaluation) -> None:
    """Print the summary of evalb with an interval of F1, and the most frequent labels."""
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
    """Draw the trees with the most wrong and missing brackets, each above its true tree."""
    correct, found, support = parsed.evaluation.trees[:, :3].T
    errors = found + support - 2 * correct
    worst = [i for i in np.argsort(-errors, kind="stable")[:_WORST].tolist() if errors[i]]
    items = []
    for i in worst or [0]:
        said = f"{correct[i]} of {found[i]} brackets are right, {support[i]} are true"
        items.append((f"tree {i + 1}, predicted: {said}", parsed.found[i], parsed.truth[i]))
        items.append((f"tree {i + 1}, true", parsed.truth[i], parsed.found[i]))
    write_svg(path, items)


def cfg_rows(content: dict[str, Any]) -> list[tuple[str, str]]:
    """What ``info`` says about a parser in addition to what it says about all models."""
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


def _rule(names: tuple[Any, ...]) -> str:
    """A rule as text: ``NP -> DT NN``; dots stand for children that a part does not remember."""
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
