"""The options of ``maxmargin train graph``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from ..options import C_HELP, TrainOptions, option

graph_option = partial(option, rich_help_panel="Options for graphs")


@dataclass(frozen=True)
class GraphOptions(TrainOptions):
    """Options for graphs."""

    C: float = option(0.1, C_HELP, "--C", "-C")
    class_weight: Literal["balanced"] | None = option(
        None, "Weight labels by the inverse of their frequency."
    )
    loss: Literal["hamming", "zero-one"] = graph_option(
        "hamming", "The number of wrong labels, or 1 for a graph with any (without cycles only)."
    )
    pairwise: Literal["full", "symmetric", "potts", "associative"] = graph_option(
        "full",
        "Weights of pairs of labels: one per ordered pair, per pair, for equal labels, or the "
        "same but >= 0.",
    )
    inference: str = graph_option("auto", "The decoder, such as trws; auto chooses.")
    relax: bool = graph_option(
        False, "Train the relaxed problem, with shares of labels.", "--relax"
    )

    def parameters(self) -> dict[str, Any]:
        """The parameters of a ``GraphSVC``."""
        return super().parameters() | self.given(
            "class_weight", "loss", "pairwise", "inference", "relax"
        )
