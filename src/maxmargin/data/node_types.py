"""Graphs whose nodes have types: features by type, as one matrix with columns of zeros.

Every type has separate weights for all columns, so that types may use the same columns for
different features: the features of each type begin at column 0, and missing columns are zeros.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..errors import DataError
from .checked import csr_rows, plain_array
from .labels import as_label_array


class Joined(NamedTuple):
    """The arguments of a ``Graph``, from those by type."""

    nodes: Any
    edges: np.ndarray
    edge_features: Any
    types: np.ndarray


def join_types(nodes: Any, edges: Any, edge_features: Any) -> Joined:
    """One matrix of nodes, and edges between nodes that are counted through all types."""
    for name, value in (("nodes", nodes), ("edges", edges), ("edge_features", edge_features)):
        if not isinstance(value, Mapping):
            key = "types" if name == "nodes" else "pairs of types"
            raise DataError(f"{name} must be a dict by {key}, got a {type(value).__name__}")
    parts = {name: _matrix(part, f"the nodes of type {name!r}") for name, part in nodes.items()}
    sizes = [part.shape[0] for part in parts.values()]
    first = dict(zip(parts, np.cumsum([0, *sizes]).tolist(), strict=False))
    kinds = {kind: _edges(kind, pairs, parts) for kind, pairs in edges.items()}
    for kind in edge_features:
        if kind not in kinds:
            raise DataError(f"edge_features has {kind!r}, but edges has no such pair of types")
    return Joined(
        stack_wide(list(parts.values())),
        np.concatenate(
            [np.zeros((0, 2), np.int64), *(kinds[a, b] + (first[a], first[b]) for a, b in kinds)]
        ),
        _edge_matrix(kinds, edge_features),
        as_label_array([name for name, n in zip(parts, sizes, strict=True) for _ in range(n)]),
    )


def _edges(kind: Any, pairs: Any, nodes: dict[Any, Any]) -> np.ndarray:
    """The edges of a pair of types (m, 2), checked to join nodes of these types."""
    if not isinstance(kind, tuple) or len(kind) != 2 or not set(kind) <= set(nodes):
        raise DataError(f"edges has the key {kind!r}: it must be a pair of the types of nodes")
    pairs = plain_array(pairs, f"the edges {kind!r}")
    if pairs.size == 0:
        return np.zeros((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise DataError(
            f"the edges {kind!r} are an array of {pairs.dtype} of shape {pairs.shape}: give two "
            "integers per edge"
        )
    for side, name in enumerate(kind):
        n, ends = nodes[name].shape[0], pairs[:, side]
        outside = (ends < 0) | (ends >= n)
        if outside.any():
            e = int(np.argmax(outside))
            raise DataError(
                f"edge {e} of {kind!r} has the node {ends[e]} of type {name!r}, but there are {n}: "
                "nodes are counted from 0 within each type"
            )
    return pairs.astype(np.int64, copy=False)


def _edge_matrix(kinds: dict[Any, np.ndarray], features: Mapping[Any, Any]) -> Any:
    """The features of all edges; those of pairs of types without features are 1."""
    if not features:
        return None
    parts = []
    for kind, pairs in kinds.items():
        mine = features.get(kind)
        mine = np.ones((len(pairs), 1)) if mine is None else mine
        mine = _matrix(mine, f"the edge_features {kind!r}")
        if mine.shape[0] != len(pairs):
            raise DataError(
                f"there are {len(pairs)} edges {kind!r} and {mine.shape[0]} rows of edge_features"
            )
        parts.append(mine)
    return stack_wide(parts)


def _matrix(values: Any, name: str) -> Any:
    """A matrix, dense or CSR; an empty list is one without rows."""
    if hasattr(values, "tocsr"):
        return csr_rows(values, name)
    try:
        matrix = plain_array(values, name)
    except ValueError as error:
        raise DataError(f"the rows of {name} have different lengths: {error}") from error
    matrix = np.zeros((0, 0)) if matrix.shape == (0,) else matrix
    if matrix.ndim != 2:
        raise DataError(f"{name} have shape {matrix.shape}: give a matrix with one row for each")
    return matrix


def stack_wide(parts: list[Any]) -> Any:
    """The rows of all matrices in one matrix, sparse if one of them is; with columns of zeros."""
    import scipy.sparse as sp

    d = max((part.shape[1] for part in parts), default=0)
    wide = [widen(part, d) for part in parts if part.shape[0]]
    if any(sp.issparse(part) for part in wide):
        return sp.vstack([sp.csr_array(part) for part in wide], format="csr")
    return np.concatenate(wide) if wide else np.zeros((0, d))


def widen(matrix: Any, d: int) -> Any:
    """The matrix with columns of zeros, so that it has at least d columns."""
    missing = d - matrix.shape[1]
    if missing <= 0:
        return matrix
    if hasattr(matrix, "tocsr"):
        wider = matrix.copy()
        wider.resize((matrix.shape[0], d))
        return wider
    return np.pad(matrix, ((0, 0), (0, missing)))


def spread(matrix: Any, block: np.ndarray, n_blocks: int) -> Any:
    """A CSR matrix with the columns of each row moved to its block, (rows, n_blocks * d).

    Parameters
    ----------
    matrix : array or CSR matrix (rows, d)
    block : int array (rows,)
        From 0 to ``n_blocks - 1``.
    n_blocks : int
    """
    import scipy.sparse as sp

    rows, (n, d) = sp.csr_array(matrix), matrix.shape
    moved = np.repeat(block.astype(np.int64) * d, np.diff(rows.indptr)) + rows.indices
    return sp.csr_array((rows.data, moved, rows.indptr), shape=(n, n_blocks * d))
