"""The estimator for images: one label per pixel."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from ...data.checked import plain_array
from ...data.graph_lists import Graphs
from ...errors import DataError
from ...estimators.parameters import estimator
from ..graph.training import _GraphTrainer
from . import STRUCTURE
from .images import contrast_scale, edge_names, grid_graphs, read_images


@estimator
class GridSVC(_GraphTrainer):
    """Labels the pixels of images, with weights for pairs of labels of neighbours.

    Parameters
    ----------
    {C}
    solver : str or solver object
        "auto", "sdm", "bcfw", "n-slack", "one-slack", "subgradient", or an object such as
        ``mm.SDM(inner=5)``.
    tol : float
        Stop when P/(C n) is certified to be within ``tol`` of its minimum, in units of loss: with
        the Hamming loss, wrong pixels per image.
    rescaling : "margin"
        How the loss enters the hinge loss: added to the margin.
    {loss, class_weight, pairwise, inference, relax, void}
    neighbours : {4, 8}
        The neighbours of a pixel: with 8 also those across its corners.
    directions : {1, 2}
        1: all edges have the same weights; 2: horizontal and vertical edges, and those of both
        diagonals, have separate weights.
    contrast : bool
        Whether edges have a second feature, ``exp(-difference / contrast_scale_)``, where the
        difference is the sum of squared differences of the channels: labels then change more
        easily where the image does.
    {max_iter, max_time, n_jobs, deterministic}
    {random_state, warm_start, checkpoint, backend, verbose}

    Attributes
    ----------
    classes_ : array (n_classes,)
        The labels.
    coef_ : array (n_classes, channels)
        Weights of the channels. There is no constant: add a channel of ones if it is needed.
    pairwise_ : array (e, n_classes, n_classes)
        Weights of pairs of labels for each edge feature, ``[feature, label of the left or upper
        pixel, label of the other pixel]``.
    contrast_scale_ : float or None
        Twice the average difference of neighbours in the training images.
    inference_ : str
        The decoder that was used in training.
    {result_}

    Examples
    --------
    >>> import numpy as np, maxmargin as mm
    >>> dark, light = np.zeros((4, 4)), np.ones((4, 4))
    >>> image = np.dstack([np.hstack([dark, light]), np.ones((4, 8))])
    >>> clf = mm.GridSVC(pairwise="associative", C=1.0).fit([image], [image[:, :, 0].astype(int)])
    >>> clf.predict([image])[0][0]
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """

    structure = STRUCTURE

    C: float = 0.1
    _: KW_ONLY
    neighbours: int = 4
    directions: int = 1
    contrast: bool = False

    _node_feature = "channel"

    def _learn(self, X: Any) -> None:
        """Set the scale of the contrast from the training images."""
        self._check()
        images = read_images(X)
        self.contrast_scale_ = contrast_scale(images, self.neighbours) if self.contrast else None

    def _stack(self, X: Any) -> Graphs:
        return grid_graphs(read_images(X), self.neighbours, self.directions, self.contrast_scale_)

    def _flat(self, Y: Any, X: Any) -> list[Any]:
        """The labels of the pixels by rows; they may also be given in this order."""
        flat = []
        for i, (image, given) in enumerate(zip(X, Y, strict=True)):
            labels, (h, w) = plain_array(given, f"the labels of image {i}"), np.shape(image)[:2]
            if labels.shape not in ((h, w), (h * w,)):
                raise DataError(
                    f"image {i} has {h} x {w} pixels, and its labels have shape {labels.shape}: "
                    "give an array with one label per pixel",
                    sequence=i,
                )
            flat.append(labels.ravel())
        return flat

    def _shaped(self, X: Any, labels: list[np.ndarray]) -> list[np.ndarray]:
        """Labels (pixels,) or numbers (pixels, k) of each image as arrays (height, width, ...)."""
        pairs = zip(X, labels, strict=True)
        return [y.reshape(*np.shape(x)[:2], *y.shape[1:]) for x, y in pairs]

    def _check(self) -> None:
        """Raise a DataError for parameters outside of their range."""
        for name, choices in (("neighbours", (4, 8)), ("directions", (1, 2))):
            if getattr(self, name) not in choices:
                raise DataError(
                    f"{name} must be {choices[0]} or {choices[1]}, got {getattr(self, name)!r:.100}"
                )

    def _edge_names(self) -> list[str]:
        return edge_names(self.neighbours, self.directions, bool(self.contrast))
