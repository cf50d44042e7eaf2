"""A warning of features so large that training becomes slow."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...data.graph_lists import Graphs

#: Larger values of a feature lead to a warning.
LARGE = 30.0


def warn_of_scale(graphs: Graphs, feature: str) -> None:
    """Warn if a feature of nodes or edges is large; ``feature`` is the word for those of nodes."""
    for name, matrix in ((feature, graphs.nodes), ("edge feature", graphs.edge_features)):
        if matrix is None or matrix.shape[0] == 0 or matrix.shape[1] == 0:
            continue
        high, low = _ends(matrix.max(axis=0)), _ends(matrix.min(axis=0))
        largest = np.maximum(high, -low)
        j = int(largest.argmax())
        if largest[j] > LARGE:
            warnings.warn(
                f"{name} {j} has values of up to {largest[j]:.4g}: training takes many more "
                f"iterations with features that are much larger than 1; divide it by "
                f"{largest[j]:.4g}, here and in predictions",
                UserWarning,
                stacklevel=4,
            )


def _ends(values: Any) -> np.ndarray:
    """The maxima or minima of the columns, also of a sparse matrix (d,)."""
    dense = values.toarray() if hasattr(values, "toarray") else values
    return np.asarray(dense, np.float64).ravel()
