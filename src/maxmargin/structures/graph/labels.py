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
    Y: Any, graphs: Graphs, void: Any = None, classes: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """``(classes, codes)``: the labels that occur, and the class number of each node.

    Nodes with the label None or ``void`` have the code VOID. If ``classes`` is given, other labels
    raise an error.
    """
    check_lengths(Y, graphs, "label")
    flat = flat_labels(Y)
    known = known_labels(flat, void)
    labels, places = flat[known], np.flatnonzero(known)
    if flat.dtype == object:
        labels = as_label_array(labels.tolist())
    _check_labels(labels, places, graphs)
    codes = np.full(len(flat), VOID, np.int16)
    if classes is None:
        classes, codes[known] = encode_labels(labels)
        if len(classes) > np.iinfo(np.int16).max:
            raise DataError(f"{len(classes)} different labels are too many: at most 32767")
        return classes, codes
    number = {label: k for k, label in enumerate(classes.tolist())}
    for node, label in zip(places.tolist(), labels.tolist(), strict=True):
        if label not in number:
            i, v = graphs.locate(node)
            raise DataError(
                f"graph {i}: the label {label!r} of node {v} did not occur in training", sequence=i
            )
        codes[node] = number[label]
    return classes, codes


def _check_labels(labels: np.ndarray, places: np.ndarray, graphs: Graphs) -> None:
    """Raise a DataError for labels that are lists or NaN."""
    if labels.ndim != 1:
        i, v = graphs.locate(int(places[0]))
        raise DataError(
            f"graph {i}: the label of node {v} is {labels[0].tolist()!r}: labels must be hashable "
            "(use a tuple instead of a list)",
            sequence=i,
        )
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        i, v = graphs.locate(int(places[int(np.argmax(np.isnan(labels)))]))
        raise DataError(
            f"graph {i}: the label of node {v} is NaN: use None where it is not known", sequence=i
        )


def known_labels(flat: np.ndarray, void: Any) -> np.ndarray:
    """Which labels are known, bool array: neither None nor ``void``."""
    if flat.dtype == object:
        return np.array(
            [x is not None and not (void is not None and x == void) for x in flat], bool
        )
    return np.ones(len(flat), bool) if void is None else np.asarray(flat != void)


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


def flat_labels(Y: Any) -> np.ndarray:
    """The labels of all nodes; of type object if there may be None."""
    parts = [y for y in Y if len(y)]
    plain = all(isinstance(y, np.ndarray) and y.dtype.kind in "iubfU" for y in parts)
    if parts and plain and len({y.dtype.kind == "U" for y in parts}) == 1:
        return np.concatenate(parts)
    items = [x for y in parts for x in (y.tolist() if hasattr(y, "tolist") else y)]
    return np.fromiter(items, object, len(items))
