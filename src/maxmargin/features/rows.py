"""Tokens with columns, as in a CoNLL file: a list of lists of tuples, stored in flat arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ..data.sequences import offsets_of
from ..data.source import list_of
from ..errors import DataError
from .coding import Codes, cut, place


@dataclass(frozen=True)
class Column:
    """One column of all tokens.

    Attributes
    ----------
    values : list of str
        Distinct values. Some may be unused, because a slice of the rows shares the list.
    codes : int32 array (total,)
        Index of the value of each token.
    """

    values: list[str]
    codes: np.ndarray

    def strings(self) -> list[str]:
        """The value of each token."""
        return list(map(self.values.__getitem__, self.codes.tolist()))

    def take(self, where: np.ndarray) -> Column:
        """The column of some of the tokens."""
        codes = self.codes[where]
        if len(codes) >= len(self.values):
            return Column(self.values, codes)
        # A small part of a large file must not keep all of its words in memory.
        used, codes = np.unique(codes, return_inverse=True)
        return Column([self.values[code] for code in used.tolist()], codes.astype(np.int32))


class Rows(Sequence[Any]):
    """Sequences of tokens with columns of strings.

    It can be used like a list of sequences, each a list of tuples of str, but stores each column as
    integer codes, so that features are extracted without reading the strings again.

    Parameters
    ----------
    columns : list of Column
    offsets : int array (n + 1,)
        Sequence i holds the tokens from ``offsets[i]`` to ``offsets[i + 1]``.

    Examples
    --------
    >>> rows = Rows.of([[("the", "DT"), ("dog", "NN")], [("yes", "UH")]])
    >>> rows[1], rows[0][1]
    ([('yes', 'UH')], ('dog', 'NN'))
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, columns: list[Column], offsets: np.ndarray):
        self.columns = columns
        self.offsets = offsets

    @classmethod
    def of(cls, rows: Any) -> Rows:
        """Make rows from a list of sequences of tokens; `Rows` are returned unchanged.

        Parameters
        ----------
        rows : sequence of sequences of tokens
            A token is a tuple or list of str, of the same length for all; or a str, which is its
            only column.

        Raises
        ------
        DataError
            If a token is something else; the message names sequence and token.
        """
        if isinstance(rows, cls):
            return rows
        sequences = [list_of(sequence, f"sequence {i}") for i, sequence in enumerate(rows)]
        offsets = offsets_of(list(map(len, sequences)))
        tokens = list(chain.from_iterable(sequences))
        columns = [_column(column, offsets) for column in _split(tokens, offsets)]
        return cls(columns, offsets)

    @property
    def n_columns(self) -> int:
        """Number of columns; 0 if there are no tokens."""
        return len(self.columns)

    @property
    def n_tokens(self) -> int:
        """Number of tokens of all sequences."""
        return int(self.offsets[-1])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, key: Any) -> Any:
        """The tokens of one sequence, or the rows of a slice or an array of indices."""
        if isinstance(key, int | np.integer):
            i = range(len(self))[key]
            span = slice(self.offsets[i], self.offsets[i + 1])
            return _tokens([Column(c.values, c.codes[span]) for c in self.columns])
        chosen = np.arange(len(self))[key]
        lengths = np.diff(self.offsets)[chosen]
        offsets = offsets_of(lengths)
        where = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], lengths)
        return Rows([column.take(where) for column in self.columns], offsets)

    def __iter__(self) -> Iterator[list[tuple[str, ...]]]:
        return cut(_tokens(self.columns), self.offsets)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows | list):
            return NotImplemented
        return list(self) == list(other)

    def __repr__(self) -> str:
        return f"<Rows: {len(self)} sequences, {self.n_tokens} tokens, {self.n_columns} columns>"


def _tokens(columns: list[Column]) -> list[tuple[str, ...]]:
    return list(zip(*(column.strings() for column in columns), strict=True))


def _split(tokens: list[Any], offsets: np.ndarray) -> list[Any]:
    """The columns of the tokens."""
    if not tokens:
        return []
    alone = [isinstance(token, str) for token in tokens]
    if all(alone):
        return [tokens]
    for i, token in enumerate(tokens):
        if alone[i] or not isinstance(token, Sequence | np.ndarray):
            raise DataError(f"{place(offsets, i)} is {token!r}; a token is a tuple of str")
        if len(token) != len(tokens[0]) or len(token) == 0:
            raise DataError(
                f"{place(offsets, i)} has {len(token)} columns, the first token has "
                f"{len(tokens[0])}; give every token the same columns, at least one"
            )
    flat = list(chain.from_iterable(tokens))
    width = len(tokens[0])
    return [flat[number::width] for number in range(width)]


def _column(column: Sequence[Any], offsets: np.ndarray) -> Column:
    if not all(issubclass(kind, str) for kind in set(map(type, column))):
        i = next(i for i, value in enumerate(column) if not isinstance(value, str))
        raise DataError(
            f"{place(offsets, i)} has the column value {column[i]!r}; columns are str: turn "
            "numbers into strings, or give the features as dicts"
        )
    index = Codes()
    codes = index.encode(column, len(column))
    return Column(list(map(str, index)), codes)
