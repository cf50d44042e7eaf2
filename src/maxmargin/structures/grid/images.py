"""Images as graphs: one node per pixel, and edges between neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.checked import check_finite_rows, plain_array
from ...data.graph_lists import Graphs
from ...data.sequences import offsets_of
from ...data.source import list_of
from ...errors import DataError

#: The kinds of edges, each with the step from a pixel to its neighbour: rows down, columns right.
STEPS = {
    "horizontal": (0, 1),
    "vertical": (1, 0),
    "diagonal down": (1, 1),
    "diagonal up": (1, -1),
}


def read_images(X: Any) -> list[np.ndarray]:
    """Images as arrays (h, w, d); errors name the image."""
    if isinstance(X, np.ndarray) and X.ndim < 4:
        raise DataError("X is one image: it must be a list of images; for a single one use [X]")
    images = []
    for i, x in enumerate(list_of(X, "X")):
        image = plain_array(x, f"image {i}")
        if image.ndim == 2:
            image = image[:, :, None]
        if image.ndim != 3 or image.dtype.kind not in "fiub":
            raise DataError(
                f"image {i} has shape {image.shape} and type {image.dtype}: give numbers of shape "
                "(height, width, channels)",
                sequence=i,
            )
        if images and image.shape[2] != images[0].shape[2]:
            raise DataError(
                f"image {i} has {image.shape[2]} channels, the images before it have "
                f"{images[0].shape[2]}",
                sequence=i,
            )
        try:
            check_finite_rows(image.reshape(-1, image.shape[2]), f"image {i}")
        except DataError as error:
            raise DataError(f"{error} (pixels are counted by rows)", sequence=i) from error
        images.append(image)
    return images


def grid_edges(h: int, w: int, neighbours: int) -> list[np.ndarray]:
    """The edges of each kind between the pixels of an image, arrays (m, 2)."""
    number = np.arange(h * w).reshape(h, w)
    found = []
    for down, right in list(STEPS.values())[: neighbours // 2]:
        first = number[: h - down, max(0, -right) : w - max(0, right)]
        second = number[down:, max(0, right) : w - max(0, -right)]
        found.append(np.column_stack([first.ravel(), second.ravel()]))
    return found


def differences(image: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The squared difference of the channels of the two pixels of each edge (m,)."""
    flat = image.reshape(-1, image.shape[2]).astype(np.float64, copy=False)
    step = flat[edges[:, 0]] - flat[edges[:, 1]]
    return np.einsum("ij,ij->i", step, step)


def contrast_scale(images: list[np.ndarray], neighbours: int) -> float:
    """Twice the average squared difference of neighbours, 1 if all are equal."""
    total, count = 0.0, 0
    for image in images:
        for edges in grid_edges(image.shape[0], image.shape[1], neighbours):
            found = differences(image, edges)
            total, count = total + float(found.sum()), count + len(found)
    return 2.0 * total / count if total > 0 else 1.0


def grid_graphs(
    images: list[np.ndarray], neighbours: int, directions: int, scale: float | None
) -> Graphs:
    """The graphs of images, with a feature 1 and, if ``scale`` is given, contrast for each edge.

    The contrast is ``exp(-difference / scale)``: 1 for equal neighbours, 0 for very different ones.
    If there are two ``directions``, each kind of edges has these features separately.
    """
    kinds = neighbours // 2 if directions == 2 else 1
    per, parts, features = 1 if scale is None else 2, [], []
    for image in images:
        for kind, edges in enumerate(grid_edges(image.shape[0], image.shape[1], neighbours)):
            mine = np.zeros((len(edges), kinds * per))
            mine[:, kind % kinds * per] = 1.0
            if scale is not None:
                mine[:, kind % kinds * per + 1] = np.exp(-differences(image, edges) / scale)
            parts.append(edges)
            features.append(mine)
    d = images[0].shape[2] if images else 0
    counts = np.array([len(edges) for edges in parts], np.int64).reshape(
        len(images), neighbours // 2
    )
    return Graphs(
        np.concatenate([np.zeros((0, d)), *(image.reshape(-1, d) for image in images)]),
        offsets_of([image.shape[0] * image.shape[1] for image in images]),
        np.concatenate([np.zeros((0, 2), np.int64), *parts]),
        offsets_of(counts.sum(axis=1)),
        np.concatenate([np.zeros((0, kinds * per)), *features]),
    )


def edge_names(neighbours: int, directions: int, contrast: bool) -> list[str]:
    """The names of the edge features."""
    kinds = list(STEPS)[: neighbours // 2] if directions == 2 else ["neighbours"]
    return [f"{kind}{more}" for kind in kinds for more in ("", ", contrast")[: 1 + contrast]]
