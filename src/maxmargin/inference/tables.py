"""What all decoders do with unary and pair scores: values of labellings, maxima over one end."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from .plan import edge_count


@register_jitable
def labelling_value(plan, K, unary, pair, y):
    """The value of a labelling: the scores of its labels and of its pairs of labels."""
    n, total = len(y), 0.0
    for v in range(n):
        total += unary[v * K + np.int64(y[v])]
    for e in range(edge_count(plan, n)):
        a, b = np.int64(y[plan[2 * e]]), np.int64(y[plan[2 * e + 1]])
        total += pair[e * K * K + a * K + b]
    return total


@register_jitable
def highest(values, K):
    """The position of the largest of K values, the first one if there are several."""
    best = 0
    for k in range(1, K):
        if values[k] > values[best]:
            best = k
    return best


@register_jitable
def maximise_out(source, table, K, side, target):
    """target[b] = max_a source[a] + score of the pair (a, b).

    ``table`` (K * K) has the first end of the edge in its rows. ``side`` is 0 if the source is the
    first end and 1 if it is the second one.
    """
    if side == 0:
        for b in range(K):
            target[b] = source[0] + table[b]
        for a in range(1, K):
            start, row = source[a], table[a * K : a * K + K]
            for b in range(K):
                value = start + row[b]
                target[b] = value if value > target[b] else target[b]
    else:
        for b in range(K):
            row = table[b * K : b * K + K]
            best = source[0] + row[0]
            for a in range(1, K):
                value = source[a] + row[a]
                best = value if value > best else best
            target[b] = best


@register_jitable
def add_pairs(table, K, side, fixed, target):
    """target[b] += score of the pair (fixed, b); ``side`` is the end that has label ``fixed``."""
    if side == 0:
        for b in range(K):
            target[b] += table[fixed * K + b]
    else:
        for b in range(K):
            target[b] += table[b * K + fixed]
