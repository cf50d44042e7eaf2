"""The options of ``maxmargin train cfg``.

This module imports nothing that is slow to import, so that ``maxmargin train cfg --help`` is fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from ..options import C_HELP, TOL_HELP, TrainOptions, option

parser_option = partial(option, rich_help_panel="Options for parsers")


@dataclass(frozen=True)
class CFGOptions(TrainOptions):
    """Options for parsers."""

    C: float = option(0.1, C_HELP, "--C", "-C")
    tol: float | None = option(
        None, TOL_HELP, show_default="0.01 per word with the bracket loss, 0.01 with the others"
    )
    loss: Literal["bracket", "zero-one", "f1"] = parser_option(
        "bracket",
        "Count wrong constituents (bracket), trees with any error (zero-one), or 1 - F1 (f1).",
    )
    features: Literal["rules", "rich"] = parser_option(
        "rich",
        "Weights of rules only, or also of words at the ends of constituents and more (rich).",
    )
    input: Literal["words", "tags", "tagged"] = parser_option(
        "words", "What the parser reads: words, tags, or both (word/TAG)."
    )
    functions: bool = parser_option(
        False, "Keep function tags such as -SBJ in labels, and predict them.", "--functions"
    )
    horizontal: int | None = parser_option(
        None,
        "Number of the following children that a part of a long rule keeps; with 2, for example, "
        "the parser can form rules that are in no training tree.",
        min=0,
        show_default="all",
    )

    def parameters(self) -> dict[str, Any]:
        """The parameters of a ``CFGSVC``."""
        own = self.given("loss", "features", "input", "horizontal")
        return super().parameters() | own
