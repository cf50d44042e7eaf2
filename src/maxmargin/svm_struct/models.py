"""Conversion of SVM-struct's models into estimators, and of estimators into its models."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelFileError
from ..io.hmm import MAX_TAG
from ..io.svm_struct import MAX_WEIGHTS, StructModel, read_svm_struct, write_svm_struct
from ..result import Result, Status

#: Weight of transitions of classes unknown to the estimator, so that no best path contains them.
FORBIDDEN = 1e6


def load_svm_struct(path: Any) -> Any:
    """Load an estimator from a model file of SVM-HMM V3.10 or SVM-multiclass V2.20.

    Parameters
    ----------
    path : str, path or binary file object
        Plain or gzip.

    Returns
    -------
    ChainSVC or MulticlassSVC
        A fitted estimator with the integers 1..K as classes and the weights of the file.
        ``result_`` holds no certificate: its bounds are 0 and infinity.

    Raises
    ------
    ModelFileError
        If the file is damaged, or holds something that maxmargin cannot use.
    """
    model = read_svm_struct(path)
    if model.transition is None:
        return _multiclass(model, path)
    return _chain(model)


def _multiclass(model: StructModel, path: Any) -> Any:
    from ..structures.multiclass.estimator import MulticlassSVC

    K = len(model.classes)
    if K < 2:
        raise ModelFileError(f"{path}: the model has only one class: there is nothing to predict")
    clf = MulticlassSVC(loss=squared_differences(K) if model.loss == 1 else "zero-one")
    return _fitted(clf, model, model.emission.T.ravel())


def _chain(model: StructModel) -> Any:
    from ..structures.chain.estimator import ChainSVC

    clf = ChainSVC(loss="zero-one" if model.loss == 0 else "hamming")
    clf._reader = None  # features are columns, not names
    return _fitted(clf, model, chain_weights(model))


def _fitted(clf: Any, model: StructModel, w: np.ndarray) -> Any:
    clf.classes_ = model.classes
    clf.n_features_in_ = model.emission.shape[1]
    clf._set_weights(w)
    # Nothing is known about the training, so the bounds are those that always hold.
    clf.result_ = Result(
        w=w, primal=np.inf, dual=0.0, gap=np.inf, status=Status.IMPORTED, n_iter=0, n_oracle=0,
        time=0.0,
    )  # fmt: skip
    clf.n_iter_ = 0
    return clf


def chain_weights(model: StructModel) -> np.ndarray:
    """The weights in the order of ``structures.chain``: emissions by feature, then transitions."""
    assert model.transition is not None
    return np.concatenate([model.emission.T.ravel(), model.transition.ravel()])


def squared_differences(K: int) -> np.ndarray:
    """The cost matrix (K, K) of SVM-multiclass's ``-l 1``."""
    classes = np.arange(K, dtype=np.float64)
    return (classes[:, None] - classes[None, :]) ** 2


def save_svm_struct(clf: Any, path: Any) -> None:
    """Write a fitted estimator as a model file of SVM-HMM V3.10 or SVM-multiclass V2.20.

    The weights are written unchanged, and column j of X becomes the feature j + 1. A number below
    the largest class that is not a class of the estimator becomes a class of zero weights in the
    file; in a chain, transitions from and to it get large negative weights.

    Parameters
    ----------
    clf : ChainSVC or MulticlassSVC
        Fitted with integers >= 1 as labels, and without what SVM-struct does not support: an
        intercept, weights for the start and the end of a sequence, a mask of transitions.
    path : str or path
        The file to write.

    Raises
    ------
    ModelFileError
        If SVM-struct does not support such a model, or the file cannot be written.
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(clf)
    kind = type(clf).__name__
    if kind not in ("ChainSVC", "MulticlassSVC"):
        raise ModelFileError(f"SVM-struct does not support {kind}: only ChainSVC and MulticlassSVC")
    (_check_chain if kind == "ChainSVC" else _check_multiclass)(clf)
    rows = _rows(clf.classes_)
    K = int(rows.max()) + 1
    d = clf.coef_.shape[1]
    if K * max(d, K) > MAX_WEIGHTS:
        raise ModelFileError(f"the label {K} with {d} features is too large for SVM-struct")
    emission = np.zeros((K, d))
    emission[rows] = clf.coef_
    transition = _transitions(clf.transition_, rows, K) if kind == "ChainSVC" else None
    write_svm_struct(StructModel(emission, transition, _loss(clf, K, rows)), path)


def _check_chain(clf: Any) -> None:
    if clf.start_.any() or clf.stop_.any():
        raise ModelFileError(
            "SVM-HMM does not support weights for the start and end of a sequence: train with "
            "start_stop=False"
        )
    if clf.transitions is not None:
        raise ModelFileError(
            "SVM-HMM does not support a mask of transitions: train with transitions=None"
        )


def _check_multiclass(clf: Any) -> None:
    if clf.intercept_.any():
        raise ModelFileError(
            "SVM-multiclass does not support an intercept: train with fit_intercept=False, on "
            "data with a constant feature if needed"
        )


def _rows(classes: np.ndarray) -> np.ndarray:
    """The row of each class in the weights of the file."""
    labels = classes.tolist()
    for label in labels:
        if type(label) is not int or not 1 <= label <= MAX_TAG:
            raise ModelFileError(
                f"the label {label!r} is not an integer >= 1: SVM-struct supports only these"
            )
    return np.array(labels, np.int64) - 1


def _transitions(known: np.ndarray, rows: np.ndarray, K: int) -> np.ndarray:
    """Transition weights (K, K), large and negative for classes unknown to the estimator.

    With zeros, such a class could be predicted, because a path through it would avoid transitions
    of negative weight.
    """
    transition = np.full((K, K), -FORBIDDEN * (1.0 + np.abs(known).max(initial=0.0)))
    transition[np.ix_(rows, rows)] = known
    return transition


def _loss(clf: Any, K: int, rows: np.ndarray) -> int:
    """The number of the loss in the file, which is used only to report errors."""
    chain = type(clf).__name__ == "ChainSVC"
    if isinstance(clf.loss, str):
        return int(chain and clf.loss == "hamming")
    squared = squared_differences(K)[np.ix_(rows, rows)]
    if not chain and np.array_equal(np.asarray(clf.loss, np.float64), squared):
        return 1
    raise ModelFileError("SVM-struct does not support this loss: use a standard loss")
