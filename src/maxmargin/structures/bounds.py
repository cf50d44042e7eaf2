"""Bounds of approximate decoders, for all structures that use them."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from ..inference.tables import labelling_value

#: Sweeps of approximate decoders in a call: the messages are kept, and training calls often.
TRAIN_SWEEPS, PREDICT_SWEEPS = 3, 100

#: How much a bound can be too low because of rounding, relative to the scores it is made of.
ROUNDING = 1e-12


@register_jitable
def checked_bound(plan, K, unary, pair, y, bound):
    """A bound with room for rounding; NaN if the labels y reach it, so that they are the best."""
    value = labelling_value(plan, K, unary, pair, y)
    room = ROUNDING * (abs(bound) + abs(value))
    return np.nan if bound - value <= room else bound + room
