"""The slots of working sets: more of them, fewer outputs, and dual variables that sum to one."""

from __future__ import annotations

import numpy as np

from ..engine.arrays import Duals
from ..engine.shard import Shard
from ..errors import ProblemError

#: Maximum rounding error in the sum of an example's dual variables.
SUM_ERROR = 1e-12


def with_more_slots(shard: Shard, old: Duals) -> Duals:
    """The same working sets with room for half as many outputs again.

    Most working sets are far from full, and the Gram matrices grow with the square of the slots.
    """
    slots = old.loss.shape[1]
    new = shard.new_duals(slots + (slots + 1) // 2)
    new.loss[:, :slots] = old.loss
    new.alpha[:, :slots] = old.alpha
    new.count[:] = old.count
    new.known[:] = old.known
    new.gram[:, :slots, :slots] = old.gram
    copy_slots(old.labels, slots, new, shard.pack.offsets)
    return new


def copy_slots(labels: np.ndarray, slots: int, new: Duals, offsets: np.ndarray) -> None:
    """Copy the labels of working sets of ``slots`` outputs into larger ones."""
    wider = new.loss.shape[1]
    for i in range(len(offsets) - 1):
        size = slots * (offsets[i + 1] - offsets[i])
        start, to = slots * offsets[i], wider * offsets[i]
        new.labels[to : to + size] = labels[start : start + size]


def drop_outputs(duals: Duals, offsets: np.ndarray, idle: np.ndarray, more: np.ndarray) -> None:
    """Remove the outputs marked in ``idle`` (n, slots); their dual variables must be zero.

    ``more`` (n, slots) holds a number per output, which is moved together with the output.
    """
    slots = duals.loss.shape[1]
    for i in np.flatnonzero(idle.any(axis=1)):
        kept = np.flatnonzero(~idle[i, : duals.count[i]])
        m = len(kept)
        start, length = slots * offsets[i], offsets[i + 1] - offsets[i]
        labels = duals.labels[start : start + slots * length].reshape(slots, length)
        labels[:m] = labels[kept]
        more[i, :m] = more[i, kept]
        duals.loss[i, :m] = duals.loss[i, kept]
        duals.alpha[i, :m] = duals.alpha[i, kept]
        duals.alpha[i, m:] = 0.0
        if len(duals.gram):
            duals.gram[i, :m, :m] = duals.gram[i][np.ix_(kept, kept)]
        duals.known[i] = (kept < duals.known[i]).sum()
        duals.count[i] = m


def repair_alpha(duals: Duals) -> bool:
    """Clip and rescale dual variables that have left the simplex; returns whether any had.

    D is then computed for the new alpha, which is feasible.
    """
    alpha = duals.alpha
    total = alpha @ np.ones(alpha.shape[1])
    if alpha.min() >= 0 and abs(total - 1).max() <= SUM_ERROR:
        return False
    if not np.isfinite(total).all():
        i = int(np.flatnonzero(~np.isfinite(total))[0])
        raise ProblemError(
            f"the dual variables of example {i} sum to {total[i]}: its features or losses are "
            "too large or not finite; mm.check_problem tests them"
        )
    np.maximum(alpha, 0.0, out=alpha)
    alpha[~alpha.any(axis=1), 0] = 1.0  # the truth
    alpha /= alpha.sum(axis=1, keepdims=True)
    return True
