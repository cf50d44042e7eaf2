"""The content of a model file of a ``ChainSVC``: weights, names of features, template."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.checked import check_weights
from ...features import Extractor, Template, Vocabulary
from ...features.builtin import BUILTIN
from ...features.vocabulary import check_distinct_names
from ...io.tags import SCHEMES
from ...kernels.saved import KernelParts, decode_kernel
from ...saving.contents import check_choice, check_class_weight, check_flag, check_whole
from ...saving.parts import Arrays
from ...saving.sparse import (
    WEIGHTS,
    decode_names,
    decode_weights,
    encode_names,
    encode_weights,
    finite,
)

CLASS_WEIGHT = "class_weight"

#: More columns of a data file are not believed.
_MOST_COLUMNS = 10**6


class ChainParts(KernelParts):
    """The parts of a ``ChainSVC``."""

    counts_nonzeros = True

    def check_parameters(self, parameters: dict[str, Any]) -> None:
        """Also those of labels and templates; ``_problem`` checks loss and transitions."""
        super().check_parameters(parameters)
        check_flag("start_stop", parameters["start_stop"])
        check_class_weight("class_weight", parameters["class_weight"])
        check_whole("min_count", parameters["min_count"], 1)
        template = parameters["template"]
        if not (template is None or isinstance(template, str)):
            raise ValueError(f"{template!r:.100} is not a template")

    def encode(self, estimator: Any, arrays: Arrays) -> dict[str, Any]:
        """Weights and names; "chain" describes how features are made from tokens."""
        return super().encode(estimator, arrays) | {"chain": encode_chain(estimator, arrays)}

    def decode(self, estimator: Any, meta: dict[str, Any], arrays: Arrays) -> np.ndarray:
        """Set everything in the estimator except parameters and labels; returns w."""
        kernel = "kernel" in meta
        w = decode_chain(estimator, meta["chain"], arrays, kernel)
        if not kernel:
            return w
        K = len(estimator.classes_)
        rest = K * K + (2 * K if estimator.start_stop else 0)
        return decode_kernel(estimator, meta["kernel"], arrays, K, rest)

    def parameters(self, estimator: Any, parameters: dict[str, Any]) -> dict[str, Any]:
        """Parameters with the text of the template, because its file may not exist later."""
        return parameters | {"template": storable_template(estimator)}

    def linear_weights(self, arrays: Arrays) -> np.ndarray:
        """The stored weights: all non-zeros and some zeros."""
        return finite(arrays, WEIGHTS)

    def summary(self, meta: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
        """The description of the features."""
        return super().summary(meta, arrays) | {"chain": chain_summary(meta["chain"])}


def encode_chain(estimator: Any, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Put the weights and names into ``arrays``; returns everything else.

    Returns
    -------
    dict
        "template": the text of the template, or None. "reader": the form of tokens, which is
        "template", "names" (dicts or lists of names) or None (matrices). "data": the format of the
        training files, or None.
    """
    if not hasattr(estimator, "dual_coef_"):  # with a kernel there are no other weights
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
    """The parameter ``template`` in a form that does not depend on a file."""
    given, text = estimator.template, _template_text(estimator._reader)
    if given is None or text is None:
        return given
    if isinstance(given, str) and (given in BUILTIN or "\n" in given or given + "\n" == text):
        return given
    return text  # given as a path: store the text that was read


def _template_text(reader: Any) -> str | None:
    """The text of the template with a newline, to distinguish it from a name or a path."""
    if not isinstance(reader, Extractor):
        return None
    text = reader.template_.text
    return text if "\n" in text else text + "\n"


def decode_chain(
    estimator: Any, meta: dict[str, Any], arrays: dict[str, np.ndarray], kernel: bool = False
) -> np.ndarray:
    """Set everything in the estimator except parameters and labels; returns w.

    With a ``kernel`` the weights are not set here.

    Raises
    ------
    ValueError, KeyError or TypeError
        If something is missing or inconsistent.
    """
    estimator._data_format = chain_summary(meta)["data"]
    estimator._reader = _decode_reader(meta, arrays)
    names = estimator.feature_names_
    K, d = len(estimator.classes_), estimator.n_features_in_
    if names is not None and len(names) != d:
        raise ValueError(f"{d!r} is not the number of features")
    size = d * K + K * K + (2 * K if estimator.start_stop else 0)
    w = np.zeros(0) if kernel else decode_weights(arrays, size)
    if not kernel:
        estimator._set_weights(w)
    estimator.class_weight_ = None
    if estimator.class_weight is not None:
        estimator.class_weight_ = check_weights(finite(arrays, CLASS_WEIGHT), K, CLASS_WEIGHT)
    estimator._problem()  # refuses parameters that do not fit the labels
    return w


def _decode_reader(meta: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    reader: Extractor | Vocabulary
    match meta["reader"]:
        case None:
            return None
        case "names":
            reader = Vocabulary(decode_names(arrays))
        case "template" if isinstance(meta["template"], str):
            reader = Extractor.from_names(meta["template"], decode_names(arrays))
        case other:
            raise ValueError(f"{other!r:.100} is not a form of tokens")
    check_distinct_names(reader.names_)
    return reader


def decode_data_format(meta: dict[str, Any]) -> dict[str, Any] | None:
    """The checked format of the training files; None if there were no files."""
    match meta.get("data"):
        case None:
            return None
        case {"format": "hmm"}:
            return {"format": "hmm"}
        case {"format": "conll", "columns": int(n), "label": int(label)} if (
            type(n) is type(label) is int and 0 <= n < _MOST_COLUMNS and -n - 1 <= label <= n
        ):
            scheme = meta["data"].get("scheme")
            if scheme is None:
                return {"format": "conll", "columns": n, "label": label}
            check_choice("scheme", scheme, SCHEMES)
            return {"format": "conll", "columns": n, "label": label, "scheme": scheme}
    raise ValueError(f"{meta['data']!r:.100} is not a data format")


def chain_summary(meta: dict[str, Any]) -> dict[str, Any]:
    """What ``maxmargin info`` shows for chains, in addition to what it shows for all models."""
    template, reader = meta["template"], meta["reader"]
    if not (reader is None or isinstance(reader, str)):
        raise ValueError(f"{reader!r:.100} is not a form of tokens")
    if template is not None and not isinstance(template, str):
        raise ValueError(f"{template!r:.100} is not a template")
    if template is not None:
        Template.from_text(template)
    return {"reader": reader, "template": template, "data": decode_data_format(meta)}
