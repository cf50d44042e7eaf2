"""What the demo prints: one code, one sentence, one tree and a table of accuracies."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from ..data.tree_text import draw_text
from .page import TAGS, shown_sentence
from .pictures import SIDE, digits_as_text
from .tasks import Codes, Sentences, figures

#: Colours of the tags, in the order of TAGS; errors are red.
_COLORS = ("blue", "green", "cyan", "magenta", "yellow", "default", "bright_black")


#: Width of the column of names, in characters.
_NAME = 14


def code_text(codes: Codes) -> Text:
    """The first test code that only the chain gets right, with both predictions."""
    shown = next(
        (i for i, truth in enumerate(codes.truth) if codes.chain[i] == truth != codes.alone[i]), 0
    )
    truth = codes.truth[shown]
    lines = digits_as_text(codes.images[shown]).split("\n")
    text = Text("".join(f"{'':{_NAME}}{line}\n" for line in lines), no_wrap=True)
    for name, found in _both(codes.alone[shown], codes.chain[shown]):
        text.append(f"{name:<{_NAME}}")
        for digit, right in zip(found, truth, strict=True):
            text.append(*_cell(str(digit).center(SIDE), digit == right, ""))
        text.append("\n")
    return text


def words_text(sentences: Sentences) -> Text:
    """A sentence with the tags predicted for single words and by the chain, in colour."""
    shown = shown_sentence(sentences)
    pairs = sentences.truth[shown].pos()
    width = [max(len(word), 4) + 2 for word, _ in pairs]
    text = Text(f"{'':{_NAME}}", no_wrap=True)
    for (word, _), room in zip(pairs, width, strict=True):
        text.append(f" {word:<{room}}", "bold")
    text.append("\n")
    for name, found in _both(sentences.alone[shown], sentences.chain[shown]):
        text.append(f"{name:<{_NAME}}")
        for tag, (_, right), room in zip(found, pairs, width, strict=True):
            color = _COLORS[list(TAGS).index(tag)]
            text.append(*_cell(f" {tag:<{room}}", tag == right, color))
        text.append("\n")
    return text


def _both(alone: list[Any], chain: list[Any]) -> tuple[tuple[str, list[Any]], ...]:
    return ("each alone", alone), ("as a chain", chain)


def _cell(text: str, right: bool, style: str) -> tuple[str, str]:
    """A label and its style; errors are in brackets too, for terminals without colours."""
    if right:
        return text, style
    label = text.strip()
    return text.replace(f" {label} ", f"({label})", 1), "bold red"


def tree_text(sentences: Sentences) -> str:
    """The predicted tree of the same sentence."""
    return draw_text(sentences.parsed[shown_sentence(sentences)], width=80)


def figures_table(codes: Codes, sentences: Sentences) -> Table:
    """A table of accuracies for each part alone, chains and trees."""
    table = Table(box=box.SIMPLE_HEAD, header_style="bold")
    table.add_column("correct on test data")
    for name in ("each part alone\n(LinearSVC)", "as a chain\n(ChainSVC)", "as a tree\n(CFGSVC)"):
        table.add_column(name, justify="right")
    for row in figures(codes, sentences):
        table.add_row(*row)
    return table
