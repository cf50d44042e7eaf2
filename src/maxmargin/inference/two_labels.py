"""Graphs with two labels: minimum cuts if the pairs are attractive, roof duality otherwise."""

from __future__ import annotations

from numba.extending import register_jitable

from ..engine.keep import keep
from .binary import cut_network, network_size
from .plan import edge_count
from .reduce import reduced_size, solve_reduced
from .tables import labelling_value

#: Nodes are decided before the cut if there are more edges per node than this: sets of labels.
DENSE = 8


def min_cut_size(n: int, m: int, K: int) -> int:
    """The scratch of ``decode_min_cut``."""
    return 2 * n + m + (reduced_size(n, m) if m > DENSE * n else network_size(n, m))


def roof_dual_size(n: int, m: int) -> int:
    """The scratch of ``roof_dual``."""
    return n + m + reduced_size(n, m)


@keep
def decode_min_cut(plan, K, unary, pair, y, messages, work, effort):
    """y = the best labelling of an attractive model of two labels; returns its value.

    A coupling below 0, as rounding can leave it, is taken as 0, which only raises the bound.
    """
    n = len(y)
    m = edge_count(plan, n)
    gain, coupling, sign = work[:n], work[n : n + m], work[n + m : 2 * n + m]
    base = two_label_terms(plan, n, unary, pair, gain, coupling)
    for e in range(m):
        if coupling[e] < 0.0:
            a, b = plan[2 * e], plan[2 * e + 1]
            gain[a] -= coupling[e]
            gain[b] -= coupling[e]
            coupling[e] = 0.0
    if m > DENSE * n:
        bound = base + solve_reduced(plan, gain, coupling, y, work[2 * n + m :])
    else:
        for v in range(n):
            sign[v] = 1.0
        bound = base + cut_network(plan, 1, gain, coupling, sign, y, work[2 * n + m :])
    return max(bound, labelling_value(plan, K, unary, pair, y))


@keep
def roof_dual(plan, unary, pair, state, work):
    """state = 0, 1 or HALF: a solution of the relaxation; returns its value, an upper bound."""
    return relax(plan, unary, pair, state, work)


@register_jitable
def relax(plan, unary, pair, state, work):
    """The same, for calls from other compiled functions."""
    n = len(state)
    m = edge_count(plan, n)
    gain, coupling = work[:n], work[n : n + m]
    base = two_label_terms(plan, n, unary, pair, gain, coupling)
    return base + solve_reduced(plan, gain, coupling, state, work[n + m :])


@register_jitable
def two_label_terms(plan, n, unary, pair, gain, coupling):
    """The terms of ``binary.py``; returns the value of label 0 everywhere."""
    base = 0.0
    for v in range(n):
        base += unary[2 * v]
        gain[v] = unary[2 * v + 1] - unary[2 * v]
    for e in range(len(coupling)):
        p00, p01, p10, p11 = pair[4 * e], pair[4 * e + 1], pair[4 * e + 2], pair[4 * e + 3]
        base += p00
        coupling[e] = add_edge(gain, plan[2 * e], plan[2 * e + 1], p00, p01, p10, p11)
    return base


@register_jitable
def add_edge(gain, a, b, p00, p01, p10, p11):
    """Add the linear part of the scores of an edge to the gains; returns the coupling."""
    coupling = 0.5 * ((p00 - p01) + (p11 - p10))
    gain[a] += p10 - p00 + coupling
    gain[b] += p01 - p00 + coupling
    return coupling
