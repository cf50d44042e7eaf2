"""Examples that are not in memory, which ``train`` accepts, and parts of those that are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DataError


class Source:
    """A reference to examples that are stored elsewhere, such as ``mm.Files``."""

    def open(self, backend: Any = None, template: Any = None) -> OpenSource:
        """Find the labels and features of all examples, with the workers of ``backend`` if any."""
        raise NotImplementedError


class OpenSource:
    """Examples whose labels and features are known, ready to be packed."""

    def pack(self, problem: Any) -> Any:
        """The ``Pack`` of all examples for a problem, in this process."""
        raise NotImplementedError


def n_examples(X: Any) -> int:
    """Number of examples: rows of a matrix, or items of a list."""
    try:
        return X.shape[0] if hasattr(X, "shape") else len(X)
    except (TypeError, IndexError) as error:
        raise DataError(
            f"expected a list of examples, or a matrix, got an object of type {type(X).__name__}"
        ) from error


def list_of(items: Any, what: str) -> list[Any]:
    """The items as a list; a DataError that names ``what`` if there are none to go through."""
    try:
        return list(items)
    except TypeError as error:
        shown = repr(items)
        shown = shown if len(shown) < 60 else f"{shown[:60]}..."
        raise DataError(f"{what} is {shown}, which is not a list") from error


def single_labels(Y: Any) -> bool:
    """Whether the output of an example is one label, judged by the first one."""
    if n_examples(Y) == 0 or hasattr(Y, "tocsr"):
        return False
    return np.ndim(Y.iloc[0] if hasattr(Y, "iloc") else Y[0]) == 0


def take(items: Any, chosen: np.ndarray) -> Any:
    """The examples with these numbers, in the same type of container."""
    if hasattr(items, "iloc"):
        return items.iloc[chosen]
    if hasattr(items, "shape") or hasattr(items, "offsets"):
        return items[chosen]
    return [items[i] for i in chosen]
