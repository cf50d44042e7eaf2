"""Features that users compute themselves, in flat arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, compress, pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.sequences import offsets_of
from ..data.source import list_of
from ..errors import DataError
from .coding import BLOCK, Codes, place, token_matrix
from .matrix import binary_matrix, sort_pairs
from .nested import flatten, has_parts

if TYPE_CHECKING:
    from ..data.sequences import Sequences


@dataclass
class Entries:
    """All features in flat arrays: the token, the number of the name and the value of each.

    ``values`` is None for lists of names: all are 1, and a repeated name counts once.
    """

    offsets: np.ndarray
    tokens: np.ndarray
    codes: np.ndarray
    values: np.ndarray | None
    names: list[str]

    def sequences(self, columns: np.ndarray, n_features: int) -> Sequences:
        """The matrix, from the column of each name."""
        from ..data.sequences import Sequences

        n = int(self.offsets[-1])
        if self.values is None:
            matrix = binary_matrix(list(self._blocks(columns, n)), n_features, np.float64)
        else:
            found = columns[self.codes]
            matrix = token_matrix(self.tokens, found, self.values, (n, n_features))
        return Sequences(matrix, self.offsets)

    def _blocks(self, columns: np.ndarray, n: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The sorted columns of blocks of tokens, which need less memory than those of all."""
        starts = np.arange(0, n, BLOCK).astype(self.tokens.dtype)
        ends = np.append(np.searchsorted(self.tokens, starts), len(self.tokens))
        for start, (lo, hi) in zip(starts.tolist(), pairwise(ends.tolist()), strict=True):
            rows, found = self.tokens[lo:hi] - start, columns[self.codes[lo:hi]]
            yield sort_pairs(rows, found, min(BLOCK, n - start))


def flat_entries(X: Any) -> Entries:
    """The entries of sequences of tokens, which are dicts or lists of names."""
    sequences = [list_of(sequence, f"sequence {i}") for i, sequence in enumerate(X)]
    offsets = offsets_of(list(map(len, sequences)))
    tokens = list(chain.from_iterable(sequences))
    lists = _are_lists(tokens, offsets)
    if not lists and has_parts(tokens):
        return _numbered(offsets, *flatten(tokens, offsets))
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    owner = np.repeat(np.arange(len(tokens), dtype=np.int32), lengths)
    if lists:
        return _listed(offsets, owner, tokens)
    names: list[Any] = list(chain.from_iterable(tokens))
    raw = list(chain.from_iterable(token.values() for token in tokens))
    return _numbered(offsets, owner, names, raw)


def _listed(offsets: np.ndarray, owner: np.ndarray, tokens: list[Any]) -> Entries:
    """The entries of lists of names, which are not copied: their number may be large."""
    _check_names(lambda: chain.from_iterable(tokens), owner, offsets)
    given, index = Codes(), Codes()
    codes = given.encode(chain.from_iterable(tokens), len(owner))
    merge = index.encode(map(str, given), len(given))
    if len(index) < len(given):
        codes = merge[codes]
    return Entries(offsets, owner, codes, None, list(index))


def _numbered(offsets: np.ndarray, owner: np.ndarray, names: list[Any], raw: list[Any]) -> Entries:
    """The entries of features with their tokens, names and values."""
    _check_names(lambda: names, owner, offsets)
    keys: Iterable[Any] = names
    texts = _text_types(raw, names, owner, offsets)
    if texts:
        # Number the pairs first, so that a string is made only once for each distinct pair.
        keys = zip(names, _only_texts(raw, texts), strict=True)
    values = _numbers(raw, texts, names, owner, offsets)
    if not values.all():
        there = values != 0
        keys = compress(keys, there.tolist())
        owner, values = owner[there], values[there]
    pairs, index = Codes(), Codes()
    codes = pairs.encode(keys, len(values))
    merge = index.encode(map(_full_name, pairs), len(pairs))
    return Entries(offsets, owner, merge[codes], values, list(index))


def _full_name(key: Any) -> str:
    """The name of a column, from a name, or from a pair of a name and its text or None."""
    if isinstance(key, str):
        return str(key)
    name, text = key
    return str(name) if text is None else f"{name}={text}"


def _only_texts(raw: list[Any], texts: set[type]) -> list[Any]:
    return [value if type(value) in texts else None for value in raw]


def _are_lists(tokens: list[Any], offsets: np.ndarray) -> bool:
    """Whether the tokens are lists instead of dicts."""
    kinds = set(map(type, tokens))
    for allowed in (Mapping, list | tuple):
        if all(issubclass(kind, allowed) for kind in kinds):
            return allowed is not Mapping
    wanted = list | tuple if isinstance(tokens[0], list | tuple) else Mapping
    i = next(i for i, token in enumerate(tokens) if not isinstance(token, wanted))
    raise DataError(
        f"{place(offsets, i)} is of type {type(tokens[i]).__name__}; tokens are dicts of features, "
        "or all of them are lists of str"
    )


def _check_names(
    names: Callable[[], Iterable[Any]], owner: np.ndarray, offsets: np.ndarray
) -> None:
    if all(issubclass(kind, str) for kind in set(map(type, names()))):
        return
    i, name = next((i, name) for i, name in enumerate(names()) if not isinstance(name, str))
    raise DataError(f"{place(offsets, owner[i])}: the name of a feature is a str, not {name!r}")


def _text_types(
    raw: list[Any], names: list[str], owner: np.ndarray, offsets: np.ndarray
) -> set[type]:
    """The subclasses of str among the types of values, after checking all types."""
    kinds = set(map(type, raw))
    if not all(issubclass(kind, str | Real | np.bool_) for kind in kinds):
        raise _wrong_value(raw, names, owner, offsets)
    return {kind for kind in kinds if issubclass(kind, str)}


def _numbers(
    raw: list[Any], texts: set[type], names: list[str], owner: np.ndarray, offsets: np.ndarray
) -> np.ndarray:
    """The values of features; 1 for a string."""
    plain = [1.0 if type(value) in texts else value for value in raw] if texts else raw
    try:
        values = np.fromiter(plain, np.float64, len(plain))
    except OverflowError:
        raise _wrong_value(raw, names, owner, offsets) from None
    if not np.isfinite(values).all():
        raise _wrong_value(raw, names, owner, offsets)
    return values


def _wrong_value(
    raw: list[Any], names: list[str], owner: np.ndarray, offsets: np.ndarray
) -> DataError:
    i = next(i for i, value in enumerate(raw) if not _usable(value))
    return DataError(
        f"{place(offsets, owner[i])}: feature {names[i]!r} has the value {raw[i]!r}; values are "
        "finite numbers, bools or str: leave out features that a token does not have"
    )


def _usable(value: Any) -> bool:
    if not isinstance(value, str | Real | np.bool_):
        return False
    try:
        return isinstance(value, str) or math.isfinite(value)
    except OverflowError:
        return False
