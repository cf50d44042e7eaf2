"""Several trees of a sentence, from the chart of the best one: the next best, or diverse ones.

``Y`` has space for m trees; the first is already set. ``banned`` is another tree to exclude, or
empty.
"""

from __future__ import annotations

from numba.extending import register_jitable

from .cky import SPANS, inside, scores
from .cky_kbest import next_tree, open_forest, write_tree
from .cky_trace import best_root, trace
from .scores import add_to_labels, same


@register_jitable
def best_trees(G, F, J, L, m, Y, banned, work):
    """Write the best trees of the chart to Y; returns their number."""
    forest = open_forest(G, L, m + 1, work)
    for r in range(1, m):
        if not next_new(G, F, J, L, forest, Y, r, banned):
            return r
    return m


@register_jitable
def diverse_trees(data, lo, F, J, L, m, diversity, beam, Y, banned, work):
    """DivMBest: each next tree is the best new one with a penalty for shared constituents.

    The penalty, ``diversity`` per constituent shared with an earlier tree, changes the scores of
    labels of spans. If the best tree is an old one, the next best trees of the same chart are
    enumerated until one is new.
    """
    G, size = data.table, 6 * L - 3
    for r in range(1, m):
        spans, y = scores(F, J, SPANS), Y[r * size : r * size + size]
        add_to_labels(G, Y[(r - 1) * size : r * size], L, spans, -diversity)
        inside(G, F, J, L, data.tags, data.tag_at, lo, beam)
        root = best_root(G, F, J, L, -1)
        if root < 0:  # a beam can lose all roots
            return r
        trace(G, F, J, L, 0, L, root, y, 0)
        if not is_new(y, Y, r, banned):
            forest = open_forest(G, L, r + 2, work)
            if not next_new(G, F, J, L, forest, Y, r, banned):
                return r
    return m


@register_jitable
def next_new(G, F, J, L, forest, Y, r, banned):
    """Y[r] = the next new tree of the forest; returns whether there is one."""
    size = 6 * L - 3
    y = Y[r * size : r * size + size]
    while True:
        d = next_tree(G, F, J, L, forest)
        if d < 0:
            return False
        write_tree(G, F, J, L, forest, d, y)
        if is_new(y, Y, r, banned):
            return True


@register_jitable
def is_new(y, Y, r, banned):
    """Whether a tree differs from the first r trees of Y and from the banned one, if any."""
    size = len(y)
    for q in range(r):
        if same(y, Y[q * size : q * size + size]):
            return False
    return len(banned) == 0 or not same(y, banned)
