"""Local search: change the label of one node at a time while the value rises."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from .plan import sections
from .tables import add_pairs, highest

#: The largest number of passes over the nodes.
PASSES = 20


@register_jitable
def climb(plan, K, unary, pair, y, scores):
    """Give every node its best label while the others keep theirs, until nothing changes.

    ``scores`` is scratch of K numbers. The value of y never falls; returns whether it rose.
    """
    n, rose = len(y), False
    ends, start, arcs, _, _ = sections(plan, n)
    for _ in range(PASSES):
        changed = 0
        for v in range(n):
            for k in range(K):
                scores[k] = unary[v * K + k]
            for j in range(start[v], start[v + 1]):
                arc = np.int64(arcs[j])
                table = pair[(arc >> 1) * K * K : ((arc >> 1) + 1) * K * K]
                add_pairs(table, K, (arc & 1) ^ 1, np.int64(y[ends[arc ^ 1]]), scores)
            best, old = highest(scores, K), np.int64(y[v])
            if scores[best] > scores[old]:
                y[v] = best
                changed += 1
        if changed == 0:
            break
        rose = True
    return rose
