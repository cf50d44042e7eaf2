"""The estimator for graphs: one label per node."""

from __future__ import annotations

from typing import Any

from ...data.graph_lists import Graphs, stack_graphs
from ...estimators.cv import PathCV
from ...estimators.parameters import estimator
from . import STRUCTURE
from .training import _GraphTrainer


@estimator
class GraphSVC(_GraphTrainer):
    """Labels the nodes of graphs, with weights for pairs of labels at the edges.

    Parameters
    ----------
    {C}
    solver : str or solver object
        "auto", "sdm", "bcfw", "n-slack", "one-slack", "subgradient", or an object such as
        ``mm.SDM(inner=5)``.
    tol : float
        Stop when P/(C n) is certified to be within ``tol`` of its minimum, in units of loss: with
        the Hamming loss, wrong labels per graph.
    rescaling : "margin"
        How the loss enters the hinge loss: added to the margin.
    {loss, class_weight, pairwise, inference, relax, void}
    {max_iter, max_time, n_jobs, deterministic}
    {random_state, warm_start, checkpoint, backend, verbose}

    Attributes
    ----------
    classes_ : array (n_classes,)
        The labels.
    coef_ : array (n_classes, d)
        Weights of the node features.
    pairwise_ : array (e, n_classes, n_classes)
        Weights of pairs of labels for each edge feature, ``[feature, label of the first node,
        label of the second node]``.
    inference_ : str
        The decoder that was used in training.
    n_features_in_, n_edge_features_in_ : int
        Number of features of a node, and of an edge.
    types_ : array (n_types,) or None
        The types of nodes, if the graphs have types. ``coef_`` then has the shape (n_classes,
        n_types * d), with d features for each type, and ``pairwise_`` has e tables for each
        ordered pair of types: that of types a and b and feature j is
        ``pairwise_[(a * n_types + b) * e + j]``.
    type_classes_ : bool array (n_types, n_classes) or None
        The labels that nodes of each type had in training, and can be given.
    class_weight_ : array (n_classes,) or None
        The weight of each label, if ``class_weight`` is given.
    {result_}

    Examples
    --------
    >>> import numpy as np, maxmargin as mm
    >>> X = [mm.Graph(np.eye(3), [(0, 1), (1, 2), (2, 0)]), mm.Graph(np.eye(3)[:2], [(0, 1)])]
    >>> clf = mm.GraphSVC(C=10.0).fit(X, [["a", "b", "b"], ["a", "b"]])
    >>> [labels.tolist() for labels in clf.predict(X)]
    [['a', 'b', 'b'], ['a', 'b']]
    """

    structure = STRUCTURE

    C: float = 0.1

    def _stack(self, X: Any) -> Graphs:
        return stack_graphs(X)


class GraphSVCCV(PathCV):
    """``GraphSVC`` whose C is chosen by cross-validation; see ``PathCV``."""

    default = GraphSVC
