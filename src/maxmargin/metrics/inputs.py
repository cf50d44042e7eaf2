"""Checks of the sequences of labels that users give, and the set of labels in them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

from ..data.sequences import offsets_of
from ..errors import DataError


def as_list(sequence: Any) -> list[Any]:
    """A sequence of labels as a list; a single label instead of a sequence is an error."""
    if isinstance(sequence, str) or not isinstance(sequence, Iterable):
        raise DataError(f"{sequence!r} is not a sequence of labels: give a list of lists of labels")
    return sequence.tolist() if isinstance(sequence, np.ndarray) else list(sequence)


def check_lengths(truth: list[list[Any]], predicted: list[list[Any]]) -> np.ndarray:
    """Offsets of the sequences, after checking that their lengths are equal."""
    if len(truth) != len(predicted):
        raise DataError(
            f"there are {len(truth)} true sequences and {len(predicted)} predicted ones: "
            "the numbers must agree"
        )
    for i, (a, b) in enumerate(zip(truth, predicted, strict=True)):
        if len(a) != len(b):
            raise DataError(
                f"sequence {i} has {len(a)} true labels and {len(b)} predicted ones: "
                "the lengths must agree"
            )
    return offsets_of([len(a) for a in truth])


def all_labels(
    flat: tuple[list[Any], list[Any]], classes: Iterable[Any] | None
) -> tuple[list[Any], int]:
    """The labels of the model and then all others, sorted if possible."""
    try:
        known = dict.fromkeys([] if classes is None else as_list(classes))
        others = [label for label in dict.fromkeys(chain(*flat)) if label not in known]
    except TypeError as error:
        raise DataError("labels must be hashable (use a tuple instead of a list)") from error
    try:
        others.sort()
    except TypeError:
        pass  # labels that cannot be sorted keep their order of appearance
    labels = [*known, *others]
    return labels, len(labels) if classes is None else len(known)
