"""Lazy enumeration of the best trees of a chart: algorithm 3 of Huang and Chiang (2005).

The chart of CKY contains the best derivation of every item. The second best derivation of an item
is computed only if an item above needs it, and so on, so that the next tree costs little.

Items (a cell and a key) and ways to build them are those of ``cky_ways.py``. A derivation of an
item is a way together with a derivation of each of its parts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from .cky import write_node
from .cky_ways import count_parts, key_sizes, next_way, part_of
from .grammar import LEFT, N_PHRASES

#: Fields of an item: its cell and key; the next item of this cell; the first and the last entry in
#: its list of found derivations; the first entry in its list of candidates; its state.
CELL, KEY, NEXT, HEAD, TAIL, WAITING, STATE, ITEM = range(8)

#: States of an item: no candidates yet; the candidates after the last found derivation are missing;
#: all candidates for the next derivation are listed.
NEW, BEHIND, READY = range(3)

#: Fields of a derivation: the way; the derivations of its one or two parts, -1 for the best one of
#: the chart; the next entry of its list.
WAY, ONE, TWO, LINK, DERIVATION = range(5)


class Forest(NamedTuple):
    """Items and their derivations, as far as they have been computed.

    ``used`` holds the numbers of both. Each cell has a list of its items, which begins at
    ``first``. Item 0 is the complete sentence. ``value`` holds the score of each derivation.
    """

    used: np.ndarray
    first: np.ndarray
    item: np.ndarray
    derivation: np.ndarray
    value: np.ndarray
    stack: np.ndarray


@register_jitable
def forest_sizes(L, most):
    """Maximum numbers of items, derivations and entries of the stack for ``most`` trees.

    The next tree visits the items of the last one, two per node, of which there are 2 L - 1. It
    finds at most two derivations per item, and adds three candidates per found derivation.
    """
    return 4 * L * most + 2, 28 * L * most, 5 * (L + 2)


@register_jitable
def forest_work(L, most):
    """The memory of a forest, in floats."""
    items, derivations, stack = forest_sizes(L, most)
    return 2 + L * L + ITEM * items + (DERIVATION + 1) * derivations + stack


@register_jitable
def open_forest(G, L, most, work):
    """An empty forest with memory for the ``most`` best trees."""
    items, derivations, stack = forest_sizes(L, most)
    ints, place = work.view(np.int64), 2 + L * L
    a, b = place + ITEM * items, place + ITEM * items + DERIVATION * derivations
    forest = Forest(
        ints[:2], ints[2:place], ints[place:a], ints[a:b], work[b : b + derivations],
        ints[b + derivations : b + derivations + stack],
    )  # fmt: skip
    forest.used[0] = forest.used[1] = 0
    for cell in range(L * L):
        forest.first[cell] = -1
    S, P = key_sizes(G)
    find_item(forest, L - 1, S + P)
    return forest


@register_jitable
def find_item(forest, cell, key):
    """The number of an item, which is created if it does not exist."""
    item = forest.item
    h = forest.first[cell]
    while h >= 0:
        if item[h * ITEM + KEY] == key:
            return h
        h = item[h * ITEM + NEXT]
    h = forest.used[0]
    forest.used[0] += 1
    at = h * ITEM
    item[at + CELL], item[at + KEY], item[at + NEXT] = cell, key, forest.first[cell]
    item[at + HEAD] = item[at + TAIL] = item[at + WAITING] = -1
    item[at + STATE] = NEW
    forest.first[cell] = h
    return h


@register_jitable
def next_tree(G, F, J, L, forest):
    """The derivation of the next best tree; -1 if there are no more."""
    item, stack, last = forest.item, forest.stack, forest.item[TAIL]
    stack[0], size = 0, 1
    while size > 0:
        h = stack[size - 1]
        needed = look_after(G, F, J, L, forest, h)
        if needed >= 0:
            stack[size] = needed
            size += 1
        else:
            take_best(forest, h)
            size -= 1
    return item[TAIL] if item[TAIL] != last else -1


@register_jitable
def take_best(forest, h):
    """Move the best candidate, if there is one, to the found derivations."""
    item, derivation, value = forest.item, forest.derivation, forest.value
    best = d = item[h * ITEM + WAITING]
    if d < 0:
        return
    before = before_best = -1
    while d >= 0:
        if value[d] > value[best]:
            best, before_best = d, before
        before, d = d, derivation[d * DERIVATION + LINK]
    after = derivation[best * DERIVATION + LINK]
    if before_best < 0:
        item[h * ITEM + WAITING] = after
    else:
        derivation[before_best * DERIVATION + LINK] = after
    derivation[best * DERIVATION + LINK] = -1
    if item[h * ITEM + HEAD] < 0:
        item[h * ITEM + HEAD] = best
    else:
        derivation[item[h * ITEM + TAIL] * DERIVATION + LINK] = best
    item[h * ITEM + TAIL], item[h * ITEM + STATE] = best, BEHIND


@register_jitable
def look_after(G, F, J, L, forest, h):
    """Add the candidates after the last found derivation.

    Returns the number of a part for which another derivation must be found first, or -1. The
    candidates after a derivation have the next derivation of one of its parts; if both parts are
    their best ones, the next best way is a candidate too. The second part advances only while the
    first is the best, so that every pair is reached once.
    """
    item, derivation = forest.item, forest.derivation
    cell, key = item[h * ITEM + CELL], item[h * ITEM + KEY]
    best_parts, last, way = True, np.inf, np.int64(-1)
    if item[h * ITEM + STATE] == READY:
        return -1
    if item[h * ITEM + STATE] == BEHIND:
        d = item[h * ITEM + TAIL]
        way, last = derivation[d * DERIVATION + WAY], forest.value[d]
        for commit in range(2):  # first check whether all parts are known
            best_parts = True
            for which in range(count_parts(G, L, cell, key)):
                if not best_parts:
                    break
                p = find_item(forest, *part_of(G, L, cell, key, way, which))
                at = d * DERIVATION + ONE + which
                if derivation[at] < 0:
                    derivation[at] = item[p * ITEM + HEAD]
                best_parts = derivation[at] == item[p * ITEM + HEAD]
                if commit:
                    move_on(forest, h, d, which)
                elif lacks_next(forest, p, derivation[at]):
                    return p
    item[h * ITEM + STATE] = READY
    if best_parts:
        value, way = next_way(G, F, J, L, cell, key, last, way)
        if way >= 0:
            wait(forest, h, way, -1, -1, value)
    return -1


@register_jitable
def lacks_next(forest, p, d):
    """Whether another derivation of item p must be found to know the one after d."""
    item = forest.item[p * ITEM : p * ITEM + ITEM]
    if d >= 0 and forest.derivation[d * DERIVATION + LINK] >= 0:
        return False
    return item[STATE] != READY or item[WAITING] >= 0


@register_jitable
def move_on(forest, h, d, which):
    """Add the candidate with the next derivation of one part, if there is one."""
    derivation, value = forest.derivation, forest.value
    at = d * DERIVATION
    part = derivation[at + ONE + which]
    after = derivation[part * DERIVATION + LINK]
    if after >= 0:
        one = after if which == 0 else derivation[at + ONE]
        two = after if which == 1 else derivation[at + TWO]
        wait(forest, h, derivation[at + WAY], one, two, value[d] - value[part] + value[after])


@register_jitable
def wait(forest, h, way, one, two, value):
    """Add a derivation to the candidates of item h."""
    d, derivation, item = forest.used[1], forest.derivation, forest.item
    forest.used[1] += 1
    at = d * DERIVATION
    derivation[at + WAY], derivation[at + ONE], derivation[at + TWO] = way, one, two
    derivation[at + LINK], forest.value[d] = item[h * ITEM + WAITING], value
    item[h * ITEM + WAITING] = d


@register_jitable
def write_tree(G, F, J, L, forest, d, y):
    """Write the tree of a derivation of the complete sentence.

    An entry of the stack is a derivation, its cell and key, and the node and chain to write.
    """
    S, P = key_sizes(G)
    R, N, stack = np.int64(G[LEFT + 1] - G[LEFT]), np.int64(G[N_PHRASES]), forest.stack
    stack[0], stack[1], stack[2], stack[3], stack[4] = d, L - 1, S + P, 0, 0
    size = 1
    while size > 0:
        size -= 1
        at = stack[5 * size : 5 * size + 5]
        d, cell, key, n, chain = at[0], at[1], at[2], at[3], at[4]
        i, j = cell // L, cell % L + 1
        if i == j - 1 and key < S:
            write_node(y, n, i, j, R + key - N, chain)
            continue
        if d >= 0:
            way = forest.derivation[d * DERIVATION + WAY]
        else:  # in case of ties the way that will be found first
            _, way = next_way(G, F, J, L, cell, key, np.inf, -1)
        if key < S:
            write_node(y, n, i, j, way // (L + 1), chain)
        for which in range(count_parts(G, L, cell, key) - 1, -1, -1):
            at = stack[5 * size : 5 * size + 5]
            at[0] = forest.derivation[d * DERIVATION + ONE + which] if d >= 0 else -1
            at[1], at[2] = part_of(G, L, cell, key, way, which)
            at[3] = n if key >= S else n + 1 + which * (2 * (way % (L + 1) - i) - 1)
            at[4] = way // (L + 1) if S <= key < S + P else 0
            size += 1
