"""Writing files in CoNLL format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from ..data.sequences import offsets_of
from ..errors import DataError
from ..features.coding import Codes
from ..features.rows import Column, Rows
from ..saving.atomic import write_lines_atomic

#: Number of sequences whose lines are made at the same time.
_SEQUENCES = 1024


def conll_lines(rows: Any, *labels: Any, separator: str = " ") -> Iterator[str]:
    """The lines of a CoNLL file, for `write_lines_atomic`.

    Parameters
    ----------
    rows : Rows or list of sequences of tokens
    *labels : lists of sequences of labels
        Columns to add at the end, such as the true and the predicted labels.
    separator : str
        Between columns.

    Yields
    ------
    str
        Lines without line ends; an empty one between two sequences.

    Raises
    ------
    DataError
        If labels do not fit the rows, or if a string is empty or contains spaces.

    Examples
    --------
    >>> list(conll_lines([[("a", "DT"), ("dog", "NN")], [("yes", "UH")]], [["B", "I"], ["O"]]))
    ['a DT B', 'dog NN I', '', 'yes UH O']
    """
    rows = Rows.of(rows)
    columns = [*rows.columns]
    for number, column in enumerate(labels):
        if len(column) != len(rows):
            raise DataError(
                f"label column {number} has {len(column)} sequences, the rows have {len(rows)}"
            )
        columns.append(_label_column(column, number, rows))
    for column in columns:
        used = np.flatnonzero(np.bincount(column.codes, minlength=len(column.values)))
        _check_strings(map(column.values.__getitem__, used.tolist()))
    return _lines(columns, rows.offsets, separator)


def _label_column(labels: Any, number: int, rows: Rows) -> Column:
    """Sequences of labels as a column of the rows."""
    for i, (found, length) in enumerate(zip(labels, np.diff(rows.offsets).tolist(), strict=True)):
        if len(found) != length:
            raise DataError(
                f"sequence {i} has {length} tokens, but {len(found)} labels in label column "
                f"{number}"
            )
    index = Codes()
    codes = index.encode(map(str, chain.from_iterable(labels)), rows.n_tokens)
    return Column(list(index), codes)


def _lines(columns: list[Column], offsets: np.ndarray, separator: str) -> Iterator[str]:
    """The lines of all tokens, made from many sequences at a time."""
    from ..features.word_table import join_columns  # compiled, so only when it is needed

    values = [v.encode("utf-8", "surrogatepass") for column in columns for v in column.values]
    text, ends = np.frombuffer(b"".join(values), np.uint8), offsets_of(list(map(len, values)))
    bases = offsets_of([len(column.values) for column in columns]).tolist()
    between = np.frombuffer(separator.encode(), np.uint8)
    for start in range(0, len(offsets) - 1, _SEQUENCES):
        own = offsets[start : start + _SEQUENCES + 1]
        codes = np.empty((len(columns), own[-1] - own[0]), np.int64)
        for row, column, base in zip(codes, columns, bases, strict=False):
            np.add(column.codes[own[0] : own[-1]], base, out=row)
        size = np.diff(ends)[codes].sum() + codes.size * (len(between) + 1) + len(own)
        out = np.empty(int(size), np.uint8)
        size = join_columns(codes, text, ends, own - own[0], between, out)
        if start:
            yield ""
        lines = out[:size].tobytes().decode("utf-8", "surrogatepass").split("\n")
        yield from lines[:-1]


def _check_strings(strings: Iterable[str]) -> None:
    """Refuse strings that would be read back as no column or as two."""
    for string in strings:
        content = string.encode(errors="replace")
        if content.split() != [content]:
            raise DataError(
                f"{string!r} cannot be written in a column: it is empty or contains spaces"
            )


def write_conll(path: Any, rows: Any, *labels: Any, separator: str = " ") -> None:
    """Write a CoNLL file; an error leaves no partial file. See `conll_lines` for the parameters.

    Parameters
    ----------
    path : str or path
        ``"-"`` is standard output.
    """
    write_lines_atomic(path, conll_lines(rows, *labels, separator=separator))
