"""Graphs with cycles: TRW-S for the bound and a start, then moves for the labelling.

Where the relaxation is not tight, labels read from messages can be far from the best ones. Moves on
induced forests improve them most per second, and expansion moves then find changes of regions.
"""

from __future__ import annotations

from numba.extending import register_jitable

from ..engine.keep import keep
from .expansion import expand, expansion_size, recall
from .plan import edge_count
from .tables import labelling_value
from .trees import move_forests, tree_size
from .trws import sweep_and_round, sweep_size, tight


def combined_size(n: int, m: int, K: int) -> int:
    """The scratch of ``decode_combined``."""
    return max(expansion_size(n, m, K), sweep_size(n, m, K), tree_size(n, K))


def combined_messages(n: int, m: int, K: int) -> int:
    """The numbers that ``decode_combined`` keeps."""
    return m * K + n + 1


@keep
def decode_combined(plan, K, unary, pair, y, messages, work, effort):
    """y = a labelling that no expansion move improves; returns the bound of TRW-S.

    ``effort`` is the largest number of sweeps and of moves on forests. ``messages`` holds the m K
    messages of TRW-S, the n labels of the last call, and the number of moves so far, so that every
    call tries other forests.
    """
    n = len(y)
    size = edge_count(plan, n) * K
    bound = sweep_and_round(plan, K, unary, pair, y, messages[:size], work, effort)
    return improve(plan, K, unary, pair, y, bound, messages[size : size + n + 1], effort, work)


@register_jitable
def improve(plan, K, unary, pair, y, bound, kept, effort, work):
    """Improve y by moves unless the bound proves that it is the best; returns the bound.

    ``kept`` holds the n labels of the last call, which may be better, and the number of moves.
    """
    n = len(y)
    labels, moves = kept[:n], kept[n : n + 1]
    value = labelling_value(plan, K, unary, pair, y)
    if not tight(bound, value):
        recall(plan, K, unary, pair, y, labels, work)
        moves[0] = move_forests(plan, K, unary, pair, y, moves[0], effort, work)
        value = expand(plan, K, unary, pair, y, work)
    for v in range(n):
        labels[v] = y[v]
    return max(bound, value)
