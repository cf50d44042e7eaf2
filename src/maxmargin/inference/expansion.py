"""Several labels: fusion moves, each the choice between two labellings at every node.

A move from the labelling y with a proposal z is a problem with two labels per node. Roof duality
decides a part of the nodes; giving them their labels, and leaving y elsewhere, never lowers the
value (Kolmogorov and Rother 2007, Minimizing nonsubmodular functions with graph cuts, IEEE TPAMI
29). With constant proposals these are expansion moves (Boykov, Veksler and Zabih 2001).
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from ..engine.keep import keep
from .plan import edge_count
from .reduce import reduced_size, solve_reduced
from .search import climb
from .tables import highest, labelling_value
from .two_labels import add_edge

#: The largest number of rounds of expansion moves over all labels.
ROUNDS = 20


def fusion_size(n: int, m: int) -> int:
    """The scratch of ``fuse``."""
    return 2 * n + m + reduced_size(n, m)


def expansion_size(n: int, m: int, K: int) -> int:
    """The scratch of ``decode_expansion``."""
    return n + K + fusion_size(n, m)


@keep
def decode_expansion(plan, K, unary, pair, y, messages, work, effort):
    """y = a labelling that no expansion move improves; returns a coarse bound.

    The bound adds the maxima of all nodes and edges. ``messages`` keeps the labels of the last
    call, which are a proposal of the next one.
    """
    n = len(y)
    for v in range(n):
        y[v] = highest(unary[v * K : v * K + K], K)
    climb(plan, K, unary, pair, y, work[:K])
    recall(plan, K, unary, pair, y, messages, work)
    value = expand(plan, K, unary, pair, y, work)
    for v in range(n):
        messages[v] = y[v]
    return max(value, sum_of_maxima(plan, n, K, unary, pair))


@register_jitable
def sum_of_maxima(plan, n, K, unary, pair):
    """The sum of the highest score of each node and of each edge."""
    total = 0.0
    for v in range(n):
        scores = unary[v * K : v * K + K]
        total += scores[highest(scores, K)]
    for e in range(edge_count(plan, n)):
        table = pair[e * K * K : (e + 1) * K * K]
        total += table[highest(table, K * K)]
    return total


@register_jitable
def recall(plan, K, unary, pair, y, labels, work):
    """Fuse y with labels that were kept as floats; whatever they are, they are valid afterwards."""
    n = len(y)
    proposal, rest = work[:n], work[n:]
    for v in range(n):
        label = labels[v]
        proposal[v] = label if 0.0 <= label < K else 0.0
    fuse(plan, K, unary, pair, y, proposal, rest)


@register_jitable
def expand(plan, K, unary, pair, y, work):
    """Expansion moves over all labels and local search until neither helps; returns the value."""
    n = len(y)
    proposal, scores, rest = work[:n], work[n : n + K], work[n + K :]
    idle, label = 0, 0
    for _ in range(ROUNDS * K):
        for v in range(n):
            proposal[v] = label
        idle = 0 if fuse(plan, K, unary, pair, y, proposal, rest) else idle + 1
        label = label + 1 if label + 1 < K else 0
        if idle >= K:
            if not climb(plan, K, unary, pair, y, scores):
                break
            idle = 0
    return labelling_value(plan, K, unary, pair, y)


@register_jitable
def fuse(plan, K, unary, pair, y, proposal, work):
    """Change nodes of y to their labels in ``proposal`` where roof duality says so.

    Returns whether the value rose; otherwise y stays as it is. ``proposal`` is overwritten.
    """
    n = len(y)
    m = edge_count(plan, n)
    gain, coupling, state = work[:n], work[n : n + m], work[n + m : 2 * n + m]
    fusion_terms(plan, K, unary, pair, y, proposal, gain, coupling)
    solve_reduced(plan, gain, coupling, state, work[2 * n + m :])
    for v in range(n):
        if state[v] != 1.0:
            proposal[v] = y[v]
    found = labelling_value(plan, K, unary, pair, proposal)
    if found <= labelling_value(plan, K, unary, pair, y):
        return False
    for v in range(n):
        y[v] = np.int64(proposal[v])
    return True


@register_jitable
def fusion_terms(plan, K, unary, pair, y, proposal, gain, coupling):
    """The terms of ``binary.py``: x_v is 1 where node v takes its label of the proposal."""
    for v in range(len(y)):
        gain[v] = unary[v * K + np.int64(proposal[v])] - unary[v * K + np.int64(y[v])]
    for e in range(len(coupling)):
        a, b, table = plan[2 * e], plan[2 * e + 1], pair[e * K * K : (e + 1) * K * K]
        old, new = np.int64(y[a]) * K, np.int64(proposal[a]) * K
        old_b, new_b = np.int64(y[b]), np.int64(proposal[b])
        p00, p01 = table[old + old_b], table[old + new_b]
        p10, p11 = table[new + old_b], table[new + new_b]
        coupling[e] = add_edge(gain, a, b, p00, p01, p10, p11)
