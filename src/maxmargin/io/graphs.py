"""Files of graphs: arrays in numpy's npz format.

============== =================== ==============================================================
node_features  (nodes, d)          the nodes of all graphs, one after the other
edges          (edges, 2)          pairs of nodes, counted from 0 within each graph
node_offsets   (graphs + 1,)       graph i has the nodes node_offsets[i] to node_offsets[i + 1] - 1
edge_offsets   (graphs + 1,)       the same for its edges
edge_features  (edges, e)          optional
labels         (nodes,)            numbers or strings; optional, for prediction
node_weight    (nodes,)            the costs of errors; optional
node_types     (nodes,)            numbers or strings; optional
============== =================== ==============================================================

A sparse matrix is stored as four arrays: ``node_features_data``, ``..._indices``, ``..._indptr``
and ``..._shape``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..data.checked import as_csr
from ..data.graph_lists import Graphs, split_graphs, stack_graphs
from ..errors import DataError
from ..saving.atomic import atomic_file
from .npz import npz_bytes, read_npz
from .sources import display_name

#: The arrays of a sparse matrix.
CSR = ("data", "indices", "indptr", "shape")


def read_graphs(path: Any) -> tuple[Graphs, list[np.ndarray] | None]:
    """Read graphs and the labels of their nodes.

    Parameters
    ----------
    path : str, path or binary file object
        An npz file; the arrays are described in ``maxmargin.io.graphs``.

    Returns
    -------
    X : Graphs
        A sequence of ``mm.Graph``.
    Y : list of arrays, or None
        The labels of the nodes of each graph; None if the file has no labels.

    Raises
    ------
    DataError
        If the file cannot be read, or an array is missing or wrong; the message names the graph.
    """
    arrays, name = read_npz(path), display_name(path)
    try:
        return _split(arrays)
    except DataError as error:
        raise DataError(error.message, path=name, sequence=error.sequence) from error


def _split(arrays: dict[str, np.ndarray]) -> tuple[Graphs, list[np.ndarray] | None]:
    for needed in ("edges", "node_offsets", "edge_offsets"):
        if needed not in arrays:
            raise DataError(f"has no array {needed!r}; see maxmargin.io.graphs for the layout")
    nodes, offsets = _matrix(arrays, "node_features"), arrays["node_offsets"]
    if nodes is None:
        raise DataError("has no array 'node_features'; see maxmargin.io.graphs for the layout")
    labels = _names(arrays, "labels", nodes.shape[0])
    X = split_graphs(
        nodes, offsets, arrays["edges"], arrays["edge_offsets"], _matrix(arrays, "edge_features"),
        arrays.get("node_weight"), _names(arrays, "node_types", nodes.shape[0]),
    )  # fmt: skip
    return X, None if labels is None else [labels[a:b] for a, b in pairwise(X.offsets.tolist())]


def _names(arrays: dict[str, np.ndarray], name: str, n: int) -> np.ndarray | None:
    """An array with a label or type for each of the n nodes; None if the file has none."""
    values = arrays.get(name)
    if values is not None and (values.shape != (n,) or values.dtype.kind not in "biufU"):
        raise DataError(
            f"{name} is an array of {values.dtype} of shape {values.shape}: it must have a number "
            f"or a string for each of the {n} nodes"
        )
    return values


def _matrix(arrays: dict[str, np.ndarray], name: str) -> Any:
    """A matrix of a file, dense or sparse; None if it has none."""
    if f"{name}_data" not in arrays:
        matrix = arrays.get(name)
        if matrix is not None and matrix.ndim != 2:
            raise DataError(f"{name} has shape {matrix.shape}: it must have two dimensions")
        return matrix
    missing = [part for part in CSR if f"{name}_{part}" not in arrays]
    if missing:
        raise DataError(f"has no array '{name}_{missing[0]}', which the sparse {name} needs")
    return as_csr(*(arrays[f"{name}_{part}"] for part in CSR))


def write_graphs(path: Any, X: Any, Y: Any = None) -> None:
    """Write graphs, and labels of their nodes if given, to a file that ``read_graphs`` reads.

    Parameters
    ----------
    path : str or path
        The npz file to write.
    X : list of ``mm.Graph`` or tuples
        The graphs.
    Y : list of arrays of numbers or strings, optional
        The labels of the nodes of each graph.
    """
    with atomic_file(path) as file:
        file.write(npz_bytes(graph_arrays(X, Y)))


def graph_arrays(X: Any, Y: Any = None) -> dict[str, np.ndarray]:
    """The arrays of a file of graphs, by name."""
    X = stack_graphs(X)
    arrays = {"edges": X.edges, "node_offsets": X.offsets, "edge_offsets": X.edge_offsets}
    for name, matrix in (("node_features", X.nodes), ("edge_features", X.edge_features)):
        if hasattr(matrix, "tocsr"):
            parts = (matrix.data, matrix.indices, matrix.indptr, np.array(matrix.shape))
            arrays |= {f"{name}_{part}": a for part, a in zip(CSR, parts, strict=True)}
        elif matrix is not None:
            arrays[name] = matrix
    if X.weight is not None:
        arrays["node_weight"] = X.weight
    if X.types is not None:
        if X.types.dtype.kind not in "biufU":
            raise DataError("types of nodes in a file must be all numbers, or all strings")
        arrays["node_types"] = X.types
    if Y is not None:
        arrays["labels"] = np.concatenate([*map(np.asarray, Y)]) if len(X) else np.zeros(0)
        if arrays["labels"].dtype.kind not in "biufU":
            raise DataError("labels in a file must be numbers or strings")
    return arrays
