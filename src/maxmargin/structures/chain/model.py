"""What a model file holds of a ``ChainSVC``: weights, names of features and the template."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...features import Extractor, Vocabulary
from ...features.builtin import BUILTIN
from ...kernels.saved import KernelParts, decode_kernel
from ...saving.parts import Arrays
from ...saving.sparse import WEIGHTS, decode_names, decode_weights, encode_names, encode_weights

CLASS_WEIGHT = "class_weight"


class ChainParts(KernelParts):
    """The parts of a ``ChainSVC``."""

    counts_nonzeros = True

    def encode(self, estimator: Any, arrays: Arrays) -> dict[str, Any]:
        """Weights and names; "chain" says what takes tokens apart."""
        return super().encode(estimator, arrays) | {"chain": encode_chain(estimator, arrays)}

    def decode(self, estimator: Any, meta: dict[str, Any], arrays: Arrays) -> np.ndarray:
        """Give the estimator all but its parameters and labels; returns w."""
        kernel = "kernel" in meta
        w = decode_chain(estimator, meta["chain"], arrays, kernel)
        if not kernel:
            return w
        K = len(estimator.classes_)
        rest = K * K + (2 * K if estimator.start_stop else 0)
        return decode_kernel(estimator, meta["kernel"], arrays, K, rest)

    def parameters(self, estimator: Any, parameters: dict[str, Any]) -> dict[str, Any]:
        """The template by its text: its file may be gone when the model is loaded."""
        return parameters | {"template": storable_template(estimator)}

    def linear_weights(self, arrays: Arrays) -> np.ndarray:
        """Those that are not zero, and some zeros."""
        return arrays[WEIGHTS]

    def summary(self, meta: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
        """Where the features come from."""
        return super().summary(meta, arrays) | {"chain": chain_summary(meta["chain"])}


def encode_chain(estimator: Any, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Put the weights and names into ``arrays``; returns what more there is to know.

    Returns
    -------
    dict
        "template", the text that makes features of columns, and "reader", what takes tokens apart:
        "template", "names" (dicts or lists of names) or None (matrices); and "data", what files
        the model was trained on, if any.
    """
    if not hasattr(estimator, "dual_coef_"):  # else the weights are those of a kernel
        encode_weights(estimator._w(), arrays)
    if estimator.class_weight_ is not None:
        arrays[CLASS_WEIGHT] = estimator.class_weight_
    reader = estimator._reader
    if reader is not None:
        encode_names(reader.names_, arrays)
    text = _template_text(reader)
    return {
        "reader": None if reader is None else "names" if text is None else "template",
        "template": text,
        "data": estimator._data_format,
    }


def storable_template(estimator: Any) -> str | None:
    """The parameter ``template``, such that it does not depend on a file."""
    given, text = estimator.template, _template_text(estimator._reader)
    if given is None or text is None:
        return given
    if isinstance(given, str) and (given in BUILTIN or "\n" in given or given + "\n" == text):
        return given
    return text  # of a path: the file may be gone by now, but the reader knows what it said


def _template_text(reader: Any) -> str | None:
    """The text of the template, with a line end: it cannot be taken for a name or a path."""
    if not isinstance(reader, Extractor):
        return None
    text = reader.template_.text
    return text if "\n" in text else text + "\n"


def decode_chain(
    estimator: Any, meta: dict[str, Any], arrays: dict[str, np.ndarray], kernel: bool = False
) -> np.ndarray:
    """Give an estimator that has its parameters and labels all the rest; returns w.

    With a ``kernel`` the weights are left to others.

    Raises
    ------
    ValueError, KeyError or TypeError
        If something is missing, or does not fit together.
    """
    estimator._reader = _decode_reader(meta, arrays)
    estimator._data_format = decode_data_format(meta)
    names = estimator.feature_names_ = (
        None if estimator._reader is None else estimator._reader.names_
    )
    K, d = len(estimator.classes_), estimator.n_features_in_
    if type(d) is not int or d < 0 or (names is not None and len(names) != d):
        raise ValueError(f"{d!r} is not the number of features")
    size = d * K + K * K + (2 * K if estimator.start_stop else 0)
    w = np.zeros(0) if kernel else decode_weights(arrays, size)
    if not kernel:
        estimator._set_weights(w)
    estimator.class_weight_ = arrays.get(CLASS_WEIGHT)
    if estimator.class_weight is not None and estimator.class_weight_ is None:
        raise ValueError("the weights of the classes are missing")
    estimator._problem()  # refuses parameters that do not fit the labels
    return w


def _decode_reader(meta: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    match meta["reader"]:
        case None:
            return None
        case "names":
            vocabulary = reader = Vocabulary(decode_names(arrays))
        case "template" if isinstance(meta["template"], str):
            reader = Extractor.from_names(meta["template"], decode_names(arrays))
            vocabulary = reader.vocabulary_
        case other:
            raise ValueError(f"{other!r} is no reader of tokens")
    vocabulary.lookup([], 0)  # refuses a name that is there twice
    return reader


def decode_data_format(meta: dict[str, Any]) -> dict[str, Any] | None:
    """What files the model was trained on, checked; None if it was not trained on files."""
    match meta.get("data"):
        case None:
            return None
        case {"format": "hmm"}:
            return {"format": "hmm"}
        case {"format": "conll", "columns": int(n), "label": int(label)} if -n - 1 <= label <= n:
            return {"format": "conll", "columns": n, "label": label}
    raise ValueError(f"{meta['data']!r} describes no data")


def chain_summary(meta: dict[str, Any]) -> dict[str, Any]:
    """What ``maxmargin info`` says of a chain beyond what it says of all models."""
    template = meta["template"]
    if template is not None and not isinstance(template, str):
        raise ValueError(f"{template!r} is no template")
    return {"reader": meta["reader"], "template": template, "data": decode_data_format(meta)}
