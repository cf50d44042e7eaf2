"""Children of the nodes of a tree, in a hash table: compiled code of ``tree.py``."""

from __future__ import annotations

import numpy as np

from ..engine.keep import keep


@keep
def find_children(parents, numbers, table, paths, count, grow, found):
    """Find the child of each parent with a number; returns the number of nodes.

    Parameters
    ----------
    parents, numbers : int32 arrays (n,)
        If one of both is -1, there is no child.
    table : int64 array (2 * size,)
        Pairs of a path, which is ``parent << 32 | number`` or -1, and of the node at its end. The
        size is a power of two above the number of nodes.
    paths : int64 array
        The path to each node.
    count : int
        Number of nodes.
    grow : bool
        Whether missing children are added.
    found : int32 array (n,)
        The children; -1 where there is none.
    """
    mask = np.uint64(len(table) // 2 - 1)
    for p in range(len(parents)):
        found[p] = -1
        if parents[p] < 0 or numbers[p] < 0:
            continue
        path = (np.int64(parents[p]) << 32) | np.int64(numbers[p])
        mixed = np.uint64(path) * np.uint64(0x9E3779B97F4A7C15)
        place = (mixed ^ (mixed >> np.uint64(32))) & mask
        while table[np.uint64(2) * place] != path and table[np.uint64(2) * place] != -1:
            place = (place + np.uint64(1)) & mask
        at = np.uint64(2) * place
        if table[at] == -1:
            if not grow:
                continue
            table[at] = path
            table[at + np.uint64(1)] = count
            paths[count] = path
            count += 1
        found[p] = table[at + np.uint64(1)]
    return count
