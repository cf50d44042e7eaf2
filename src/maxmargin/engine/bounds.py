"""Sums of hinge losses from oracles that may be inexact, and the check of their upper bounds.

An exact oracle finds H_i(w). Another one finds an output, whose value is at most H_i(w), and an
upper bound of H_i(w). No known output may have a value above the bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np

from ..errors import ProblemError
from ..problem import SLACK
from .guard import check_plane

if TYPE_CHECKING:
    from .shard import Shard

#: Maximum rounding error, relative to the numbers that were summed.
ROUNDING = 1e-9


class Hinge(NamedTuple):
    """sum_i weight_i H_i(w): the value of the outputs that were found, and an upper bound.

    They are equal if the oracle is exact.
    """

    found: float
    bound: float

    @classmethod
    def sum(cls, parts: Iterable[Hinge]) -> Hinge:
        """The sums over parts of the examples."""
        found = bound = 0.0
        for part in parts:
            found += part.found
            bound += part.bound
        return cls(found, bound)


def sum_hinges(
    shard: Shard,
    w: np.ndarray,
    mode: int,
    labels: np.ndarray,
    value: np.ndarray,
    bound: np.ndarray,
    order: np.ndarray | None = None,
) -> Hinge:
    """The sum over the examples of ``order``, by default all.

    Parameters
    ----------
    shard : Shard
    w : array (dim,)
    mode : int
    labels : label array
        The outputs found.
    value : array (n,)
        Their values at w.
    bound : array (n,)
        The oracle's upper bounds at w, -inf where it is exact; empty if it always is.
    order : int array, optional
    """
    order = shard.everyone if order is None else order
    weight, value = shard.pack.weight[order], value[order]
    found = float(weight @ value)
    if len(bound) == 0:
        return Hinge(found, found)
    bound = bound[order]
    lower = np.flatnonzero((bound < value) & (bound > -np.inf))
    for place in lower[np.argsort(bound[lower] - value[lower])][:1]:
        i = int(order[place])
        lo, hi = shard.pack.offsets[i], shard.pack.offsets[i + 1]
        best, error = value_of(shard, w, mode, i, labels[lo:hi])
        if max(best, 0.0) - bound[place] > error + ROUNDING * abs(bound[place]):
            refuse_bound(i, float(bound[place]), max(best, 0.0))
    return Hinge(found, float(weight @ np.maximum(value, bound)))


def refuse_bound(i: int, bound: float, value: float) -> NoReturn:
    """Raise the error for an upper bound that is below the value of an output."""
    raise ProblemError(
        f"decode of example {i} returned the upper bound {bound:.6g}, but an output has the value "
        f"{value:.6g} (relative to the truth, whose value is 0): a bound must be at least the "
        "value of every output; mm.check_problem(problem, X, Y) tests the problem"
    )


def value_of(shard: Shard, w: np.ndarray, mode: int, i: int, y: np.ndarray) -> tuple[float, float]:
    """loss - <w, plane> of an output, and a bound on its rounding error."""
    pack, functions = shard.pack, shard.problem.functions
    truth = pack.truth[pack.offsets[i] : pack.offsets[i + 1]]
    idx, val = shard.new_scratch()
    loss = float(functions.loss(pack.data, i, y))
    nnz = functions.delta(pack.data, i, truth, y, idx, val)
    check_plane(idx, val, nnz, len(w), pack.width, i)
    terms = (loss if mode == SLACK else 1.0) * val[:nnz] * w[idx[:nnz].astype(np.int64)]
    return loss - float(terms.sum()), ROUNDING * (abs(loss) + float(abs(terms).sum()))
