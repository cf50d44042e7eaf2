"""Files of images on the command line: npz, or a folder of pictures and masks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...errors import DataError
from ...io.images import read_images
from ...io.sources import display_name
from ..files import DataFiles, Examples, Wish


class GridFiles(DataFiles):
    """npz files or folders; predictions are one row of pixels per line, then a blank line."""

    def read(self, path: str, options: Any) -> Examples:
        """Images with labels to train on."""
        examples = self._read(path)
        if examples.Y is None:
            raise DataError("has no labels to train on", display_name(path))
        return examples

    def read_new(self, path: str, estimator: Any, wish: Wish | None = None) -> Examples:
        """Images for a fitted estimator."""
        return self._read(path)

    def _read(self, path: str) -> Examples:
        X, Y = read_images(path)
        pixels = sum(x.shape[0] * x.shape[1] for x in X)
        return Examples(X, Y, path, f"{len(X):,} images, {pixels:,} pixels")

    def lines(self, outputs: Any) -> Iterator[str]:
        """Rows of labels, and a blank line after each image."""
        for labels in outputs:
            for row in labels.tolist():
                yield " ".join(map(str, row))
            yield ""

    def ranked_lines(
        self, examples: Examples, found: list[list[tuple[Any, float]]]
    ) -> Iterator[str]:
        """Each image once per output, after a line with rank and score."""
        for outputs in found:
            for rank, (labels, score) in enumerate(outputs):
                yield f"# {rank} {score}"
                yield from self.lines([labels])
