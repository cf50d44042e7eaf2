"""The estimator for sequence tagging: one label per token."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np

from ...backends.files import FileData, Files
from ...data.released import release_memory
from ...data.sequences import LabelSequences
from ...data.transitions import check_gold
from ...errors import DataError
from ...estimators.cv import PathCV
from ...estimators.parameters import estimator
from ...estimators.weights import weigh_classes
from ...features import Extractor
from ...kernels.estimators import check_linear, fit_kernel, forget_kernel
from ...kernels.functions import is_linear
from ...training import check_alone, check_examples, tolerance
from . import STRUCTURE
from .fitted import _ChainModel
from .tokens import encode_tags, read_tokens, read_weights


@estimator
class ChainSVC(_ChainModel):
    """Sequence tagger that predicts one label per token, with weights for pairs of neighbours.

    Parameters
    ----------
    {C}
    solver : str or solver object
        "auto", "sdm", "bcfw", "n-slack", "one-slack", "subgradient", or an object such as
        ``mm.SDM(inner=5)``.
    tol : float, optional
        Stop when P/(C n) is certified to be within ``tol`` of its minimum, in units of loss: with
        the Hamming loss, wrong labels per sequence. By default a hundredth of the loss of a
        sequence of average length whose labels are all wrong; smaller values hardly change
        predictions.
    {rescaling}
    loss : "hamming", "zero-one" or array (n_classes, n_classes)
        "hamming": the number of wrong labels; "zero-one": 1 for a sequence with any error; array:
        the sum over tokens of ``loss[t, k]`` for predicting label k if t is true, in the order of
        ``classes_``.
    class_weight : dict or "balanced", optional
        Factor of the Hamming loss of tokens, by their true label.
    transitions : None, "bio", "bioes", pairs of labels or bool array
        The transitions that may be predicted: the name of a tagging scheme; the allowed pairs
        ``(label, next label)``, with None before the first and after the last label; or an array
        (n_classes, n_classes). By default all.
    start_stop : bool
        Whether the first and the last label have additional weights.
    template : str, optional
        Template that makes features from rows of columns, such as ``mm.io.read_conll`` returns: a
        built-in name, a file or the text (see ``mm.features``).
    kernel : None, "linear", "rbf", "poly", "sigmoid", "precomputed" or callable
        The kernel of the features of tokens, by scikit-learn's names and formulas; transitions
        stay linear.
    gamma, degree, coef0
        Parameters of the kernel, as in scikit-learn.
    n_basis : int, "auto" or Basis, optional
        Number of basis functions of the kernel to train on; "auto" chooses it from the duality gap
        that they leave. By default training is exact for up to 1500 tokens and uses "auto" for
        more. Solvers with sampled cuts use no basis functions.
    min_count : int
        Features with names that occur in fewer tokens of the training data are left out.
    {max_iter, max_time, n_jobs, deterministic}
    {random_state, warm_start, checkpoint, backend, verbose}

    Attributes
    ----------
    classes_ : array (n_classes,)
        The labels, sorted.
    coef_ : array (n_classes, d)
        Weights of the features.
    transition_ : array (n_classes, n_classes)
        Weights ``[from, to]``.
    support_, support_vectors_, dual_coef_ : arrays (m,), (m, d), (n_classes, m)
        Support vectors and their coefficients, with a kernel instead of ``coef_``.
    start_, stop_ : array (n_classes,)
        Weights of the first and the last label; zero without ``start_stop``.
    n_features_in_ : int
        Number of features of a token.
    feature_names_ : list of str or None
        Names of the features; None if X has no names.
    class_weight_ : array (n_classes,) or None
        The weights of the labels in the Hamming loss.
    {result_}

    Examples
    --------
    >>> import maxmargin as mm
    >>> X = [[["the"], ["dog"], ["barks"]], [["a"], ["cat"]]]
    >>> clf = mm.ChainSVC(C=10.0).fit(X, [["D", "N", "V"], ["D", "N"]])
    >>> clf.predict([[["the"], ["cat"], ["barks"]]])
    [['D', 'N', 'V']]
    """

    structure = STRUCTURE

    C: float = 0.1
    _: KW_ONLY
    tol: Any = None
    loss: Any = "hamming"
    class_weight: Any = None
    transitions: Any = None
    start_stop: bool = False
    template: Any = None
    min_count: int = 1

    def fit(
        self, X: Any, Y: Any = None, sample_weight: Any = None, token_weight: Any = None
    ) -> Self:
        """Train on sequences X with labels Y.

        Parameters
        ----------
        X : list of sequences
            Each sequence is a CSR matrix or an array with one row per token, or a list with the
            features of each token: a dict ``{name: value}`` (see ``mm.features.Vocabulary``) or
            a list of names. Alternatively ``mm.Sequences``, or rows of columns together with a
            ``template``, or ``mm.Files`` without Y.
        Y : list of sequences of labels
            Labels of any hashable type, one per token.
        sample_weight : array (n,), optional
            Weights of the sequences in the objective.
        token_weight : list of sequences of numbers, optional
            Cost of an error at each token; 0 for tokens that do not count.
        """
        with self._keeping_model():
            if isinstance(X, Files | FileData):
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
        """The arguments of ``train``: problem, inputs, outputs and weights."""
        weight = check_examples(X, Y, sample_weight)
        self._data_format = None
        tokens, self._reader = read_tokens(X, self.template, self.min_count, self.n_jobs)
        self.__dict__.pop("feature_names_", None)
        self.classes_, codes = encode_tags(Y, tokens)
        if token_weight is not None:
            tokens = read_weights(token_weight, tokens)
        self.n_features_in_ = tokens.n_features
        self.class_weight_ = None if self.class_weight is None else self._class_weights(codes)
        problem = self._problem()
        self._set_tolerance(len(codes) / len(Y))
        check_gold(problem.allowed, tokens, codes, self.classes_)
        release_memory()
        return problem, tokens, LabelSequences(codes, tokens.offsets), weight

    def _fit_files(self, files: Files | FileData) -> Self:
        """Train on files that are packed on disk, by the workers if there is a backend."""
        self._data_format = self._seen = None
        check_linear(self)
        data = files
        if isinstance(data, Files):
            data = FileData(data, self.backend, self.template, self.min_count, self.verbose)
        plan = data.plan
        if plan.layout.format == "svmlight":
            raise DataError("svmlight files contain no sequences: use format='hmm'", data.paths[0])
        self._reader = None
        if plan.names is not None and plan.template is not None:
            self._reader = Extractor.from_names(plan.template, plan.names)
        self.__dict__.pop("feature_names_", None)
        if plan.layout.format == "conll":
            label = plan.layout.label
            self._data_format = {"format": "conll", "columns": data.columns, "label": label}
        self.classes_, self.n_features_in_ = data.classes, plan.n_features
        self.class_weight_ = None
        if self.class_weight is not None:
            self.class_weight_ = self._class_weights(np.arange(len(data.classes)), data.counts)
        problem = self._problem()
        self._set_tolerance(float(np.sum(data.counts)) / data.n)
        self._set_weights(self._train(problem, data, None, None).w)
        return self

    def _set_tolerance(self, length: float) -> None:
        """Set ``tol_``, for sequences of this average length."""
        cost = 1.0 if isinstance(self.loss, str) else float(np.max(self.loss))
        whole = isinstance(self.loss, str) and self.loss == "zero-one"
        self.tol_ = tolerance(self.tol, 1.0 if whole else cost * length)

    def _class_weights(self, codes: np.ndarray, counts: np.ndarray | None = None) -> np.ndarray:
        """Weights by class; ``counts`` is the frequency of each code, by default 1."""
        names = self.classes_.tolist()
        weights = weigh_classes(self.class_weight, names, codes, counts)
        bad = ~np.isfinite(weights) | (weights < 0)
        if bad.any():
            k = int(np.flatnonzero(bad)[0])
            raise DataError(f"class_weight of {names[k]!r} is {weights[k]}: weights must be >= 0")
        return weights


class ChainSVCCV(PathCV):
    """``ChainSVC`` whose C is chosen by cross-validation; see ``PathCV``."""

    default = ChainSVC
