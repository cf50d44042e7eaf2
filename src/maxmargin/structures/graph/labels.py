"""The labels of nodes: their class numbers, and the nodes without a label."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.checked import WEIGHTS, first_bad_weight, plain_array
from ...data.graph_lists import Graphs
from ...data.labels import as_label_array, encode_labels
from ...errors import DataError

#: The code of a node without a label.
VOID = -1


def encode_nodes(
    Y: Any, graphs: Graphs, classes: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """``(classes, codes)``: the labels that occur, and the class number of each node.

    Nodes with the label None have the code VOID. If ``classes`` is given, other labels raise an
    error.
    """
    check_lengths(Y, graphs, "label")
    flat = _flat(Y)
    known = np.array([label is not None for label in flat]) if _mixed(flat) else True
    known = np.broadcast_to(known, len(flat))
    labels = flat if not _mixed(flat) else as_label_array([x for x in flat if x is not None])
    if labels.ndim != 1:
        raise DataError(
            f"a label is {labels[0].tolist()!r}: labels must be hashable (use a tuple, not a list)"
        )
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        node = np.flatnonzero(known)[int(np.argmax(np.isnan(labels)))]
        i, v = graphs.locate(int(node))
        raise DataError(
            f"graph {i}: the label of node {v} is NaN: use None for unknown", sequence=i
        )
    codes = np.full(len(flat), VOID, np.int16)
    if classes is None:
        classes, found = encode_labels(labels)
        if len(classes) > np.iinfo(np.int16).max:
            raise DataError(f"{len(classes)} different labels are too many: at most 32767")
        codes[known] = found
        return classes, codes
    number = {label: k for k, label in enumerate(classes.tolist())}
    places = np.flatnonzero(known)
    for node, label in zip(places.tolist(), labels.tolist(), strict=True):
        if label not in number:
            i, v = graphs.locate(node)
            raise DataError(
                f"graph {i}: the label {label!r} of node {v} did not occur in training", sequence=i
            )
        codes[node] = number[label]
    return classes, codes


def check_lengths(values: Any, graphs: Graphs, what: str) -> None:
    """Raise a DataError that names the first graph with another number of values than nodes."""
    if len(values) != len(graphs):
        raise DataError(f"X has {len(graphs)} graphs, and there are {what}s of {len(values)}")
    for i, (mine, length) in enumerate(zip(values, graphs.lengths.tolist(), strict=True)):
        if isinstance(mine, str) or not hasattr(mine, "__len__") or len(mine) != length:
            given = len(mine) if hasattr(mine, "__len__") else repr(mine)
            raise DataError(
                f"graph {i} has {length} nodes and {given} {what}s: give one {what} per node",
                sequence=i,
            )


def read_node_weight(node_weight: Any, graphs: Graphs) -> Graphs:
    """The same graphs with these weights of the nodes."""
    check_lengths(node_weight, graphs, "node weight")
    flat = np.concatenate(
        [np.zeros(0), *(plain_array(weights, "node_weight", np.float64) for weights in node_weight)]
    )
    bad = first_bad_weight(flat)
    if bad is not None:
        i, v = graphs.locate(bad)
        raise DataError(f"graph {i}: the weight of node {v} is {flat[bad]}: {WEIGHTS}", sequence=i)
    return graphs.with_weight(flat)


def _flat(Y: Any) -> np.ndarray:
    """The labels of all nodes; of type object if there may be None."""
    parts = [y for y in Y if len(y)]
    if parts and all(isinstance(y, np.ndarray) and y.dtype.kind in "iubfU" for y in parts):
        kinds = {"U" if y.dtype.kind == "U" else "n" for y in parts}
        if len(kinds) == 1 and all(y.ndim == 1 for y in parts):
            return np.concatenate(parts)
    items = [x for y in parts for x in (y.tolist() if hasattr(y, "tolist") else y)]
    flat = np.empty(len(items), object)
    flat[:] = items
    return flat


def _mixed(flat: np.ndarray) -> bool:
    return flat.dtype == object
