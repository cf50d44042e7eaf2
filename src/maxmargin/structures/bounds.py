"""Bounds of approximate decoders, for all structures that use them."""

from __future__ import annotations

from numba.extending import register_jitable

#: Sweeps of approximate decoders in a call: the messages are kept, and training calls often.
TRAIN_SWEEPS, PREDICT_SWEEPS = 3, 100

#: How much a bound can be too low because of rounding, relative to the scores it is made of.
ROUNDING = 1e-12


@register_jitable
def relative_bound(bound, truth):
    """A bound on loss + score as one on loss + score - score of the truth, which is at least 0."""
    return max(bound - truth + ROUNDING * (abs(bound) + abs(truth)), 0.0)
