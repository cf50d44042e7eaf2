"""What a model file holds of a ``ChainSVC``: weights, names of features and the template.

Of a tagger most weights are zero, so that the others are stored with their places. A file must not
make the reader take much more memory than it has bytes: every 256th weight is stored even if it is
zero, and a file that holds fewer is refused.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ...features import Extractor, Vocabulary
from ...features.builtin import BUILTIN

#: At least one of so many weights is stored.
_SPAN = 256

#: With more non-zero weights than this part, places would take more room than the zeros.
_DENSE = 2 / 3

WEIGHTS, PLACES, NAMES = "weights", "weights.at", "names"
CLASS_WEIGHT = "class_weight"


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
    estimator._problem()  # refuses parameters that do not fit the labels
    return w


def encode_weights(w: np.ndarray, arrays: dict[str, np.ndarray]) -> None:
    """The weights that are not zero with their places, or all."""
    keep = w.view(np.uint64) != 0  # by its bits, -0.0 is not zero: what comes back is the same
    if np.count_nonzero(keep) > _DENSE * len(w):
        arrays[WEIGHTS] = w
        return
    keep[::_SPAN] = True
    at = np.flatnonzero(keep)
    arrays[WEIGHTS] = w[at]
    arrays[PLACES] = at.astype(np.uint32 if len(w) < 2**32 else np.uint64)


def decode_weights(arrays: dict[str, np.ndarray], size: int) -> np.ndarray:
    """All weights."""
    values = np.asarray(arrays[WEIGHTS], np.float64)
    if values.ndim != 1:
        raise ValueError(f"the weights have shape {values.shape}")
    if PLACES not in arrays:
        if len(values) != size:
            raise ValueError(f"there are {len(values)} weights for {size} places")
        return values
    at = arrays[PLACES]
    if at.shape != values.shape or at.dtype.kind != "u" or len(at) * _SPAN < size:
        raise ValueError("weights are missing")
    if len(at) and (int(at[-1]) >= size or (at[1:] <= at[:-1]).any()):
        raise ValueError("the places of weights are wrong")
    w = np.zeros(size)
    w[at] = values
    return w


def encode_names(names: list[str], arrays: dict[str, np.ndarray], key: str = NAMES) -> None:
    """All names end to end in UTF-8, and how many characters each has."""
    text = "".join(names)
    # A str of Python may hold halves of surrogate pairs, which plain UTF-8 refuses.
    arrays[key] = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    arrays[f"{key}.lengths"] = np.fromiter(map(len, names), np.uint32, len(names))


def decode_names(arrays: dict[str, np.ndarray], key: str = NAMES) -> list[str]:
    """The names again."""
    content, lengths = arrays[key], arrays[f"{key}.lengths"]
    if content.dtype != np.uint8 or lengths.dtype.kind != "u" or content.ndim != 1:
        raise ValueError("the names of features are not in the form they are written in")
    text = content.tobytes().decode("utf-8", "surrogatepass")
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.uint64)]).astype(np.int64).tolist()
    if ends[-1] != len(text):
        raise ValueError("the names of features do not have the lengths they should have")
    return [text[a:b] for a, b in pairwise(ends)]


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
