"""Files in CoNLL format: one token per line with its columns, and a blank line after a sequence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

import numpy as np

from ..errors import DataError
from ..features.coding import Codes, cut
from ..features.rows import Column, Rows
from ..saving.atomic import write_lines_atomic
from .sources import byte_blocks, display_name, open_source

_DOCUMENT = b"-DOCSTART-"


def read_conll(path: Any, label: int | None = -1) -> tuple[Rows, list[list[str]] | None]:
    """Read tokens and their labels from a file in CoNLL format.

    Columns are separated by spaces or tabs, sequences by one or more blank lines. Lines that
    begin with ``-DOCSTART-`` are skipped.

    Parameters
    ----------
    path : str, path or binary file object
        ``"-"`` is standard input. Gzip is recognised by content, whatever the name.
    label : int or None
        The column with the labels, counted from the end if negative; None if the file has no
        labels.

    Returns
    -------
    rows : Rows
        The other columns, like a list of sequences, each a list of tuples of str.
    labels : list of lists of str, or None
        The labels of each sequence; None without a column of labels.

    Raises
    ------
    DataError
        If the file cannot be read, or a line is wrong; the message names file and line.
    """
    name = display_name(path)
    reader = _Reader(name)
    with open_source(path) as stream:
        for first, block in byte_blocks(stream):
            reader.add(block, first)
    columns, offsets = reader.finish()
    if label is None:
        return Rows(columns, offsets), None
    if not -len(columns) <= label < len(columns):
        raise DataError(
            f"there is no column {label} for the labels: tokens have {len(columns)} columns, "
            f"numbered from 0 to {len(columns) - 1}, or from -1 down to {-len(columns)}",
            path=name,
        )
    if len(columns) == 1:
        raise DataError(
            "has only one column, which cannot be both words and labels; read it with label=None",
            name,
        )
    labels = columns.pop(label).strings()
    return Rows(columns, offsets), list(cut(labels, offsets))


class _Reader:
    """Collects the columns of a file block by block, as codes, because most strings repeat."""

    def __init__(self, name: str):
        self.name = name
        self.width = 0
        self.first_line = 0
        self.n_tokens = 0
        self.ends: list[np.ndarray] = [np.zeros(1, np.int64)]
        self.index: list[Codes] = []
        self.values: list[list[str]] = []
        self.codes: list[list[np.ndarray]] = []

    def add(self, block: bytes, first: int) -> None:
        """Add a block of whole lines; the first line has this number."""
        if _DOCUMENT in block:
            block = _without_documents(block)
        widths = count_words(block)
        tokens = np.flatnonzero(widths)
        if not tokens.size:
            return
        if not self.width:
            self._begin(int(widths[tokens[0]]), first + int(tokens[0]))
        wrong = tokens[widths[tokens] != self.width]
        if wrong.size:
            raise self._wrong_width(int(widths[wrong[0]]), first + int(wrong[0]))
        # Bytes are split at ASCII spaces only: other Unicode spaces may be part of a word.
        flat = block.split()
        for number in range(self.width):
            self._encode(number, flat[number :: self.width], first + tokens)
        blank = widths == 0
        self.ends.append(self.n_tokens + np.cumsum(~blank)[blank])
        self.n_tokens += tokens.size

    def finish(self) -> tuple[list[Column], np.ndarray]:
        """The columns and offsets of the whole file."""
        if not self.n_tokens:
            raise DataError(
                "contains no tokens; write one per line with its columns, and a blank line after "
                "each sequence",
                path=self.name,
            )
        columns = [
            Column(values, np.concatenate(codes))
            for values, codes in zip(self.values, self.codes, strict=True)
        ]
        ends = np.concatenate([*self.ends, [self.n_tokens]])
        return columns, np.unique(ends)  # consecutive blank lines end the same sequence

    def _begin(self, width: int, line: int) -> None:
        self.width, self.first_line = width, line
        self.index = [Codes() for _ in range(width)]
        self.values = [[] for _ in range(width)]
        self.codes = [[] for _ in range(width)]

    def _encode(self, number: int, column: list[bytes], lines: np.ndarray) -> None:
        index, values = self.index[number], self.values[number]
        self.codes[number].append(index.encode(column, len(column)))
        for string in islice(index, len(values), None):
            try:
                values.append(string.decode())
            except UnicodeDecodeError as error:
                shown = string.decode(errors="backslashreplace")
                raise DataError(
                    f"column {number}, '{shown}', is not UTF-8; convert the file, for example "
                    "with: iconv -f latin1 -t utf-8",
                    path=self.name,
                    line=int(lines[column.index(string)]),
                ) from error

    def _wrong_width(self, width: int, line: int) -> DataError:
        return DataError(
            f"{width} columns, where the first token (line {self.first_line}) has "
            f"{self.width}; give every token the same columns, and end sequences by blank lines "
            "(for plain sentences, one per line, use maxmargin predict --raw)",
            path=self.name,
            line=line,
        )


def count_words(block: bytes) -> np.ndarray:
    """The number of words of each line, int array; words are separated as by ``bytes.split``."""
    if not block:
        return np.zeros(0, np.int64)
    letters = np.frombuffer(block, np.uint8)
    space = (letters == ord(" ")) | ((letters >= ord("\t")) & (letters <= ord("\r")))
    begins = ~space
    begins[1:] &= space[:-1]
    ends = np.flatnonzero(letters == ord("\n"))
    if letters[-1] != ord("\n"):
        ends = np.append(ends, len(letters))
    return np.diff(np.searchsorted(np.flatnonzero(begins), ends), prepend=0)


def _without_documents(block: bytes) -> bytes:
    """The block with an empty line in place of each ``-DOCSTART-`` line."""
    lines = block.split(b"\n")
    return b"\n".join(b"" if line.split(None, 1)[:1] == [_DOCUMENT] else line for line in lines)


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
    for column in rows.columns:
        _check_strings(column.values)
    for number, column in enumerate(labels):
        if len(column) != len(rows):
            raise DataError(
                f"label column {number} has {len(column)} sequences, the rows have {len(rows)}"
            )
    return _lines(rows, labels, separator)


def _lines(rows: Rows, labels: tuple[Any, ...], separator: str) -> Iterator[str]:
    lengths = np.diff(rows.offsets).tolist()
    columns = [column.strings() for column in rows.columns]
    for number, column in enumerate(labels):
        for i, (found, length) in enumerate(zip(column, lengths, strict=True)):
            if len(found) != length:
                raise DataError(
                    f"sequence {i} has {length} tokens, but {len(found)} labels in label column "
                    f"{number}"
                )
        columns.append(list(map(str, chain.from_iterable(column))))
        _check_strings(set(columns[-1]))
    tokens = map(separator.join, zip(*columns, strict=True))
    for i, length in enumerate(lengths):
        if i:
            yield ""
        yield from islice(tokens, length)


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
