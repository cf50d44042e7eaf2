"""The master problem: which part of each shard's step to keep, and the sum of these parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..engine.exchange import add_parts, link_changes
from ..engine.vectors import Vector

#: Maximum number of sweeps over the variables, and the part of the gain below which they end.
SWEEPS, ENOUGH = 200, 1e-9


class Exchange:
    """Adds the changes of K shards; its memory is kept between exchanges."""

    def __init__(self, dim: int, K: int):
        self.K = K
        kind = np.int32 if max(K, 1) * dim < 2**31 else np.int64
        self.head = np.full(dim, -1, kind)
        self.last: tuple[np.ndarray, ...] = ()

    def combine(
        self, w: np.ndarray, changes: Sequence[Vector], gains: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Add the best part theta_k of each change v_k to w.

        Returns
        -------
        theta : array (K,)
        where, step : arrays
            The places of w that have changed, and by how much.
        """
        lists = [change.listed() for change in changes]
        starts = np.cumsum([0, *(len(where) for where, _ in lists)])
        where = np.concatenate([where for where, _ in lists])
        value = np.concatenate([value for _, value in lists])
        gram, places = np.zeros((len(lists), len(lists))), np.empty_like(where)
        spot, link, last = np.empty((3, len(where)), self.head.dtype)
        count = link_changes(where, value, starts, self.head, spot, link, last, places, gram)
        linear = gains - [change.dot(w) for change in changes]
        theta, places, step = best_parts(linear, gram), places[:count], np.empty(count)
        add_parts(value, starts, spot, theta, places, w, step)
        self.last = value, spot, places
        return theta, places, step

    @staticmethod
    def crossing(changes: tuple[np.ndarray, ...], most: int, first: int) -> np.ndarray:
        """The places where changes of different shards meet, at most ``most`` of them.

        Those with the largest products of changes; the ``first`` largest are the first ones.
        ``changes`` is ``last`` after ``combine``: this runs beside the next exchange, which may
        set another one.
        """
        value, spot, places = changes
        size = np.bincount(spot, np.abs(value), len(places))
        score = size * size - np.bincount(spot, value * value, len(places))
        # One shard alone has a score of 0, up to rounding.
        met = np.flatnonzero(score > 1e-9 * size * size)
        best = met[np.argsort(-score[met], kind="stable")[:most]]
        return np.concatenate([np.sort(places[best[:first]]), np.sort(places[best[first:]])])


def best_parts(linear: np.ndarray, gram: np.ndarray) -> np.ndarray:
    """argmax of linear.theta - 1/2 theta' gram theta over [0, 1]^K, by coordinate ascent from 0.

    Every step increases the objective, so that it is never below its value at 0, up to rounding.
    """
    K, curve = len(linear), np.diagonal(gram)
    theta, gradient, total = np.zeros(K), linear.astype(float), 0.0
    for _ in range(SWEEPS):
        gained = 0.0
        for k in range(K):
            if curve[k] > 0:
                new = min(max(theta[k] + gradient[k] / curve[k], 0.0), 1.0)
            else:
                new = float(gradient[k] > 0)
            step = new - theta[k]
            if step:
                gained += step * (gradient[k] - 0.5 * step * curve[k])
                gradient -= step * gram[k]
                theta[k] = new
        total += gained
        if gained <= ENOUGH * total:
            break
    return theta


def warm_up_combine() -> None:
    """Compile (or load) what an exchange needs, before times are measured."""
    change = Vector(np.zeros(1, np.int32), np.ones(1))
    Exchange(1, 2).combine(np.zeros(1), [change, change], np.ones(2))
