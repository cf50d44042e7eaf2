"""Examples that are not in memory, which ``train`` accepts, and parts of those that are."""

from __future__ import annotations

from typing import Any

import numpy as np


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
    return X.shape[0] if hasattr(X, "shape") else len(X)


def take(items: Any, chosen: np.ndarray) -> Any:
    """The examples with these numbers, in the same type of container."""
    if hasattr(items, "iloc"):
        return items.iloc[chosen]
    if hasattr(items, "shape") or hasattr(items, "offsets"):
        return items[chosen]
    return [items[i] for i in chosen]
