"""Certificates in the whole space of a kernel, on request.

A primal value needs the scores of all rows. A dual value needs dual variables. Those of the
problem in a subspace of basis functions are also feasible in the whole space, where

    D(alpha) = C sum_ir weight_i alpha_ir loss_ir - 1/2 |w(alpha)|^2

has the same first term; the second term also counts the part of w outside of the subspace.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..engine.arrays import Duals
from .model import KernelModel
from .rows import KernelRows
from .scores import ScoreShard


class DualPoint(NamedTuple):
    """w(alpha) as ``coef`` (rows, labels) and ``rest``; ``loss`` is sum weight alpha loss."""

    coef: np.ndarray
    rest: np.ndarray
    loss: float


def dual_point(shard: ScoreShard, duals: Duals, C: float, mode: int) -> DualPoint:
    """w(alpha) as coefficients of the rows."""
    w = np.zeros(shard.pack.dim)
    shard.sum_duals(C, mode, duals, w)
    loss = float(shard.pack.weight @ (duals.alpha * duals.loss).sum(axis=1))
    return DualPoint(shard.table(w), w[shard.emissions :], loss)


def exact_dual(rows: KernelRows, point: DualPoint, C: float, n_jobs: int = 1) -> float:
    """D(alpha) in the whole space, computed from all pairs of support vectors."""
    used = np.flatnonzero(point.coef.any(axis=1))
    part, coef = rows.in_type(np.float64).take(used), point.coef[used]
    square = float((part.product(part, coef, n_jobs) * coef).sum())
    return C * point.loss - 0.5 * (square + float(point.rest @ point.rest))


def exact_primal(shard: ScoreShard, model: KernelModel, C: float, mode: int) -> float:
    """P(w) from one pass of the oracle over the scores of all rows."""
    w = np.zeros(shard.pack.dim)
    shard.table(w)[model.support] = model.coef
    w[shard.emissions :] = model.rest
    scored = shard.lift_exactly(w)
    return 0.5 * float(w @ scored) + C * shard.hinge(scored, mode).bound


def left_out(
    rows: KernelRows,
    Z: np.ndarray,
    point: DualPoint,
    random: np.random.RandomState,
    sample: int = 512,
) -> float:
    """Estimate 1/2 |w(alpha) outside of the subspace|^2, the gap that the subspace leaves.

    Estimates ``a' (K - Z Z') a`` from a random sample of the support vectors' rows.
    """
    used = np.flatnonzero(point.coef.any(axis=1))
    if len(used) == 0:
        return 0.0
    drawn = used if len(used) <= sample else random.choice(used, sample, replace=False)
    coef = point.coef[used]
    values = rows.take(drawn).product(rows.take(used), coef)
    values -= Z[drawn].astype(np.float64) @ (Z[used].astype(np.float64).T @ coef)
    total = float((values * point.coef[drawn]).sum()) * len(used) / len(drawn)
    return max(0.5 * total, 0.0)
