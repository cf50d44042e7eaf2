"""A cache of columns of the kernel matrix: successive cuts use the same columns.

The matrix is symmetric, so a column is also the row of kernel values of one row with all others.
"""

from __future__ import annotations

import numpy as np

from .rows import TILE, KernelRows, in_batches

#: Number of columns that are copied into one block before they are multiplied.
TOGETHER = 32


class Columns:
    """Cache of the columns K(all rows, j) that were used most recently.

    Parameters
    ----------
    rows : KernelRows
    max_bytes : int
        Maximum memory in bytes for the columns.
    """

    def __init__(self, rows: KernelRows, max_bytes: int):
        n = len(rows)
        self.rows = rows
        self.capacity = int(min(n, max_bytes // (rows.dtype.itemsize * max(n, 1))))
        self.kept = np.empty((self.capacity, n), rows.dtype)
        self.room = np.empty((TOGETHER, n), rows.dtype)
        self.place = np.full(n, -1, np.int64)
        self.owner = np.full(self.capacity, -1, np.int64)
        self.used = np.zeros(self.capacity, np.int64)
        self.now = 0

    def product(self, wanted: np.ndarray, coef: np.ndarray, n_jobs: int = 1) -> np.ndarray:
        """``K(all rows, wanted) @ coef``, an array of shape (n, m)."""
        self.now += 1
        here = self.place[wanted] >= 0
        self.used[self.place[wanted[here]]] = self.now
        self._fetch(wanted[~here], n_jobs)
        here = self.place[wanted] >= 0
        out = np.zeros((coef.shape[1], len(self.rows)))
        slots, weights = self.place[wanted[here]], coef[here].T.astype(self.rows.dtype)
        for s in range(0, len(slots), TOGETHER):
            out += weights[:, s : s + TOGETHER] @ self._together(slots[s : s + TOGETHER])
        out = np.ascontiguousarray(out.T)
        if not here.all():
            out += self.rows.product(self.rows.take(wanted[~here]), coef[~here], n_jobs)
        return out

    def product_at(
        self, at: np.ndarray, right: np.ndarray, coef: np.ndarray, n_jobs: int = 1
    ) -> np.ndarray:
        """``K(at, right) @ coef``; the cache must have room for all columns."""
        if len(right) <= len(at):
            return self.product(right, coef, n_jobs)[at]
        self.now += 1
        self._fetch(at[self.place[at] < 0], n_jobs)
        whole = np.zeros((len(self.rows), coef.shape[1]), self.rows.dtype)
        whole[right] = coef
        slots, out = self.place[at], np.empty((len(at), coef.shape[1]))
        for s in range(0, len(slots), TOGETHER):
            out[s : s + TOGETHER] = self._together(slots[s : s + TOGETHER]) @ whole
        return out

    def _together(self, slots: np.ndarray) -> np.ndarray:
        """Some columns in one block, which the next call overwrites."""
        return np.take(self.kept, slots, axis=0, out=self.room[: len(slots)], mode="clip")

    def _fetch(self, wanted: np.ndarray, n_jobs: int) -> None:
        """Compute columns and store them in place of the least recently used ones, if they fit."""
        if len(wanted) == 0:
            return
        oldest = np.argsort(self.used, kind="stable")[: len(wanted)]
        slots = oldest[self.used[oldest] < self.now]
        wanted = wanted[: len(slots)]
        if len(wanted) == 0:
            return
        left = self.owner[slots]
        self.place[left[left >= 0]] = -1
        right = self.rows.take(wanted)
        right.prepare()

        def work(lo: int, hi: int) -> None:
            self.kept[slots, lo:hi] = right.block(self.rows.take(np.arange(lo, hi)))

        in_batches(work, len(self.rows), max(64, TILE // len(wanted)), n_jobs)
        self.place[wanted], self.owner[slots], self.used[slots] = slots, wanted, self.now
