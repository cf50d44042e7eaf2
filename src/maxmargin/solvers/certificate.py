"""The certificate that the training loop keeps: the best weights, P, D and the parts of the gap."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.long_vectors import sparse_copy
from ..engine.threads import Threads
from ..engine.vectors import Vector
from .contradiction import check_finite

#: Bounds that exceed the values found by less than this, relative to P, are those of exact oracles.
ROUNDING = 1e-12

#: More weights than this are kept by their non-zeros, if few are: features of text meet few labels.
LONG, FEW = 2**20, 0.25

#: Number of weights that are compared with zero at the same time.
BLOCK = 2**14


def _is_zero(w: np.ndarray) -> bool:
    """Whether all weights are zero, without reading all of them if not."""
    return not any(w[start : start + BLOCK].any() for start in range(0, len(w), BLOCK))


class Certificate:
    """The best weights and the best dual value so far; the optimum lies between P and D.

    ``found`` is P(w) of the outputs that were found, ``primal`` its upper bound; they are equal if
    the oracle is exact. The weights with the lowest ``found`` are kept: an inexact oracle often has
    the best bounds at weights that have learned nothing, such as w = 0. ``w`` is an array, or a
    Vector.
    """

    #: Not part of a checkpoint.
    scratch = ("threads",)

    def __init__(self, newest: bool = False, threads: Threads | None = None) -> None:
        self.newest = newest
        self.threads = threads or Threads(1)
        self.w: Any = None
        self.found = self.primal = np.inf
        self.dual = -np.inf
        self.at_zero = np.inf  # P(0) or its upper bound, once it is known
        self.idle = 0

    def update(
        self,
        w: np.ndarray | Vector | None,
        found: float,
        dual: float,
        primal: float | None = None,
    ) -> None:
        """Keep what is better; count the iterations without an improvement.

        ``primal`` is an upper bound of P(w), by default ``found``.
        """
        primal = found if primal is None else primal
        check_finite(w, primal, dual)
        self.idle += 1
        if isinstance(w, np.ndarray) and self.at_zero == np.inf and _is_zero(w):
            self.at_zero = primal
        if w is not None and (found < self.found or self.newest):
            few = None
            if not self.newest and isinstance(w, np.ndarray) and len(w) > LONG:
                few = sparse_copy(w, int(FEW * len(w)), self.threads)
            if isinstance(w, Vector) or few is not None:
                self.w = w if few is None else few
            elif isinstance(self.w, np.ndarray):
                np.copyto(self.w, w)
            else:
                self.w = w.copy()
            self.found, self.primal, self.idle = found, primal, 0
        if dual > self.dual:
            self.dual, self.idle = dual, 0

    def weights(self, dim: int, *last: Any) -> Any:
        """All entries of w (dim,); one of ``last`` if it is this very point, to save memory."""
        if not isinstance(self.w, Vector):
            return self.w
        where, value = self.w
        if where is None:
            return value
        for w in last:
            known = isinstance(w, np.ndarray) and w.shape == (dim,)
            if known and np.count_nonzero(w) == len(where) and (w[where] == value).all():
                return w
        return self.w.dense(dim)

    @property
    def gap(self) -> float:
        """P - D of the best points, or 0 if rounding makes it negative."""
        return max(self.primal - self.dual, 0.0)

    @property
    def gap_optimisation(self) -> float:
        """The part of the gap that training can close: with P of the outputs found."""
        return max(self.found - self.dual, 0.0)

    @property
    def gap_inference(self) -> float:
        """The rest of the gap, which an inexact oracle leaves; 0 if the oracle is exact."""
        if self.found == self.primal or self.primal - self.found <= ROUNDING * abs(self.primal):
            return 0.0
        return max(self.gap - self.gap_optimisation, 0.0)
