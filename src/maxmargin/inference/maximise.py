"""The best labelling of one graph, from checked arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.checked import first_not_finite, plain_array
from ..errors import DataError
from .choose import SLOW, choose, decoder, message_size, work_size
from .plan import is_forest, merge_edges, plan_graph
from .slow import exact_labelling


def maximise(
    unary: Any, edges: Any, pair: Any, inference: str = "auto", effort: int = 100
) -> tuple[np.ndarray, float]:
    """The labelling with the highest value, and an upper bound on the maximum.

    The value of a labelling y is the sum of ``unary[v, y[v]]`` over the nodes v and of
    ``pair[e, y[a], y[b]]`` over the edges e = (a, b).

    Parameters
    ----------
    unary : array (n, K)
        Scores of the labels of each node.
    edges : integer array (m, 2)
        The ends of the edges; several edges between two nodes are added.
    pair : array (m, K, K)
        Scores of the pairs of labels of each edge.
    inference : str
        "auto" chooses by the number of labels, the cycles of the graph and the signs of the pair
        scores. Compiled decoders are "forest", "min-cut", "branch" (two labels, at most 20 nodes),
        "roof-dual", "trws", "expansion", "combined" and "lp" (the relaxation to optimality);
        "exact" calls HiGHS and is slow.
    effort : int
        The largest number of sweeps of decoders that are not exact.

    Returns
    -------
    labels : int32 array (n,)
    bound : float
        At least the maximum; the value of the labels if the decoder is exact.

    Examples
    --------
    >>> unary = [[0.0, 1.0], [0.5, 0.0], [0.2, 0.0]]
    >>> pair = [[[1.0, 0.0], [0.0, 1.0]]] * 2
    >>> labels, bound = maximise(unary, [[0, 1], [1, 2]], pair)
    >>> labels.tolist(), bound
    ([1, 1, 1], 3.0)
    """
    unary, edges, pair = check_model(unary, edges, pair)
    if effort < 1:
        raise DataError(f"effort is {effort}: at least 1 sweep is needed")
    (n, K), (edges, pair) = unary.shape, merge_tables(edges, pair)
    m, plan = len(edges), plan_graph(n, edges)
    kind = choose(inference, K, is_forest(plan, n), is_attractive(pair), n)
    if n == 0:
        return np.zeros(0, np.int32), 0.0
    if kind in SLOW:
        return exact_labelling(unary, edges, pair)
    y = np.zeros(n, np.int32)
    messages, work = np.zeros(message_size(kind, n, m, K)), np.empty(work_size(kind, n, m, K))
    bound = decoder(kind)(plan, K, unary.ravel(), pair.ravel(), y, messages, work, effort)
    return y, float(bound)


def check_model(unary: Any, edges: Any, pair: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arrays of a pairwise model as float64, int32 and float64, checked."""
    unary, edges, pair = (
        finite_numbers(unary, "unary"),
        plain_array(edges, "edges"),
        plain_array(pair, "pair"),
    )
    if unary.ndim != 2 or unary.shape[1] == 0:
        raise DataError(f"unary has shape {unary.shape}: it must be (nodes, labels), with a label")
    n, K = unary.shape
    if edges.size == 0:
        return unary, np.zeros((0, 2), np.int32), np.zeros((0, K, K))
    if edges.dtype.kind not in "iu" or edges.ndim != 2 or edges.shape[1] != 2:
        raise DataError(
            f"edges is an array of {edges.dtype} of shape {edges.shape}: it must hold two nodes "
            "for each edge"
        )
    pair = finite_numbers(pair, "pair")
    if pair.shape != (len(edges), K, K):
        raise DataError(
            f"pair has shape {pair.shape}: {len(edges)} edges and {K} labels need "
            f"{(len(edges), K, K)}"
        )
    check_edges(edges, n)
    return unary, edges.astype(np.int32), pair


def check_edges(edges: np.ndarray, n: int) -> None:
    """Check that each edge (m, 2) joins two different nodes of 0 to n - 1."""
    outside = ((edges < 0) | (edges >= n)).any(axis=1)
    if outside.any():
        e = int(np.argmax(outside))
        raise DataError(f"edge {e} is {edges[e].tolist()}: the nodes are 0 to {n - 1}")
    loops = edges[:, 0] == edges[:, 1]
    if loops.any():
        e = int(np.argmax(loops))
        raise DataError(
            f"edge {e} joins node {edges[e, 0]} to itself: add its scores to unary instead"
        )


def merge_tables(edges: np.ndarray, pair: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The edges without duplicates, and the sums of their tables."""
    merged, which, flipped = merge_edges(edges)
    tables = np.zeros((len(merged), *pair.shape[1:]))
    np.add.at(tables, which, np.where(flipped[:, None, None], pair.swapaxes(1, 2), pair))
    return merged, tables


def is_attractive(pair: np.ndarray) -> bool:
    """Whether there are two labels and all tables (m, 2, 2) score equal labels at least as high."""
    same, different = pair[:, 0, 0] + pair[:, -1, -1], pair[:, 0, -1] + pair[:, -1, 0]
    return pair.shape[1] == 2 and bool((same >= different).all())


def finite_numbers(values: Any, name: str) -> np.ndarray:
    """The values as contiguous float64, checked to be finite."""
    array = plain_array(values, name)
    if array.dtype.kind not in "fiub":
        raise DataError(f"{name} is an array of {array.dtype}: it must hold numbers")
    array = np.ascontiguousarray(array, np.float64)
    p = first_not_finite(array)
    if p is not None:
        place = [int(k) for k in np.unravel_index(p, array.shape)]
        raise DataError(f"{name}{place} is {array.flat[p]}: scores must be finite")
    return array
