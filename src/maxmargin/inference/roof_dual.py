"""Two labels that may repel each other: roof duality for the bound, moves for the labelling."""

from __future__ import annotations

from ..engine.keep import keep
from .binary import HALF
from .expansion import expand, expansion_size
from .tables import labelling_value
from .trees import move_forests, tree_size
from .trws import tight
from .two_labels import relax, roof_dual_size


def roof_decoder_size(n: int, m: int, K: int) -> int:
    """The scratch of ``decode_roof_dual``."""
    return max(roof_dual_size(n, m), expansion_size(n, m, 2), tree_size(n, 2))


def roof_messages(n: int, m: int, K: int) -> int:
    """The numbers that ``decode_roof_dual`` keeps."""
    return n + 1


@keep
def decode_roof_dual(plan, K, unary, pair, y, messages, work, effort):
    """y = a labelling that agrees with the relaxation where that is whole; returns its bound.

    Nodes that are 1/2 in the relaxation start with their labels of the last call, which
    ``messages`` holds, and are improved by at most ``effort`` moves on forests and by expansion
    moves. The last number of ``messages`` counts the moves on forests.
    """
    n = len(y)
    bound = relax(plan, unary, pair, y, work)
    for v in range(n):
        if y[v] == HALF:
            y[v] = messages[v] == 1.0
    value = labelling_value(plan, K, unary, pair, y)
    if not tight(bound, value):
        messages[n] = move_forests(plan, K, unary, pair, y, messages[n], effort, work)
        value = expand(plan, K, unary, pair, y, work)
    for v in range(n):
        messages[v] = y[v]
    return max(bound, value)
