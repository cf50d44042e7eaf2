"""The options of ``maxmargin train multilabel``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from ..options import TrainOptions, option

label_option = partial(option, rich_help_panel="Options for label sets")


@dataclass(frozen=True)
class MultilabelOptions(TrainOptions):
    """Options for sets of labels."""

    intercept: bool = option(False, "Add a constant feature.", "--intercept")
    interactions: Literal["none", "tree", "full", "associative"] = label_option(
        "none", "The pairs of labels that have weights: a tree is learned from the labels."
    )
    inference: str = label_option("auto", "The decoder, such as trws; auto chooses.")
    relax: bool = label_option(
        False, "Train the relaxed problem, with halves of labels.", "--relax"
    )

    def parameters(self) -> dict[str, Any]:
        """The parameters of a ``MultilabelSVC``."""
        own = self.given("interactions", "inference", "relax") | {"fit_intercept": self.intercept}
        return super().parameters() | own
