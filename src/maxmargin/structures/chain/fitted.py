"""A trained model of sequences: predictions, weights, explanations and suspects."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...backends.files import Files
from ...data.probabilities import Softmax
from ...data.sequences import LabelSequences, Sequences
from ...data.transitions import allow_gold, allowed_transitions
from ...engine.shard import predict_labels
from ...errors import DataError
from ...estimators.base import _SVC
from ...estimators.calibrated import get_curve, if_calibrated
from ...estimators.parameters import KernelParameters
from ...estimators.prunable import Prunable
from ...features import Extractor
from ...kernels.estimators import scored_sequences
from ...metrics.inputs import as_list, check_lengths
from ...outputs.calibration import Decisions
from ...outputs.explain import Suspects, largest_slacks
from ...outputs.m_best import predict_m_best
from ...training import check_examples
from .marginals import max_marginals
from .problem import Chain
from .tokens import encode_tags, read_new_tokens, with_names


class _ChainModel(KernelParameters, Prunable, _SVC):
    """The methods of a trained ``ChainSVC``."""

    loss: Any
    class_weight: Any
    transitions: Any
    start_stop: bool

    classes_: np.ndarray
    coef_: np.ndarray
    transition_: np.ndarray
    start_: np.ndarray
    stop_: np.ndarray
    n_features_in_: int
    class_weight_: np.ndarray | None = None

    _reader: Any

    @cached_property
    def feature_names_(self) -> list[str] | None:
        """The names of the features, made when first used; None for rows of numbers."""
        return None if self._reader is None else self._reader.names_

    @property
    def _n_columns(self) -> int:
        """The number of columns that the template needs, for a model that has one."""
        return self._reader.template_.n_columns if isinstance(self._reader, Extractor) else 1

    def predict(self, X: Any) -> list[list[Any]]:
        """The best labels of each sequence; features that are not in the model are ignored.

        X may be ``mm.Files``; the labels in these files are ignored.
        """
        if isinstance(X, Files):
            return [labels for part in self._predict_files(X) for labels in part]
        codes, offsets = self._predict_codes(X)
        names = self.classes_.tolist()
        flat = [names[k] for k in codes.tolist()]
        return [flat[lo:hi] for lo, hi in pairwise(offsets.tolist())]

    def _predict_codes(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The class numbers of all tokens, and the offsets of the sequences."""
        tokens = self._tokens(X)
        problem = self._problem()
        rows, w = self._weighted(tokens)
        if self.backend is None:
            labels = predict_labels(problem, problem.pack(rows), w, self.n_jobs or 1)
        else:
            found = self.backend.predict(problem, rows, w)
            labels = np.concatenate([*found, np.zeros(0, np.int16)])
        return labels, tokens.offsets

    def _m_best(self, X: Any, m: int, diversity: float) -> list[list[tuple[Any, float]]]:
        tokens = self._tokens(X)
        rows, w = self._weighted(tokens)
        _, found = predict_m_best(self._problem(), rows, w, m, diversity, self.n_jobs or 1)
        names, ends = self.classes_.tolist(), tokens.offsets.tolist()
        flat = [[names[k] for k in labels.tolist()] for labels in found.labels]
        return [
            [(flat[r][lo:hi], float(found.score[i, r])) for r in range(found.count[i])]
            for i, (lo, hi) in enumerate(pairwise(ends))
        ]

    def max_marginals(self, X: Any) -> list[np.ndarray]:
        """For each token and label, the highest score of a sequence with this label there.

        Returns
        -------
        list of arrays (L, n_classes)
            Columns are in the order of ``classes_``. The largest entry of each row is the score
            of the predicted sequence; -inf means that ``transitions`` forbids the label there.
        """
        scores, ends = self._token_scores(X)
        return np.split(scores, ends[1:])[:-1]

    @if_calibrated
    def predict_marginals(self, X: Any) -> list[np.ndarray]:
        """Probabilities of the labels of each token.

        They are a softmax of the max-marginals of the token, with a temperature (or a step
        function) that ``mm.calibrate`` fits to held-out sequences: of the tokens with probability
        0.9, about 90 % should be right. They are not the marginals of a probabilistic model such
        as a CRF. The predicted label of a token is its most probable one.

        Returns
        -------
        list of arrays (L, n_classes)
            Columns are in the order of ``classes_``; each row sums to 1.
        """
        scores, ends = self._token_scores(X)
        return np.split(get_curve(self, "classes")(scores), ends[1:])[:-1]

    def _token_scores(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The max-marginals of all tokens (total, n_classes), and the offsets of the sequences."""
        tokens = self._tokens(X)
        rows, w = self._weighted(tokens)
        pack = self._problem().pack(rows)
        return max_marginals(pack, w, len(self.classes_)), tokens.offsets

    def _decisions(self, X: Any, Y: Any) -> dict[str, Any]:
        scores, ends = self._token_scores(X)
        number = {label: k for k, label in enumerate(self.classes_.tolist())}
        truth = [[number.get(label, -1) for label in labels] for labels in map(as_list, Y)]
        check_lengths(truth, [[0] * int(L) for L in np.diff(ends)])
        flat = np.array([k for codes in truth for k in codes], int)
        return {"classes": Decisions(scores, flat)}

    def _curves(self) -> dict[str, type]:
        return super()._curves() | {"classes": Softmax}

    def score(self, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """The fraction of tokens with the right label."""
        weight = check_examples(X, Y, sample_weight)
        right, n = np.zeros(len(Y)), np.zeros(len(Y))
        for i, (truth, found) in enumerate(zip(Y, self.predict(X), strict=True)):
            if len(truth) != len(found):
                raise DataError(
                    f"sequence {i} has {len(found)} tokens and {len(truth)} labels: give one label "
                    "per token"
                )
            right[i] = sum(a == b for a, b in zip(truth, found, strict=True))
            n[i] = len(found)
        weight = np.ones(len(n)) if weight is None else weight
        return float(weight @ right / max(weight @ n, 1e-300))

    def _training(self, X: Any, Y: Any, sample_weight: Any) -> tuple[Any, Any, np.ndarray]:
        weight = check_examples(X, Y, sample_weight)
        tokens, problem = self._tokens(X), self._problem()
        _, codes = encode_tags(Y, tokens, self.classes_)
        pack = problem.pack(tokens, LabelSequences(codes, tokens.offsets), weight)
        return problem, pack, self._w()

    def _replace_weights(self, w: np.ndarray) -> tuple[int, int]:
        """Features with names and without weights are removed."""
        K, d = len(self.classes_), self.n_features_in_
        emissions = w[: d * K].reshape(d, K)
        if self._reader is not None:
            kept = np.flatnonzero(emissions.any(axis=1))
            kept = kept if len(kept) else np.arange(min(d, 1))
            self._reader = with_names(self._reader, kept)
            self.__dict__.pop("feature_names_", None)
            self.n_features_in_ = len(kept)
            w = np.concatenate([emissions[kept].ravel(), w[d * K :]])
        self.result_ = replace(self.result_, w=w)
        self._set_weights(w)
        return d, self.n_features_in_

    def _suspects(self, X: Any, Y: Any, n: int) -> Suspects:
        """Transitions that occur in Y are allowed here, even if the model forbids them."""
        check_examples(X, Y, None)
        tokens = self._tokens(X)
        _, codes = encode_tags(Y, tokens, self.classes_)
        problem = self._problem()
        allow_gold(problem.allowed, tokens, codes)
        tokens, w = self._weighted(tokens)
        pack = problem.pack(tokens, LabelSequences(codes, tokens.offsets))
        names = self.classes_.tolist()
        return Suspects(
            {
                "index": found.index,
                "slack": found.slack,
                "loss": found.loss,
                "truth": [names[k] for k in found.truth],
                "worst": [names[k] for k in found.worst],
            }
            for found in largest_slacks(problem, pack, w, self.rescaling, n)
        )

    def _tokens(self, X: Any) -> Sequences:
        check_is_fitted(self)
        return read_new_tokens(X, self._reader, self.n_features_in_, self.n_jobs)

    def _weighted(self, tokens: Sequences) -> tuple[Sequences, np.ndarray]:
        """Rows and weights for the problem; with a kernel the rows are unit vectors."""
        if hasattr(self, "dual_coef_"):
            return scored_sequences(self, tokens)
        return tokens, self._w()

    def _problem(self) -> Chain:
        """The problem, after the labels are known."""
        K = len(self.classes_)
        name, cost = "hamming", 1.0 - np.eye(K)
        if isinstance(self.loss, str):
            name = self.loss
        else:
            cost = np.array(self.loss, np.float64)
        if self.class_weight is not None:
            if name != "hamming":
                raise DataError(
                    "class_weight is for the Hamming loss of tokens, not for the zero-one loss of "
                    "sequences: use loss='hamming', or sample_weight"
                )
            assert self.class_weight_ is not None  # set by fit
            cost = cost * self.class_weight_[:, None]
        allowed = allowed_transitions(self.transitions, self.classes_)
        return Chain(K, name, cost, allowed, self.start_stop)

    def _set_weights(self, w: np.ndarray) -> None:
        """Set coef_, transition_, start_ and stop_ from w."""
        self.coef_, self.transition_, self.start_, self.stop_ = self._parts(w)

    def _parts(self, w: np.ndarray) -> tuple[np.ndarray, ...]:
        """Views of w as coef_, transition_, start_ and stop_; the last two may be zeros."""
        K, d = len(self.classes_), self.n_features_in_
        ends = w[d * K + K * K :] if self.start_stop else np.zeros(2 * K)
        transition = w[d * K : d * K + K * K].reshape(K, K)
        return w[: d * K].reshape(d, K).T, transition, ends[:K], ends[K:]

    def _w(self) -> np.ndarray:
        """The weights in the order of the problem; result_.w if the attributes are views of it."""
        used = 4 if self.start_stop else 2
        mine = (self.coef_, self.transition_, self.start_, self.stop_)[:used]
        w = self.result_.w
        if w.size == sum(part.size for part in mine):
            places = zip(mine, self._parts(w), strict=False)
            if all(a.__array_interface__ == b.__array_interface__ for a, b in places):
                return w
        # An attribute was set, or the estimator was copied.
        return np.concatenate([self.coef_.T.ravel(), *(part.ravel() for part in mine[1:])])
