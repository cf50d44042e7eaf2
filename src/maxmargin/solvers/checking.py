"""Checks of restored states that several solvers share; all of them raise ValueError.

A part of a solver's state checks itself in its method ``check_restored(task)``, next to the code
that the check is about; ``saving/restored.py`` calls it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.arrays import Duals
from ..engine.passes import Cache
from ..engine.vectors import Vector
from ..problem import Pack
from .task import Task

#: Relative tolerance for numbers that were summed in another order.
ROUNDING = 1e-6


def require(condition: Any, what: str) -> None:
    """Raise a ValueError unless the condition holds."""
    if not condition:
        raise ValueError(what)


def close(a: Any, b: Any, scale: Any = 0.0) -> bool:
    """Whether numbers are equal up to rounding, relative to the largest of them and ``scale``."""
    a, b = np.asarray(a), np.asarray(b)
    size = max(np.abs(a).max(initial=0), np.abs(b).max(initial=0), np.max(scale, initial=0))
    return bool((np.abs(a - b) <= ROUNDING * (size + 1e-12)).all())


def check_plane(plane: Vector, dim: int) -> None:
    """Check a vector of length dim, dense or sparse."""
    where, value = plane
    require(isinstance(value, np.ndarray) and value.dtype == np.float64, "a plane has no values")
    require(value.ndim == 1 and np.isfinite(value).all(), "a plane is not finite")
    if where is None:
        require(len(value) == dim, "a plane has another length than w")
        return
    whole = isinstance(where, np.ndarray) and where.dtype in (np.int32, np.int64)
    require(whole, "the indices of a plane are not integers")
    require(where.shape == value.shape, "a plane's indices and values differ in number")
    inside = len(where) == 0 or (where.min() >= 0 and where.max() < dim)
    require(inside, "a plane has indices out of range")


def check_labels(task: Task, labels: np.ndarray) -> None:
    """Check a flat label array with an output of each example."""
    valid = task.shard.problem.valid_labels(task.shard.pack, labels)
    require(valid.all(), "it has labels that the problem does not have (see label_bounds)")


def check_slots(task: Task, held: Duals | Cache, first: int) -> None:
    """Check counts, labels and losses of the stored outputs, from slot ``first`` on."""
    pack, shard = task.shard.pack, task.shard
    n, slots = pack.n, held.loss.shape[1]
    require(slots >= 1 and held.loss.shape == (n, slots), "losses of another number of examples")
    require(held.labels.shape == (slots * len(pack.truth),), "labels of another number of slots")
    require((held.count >= first).all() and (held.count <= slots).all(), "counts out of range")
    at, length = slot_places(pack, slots)
    zero = np.zeros(pack.dim)
    for r in range(first, int(held.count.max(initial=0))):
        used = np.flatnonzero(held.count > r)
        labels = held.labels[at + r * length]
        token = np.repeat(held.count > r, np.diff(pack.offsets))
        labels = np.where(token, labels, pack.truth)
        check_labels(task, labels)
        # At w = 0 the value of an output is its loss.
        loss = shard.collect(zero, task.mode, labels, used)[2]
        require(close(loss[used], held.loss[used, r]), "losses do not agree with the labels")


def slot_places(pack: Pack, slots: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the labels of slot 0 in an array of ``slots`` outputs, and steps to the next."""
    lengths = np.diff(pack.offsets)
    start = np.repeat(pack.offsets[:-1], lengths)
    return np.arange(len(pack.truth)) + (slots - 1) * start, np.repeat(lengths, lengths)


def check_duals(task: Task, duals: Duals) -> None:
    """Check working sets: alpha_i lies in the simplex, and arrays agree with the outputs."""
    n, slots = duals.loss.shape
    require(duals.alpha.shape == (n, slots), "alpha and loss differ in shape")
    kept = len(duals.gram)
    require(kept == len(task.shard.new_duals(1).gram), "Gram matrices of other examples")
    require(duals.gram.shape == (kept, slots, slots), "Gram matrices of another number of slots")
    check_slots(task, duals, first=1)
    known = duals.known
    require((known >= 1).all() and (known <= duals.count).all(), "known outputs out of range")
    free = np.arange(slots) >= duals.count[:, None]
    require((duals.alpha >= 0).all() and not duals.alpha[free].any(), "alpha out of range")
    require(close(duals.alpha.sum(axis=1), 1.0), "alpha does not sum to one")
    require(not duals.loss[:, 0].any(), "the truth has a loss")
    check_gram(duals)


def check_gram(duals: Duals) -> None:
    """Check inner products: |<a, b>| <= |a| |b|, and the plane of the true output is zero."""
    slots = np.arange(duals.loss.shape[1])
    for start in range(0, len(duals.gram), 256):  # in parts, to save memory
        inside = slots < duals.known[start : start + 256, None]
        gram = np.where(
            inside[:, :, None] & inside[:, None, :], duals.gram[start : start + 256], 0.0
        )
        squares = np.einsum("irr->ir", gram)
        require((squares >= 0).all() and not gram[:, 0].any(), "a Gram matrix is invalid")
        size = np.sqrt(squares)
        most = size[:, :, None] * size[:, None, :]
        require((np.abs(gram) <= (1 + 1e-4) * most).all(), "a Gram matrix is invalid")


def check_cache(task: Task, cache: Cache) -> None:
    """Check the cached outputs of each example."""
    require(cache.used.shape == cache.loss.shape, "caches differ in shape")
    check_slots(task, cache, first=0)
