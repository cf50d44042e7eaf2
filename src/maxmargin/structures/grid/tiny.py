"""Tiny images, for the tests that every structure gets."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ...io.images import image_arrays
from ...io.npz import npz_bytes
from ..graph.problem import GraphProblem
from ..graph.tiny import features
from ..tiny import Tiny
from .estimator import GridSVC
from .images import grid_graphs

#: Images of one row and of one column, so that no graph has a cycle.
IMAGES = [
    np.array([[[1.0, 0.0], [0.5, -1.0], [0.0, 2.0]]]),
    np.array([[[-1.0, 0.3]], [[0.4, 0.1]]]),
]
LABELS = [np.array([[0, 1, 1]]), np.array([[1], [0]])]


def examples() -> list[Tiny]:
    """Separate weights of horizontal and vertical edges."""
    graphs = list(grid_graphs(IMAGES, 4, 2, None))

    def outputs(x: Any) -> list[tuple[int, ...]]:
        return list(itertools.product(range(2), repeat=len(x)))

    return [
        Tiny(
            name="directions",
            problem=GraphProblem(2, "symmetric", None, "forest"),
            X=graphs,
            Y=[labels.ravel() for labels in LABELS],
            outputs=outputs,
            features=lambda x, y: features(x, y, 2, "symmetric"),
            loss=lambda truth, y: float(np.sum(np.asarray(truth) != np.asarray(y))),
            rescalings=("margin",),
            estimator=GridSVC(pairwise="symmetric", directions=2),
            data=(IMAGES, LABELS),
            text=npz_bytes(image_arrays(IMAGES, LABELS)),
            command=("--pairwise", "symmetric", "--directions", "2"),
        )
    ]
