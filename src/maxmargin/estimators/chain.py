"""Sequence tagging: a label for each token."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

import numpy as np
from sklearn.utils import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from ..backends.files import FileData, Files
from ..errors import DataError
from ..explain import Explanation, explain, largest_slacks
from ..features import Extractor
from ..kernels.estimators import fit_kernel, forget_kernel, scored_sequences
from ..kernels.functions import is_linear
from ..m_best import predict_m_best
from ..problems.chain import Chain
from ..sequences import Sequences
from ..shard import predict_labels
from ..training import check_alone, check_examples
from ..transitions import allow_gold, allowed_transitions, check_gold
from .base import _SVC
from .tokens import encode_tags, read_new_tokens, read_tokens, read_weights


class ChainSVC(_SVC):
    """Labels of the tokens of a sequence, each scored by its features and by its neighbour.

    Parameters
    ----------
    C : float
        Weight of the sum of the losses.
    solver : str or solver object
        "auto", "sdm", "bcfw", "n-slack", "one-slack", "subgradient", or an object such as
        ``mm.SDM(inner=5)``.
    tol : float
        Stop when P/(C n) is certified to be within ``tol`` of its minimum: with the Hamming loss
        in wrong labels a sequence.
    rescaling : {"margin", "slack"}
        How the loss enters: as a larger margin, or as a steeper slope.
    loss : "hamming", "zero-one" or array (n_classes, n_classes)
        The number of wrong labels; 1 for a sequence with any; or ``loss[t, k]`` for each token of
        label k where t is true, in the order of ``classes_``.
    class_weight : dict or "balanced", optional
        Multiplies the Hamming loss of the tokens of a true label.
    transitions : None, "bio", "bioes", pairs of labels or bool array
        Which label may follow which: the name of a tagging scheme, or the allowed pairs
        ``(label, next label)``, with None for the place before the first and after the last; or an
        array (n_classes, n_classes). Others are never predicted.
    start_stop : bool
        Weights of their own for the first and the last label.
    template : str, optional
        X holds rows of columns, as ``mm.io.read_conll`` gives them, and this is the template that
        makes features of them: a built-in name, a file or the text (see ``mm.features``).
    kernel : None, "linear", "rbf", "poly", "sigmoid", "precomputed" or callable
        Of the features of tokens; transitions stay linear. See ``maxmargin.kernels.functions``.
    gamma, degree, coef0 : parameters of the kernel, as in scikit-learn
    n_basis : int, "auto" or Basis, optional
        Train on so many basis functions of the kernel. By default few tokens are treated exactly,
        and for many the number is found ("auto"), unless the solver is one of sampled cuts.
    max_iter, max_time : int, float (seconds)
        Limits; the best point so far is kept, with a ConvergenceWarning.
    n_jobs : int
        Threads; the model does not depend on it.
    random_state : int
    warm_start : bool
        Begin from the dual variables of the last ``fit`` on the same data, for another C or tol.
    checkpoint : path or Checkpoint, optional
        A file in which training is saved every 5 minutes, and continued from if it is there.
    backend : optional
        Where training happens: ``mm.Ray(...)`` for the workers of a cluster.
    verbose : int
        1 shows progress.

    Attributes
    ----------
    classes_ : array (n_classes,)
    coef_ : array (n_classes, d)
        Weights of the features.
    transition_ : array (n_classes, n_classes)
        Weights ``[from, to]``.
    support_, support_vectors_, dual_coef_ : arrays (m,), (m, d), (n_classes, m)
        With a kernel, in place of ``coef_``.
    start_, stop_ : array (n_classes,)
        Weights of the first and the last label; zero without ``start_stop``.
    n_features_in_ : int
    feature_names_ : list of str or None
        Names of the features, where X had names.
    class_weight_ : array (n_classes,) or None
        The weights of the labels in the loss.
    result_ : Result
        The certificate and the history.

    Examples
    --------
    >>> import maxmargin as mm
    >>> X = [[["the"], ["dog"], ["barks"]], [["a"], ["cat"]]]
    >>> clf = mm.ChainSVC(C=10.0).fit(X, [["D", "N", "V"], ["D", "N"]])
    >>> clf.predict([[["the"], ["cat"], ["barks"]]])
    [['D', 'N', 'V']]
    """

    classes_: np.ndarray
    coef_: np.ndarray
    transition_: np.ndarray
    start_: np.ndarray
    stop_: np.ndarray
    n_features_in_: int
    feature_names_: list[str] | None
    class_weight_: np.ndarray | None = None

    #: What files the command line trained it on, so that it can read others like them.
    _data_format: dict[str, Any] | None = None

    def __init__(
        self,
        C: float = 0.1,
        *,
        solver: Any = "auto",
        tol: float = 1e-2,
        rescaling: str = "margin",
        loss: Any = "hamming",
        class_weight: Any = None,
        transitions: Any = None,
        start_stop: bool = False,
        template: Any = None,
        kernel: Any = None,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        n_basis: Any = None,
        max_iter: int = 10_000,
        max_time: float | None = None,
        n_jobs: int | None = 1,
        random_state: Any = 0,
        warm_start: bool = False,
        checkpoint: Any = None,
        backend: Any = None,
        verbose: int = 0,
    ):
        self.C = C
        self.solver = solver
        self.tol = tol
        self.rescaling = rescaling
        self.loss = loss
        self.class_weight = class_weight
        self.transitions = transitions
        self.start_stop = start_stop
        self.template = template
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_basis = n_basis
        self.max_iter = max_iter
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.backend = backend
        self.verbose = verbose

    def fit(
        self, X: Any, Y: Any = None, sample_weight: Any = None, token_weight: Any = None
    ) -> Self:
        """Train on sequences X with labels Y.

        Parameters
        ----------
        X : list of sequences
            Each a CSR matrix or an array with one row a token, or a list with the features of each
            token: a dict ``{name: value}`` or a list of names. Or ``mm.Sequences``; or rows of
            columns, with a ``template``. Or ``mm.Files``, alone.
        Y : list of sequences of labels
            Labels of any hashable type, one for each token.
        sample_weight : array (n,), optional
            Weights of the sequences in the objective.
        token_weight : list of sequences of numbers, optional
            What an error at each token costs; 0 for tokens that do not count.
        """
        if isinstance(X, Files):
            check_alone(Y, sample_weight, token_weight)
            return self._fit_files(X)
        prepared = self._prepare(X, Y, sample_weight, token_weight)
        self._seen = (X, Y, sample_weight) if token_weight is None else None
        if not is_linear(self.kernel):
            return fit_kernel(self, *prepared)
        forget_kernel(self)
        self._set_weights(self._train(*prepared).w)
        return self

    def _prepare(
        self, X: Any, Y: Any, sample_weight: Any = None, token_weight: Any = None
    ) -> tuple[Any, Any, Any, Any]:
        """What ``train`` needs: the problem, inputs, outputs and weights."""
        weight = check_examples(X, Y, sample_weight)
        self._data_format = None
        tokens, self._reader = read_tokens(X, self.template)
        self.feature_names_ = None if self._reader is None else self._reader.names_
        self.classes_, codes = encode_tags(Y, tokens)
        if token_weight is not None:
            tokens = read_weights(token_weight, tokens)
        self.n_features_in_ = tokens.n_features
        self.class_weight_ = None if self.class_weight is None else self._class_weights(codes)
        problem = self._problem()
        check_gold(problem.allowed, tokens, codes, self.classes_)
        return problem, tokens, np.split(codes, tokens.offsets[1:-1]), weight

    def _fit_files(self, files: Files) -> Self:
        """Train on files that the workers read."""
        self._data_format = self._seen = None
        data = FileData(files, self.backend, self.template)
        plan = data.plan
        if plan.layout.format == "svmlight":
            raise DataError("svmlight files hold no sequences: use format='hmm'", files.paths[0])
        self._reader = None
        if plan.names is not None and plan.template is not None:
            self._reader = Extractor.from_names(plan.template, plan.names)
        self.feature_names_ = plan.names
        self.classes_, self.n_features_in_ = data.classes, plan.n_features
        self.class_weight_ = None
        if self.class_weight is not None:
            self.class_weight_ = self._class_weights(np.arange(len(data.classes)), data.counts)
        self._set_weights(self._train(self._problem(), data, None, None).w)
        return self

    def predict(self, X: Any) -> list[list[Any]]:
        """The best labels of each sequence; features that training has not seen are ignored.

        X may be ``mm.Files``, which hold labels too; these are not looked at.
        """
        if isinstance(X, Files):
            return [labels for part in self._predict_files(X) for labels in part]
        tokens = self._tokens(X)
        problem = self._problem()
        rows, w = self._weighted(tokens)
        if self.backend is None:
            labels = predict_labels(problem, problem.pack(rows), w, self.n_jobs or 1)
        else:
            found = self.backend.predict(problem, rows, w)
            labels = np.concatenate([*found, np.zeros(0, np.int16)])
        names = self.classes_.tolist()
        flat = [names[k] for k in labels.tolist()]
        ends = tokens.offsets.tolist()
        return [flat[lo:hi] for lo, hi in pairwise(ends)]

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

    def score(self, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """The part of the tokens whose label is right."""
        weight = check_examples(X, Y, sample_weight)
        right, n = np.zeros(len(Y)), np.zeros(len(Y))
        for i, (truth, found) in enumerate(zip(Y, self.predict(X), strict=True)):
            if len(truth) != len(found):
                raise DataError(
                    f"sequence {i} has {len(found)} tokens and {len(truth)} labels: one label for "
                    "each token is needed"
                )
            right[i] = sum(a == b for a, b in zip(truth, found, strict=True))
            n[i] = len(found)
        weight = np.ones(len(n)) if weight is None else weight
        return float(weight @ right / max(weight @ n, 1e-300))

    def explain(self, n: int = 10) -> Explanation:
        """The largest weights, by name."""
        check_is_fitted(self)
        return explain(self, n)

    def suspects(self, X: Any, Y: Any, n: int = 20) -> list[dict[str, Any]]:
        """The sequences with the largest slack: where the labels may be wrong.

        Transitions that occur in Y are allowed here, whatever the mask of the model says.

        Returns
        -------
        list of dict
            ``index``, ``slack``, ``loss``, and the labels ``truth`` and ``worst``: those which the
            model prefers most to the truth.
        """
        check_examples(X, Y, None)
        tokens = self._tokens(X)
        _, codes = encode_tags(Y, tokens, self.classes_)
        problem = self._problem()
        allow_gold(problem.allowed, tokens, codes)
        tokens, w = self._weighted(tokens)
        pack = problem.pack(tokens, np.split(codes, tokens.offsets[1:-1]))
        names = self.classes_.tolist()
        return [
            {
                "index": found.index,
                "slack": found.slack,
                "loss": found.loss,
                "truth": [names[k] for k in found.truth],
                "worst": [names[k] for k in found.worst],
            }
            for found in largest_slacks(problem, pack, w, self.rescaling, n)
        ]

    def _tokens(self, X: Any) -> Sequences:
        check_is_fitted(self)
        return read_new_tokens(X, self._reader, self.n_features_in_)

    def _weighted(self, tokens: Sequences) -> tuple[Sequences, np.ndarray]:
        """Rows for the problem and their weights; with a kernel the rows are unit vectors."""
        if hasattr(self, "dual_coef_"):
            return scored_sequences(self, tokens)
        return tokens, self._w()

    def _problem(self) -> Chain:
        """The structure, once the labels are known."""
        K = len(self.classes_)
        name, cost = "hamming", 1.0 - np.eye(K)
        if isinstance(self.loss, str):
            name = self.loss
        else:
            cost = np.array(self.loss, np.float64)
        if self.class_weight is not None:
            if name != "hamming":
                raise DataError(
                    "class_weight weighs the Hamming loss of tokens: the zero-one loss of a "
                    "sequence has none; use sample_weight"
                )
            assert self.class_weight_ is not None  # known since fit
            cost = cost * self.class_weight_[:, None]
        allowed = allowed_transitions(self.transitions, self.classes_)
        return Chain(K, name, cost, allowed, self.start_stop)

    def _class_weights(self, codes: np.ndarray, counts: np.ndarray | None = None) -> np.ndarray:
        """By class; ``counts`` is how often each of the codes occurs, if not once."""
        names = self.classes_.tolist()
        if not isinstance(self.class_weight, dict):
            numbers = np.arange(len(names))
            return compute_class_weight(
                self.class_weight, classes=numbers, y=codes, sample_weight=counts
            )
        weights = np.array([self.class_weight.get(label, 1.0) for label in names], np.float64)
        bad = ~np.isfinite(weights) | (weights < 0)
        if bad.any():
            k = int(np.flatnonzero(bad)[0])
            raise DataError(f"class_weight of {names[k]!r} is {weights[k]}: weights are >= 0")
        return weights

    def _set_weights(self, w: np.ndarray) -> None:
        """coef_, transition_, start_ and stop_ from w."""
        self.coef_, self.transition_, self.start_, self.stop_ = self._parts(w)

    def _parts(self, w: np.ndarray) -> tuple[np.ndarray, ...]:
        """Views of w as coef_, transition_, start_ and stop_; the last two may be zeros."""
        K, d = len(self.classes_), self.n_features_in_
        ends = w[d * K + K * K :] if self.start_stop else np.zeros(2 * K)
        transition = w[d * K : d * K + K * K].reshape(K, K)
        return w[: d * K].reshape(d, K).T, transition, ends[:K], ends[K:]

    def _w(self) -> np.ndarray:
        """The weights in the order of the problem: result_.w, if the attributes are views of it."""
        used = 4 if self.start_stop else 2
        mine = (self.coef_, self.transition_, self.start_, self.stop_)[:used]
        w = self.result_.w
        if w.size == sum(part.size for part in mine):
            places = zip(mine, self._parts(w), strict=False)
            if all(a.__array_interface__ == b.__array_interface__ for a, b in places):
                return w
        # Somebody has set one of them, or a copy of the estimator was made.
        return np.concatenate([self.coef_.T.ravel(), *(part.ravel() for part in mine[1:])])
