"""Files of graphs on the command line; see ``maxmargin.io.graphs`` for the format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...data.graph_lists import Graphs
from ...errors import DataError
from ...io.graphs import read_graphs
from ...io.sources import display_name
from ..files import DataFiles, Examples, Wish


class GraphFiles(DataFiles):
    """npz files of graphs; predictions are one graph per line, labels with blanks between them."""

    def read(self, path: str, options: Any) -> Examples:
        """Graphs with labels to train on."""
        examples = self._read(path)
        if examples.Y is None:
            raise DataError("has no labels to train on", display_name(path))
        labels = {label for labels in examples.Y for label in labels.tolist()}
        if len(labels) < 2:
            raise DataError(f"all nodes have the same label: {labels}", display_name(path))
        return examples

    def read_new(self, path: str, estimator: Any, wish: Wish | None = None) -> Examples:
        """Graphs for a fitted estimator."""
        return self._read(path)

    def _read(self, path: str) -> Examples:
        X, Y = read_graphs(path)
        return Examples(X, Y, path, size_of(X))

    def fit(self, estimator: Any, examples: Examples) -> None:
        """Train the estimator; errors in the data name the file."""
        try:
            super().fit(estimator, examples)
        except DataError as error:
            if error.path is not None or error.sequence is None:
                raise
            raise DataError(error.message, display_name(examples.path)) from error

    def lines(self, outputs: Any) -> Iterator[str]:
        """One graph per line."""
        return (" ".join(map(str, labels.ravel().tolist())) for labels in outputs)


def size_of(X: Graphs) -> str:
    """The number of graphs and nodes as text."""
    return f"{len(X):,} graphs, {int(X.offsets[-1]):,} nodes, {len(X.edges):,} edges"
