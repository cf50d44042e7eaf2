"""A trained model of graphs: predictions, weights and explanations."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...data.graph_lists import Graphs
from ...data.probabilities import Softmax
from ...data.source import take
from ...engine.shard import predict_labels, predict_with_bounds
from ...errors import DataError
from ...estimators.base import _SVC
from ...estimators.calibrated import get_curve, if_calibrated
from ...estimators.parameters import WarmStartParameters
from ...outputs.calibration import Decisions
from ...outputs.explain import Explanation, Suspects, explain, find_suspects, largest_weights
from ...training import check_examples
from .labels import VOID, check_lengths, encode_nodes, flat_labels, known_labels
from .node_types import encode_types, names_of_pairs
from .pairs import first_pairs, pair_tables
from .plans import all_forests
from .problem import GraphProblem
from .several import exact_kinds, graph_marginals, several_of_graphs
from .zero_one import ZeroOneGraphProblem


class _GraphModel(WarmStartParameters, _SVC):
    """The methods of a trained model whose inputs are graphs, or are turned into graphs."""

    pairwise: str
    inference: str
    loss: Any
    class_weight: Any
    void: Any

    classes_: np.ndarray
    coef_: np.ndarray
    pairwise_: np.ndarray
    inference_: str
    n_features_in_: int
    n_edge_features_in_: int
    class_weight_: np.ndarray | None = None
    types_: np.ndarray | None = None
    type_classes_: np.ndarray | None = None
    feature_names_: list[str] | None = None

    def _stack(self, X: Any) -> Graphs:
        """Inputs as graphs."""
        raise NotImplementedError

    def _flat(self, Y: Any, X: Any) -> list[Any]:
        """The labels of each input of X, in the order of its nodes."""
        return Y

    def _shaped(self, X: Any, labels: list[np.ndarray]) -> list[Any]:
        """The inverse of ``_flat``: labels by node in the form of outputs."""
        return labels

    def predict(self, X: Any, return_bound: bool = False) -> Any:
        """The best labels of each input.

        Parameters
        ----------
        X : list of inputs
            As for ``fit``.
        return_bound : bool
            Also return upper bounds.

        Returns
        -------
        labels : list of arrays
        score, bound : arrays (n,), with ``return_bound``
            ``<w, phi>`` of the labels of each input, and an upper bound on the score of any other
            labels: if both are equal, no labels have a higher score.
        """
        graphs = self._graphs(X)
        problem, w = self._problem(graphs), self._w()
        pack = problem.pack(graphs)
        if not return_bound:
            found = predict_labels(problem, pack, w, self.n_jobs or 1)
            return self._outputs(X, graphs, found)
        found, bound = predict_with_bounds(problem, pack, w, self.n_jobs or 1)
        score = problem.first_scores(pack, w, found)
        bound = np.where(np.isnan(bound), score, np.maximum(bound, score))
        return self._outputs(X, graphs, found), score, bound

    def _outputs(self, X: Any, graphs: Graphs, codes: np.ndarray) -> list[Any]:
        """Class numbers of all nodes as the outputs of each input."""
        names = self.classes_[codes]
        return self._shaped(X, [names[lo:hi] for lo, hi in pairwise(graphs.offsets.tolist())])

    def _m_best(self, X: Any, m: int, diversity: float) -> list[list[tuple[Any, float]]]:
        """Exact for graphs without cycles, and by cuts for graphs that are not large.

        For other graphs it is a search from the predicted labels.
        """
        graphs, w = self._graphs(X), self._w()
        problem = self._problem(graphs)
        pack = problem.pack(graphs)
        labels = predict_labels(problem, pack, w, self.n_jobs or 1)
        several = several_of_graphs(problem, pack, w, m, diversity, labels)
        return [
            [(self._shaped([x], [self.classes_[y]])[0], score) for y, score in found]
            for x, found in zip(X, several, strict=True)
        ]

    def max_marginals(self, X: Any) -> list[np.ndarray]:
        """For each node and label, the highest score of labels of the graph with this label there.

        They are known for graphs without cycles, and for two labels with
        ``pairwise="associative"``, where they take a minimum cut for each node.

        Returns
        -------
        list of arrays (nodes, n_classes)
            Columns are in the order of ``classes_``; -inf for labels that the type of a node does
            not have. Images have arrays (height, width, n_classes).

        Raises
        ------
        DataError
            If a graph has a cycle and the labels are not attractive.
        """
        return self._shaped(X, self._node_scores(X))

    @if_calibrated
    def predict_marginals(self, X: Any) -> list[np.ndarray]:
        """Probabilities of the labels of each node, in the form of ``max_marginals``.

        They are a softmax of the max-marginals of the node, with a temperature (or a step function)
        that ``mm.calibrate`` fits to held-out graphs. They are not the marginals of a probabilistic
        model. Each row sums to 1, and the predicted label is the most probable one.
        """
        scores = self._node_scores(X)
        curve, ends = (
            get_curve(self, "classes"),
            np.cumsum([len(rows) for rows in scores], dtype=int),
        )
        flat = np.concatenate([np.zeros((0, len(self.classes_))), *scores])
        return self._shaped(X, np.split(curve(flat), ends)[:-1])

    def _node_scores(self, X: Any) -> list[np.ndarray]:
        graphs = self._graphs(X)
        problem = self._problem(graphs)
        return graph_marginals(problem, problem.pack(graphs), self._w())

    def _examples(self, X: Any, Y: Any) -> tuple[Any, Any]:
        """Inputs whose nodes all have labels: others are neither right nor wrong."""
        check_examples(X, Y, None)
        known = [known_labels(flat_labels([y]), self.void).all() for y in self._flat(Y, X)]
        chosen = np.flatnonzero(known)
        return take(X, chosen), take(Y, chosen)

    def _decisions(self, X: Any, Y: Any) -> dict[str, Any]:
        """Labels of nodes, where max-marginals are known."""
        graphs = self._graphs(X)
        check_lengths(self._flat(Y, X), graphs, "label")
        problem = self._problem(graphs)
        pack = problem.pack(graphs)
        if None in exact_kinds(problem, pack):
            return {}
        number = {label: k for k, label in enumerate(self.classes_.tolist())}
        truth = [number.get(label, -1) for label in flat_labels(self._flat(Y, X)).tolist()]
        scores = np.concatenate(graph_marginals(problem, pack, self._w()))
        return {"classes": Decisions(scores, np.array(truth, int))}

    def _curves(self) -> dict[str, type]:
        return super()._curves() | {"classes": Softmax}

    def score(self, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """The fraction of nodes with the right label; nodes without a label do not count."""
        weight = check_examples(X, Y, sample_weight)
        found, truth = self._flat(self.predict(X), X), self._flat(Y, X)
        lengths = [len(labels) for labels in found]
        if [len(labels) for labels in truth] != lengths:
            i = next(i for i, labels in enumerate(truth) if len(labels) != lengths[i])
            raise DataError(
                f"graph {i} has {lengths[i]} nodes and {len(truth[i])} labels", sequence=i
            )
        flat = flat_labels(truth)
        share = np.repeat(np.ones(len(found)) if weight is None else weight, lengths)
        share = share * known_labels(flat, self.void)
        return float(share @ (flat == flat_labels(found)) / max(share.sum(), 1e-300))

    def explain(self, n: int = 10) -> Explanation:
        """The n largest weights with their names, of each label and of pairs of labels."""
        check_is_fitted(self)
        names, values = self._pair_names(), self._w()[self.coef_.size :]
        return Explanation(
            explain(self, n).labels, largest_weights("pairs of labels", values, names, n)
        )

    def _suspects(self, X: Any, Y: Any, n: int) -> Suspects:
        graphs = self._graphs(X)
        _, codes = encode_nodes(self._flat(Y, X), graphs, self.void, self.classes_)
        if (codes == VOID).any():
            graphs, codes = graphs.keep_nodes(codes != VOID), codes[codes != VOID]
        problem = self._problem(graphs)
        pack = problem.pack(graphs, np.split(codes, graphs.offsets[1:-1]))
        found = find_suspects(problem, pack, self._w(), self.rescaling, n)
        for suspect in found:
            suspect |= {name: self.classes_[suspect[name]].tolist() for name in ("truth", "worst")}
        return found

    def _pair_names(self) -> list[str]:
        """The names of the weights of pairs, in the order of w."""
        labels, e = [str(label) for label in self.classes_.tolist()], self.n_edge_features_in_
        if self.pairwise in ("potts", "associative"):
            pairs = ["same label"]
        else:
            sign = "->" if self.pairwise == "full" else "-"
            first = zip(*first_pairs(self.pairwise, len(labels)), strict=True)
            pairs = [f"{labels[a]} {sign} {labels[b]}" for a, b in first]
        features = self._edge_names() or [f"edge feature {j}" for j in range(e)]
        if self.types_ is not None:
            features = names_of_pairs(self.types_, features)
        elif e == 1:
            return pairs
        return [f"{pair}, {feature}" for feature in features for pair in pairs]

    def _edge_names(self) -> list[str] | None:
        """The names of the edge features, if they have names."""
        return None

    def _graphs(self, X: Any) -> Graphs:
        """New inputs as graphs, with the features that the model was trained on."""
        check_is_fitted(self)
        graphs = self._stack(X).of_widths(self.n_features_in_, self.n_edge_features_in_)
        for what, found, expected in (
            ("nodes", graphs.n_features, self.n_features_in_),
            ("edges", graphs.n_edge_features, self.n_edge_features_in_),
        ):
            if found != expected:
                raise DataError(
                    f"the {what} of X have {found} features, but the model was trained with "
                    f"{expected}"
                )
        return encode_types(graphs, self.types_)

    def _problem(self, graphs: Graphs | None = None) -> GraphProblem:
        """The problem, after the labels are known; for these graphs or for any."""
        K, cost = len(self.classes_), None
        if isinstance(self.loss, str):
            if self.loss not in ("hamming", "zero-one"):
                raise DataError(
                    f"loss must be 'hamming', 'zero-one' or a cost matrix, got {self.loss!r:.100}"
                )
        else:
            cost = np.array(self.loss, np.float64)
        if self.class_weight is not None:
            assert self.class_weight_ is not None  # set by fit
            cost = (1.0 - np.eye(K) if cost is None else cost) * self.class_weight_[:, None]
        forests = self.inference == "auto" and graphs is not None and all_forests(graphs)
        inference = "forest" if forests else self.inference
        if isinstance(self.loss, str) and self.loss == "zero-one" and inference == "forest":
            return ZeroOneGraphProblem(K, self.pairwise, self.type_classes_)
        return GraphProblem(K, self.pairwise, cost, inference, self.type_classes_)

    def _set_weights(self, w: np.ndarray) -> None:
        """Set coef_ and pairwise_ from w."""
        K, T = len(self.classes_), 1 if self.types_ is None else len(self.types_)
        d, e = T * self.n_features_in_, T * T * self.n_edge_features_in_
        self.coef_ = w[: d * K].reshape(d, K).T
        self.pairwise_ = pair_tables(w[d * K :].reshape(e, -1), self.pairwise, K)

    def _w(self) -> np.ndarray:
        """The weights in the order of the problem."""
        a, b = first_pairs(self.pairwise, len(self.classes_))
        return np.concatenate([self.coef_.T.ravel(), self.pairwise_[:, a, b].ravel()])
