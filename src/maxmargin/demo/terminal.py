"""What the demo prints: one code, one sentence and one tree, then the figures."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from ..report.trees import draw_text
from .page import TAGS, shown_sentence
from .pictures import SIDE, digits_as_text
from .tasks import Codes, Sentences, figures

#: Colours of the tags, in the order of TAGS.
_COLORS = ("blue", "red", "bright_black", "magenta", "yellow", "cyan", "green")


def code_text(codes: Codes) -> Text:
    """The first test code that the chain reads and single digits do not, with both readings."""
    shown = next(
        (i for i, truth in enumerate(codes.truth) if codes.chain[i] == truth != codes.alone[i]), 0
    )
    lines = digits_as_text(codes.images[shown]).split("\n")
    text = Text("".join(f"{'':14}{line}\n" for line in lines), no_wrap=True)
    for name, found in (("each alone", codes.alone[shown]), ("as a chain", codes.chain[shown])):
        text.append(f"{name:<14}")
        for digit, truth in zip(found, codes.truth[shown], strict=True):
            cell = str(digit) if digit == truth else f"({digit})"
            text.append(f"{cell:^{SIDE}}", "" if digit == truth else "bold red")
        text.append("\n")
    return text


def words_text(sentences: Sentences) -> Text:
    """A sentence with its tags by single words and by the chain, in colour."""
    shown = shown_sentence(sentences)
    words = sentences.truth[shown].leaves()
    width = [max(len(word), 4) + 2 for word in words]
    text = Text(f"{'':14}", no_wrap=True)
    for word, room in zip(words, width, strict=True):
        text.append(f"{word:<{room}}", "bold")
    text.append("\n")
    truth = sentences.truth[shown].tags()
    for name, found in (
        ("each alone", sentences.alone[shown]),
        ("as a chain", sentences.chain[shown]),
    ):
        text.append(f"{name:<14}")
        for tag, right, room in zip(found, truth, width, strict=True):
            color = _COLORS[list(TAGS).index(tag)]
            text.append(
                f"{tag if tag == right else f'({tag})':<{room}}",
                color if tag == right else "bold red reverse",
            )
        text.append("\n")
    return text


def tree_text(sentences: Sentences) -> str:
    """The tree that the parser finds of the same sentence."""
    return draw_text(sentences.parsed[shown_sentence(sentences)], width=80)


def figures_table(codes: Codes, sentences: Sentences) -> Table:
    """Accuracies of each part alone, of chains and of trees."""
    table = Table(box=box.SIMPLE_HEAD, header_style="bold")
    table.add_column("right on test data")
    for name in ("each part alone\n(LinearSVC)", "as a chain\n(ChainSVC)", "as a tree\n(CFGSVC)"):
        table.add_column(name, justify="right")
    for row in figures(codes, sentences):
        table.add_row(*row)
    return table
