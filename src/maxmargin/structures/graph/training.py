"""Training on graphs, or on inputs that are turned into graphs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np

from ...data.graph_lists import Graphs
from ...errors import DataError
from ...estimators.weights import weigh_classes
from ...training import check_examples
from .fitted import _GraphModel
from .labels import VOID, encode_nodes, read_node_weight
from .node_types import encode_types, learn_types, names_of_features
from .problem import GraphProblem
from .relaxed import RelaxedGraphProblem
from .scale import warn_of_scale
from .zero_one import ZeroOneGraphProblem


@dataclass(kw_only=True, eq=False, repr=False)
class GraphParameters:
    """The parameters of estimators that label the nodes of graphs.

    loss : "hamming", "zero-one" or array (n_classes, n_classes)
        "hamming": the number of wrong labels; array: the sum over nodes of ``loss[t, k]`` for
        predicting label k if t is true, in the order of ``classes_``. Both are multiplied by the
        weights of the nodes. "zero-one": 1 if any label is wrong, for graphs without cycles.
    class_weight : dict or "balanced", optional
        Factor of the loss of nodes, by their true label.
    pairwise : {"full", "symmetric", "potts", "associative"}
        The weights of pairs of labels, for each edge feature. "full": one per ordered pair;
        "symmetric": one per pair in any order; "potts": one for equal labels; "associative": the
        same, but >= 0, for edge features >= 0, so that edges only ever favour equal labels.
    inference : str
        How the best labels are found: "auto", or the name of a decoder. "auto" is exact for graphs
        without cycles, and for two labels with ``pairwise="associative"``; otherwise it is
        approximate, and bounds how far it is from the best labels.
    relax : bool
        Train the relaxed problem: the best labels of an example are replaced by the best point of
        the local polytope, which can have shares of labels. Its objective is an upper bound on
        that of the exact problem, and the certificate proves how far the weights are from the
        optimum of the relaxed one. ``predict`` returns labels, as without it.
    void : optional
        The label of nodes whose label is not known; they are left out of training, with their
        edges. None always means this.
    """

    loss: Any = "hamming"
    class_weight: Any = None
    pairwise: str = "full"
    inference: str = "auto"
    relax: bool = False
    void: Any = None


class _GraphTrainer(GraphParameters, _GraphModel):
    """Training on inputs that are graphs, or are turned into graphs."""

    def fit(self, X: Any, Y: Any, sample_weight: Any = None, node_weight: Any = None) -> Self:
        """Train on inputs X with labels Y.

        Parameters
        ----------
        X : list of inputs
            Graphs or images, as the class describes them.
        Y : list of outputs
            Labels of any hashable type, one per node. Nodes with the label None are left out of
            training, with their edges.
        sample_weight : array (n,), optional
            Weights of the inputs in the objective.
        node_weight : list of arrays, optional
            Cost of an error at each node, in place of ``Graph.node_weight``; 0 for nodes whose
            label is known but does not count.
        """
        with self._keeping_model():
            prepared = self._prepare(X, Y, sample_weight, node_weight)
            self._seen = (X, Y, sample_weight) if node_weight is None else None
            self._set_weights(self._train(*prepared).w)
        return self

    def _prepare(
        self, X: Any, Y: Any, sample_weight: Any = None, node_weight: Any = None
    ) -> tuple[Any, Any, Any, Any]:
        """The arguments of ``train``: problem, inputs, outputs and weights."""
        weight = check_examples(X, Y, sample_weight)
        self._learn(X)
        graphs = self._stack(X)
        if node_weight is not None:
            graphs = read_node_weight(self._flat(node_weight, X), graphs)
        self.classes_, codes = encode_nodes(self._flat(Y, X), graphs, self.void)
        if len(self.classes_) < 2:
            raise DataError(
                f"all nodes have the same label, {self.classes_.tolist()}: two are needed"
                if len(self.classes_)
                else "no node has a label: there is nothing to learn from"
            )
        graphs, codes = _without_void(graphs, codes)
        self.n_features_in_, self.n_edge_features_in_ = graphs.n_features, graphs.n_edge_features
        warn_of_scale(graphs, self._node_feature)
        self._learn_types(graphs, codes)
        graphs = encode_types(graphs, self.types_)
        self.class_weight_ = None if self.class_weight is None else self._class_weights(codes)
        problem = self._relaxed(self._problem(graphs))
        if isinstance(self.loss, str) and self.loss == "zero-one":
            self._check_zero_one(problem)
        self.inference_ = problem.kind
        outputs = [codes[lo:hi] for lo, hi in pairwise(graphs.offsets.tolist())]
        return problem, graphs, outputs, weight

    #: The word for a feature of nodes in messages.
    _node_feature = "node feature"

    def _relaxed(self, problem: GraphProblem) -> GraphProblem:
        """The problem to train: the given one, or its relaxation."""
        if not self.relax:
            return problem
        return RelaxedGraphProblem(
            problem.n_classes, problem.pairwise, problem.cost, problem.type_classes
        )

    def _check_zero_one(self, problem: GraphProblem) -> None:
        """Refuse what the 0/1 loss of whole graphs cannot be trained with."""
        if self.class_weight is not None:
            raise DataError(
                "class_weight multiplies the loss of nodes, and loss='zero-one' counts whole "
                "graphs: leave out one of them"
            )
        if not isinstance(problem, ZeroOneGraphProblem):
            raise DataError(
                "loss='zero-one' has an oracle for graphs without cycles only, with "
                "inference='auto' or 'forest' and without relax: use loss='hamming'"
            )

    def _learn(self, X: Any) -> None:
        """Learn from X what ``_stack`` needs."""

    def _learn_types(self, graphs: Graphs, codes: np.ndarray) -> None:
        """Set the types of nodes and their labels, if nodes have types."""
        self.types_ = self.type_classes_ = self.feature_names_ = None
        if graphs.types is not None:
            self.types_, self.type_classes_ = learn_types(graphs.types, codes, len(self.classes_))
            self.feature_names_ = names_of_features(self.types_, self.n_features_in_)

    def _class_weights(self, codes: np.ndarray) -> np.ndarray:
        """The factor of the loss of nodes, by their true label."""
        names = self.classes_.tolist()
        weights = weigh_classes(self.class_weight, names, codes, None)
        bad = ~np.isfinite(weights) | (weights < 0)
        if bad.any():
            k = int(np.flatnonzero(bad)[0])
            raise DataError(f"class_weight of {names[k]!r} is {weights[k]}: weights must be >= 0")
        return weights


def _without_void(graphs: Graphs, codes: np.ndarray) -> tuple[Graphs, np.ndarray]:
    """Graphs and class numbers without the nodes that have no label."""
    known = codes != VOID
    return (graphs, codes) if known.all() else (graphs.keep_nodes(known), codes[known])
