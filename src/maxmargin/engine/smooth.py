"""Values of all outputs of every example, and the curvature of their soft maximum.

The sums over examples run in threads; ``smooth_passes.py`` has the passes.
"""

from __future__ import annotations

import numpy as np

from .guard import with_guard
from .shard import Shard
from .threads import fixed_pieces, split_by_effort

#: Maximum number of partial sums, and of the bytes of their matrices.
PARTIAL_SUMS, PARTIAL_BYTES = 8, 2**28


def outputs_of(shard: Shard) -> np.ndarray | None:
    """The labels of all outputs; None if there are many, or an example has several labels."""
    K = shard.problem.n_outputs
    if K is None or len(shard.pack.truth) != shard.n:
        return None
    outputs = np.asarray(shard.problem.encode_classes(K), shard.pack.truth.dtype)
    outputs.flags.writeable = False
    return outputs


def values_at(
    shard: Shard, w: np.ndarray, mode: int, order: np.ndarray, outputs: np.ndarray,
    value: np.ndarray, part: float = 1.0,
) -> None:  # fmt: skip
    """Fill ``value`` (n, K): the value of every output at w; with part = 0 without the losses."""
    size = shard.work_size(mode)

    def fill(examples: np.ndarray) -> None:
        shard.loops.value(
            shard.pack, w, mode, examples, outputs, part, value, shard.new_scratch(), np.empty(size)
        )

    shard.each(fill, order)
    shard.n_oracle += len(order) * (part > 0)


def curvature_at(
    shard: Shard, mode: int, order: np.ndarray, outputs: np.ndarray, share: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """The mean plane g (dim,), the variance H (dim, dim) and the mean loss, summed over examples.

    The partial sums do not depend on the number of threads.
    """
    dim = shard.pack.dim
    most = max(1, min(PARTIAL_SUMS, PARTIAL_BYTES // (8 * dim * dim)))
    groups = split_by_effort(order, shard.effort, most)

    def sum_group(examples: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        g, H, loss = np.zeros(dim), np.zeros((dim, dim)), 0.0
        width = 2 * shard.pack.width  # two planes, one after the other
        scratch, more = (with_guard(width, np.uint64), with_guard(width)), shard.new_scratch()
        for part in fixed_pieces(examples, True):
            shard.check()
            loss += shard.loops.curve(shard.pack, mode, part, outputs, share, g, H, scratch, more)
        return g, H, loss

    sums = shard.threads.each(sum_group, groups, shard.check)
    g, H, loss = sums[0]
    for other in sums[1:]:
        g += other[0]
        H += other[1]
    whole = H + H.T
    whole[np.diag_indices(dim)] -= np.diag(H)
    return g, whole, loss + sum(other[2] for other in sums[1:])
