"""The steps of one shard between two exchanges, of which the driver may keep a part."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.arrays import Duals, PassOptions
from ..engine.exchange import (
    SHIFT,
    drop_all_zeros,
    marks_for,
    merge_changes,
    set_both,
    take_all_changes,
    take_changes,
)
from ..engine.shard import Shard
from ..engine.vectors import Vector

NOTHING = Vector(np.empty(0, np.int32), np.empty(0))


class Moves:
    """What has changed in the dual variables and in w since the last exchange of all changes.

    Outputs whose dual variable became zero stay until the exchange: the driver may keep only a part
    of a step, and then it is not zero. Row i of ``old`` has the earlier dual variables of example
    i, if it was visited.
    """

    def __init__(self, shard: Shard):
        self.shard = shard
        self.pending = self.drop = False
        self.visited = np.zeros(shard.n, bool)
        self.old = np.zeros((shard.n, 0))
        self.examples = np.empty(0, np.int64)
        self.before = np.empty((0, 0))
        self.marks = marks_for(shard.pack.dim, len(shard.pack.truth))
        self.visits = 0

    def begin(self, duals: Duals, examples: np.ndarray, options: PassOptions) -> PassOptions:
        """Before a pass over ``examples``; returns its options, with which no output is dropped."""
        if not self.pending:
            self.pending, self.drop, self.visits = True, not options.keep_zeros, 0
            self.visited[:] = False
        self._widen(duals)
        fresh = examples[~self.visited[examples]]
        self.old[fresh], self.visited[fresh] = duals.alpha[fresh], True
        self.visits += len(examples)
        return options._replace(keep_zeros=True)

    def _compiled(self, function: Any) -> Any:
        """A compiled function, or its Python source if the labels are Python objects."""
        return function if self.shard.loops.compiled else function.__wrapped__

    def _widen(self, duals: Duals) -> None:
        """Follow working sets that have grown."""
        more = duals.alpha.shape[1] - len(self.old.T)
        if more > 0:
            self.old = np.pad(self.old, ((0, 0), (0, more)))

    def take(self, state: Any, w: np.ndarray, scale: float) -> tuple[Vector, float, int]:
        """The change of w, times ``scale``, of the loss term, and the number of visits.

        The local model of w is w again afterwards.
        """
        if not self.pending:
            return NOTHING, 0.0, 0
        duals: Duals = state.duals
        self._widen(duals)
        self.examples = np.flatnonzero(self.visited)
        self.before = self.old[self.examples]
        difference = duals.alpha[self.examples] - self.before
        moved = difference.any(axis=1)
        self.examples, self.before = self.examples[moved], self.before[moved]
        weight = self.shard.pack.weight[self.examples]
        loss = float(weight @ (difference[moved] * duals.loss[self.examples]).sum(axis=1))
        return self._change(duals, state.w, w, scale), loss, self.visits

    def _change(self, duals: Duals, new: np.ndarray, w: np.ndarray, scale: float) -> Vector:
        shard, marks = self.shard, self.marks
        blocks = marks[:0]
        if len(marks):
            scratch = shard.new_scratch()
            shard.loops.mark(shard.pack, self.examples, duals, self.before, marks, scratch)
            blocks = np.flatnonzero(marks)
            marks[blocks] = 0
        size = len(blocks) << SHIFT if len(marks) else len(w)
        where, value = np.empty(size, places_type(len(w))), np.empty(size)
        if len(marks):
            count = take_changes(new, w, blocks, scale, where, value)
        else:
            count = take_all_changes(new, w, scale, where, value)
        return Vector(where[:count].copy(), value[:count].copy())

    def keep(self, duals: Duals, part: float) -> None:
        """Keep this part of the steps: 1 for all, 0 for none."""
        if not self.pending:
            return
        rows = self.examples
        if part < 1.0:
            duals.alpha[rows] = (1.0 - part) * self.before + part * duals.alpha[rows]
        if self.drop:
            self._compiled(drop_all_zeros)(duals, self.shard.pack.offsets, rows)
        self.pending = False


def warm_up_moves(shard: Shard) -> None:
    """Compile (or load) what exchanges need, before times are measured."""
    no_rows, w = np.empty(0, np.int64), np.zeros(1)
    where, value = np.empty(0, places_type(shard.pack.dim)), np.empty(0)
    take_changes(w, w, no_rows, 1.0, where, value)
    take_all_changes(w, w, 1.0, where, value)
    merge_changes(where, value, where, value, where, value)
    for writeable in (True, False):  # what comes from another process is not writeable
        where.flags.writeable = value.flags.writeable = writeable
        set_both(where, value, w, w)
    if shard.loops.compiled:
        drop_all_zeros(shard.new_duals(1), shard.pack.offsets, no_rows)


def places_type(dim: int) -> type:
    """The type of places in a vector of this length."""
    return np.int32 if dim < 2**31 else np.int64
