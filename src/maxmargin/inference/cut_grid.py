"""The minimum cut of an image, from the gains of its pixels and the couplings of neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.keep import keep
from ..errors import DataError
from .cut import PUSHES, max_flow, source_side
from .maximise import finite_numbers
from .networks import residual, supply
from .search_trees import CONTROLS
from .sweeps import sweep_flow

#: The largest gain or coupling: sums of more than these are not finite.
LARGEST = 1e300

#: Every node has 2^SHIFT arcs.
SHIFT = 2


def cut_grid(gain: Any, right: Any, down: Any) -> tuple[np.ndarray, float]:
    """The best two labels of the pixels of an image, if neighbours attract each other.

    With labels x of 0 and 1, the value is the sum of the gains where x is 1, minus the couplings of
    all neighbours with different labels. Neighbours are those to the right and below.

    Parameters
    ----------
    gain : array (h, w)
        What label 1 scores more than label 0.
    right : array (h, w - 1)
        The coupling of each pixel with its right neighbour, at least 0.
    down : array (h - 1, w)
        The coupling of each pixel with the one below, at least 0.

    Returns
    -------
    labels : int32 array (h, w)
    value : float

    Examples
    --------
    >>> labels, value = cut_grid([[2.0, -1.0], [-1.0, -3.0]], [[1.5], [0.5]], [[0.25, 0.25]])
    >>> labels.tolist(), value
    ([[1, 1], [0, 0]], 0.5)
    """
    gain, right, down = (
        finite_numbers(a, name) for a, name in ((gain, "gain"), (right, "right"), (down, "down"))
    )
    if gain.ndim != 2:
        raise DataError(f"gain has shape {gain.shape}: it must be (height, width)")
    h, w = gain.shape
    if gain.size == 0:
        return np.zeros((h, w), np.int32), 0.0
    for name, coupling, shape in (
        ("right", right, (h, w - 1)),
        ("down", down, (h - 1, w)),
    ):
        if coupling.shape != shape:
            raise DataError(f"{name} has shape {coupling.shape}: {h} x {w} pixels need {shape}")
        if coupling.size and coupling.min() < 0.0:
            place = [int(k) for k in np.unravel_index(coupling.argmin(), shape)]
            raise DataError(
                f"{name}{place} is {coupling.min()}: couplings must be >= 0, so that neighbours "
                'attract each other; use maximise(..., inference="roof-dual") otherwise'
            )
    largest = max(abs(bound) for a in (gain, right, down) if a.size for bound in (a.min(), a.max()))
    if largest > LARGEST:
        raise DataError(f"there is a value of {largest}: values must be at most {LARGEST}")
    labels, link = np.zeros((h, w), np.int32), np.array([1, -1, w, -w])
    number = np.zeros((h * w + 2 * w) << (SHIFT + 1))
    control = np.zeros(CONTROLS, np.int64)
    arcs = (h * w) << SHIFT
    value = cut_four(gain, right, down, labels, link, number, control, PUSHES * arcs)
    return labels, float(value)


@keep
def cut_four(gain, right, down, labels, link, number, control, limit):
    """The cut of a grid with 4 neighbours; ``number`` has zeros for two rows more."""
    h, w = gain.shape
    for r in range(h):
        for c in range(w):
            v = w + r * w + c
            number[supply(SHIFT, link, v)] = gain[r, c]
            arc = v << SHIFT
            if c + 1 < w:
                number[residual(SHIFT, link, arc)] = right[r, c]
                number[residual(SHIFT, link, ((v + 1) << SHIFT) + 1)] = right[r, c]
            if r + 1 < h:
                number[residual(SHIFT, link, arc + 2)] = down[r, c]
                number[residual(SHIFT, link, ((v + w) << SHIFT) + 3)] = down[r, c]
    node = number.view(np.int32)
    sweep_flow((h + 2) * w, SHIFT, link, number)
    value = max_flow((h + 2) * w, SHIFT, link, number, node, control, limit)
    for r in range(h):
        for c in range(w):
            labels[r, c] = source_side(w + r * w + c, SHIFT, link, node)
    return value
