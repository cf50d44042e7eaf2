"""Names of features and their columns, for features that users compute themselves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, compress, repeat
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.sequences import offsets_of
from ..errors import DataError
from .coding import Codes, in_columns, place, rank, token_matrix
from .nested import flatten, has_parts

if TYPE_CHECKING:
    from ..data.sequences import Sequences


class Vocabulary:
    """Turns sequences of tokens with named features into sequences of feature rows.

    A token is a dict from names to values, or a list of names. A value is a number, a bool (1 or 0)
    or a str, which gives the feature ``name=value`` with the value 1. Names in a list have the
    value 1. As in CRFsuite a value may also be a list or a set of str, which gives a feature
    ``name=value`` for each of them, or another dict, whose features get the prefix ``name:``.

    Parameters
    ----------
    names : iterable of str, optional
        The names of the columns, if already known.
    min_count : int
        Features that occur fewer times in the data of `fit_transform` are left out.

    Attributes
    ----------
    names_ : list of str
        The names of the columns; after `fit_transform`, the most frequent first.

    Examples
    --------
    >>> vocabulary = Vocabulary()
    >>> X = vocabulary.fit_transform([[{"word": "a", "n": 2}, {"word": "b", "n": 0.5}]])
    >>> vocabulary.names_
    ['n', 'word=a', 'word=b']
    >>> X.matrix.toarray()
    array([[2. , 1. , 0. ],
           [0.5, 0. , 1. ]])
    """

    def __init__(self, names: Iterable[str] | None = None, min_count: int = 1):
        self.min_count = min_count
        self._index: dict[str, int] | None = None
        if names is not None:
            self.names_ = list(names)

    def __len__(self) -> int:
        return len(self.names_)

    def lookup(self, names: Iterable[str], n: int) -> np.ndarray:
        """The columns of n names, an array (n,); -1 for names without a column."""
        if self._index is None:
            check_distinct_names(self.names_)
            self._index = {name: i for i, name in enumerate(self.names_)}
        return np.fromiter(map(self._index.get, names, repeat(-1)), np.int32, n)

    def fit_transform(self, X: Any) -> Sequences:
        """Assign a column to every name in X, and make the matrix.

        Parameters
        ----------
        X : list of sequences, each a list of dicts or of lists of str
            The features of each token: names with values, or names alone.

        Returns
        -------
        Sequences
            ``matrix`` is a CSR matrix (total tokens, n_features) in float64 with sorted indices.

        Raises
        ------
        DataError
            If a value is not finite or has a wrong type; the message names sequence, token and
            feature.
        """
        entries = _entries(X)
        counts = np.bincount(entries.codes, minlength=len(entries.names))
        columns, n = rank(counts, self.min_count)
        if len(counts) and not n:
            raise DataError(
                f"no feature occurs min_count = {self.min_count} times; use a lower min_count"
            )
        kept = compress(entries.names, (columns >= 0).tolist())
        self.names_ = in_columns(kept, columns[columns >= 0], n) if n else []
        self._index = None
        return entries.sequences(columns, n)

    def transform(self, X: Any) -> Sequences:
        """Make the matrix; names without a column are left out."""
        if not hasattr(self, "names_"):
            raise DataError("the vocabulary has no names yet; call fit_transform first")
        entries = _entries(X)
        columns = self.lookup(entries.names, len(entries.names))
        return entries.sequences(columns, len(self.names_))


def check_distinct_names(names: list[str]) -> None:
    """Raise a DataError if a name occurs twice."""
    if len(set(names)) < len(names):
        raise DataError("the names of features are not all different")


@dataclass
class _Entries:
    """All features in flat arrays: the token, the number of the name and the value of each."""

    offsets: np.ndarray
    tokens: np.ndarray
    codes: np.ndarray
    values: np.ndarray
    names: list[str]
    binary: bool

    def sequences(self, columns: np.ndarray, n_features: int) -> Sequences:
        """The matrix, from the column of each name."""
        from ..data.sequences import Sequences

        shape = (int(self.offsets[-1]), n_features)
        matrix = token_matrix(self.tokens, columns[self.codes], self.values, shape)
        if self.binary:
            matrix.data[:] = 1.0  # a repeated name in a list counts once
        return Sequences(matrix, self.offsets)


def _entries(X: Any) -> _Entries:
    sequences = [list(sequence) for sequence in X]
    offsets = offsets_of(list(map(len, sequences)))
    tokens = list(chain.from_iterable(sequences))
    lists = _are_lists(tokens, offsets)
    if not lists and has_parts(tokens):
        return _numbered(offsets, *flatten(tokens, offsets), False)
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    owner = np.repeat(np.arange(len(tokens), dtype=np.int32), lengths)
    names: list[Any] = list(chain.from_iterable(tokens))
    raw = None if lists else list(chain.from_iterable(token.values() for token in tokens))
    return _numbered(offsets, owner, names, raw, lists)


def _numbered(
    offsets: np.ndarray, owner: np.ndarray, names: list[Any], raw: list[Any] | None, lists: bool
) -> _Entries:
    """The entries of features with their tokens, names and values (None if all are 1)."""
    _check_names(names, owner, offsets)
    keys: Iterable[Any] = names
    values = np.ones(len(names))
    if raw is not None:
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
    return _Entries(offsets, owner, merge[codes], values, list(index), lists)


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


def _check_names(names: list[Any], owner: np.ndarray, offsets: np.ndarray) -> None:
    if all(issubclass(kind, str) for kind in set(map(type, names))):
        return
    i = next(i for i, name in enumerate(names) if not isinstance(name, str))
    raise DataError(f"{place(offsets, owner[i])}: the name of a feature is a str, not {names[i]!r}")


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
