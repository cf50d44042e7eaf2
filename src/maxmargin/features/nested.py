"""Tokens whose features have parts: dicts, lists and sets as values, as CRFsuite accepts them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np

from ..errors import DataError
from .coding import place

#: Types of values that give several features.
PARTS = (Mapping, list, tuple, set, frozenset)


def has_parts(tokens: list[Any]) -> bool:
    """Whether a value of a token, which is a dict, is itself a dict, a list or a set."""
    kinds = set(map(type, chain.from_iterable(token.values() for token in tokens)))
    return any(issubclass(kind, PARTS) for kind in kinds)


def flatten(tokens: list[Any], offsets: np.ndarray) -> tuple[np.ndarray, list[Any], list[Any]]:
    """The token, the name and the value of each feature, all in the order of the tokens.

    Parameters
    ----------
    tokens : list of dict
    offsets : int array (n + 1,)
        The first token of each sequence, for messages.
    """
    pairs = [list(_features(token, "", offsets, t)) for t, token in enumerate(tokens)]
    owner = np.repeat(np.arange(len(tokens), dtype=np.int32), list(map(len, pairs)))
    flat = list(chain.from_iterable(pairs))
    return owner, [name for name, _ in flat], [value for _, value in flat]


def _features(
    token: Mapping[Any, Any], prefix: str, offsets: np.ndarray, t: int
) -> Iterator[tuple[Any, Any]]:
    """Names and values; those of an inner dict begin with its name and a colon."""
    for name, value in token.items():
        if not isinstance(name, str):
            raise DataError(f"{place(offsets, t)}: the name of a feature is a str, not {name!r}")
        if isinstance(value, Mapping):
            yield from _features(value, f"{prefix}{name}:", offsets, t)
        elif isinstance(value, PARTS):
            for text in _texts(value, f"{prefix}{name}", offsets, t):
                yield f"{prefix}{name}", text
        else:
            yield f"{prefix}{name}", value


def _texts(values: Any, name: str, offsets: np.ndarray, t: int) -> list[str]:
    """The different strings of a list or a set, which is sorted, because its order is random."""
    for value in values:
        if not isinstance(value, str):
            raise DataError(
                f"{place(offsets, t)}: the list of feature {name!r} contains {value!r}; lists and "
                "sets contain str: use a dict for names with numbers"
            )
    return sorted(values) if isinstance(values, set | frozenset) else list(dict.fromkeys(values))
