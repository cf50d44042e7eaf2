"""The options of ``maxmargin train module:Class``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..options import TrainOptions


@dataclass(frozen=True)
class OwnOptions(TrainOptions):
    """The options of all structures, and the problem that the command names."""

    problem: Any = None
