"""The options of ``maxmargin train grid``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from ..graph.options import GraphOptions
from ..options import option

grid_option = partial(option, rich_help_panel="Options for images")


@dataclass(frozen=True)
class GridOptions(GraphOptions):
    """Options for images."""

    neighbours: int = grid_option(4, "Neighbours of a pixel: 4, or 8 with those at its corners.")
    directions: int = grid_option(1, "2 for separate weights of horizontal and vertical edges.")
    contrast: bool = grid_option(
        False, "Let edges depend on how different their pixels are.", "--contrast"
    )
    void: int | None = grid_option(None, "The label of pixels that are not known, such as 255.")

    def parameters(self) -> dict[str, Any]:
        """The parameters of a ``GridSVC``."""
        own = self.given("neighbours", "directions", "contrast", "void")
        return super().parameters() | own
