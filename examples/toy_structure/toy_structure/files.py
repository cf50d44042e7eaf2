"""Data files, and what ``maxmargin train toy`` offers: a line is a level, then the features."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.errors import DataError
from maxmargin.io.sources import open_source
from maxmargin.structures.files import DataFiles, Examples
from maxmargin.structures.options import TrainOptions, option


@dataclass(frozen=True)
class LevelOptions(TrainOptions):
    """One option more than all structures have."""

    zero_one: bool = option(False, "All errors cost the same.", "--zero-one")

    def parameters(self) -> dict[str, Any]:
        """The parameters of the estimator."""
        return super().parameters() | self.given("zero_one")


class LevelFiles(DataFiles):
    """Numbers with blanks between them, one example per line: the level, then the features."""

    def read(self, path: str, options: Any) -> Examples:
        """Examples to train on."""
        rows: list[list[float]] = []
        with open_source(path) as file:
            for number, line in enumerate(file, 1):
                try:
                    rows.append([float(word) for word in line.split()])
                except ValueError as error:
                    raise DataError(str(error), path, number) from None
                if not 1 < len(rows[-1]) == len(rows[0]):
                    raise DataError("needs a level and as many numbers as line 1", path, number)
        if not rows:
            raise DataError("is empty", path)
        table = np.array(rows)
        return Examples(table[:, 1:], table[:, 0].astype(int), path, f"{len(rows):,} examples")
