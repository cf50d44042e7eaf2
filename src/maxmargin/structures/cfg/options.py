"""The options of ``maxmargin train cfg``.

This module imports nothing that is slow to import, so that ``maxmargin train cfg --help`` is fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

from ..options import TrainOptions

PARSERS = "Options for parsers"


class Loss(StrEnum):
    """Losses of trees."""

    bracket = "bracket"
    zero_one = "zero-one"
    f1 = "f1"


class Features(StrEnum):
    """Features of trees."""

    rules = "rules"
    rich = "rich"


class Input(StrEnum):
    """Forms of sentences."""

    words = "words"
    tags = "tags"
    tagged = "tagged"


@dataclass(frozen=True)
class CFGOptions(TrainOptions):
    """Options for parsers."""

    C: Annotated[float, typer.Option("--C", "-C", help="Weight of the sum of losses.")] = 0.1
    loss: Annotated[
        Loss,
        typer.Option(
            rich_help_panel=PARSERS,
            help="Count wrong constituents (bracket), or trees with any error (zero-one); or use "
            "1 - F1 of the constituents (f1).",
        ),
    ] = Loss.bracket
    features: Annotated[
        Features,
        typer.Option(
            rich_help_panel=PARSERS,
            help="Weights of rules alone, or also of words at the ends of constituents and more.",
        ),
    ] = Features.rich
    input: Annotated[
        Input,
        typer.Option(
            rich_help_panel=PARSERS,
            help="What sentences to be parsed are made of: words, tags or both (word/TAG).",
        ),
    ] = Input.words
    functions: Annotated[
        bool,
        typer.Option(
            "--functions",
            rich_help_panel=PARSERS,
            help="Keep function tags such as -SBJ in labels, and predict them.",
        ),
    ] = False
    horizontal: Annotated[
        int | None,
        typer.Option(
            rich_help_panel=PARSERS,
            min=0,
            show_default="all",
            help="How many of the following children a rule remembers; with 2, for example, rules "
            "that no training tree has can be put together.",
        ),
    ] = None

    def parameters(self) -> dict[str, Any]:
        """The parameters of a ``CFGSVC``."""
        return super().parameters() | {
            "loss": self.loss.value, "features": self.features.value, "input": self.input.value,
            "horizontal": self.horizontal,
        }  # fmt: skip
