"""The options of parsers.

Nothing heavy is imported here: ``maxmargin --help`` must answer at once.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from ..chain.options import Loss

PARSERS = "Options for parsers (cfg)"


class Features(StrEnum):
    """What of a tree has a weight."""

    rules = "rules"
    rich = "rich"


class Input(StrEnum):
    """What a parser is given."""

    words = "words"
    tags = "tags"
    tagged = "tagged"


FeaturesOption = Annotated[
    Features | None,
    typer.Option(
        rich_help_panel=PARSERS,
        show_default="rich",
        help="Weights of rules alone, or of words at the ends of constituents and more as well.",
    ),
]
InputOption = Annotated[
    Input | None,
    typer.Option(
        "--input",
        rich_help_panel=PARSERS,
        show_default="words",
        help="What sentences to be parsed are made of: words, tags or both (word/TAG).",
    ),
]
FunctionsOption = Annotated[
    bool,
    typer.Option(
        "--functions",
        rich_help_panel=PARSERS,
        help="Keep function tags such as -SBJ in labels, and predict them.",
    ),
]
HorizontalOption = Annotated[
    int | None,
    typer.Option(
        rich_help_panel=PARSERS,
        min=0,
        show_default="all",
        help="How many of the children to come a rule remembers; with 2, say, rules that no "
        "training tree has can be put together.",
    ),
]
DrawOption = Annotated[
    bool,
    typer.Option("--draw", rich_help_panel=PARSERS, help="Draw the trees on standard output."),
]
SvgOption = Annotated[
    Path | None,
    typer.Option("--svg", rich_help_panel=PARSERS, help="Draw the trees into this .svg file."),
]


class TreeOptions(NamedTuple):
    """The options that only parsers have, as they were given."""

    features: Features | None
    input: Input | None
    functions: bool
    horizontal: int | None

    def given(self) -> dict[str, Any]:
        """By their names; None for those that were not given."""
        return {
            "--features": self.features,
            "--input": self.input,
            "--functions": self.functions or None,
            "--horizontal": self.horizontal,
        }

    def parameters(
        self, C: float | None, loss: Loss | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The parameters of a parser, and how to read the data."""
        if loss is Loss.hamming:
            raise typer.BadParameter("trees have bracket or zero-one", param_hint="--loss")
        own = {
            "C": 0.1 if C is None else C,
            "loss": (loss or Loss.bracket).value,
            "features": (self.features or Features.rich).value,
            "input": (self.input or Input.words).value,
            "horizontal": self.horizontal,
        }
        return own, {"functions": self.functions}
