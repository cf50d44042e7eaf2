"""Several labels on graphs with cycles: sequential tree-reweighted message passing (TRW-S).

A message ``M_e`` of K numbers per edge moves scores from the edge to one of its ends. A forward
pass visits the nodes in their order. At node v, with messages from all its neighbours,

    belief = unary_v + sum of the messages into v
    for each edge to a later node:  message out = max over y_v of
        (belief / c_v - message in + pair score),  c_v = max(number of earlier, of later neighbours)

A backward pass does the same in the opposite order. The numbers that a pass moves are a
reparametrisation: whatever the messages were before, the values of all labellings stay the same.
The maximum of every edge is moved into a constant, so that

    bound = sum of these constants + sum over v of (1 - number of messages out / c_v) max belief_v

is at least the value of every labelling. It falls from pass to pass (Kolmogorov 2006, Convergent
tree-reweighted message passing for energy minimization, IEEE TPAMI 28). Only the last direction
of each message is needed: after a backward pass ``M_e`` goes to the earlier end.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from ..engine.keep import keep
from .plan import sections
from .tables import add_pairs, highest, labelling_value, maximise_out

#: A labelling is optimal if the bound is this close to its value, relative to the bound.
TIGHT = 1e-12


def sweep_size(n: int, m: int, K: int) -> int:
    """The scratch of ``decode_trws``."""
    return 2 * K + n


@keep
def decode_trws(plan, K, unary, pair, y, messages, work, effort):
    """y = the best labelling read from the messages of at most ``effort`` sweeps; returns a bound.

    ``messages`` holds m K numbers.
    """
    return sweep_and_round(plan, K, unary, pair, y, messages, work, effort)


@register_jitable
def sweep_and_round(plan, K, unary, pair, y, messages, work, effort):
    """The same, for calls from other compiled functions."""
    n = len(y)
    belief, rest, trial = work[:K], work[K : 2 * K], work[2 * K : 2 * K + n]
    bound, best = np.inf, -np.inf
    for _ in range(effort):
        now = pass_messages(plan, n, K, unary, pair, messages, belief, rest, True)
        last = min(bound, now)
        now = pass_messages(plan, n, K, unary, pair, messages, belief, rest, False)
        bound = min(last, now)
        value = round_labels(plan, K, unary, pair, messages, belief, trial)
        if value > best:
            best = value
            for v in range(n):
                y[v] = np.int64(trial[v])
        if tight(bound, best):
            break
    return max(bound, best)


@register_jitable
def tight(bound, value):
    """Whether the bound proves that a labelling of this value is the best one, up to rounding."""
    return bound - value <= TIGHT * (1.0 + abs(bound))


@register_jitable
def pass_messages(plan, n, K, unary, pair, messages, belief, rest, forward):
    """One pass over the nodes; returns the bound."""
    _, start, arcs, order, split = sections(plan, n)
    total = 0.0
    for p in range(n):
        v = np.int64(order[p if forward else n - 1 - p])
        lo, middle, hi = start[v], start[v] + split[v], start[v + 1]
        collect(unary, messages, arcs, lo, hi, K, v, belief)
        share = 1.0 / max(middle - lo, hi - middle, 1)
        first, last = (middle, hi) if forward else (lo, middle)
        total += (1.0 - (last - first) * share) * belief[highest(belief, K)]
        for j in range(first, last):
            arc = np.int64(arcs[j])
            e = arc >> 1
            message = messages[e * K : e * K + K]
            for k in range(K):
                rest[k] = belief[k] * share - message[k]
            maximise_out(rest, pair[e * K * K : (e + 1) * K * K], K, arc & 1, message)
            top = message[highest(message, K)]
            for k in range(K):
                message[k] -= top
            total += top
    return total


@register_jitable
def collect(unary, messages, arcs, lo, hi, K, v, belief):
    """belief = scores of the labels of node v plus the messages of arcs lo to hi."""
    for k in range(K):
        belief[k] = unary[v * K + k]
    for j in range(lo, hi):
        e = np.int64(arcs[j]) >> 1
        message = messages[e * K : e * K + K]
        for k in range(K):
            belief[k] += message[k]


@register_jitable
def round_labels(plan, K, unary, pair, messages, belief, y):
    """Choose one label after the other, given those before and the messages from those after.

    Returns the value of the labelling. The messages must be those of a backward pass.
    """
    n = len(y)
    ends, start, arcs, order, split = sections(plan, n)
    for p in range(n):
        v = np.int64(order[p])
        middle = start[v] + split[v]
        collect(unary, messages, arcs, middle, start[v + 1], K, v, belief)
        for j in range(start[v], middle):
            arc = np.int64(arcs[j])
            table = pair[(arc >> 1) * K * K : ((arc >> 1) + 1) * K * K]
            add_pairs(table, K, (arc & 1) ^ 1, np.int64(y[ends[arc ^ 1]]), belief)
        y[v] = highest(belief, K)
    return labelling_value(plan, K, unary, pair, y)
