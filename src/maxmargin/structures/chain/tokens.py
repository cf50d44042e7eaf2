"""Read the tokens and tags of sequences in all supported forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...data.checked import plain_array
from ...data.labels import as_label_array, encode_labels
from ...data.sequences import Sequences, stack_sequences
from ...data.source import list_of, n_examples
from ...engine.linalg import share_ones
from ...errors import DataError
from ...features import Extractor, Vocabulary
from ...objective import check_integer


def read_tokens(
    X: Any, template: Any, min_count: int = 1, n_jobs: int | None = 1
) -> tuple[Sequences, Extractor | Vocabulary | None]:
    """Feature rows of the training data, and the object that gives new data the same columns."""
    check_integer("min_count", min_count, 1, 2**53)
    reader: Extractor | Vocabulary | None = None
    if template is not None:
        reader = Extractor(template, min_count)
    elif _has_names(X):
        reader = Vocabulary(min_count=min_count)
    elif min_count > 1:
        raise DataError(
            "min_count counts features with names, and X has rows of numbers: leave out rare "
            "columns yourself, or use dicts or a template"
        )
    if reader is None:
        tokens = stack_sequences(X)
    else:
        extracts = isinstance(reader, Extractor)
        tokens = reader.fit_transform(X, n_jobs) if extracts else reader.fit_transform(X)
        share_ones(tokens.matrix)
    if tokens.matrix.shape[0] == 0:
        raise DataError("no sequence has a token: there is nothing to learn from")
    return tokens, reader


def read_new_tokens(
    X: Any, reader: Extractor | Vocabulary | None, n_features: int, n_jobs: int | None = 1
) -> Sequences:
    """Feature rows in the columns of the training data."""
    if n_examples(X) == 0:
        return Sequences(np.zeros((0, n_features)), [0])
    if reader is not None and not isinstance(X, Sequences):
        extracts = isinstance(reader, Extractor)
        return reader.transform(X, n_jobs) if extracts else reader.transform(X)
    tokens = stack_sequences(X)
    if tokens.matrix.shape[0] == 0:
        return Sequences(np.zeros((0, n_features)), tokens.offsets)
    if tokens.n_features != n_features:
        raise DataError(
            f"X has {tokens.n_features} features, but the model was trained with {n_features}"
        )
    return tokens


def with_names(reader: Extractor | Vocabulary, kept: np.ndarray) -> Extractor | Vocabulary:
    """A reader with only some of its features, by their numbers."""
    names = [reader.names_[f] for f in kept.tolist()]
    if isinstance(reader, Vocabulary):
        return Vocabulary(names, reader.min_count)
    return Extractor.from_names(reader.template_.text, names)


def _has_names(X: Any) -> bool:
    """Whether tokens are dicts or lists of names, not rows of numbers."""
    if isinstance(X, Sequences):
        return False
    for i, sequence in enumerate(X):
        if hasattr(sequence, "shape"):
            return False
        for token in list_of(sequence, f"sequence {i}"):
            if isinstance(token, str):
                raise DataError(
                    f"a token of X is the string {token!r}: a token is a list of names, a dict or "
                    "a row of numbers (with template='default', rows of columns)"
                )
            if isinstance(token, Mapping):
                return True
            if not hasattr(token, "__len__"):
                raise DataError(
                    f"a token of sequence {i} is {token!r}: a token is a list of names, a dict or "
                    "a row of numbers"
                )
            if len(token):
                return isinstance(next(iter(token)), str)
    return False


def encode_tags(
    Y: Any, tokens: Sequences, classes: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """``(classes, codes)``: the labels that occur, and the class number of each token.

    If ``classes`` is given, other labels raise an error.
    """
    for i, (tags, length) in enumerate(zip(Y, tokens.lengths.tolist(), strict=True)):
        if isinstance(tags, str) or not hasattr(tags, "__len__"):
            raise DataError(
                f"the labels of sequence {i} are {tags!r}: give a list with one label for each of "
                f"its {length} tokens",
                sequence=i,
            )
        if len(tags) != length:
            raise DataError(
                f"sequence {i} has {length} tokens and {len(tags)} labels: "
                "give one label per token",
                sequence=i,
            )
    flat = [tag for tags in Y for tag in (tags.tolist() if hasattr(tags, "tolist") else tags)]
    if classes is not None:
        number = {label: k for k, label in enumerate(classes.tolist())}
        unknown = next((row for row, tag in enumerate(flat) if tag not in number), None)
        if unknown is not None:
            i, t = tokens.locate(unknown)
            raise DataError(
                f"label {flat[unknown]!r} of token {t} of sequence {i} did not occur in training",
                sequence=i,
                token=t,
            )
        return classes, np.array([number[tag] for tag in flat], np.int16)
    labels = as_label_array(flat)
    if labels.ndim != 1:
        raise DataError(
            f"a label is {flat[0]!r}, of type {type(flat[0]).__name__}: labels must be hashable "
            "(use a tuple instead of a list)"
        )
    try:
        found, codes = encode_labels(labels)
    except DataError as error:
        raise DataError(f"{error} (tokens are counted over all sequences)") from error
    if found.dtype.kind == "f" and np.isnan(found).any():
        raise DataError("a label is NaN: labels may not be missing")
    if len(found) > np.iinfo(np.int16).max:
        raise DataError(f"{len(found)} different labels are too many: at most 32767")
    return found, codes.astype(np.int16)


def read_weights(token_weight: Any, tokens: Sequences) -> Sequences:
    """The same sequences with token weights."""
    if len(token_weight) != len(tokens):
        raise DataError(f"token_weight has {len(token_weight)} sequences, X has {len(tokens)}")
    for i, (weights, length) in enumerate(zip(token_weight, tokens.lengths, strict=True)):
        if len(weights) != length:
            raise DataError(
                f"sequence {i} has {length} tokens and {len(weights)} token weights", sequence=i
            )
    flat = np.concatenate(
        [plain_array(weights, "token_weight", np.float64) for weights in token_weight]
    )
    return Sequences(tokens.matrix, tokens.offsets, flat)
