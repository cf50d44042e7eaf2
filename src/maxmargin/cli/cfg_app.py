"""The options of parsers.

Nothing heavy is imported here: ``maxmargin --help`` must answer at once.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .chain_app import Loss

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


def structure_options(
    C: float | None,
    loss: Loss | None,
    features: Features | None,
    given: Input | None,
    functions: bool,
    horizontal: int | None,
    refused: dict[str, Any],
) -> dict[str, Any]:
    """The parameters of a parser, and ``source``: how to read the data.

    ``refused`` are options of other structures: an error if one of them was given.
    """
    for name, value in refused.items():
        if value is not None:
            raise typer.BadParameter("this option is not for 'train cfg'", param_hint=name)
    if loss is Loss.hamming:
        raise typer.BadParameter("trees have bracket or zero-one", param_hint="--loss")
    return {
        "C": 0.1 if C is None else C,
        "loss": (loss or Loss.bracket).value,
        "features": (features or Features.rich).value,
        "input": (given or Input.words).value,
        "horizontal": horizontal,
        "source": {"functions": functions},
    }


def refuse(
    structure: str,
    features: Features | None,
    given: Input | None,
    functions: bool,
    horizontal: int | None,
) -> None:
    """Refuse options of parsers for other structures."""
    for name, value in (
        ("--features", features),
        ("--input", given),
        ("--functions", functions or None),
        ("--horizontal", horizontal),
    ):
        if value is not None:
            raise typer.BadParameter(
                f"this option is for 'train cfg', not for 'train {structure}'", param_hint=name
            )
